//! Where a path really is: links followed one by one as the kernel follows them, to where a write would create
//! something if nothing is there. It asks the disk only through [`Disk`]; what it cannot follow to the end it does not
//! guess.

use crate::spec::PathLimits;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// What core may ask the disk. As it stands it is a disk without links.
pub trait Disk {
    /// Returns where the link at an absolute path leads, as it is written in it; `None` if there is none, or if it
    /// cannot be read. The directories of the path are none.
    fn link(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Returns the names of what is in a directory, itself no link; `None` if it cannot be listed or has more than
    /// `most`.
    fn names(&self, _directory: &Path, _most: usize) -> Option<Vec<String>> {
        None
    }
}

/// Returns where an absolute path really is. A link counts before a `..` behind it; what is not there yet is where it
/// would be made. `None` if that cannot be known: the links go in a circle, are too many, or lead too deep.
pub fn real(path: &Path, disk: &dyn Disk, limits: &PathLimits) -> Option<PathBuf> {
    if path.as_os_str().len() <= limits.max_bytes && is_real(path, disk) {
        return Some(path.to_path_buf());
    }
    let mut real = PathBuf::with_capacity(path.as_os_str().len() + 1);
    real.push("/");
    let mut left = Vec::new();
    let mut links = 0;
    left.extend(parts(path).map(Cow::Borrowed));
    while let Some(part) = left.pop() {
        if *part == *".." {
            real.pop();
            continue;
        }
        real.push(&part);
        if let Some(target) = disk.link(&real).or_else(|| root_of_process(&real)) {
            links += 1;
            real.pop();
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            left.extend(parts(&target).map(|part| Cow::Owned(part.to_owned())));
        }
        if links > limits.max_links || real.as_os_str().len() > limits.max_bytes {
            return None;
        }
    }
    Some(real)
}

/// Returns whether a path is without dots and doubled slashes and has no link on the way: most are.
fn is_real(path: &Path, disk: &dyn Disk) -> bool {
    let Some(text) = path.to_str().filter(|text| is_normal(text)) else { return false };
    let ends = memchr::memchr_iter(b'/', text.as_bytes()).skip(1).chain([text.len()]);
    let mut before = ends.filter_map(|end| text.get(..end)).map(Path::new);
    let process = text.starts_with("/proc/");
    let is_root = |here: &Path| process && root_of_process(here).is_some();
    text == "/" || before.all(|here| disk.link(here).is_none() && !is_root(here))
}

/// Returns whether a path is absolute, without dots and doubled slashes.
pub(super) fn is_normal(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    // How many dots the part so far is; one with another sign in it is plain, an empty one is not.
    let mut dots = Some(0);
    let plain = |dots: Option<usize>| dots.is_none_or(|dots| dots > 2);
    let whole = rest.bytes().all(|sign| {
        let before = dots;
        dots = match sign {
            b'/' => Some(0),
            b'.' => before.map(|dots| dots + 1),
            _ => None,
        };
        sign != b'/' || plain(before)
    });
    path == "/" || (whole && plain(dots))
}

/// Returns the parts of a path that are to be gone, the first of them last.
fn parts(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().rev().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// `/proc/<pid>/root` is the root by another name, also where nobody may read the link.
fn root_of_process(path: &Path) -> Option<PathBuf> {
    if !path.as_os_str().as_encoded_bytes().starts_with(b"/proc/") {
        return None;
    }
    let below = path.strip_prefix("/proc").ok()?;
    (below.components().count() == 2 && below.ends_with("root")).then(|| PathBuf::from("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Links<'a>(&'a [(&'a str, &'a str)]);

    impl Disk for Links<'_> {
        fn link(&self, path: &Path) -> Option<PathBuf> {
            let found = self.0.iter().find(|(from, _)| Path::new(from) == path);
            found.map(|(_, to)| PathBuf::from(to))
        }
    }

    const LIMITS: PathLimits = PathLimits { max_links: 4, max_bytes: 60, max_entries: 0 };

    fn check(links: &[(&str, &str)], path: &str, expected: Option<&str>) {
        let found = real(Path::new(path), &Links(links), &LIMITS);
        assert_eq!(found.as_deref(), expected.map(Path::new), "{path} with {links:?}");
    }

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        let out = &[
            ("/p/out", "/srv"),
            ("/p/d/up", "../x/./y"),
            ("/p/two", "out/a"),
            ("/srv/back", "/p"),
        ];
        for (path, expected) in [
            ("/", "/"),
            ("//p//a/./b/", "/p/a/b"),
            ("/p/a/../b", "/p/b"),
            ("/p/../../etc", "/etc"),
            ("/p/out", "/srv"),
            ("/p/out/", "/srv"),
            ("/p/out/new/file", "/srv/new/file"),
            ("/p/out/../x", "/x"),
            ("/p/out/x/../../y", "/y"),
            ("/p/d/up/z", "/p/x/y/z"),
            ("/p/two/b", "/srv/a/b"),
            ("/p/out/back/out/back/c", "/p/c"),
            ("/p/none/../out/a", "/srv/a"),
            ("/proc/self/root/p/out/a", "/srv/a"),
            ("/proc/1/root/../etc", "/etc"),
            ("/proc/1/cwd/a", "/proc/1/cwd/a"),
        ] {
            check(out, path, Some(expected));
        }
    }

    #[test]
    fn what_does_not_end_is_not_known() {
        let circle = &[
            ("/p/a", "b"),
            ("/p/b", "a"),
            ("/p/self", "self"),
            ("/p/in", "in/x"),
            ("/p/dots", "./dots/.."),
        ];
        for path in ["/p/a", "/p/a/x", "/p/self", "/p/self/..", "/p/in", "/p/dots/x"] {
            check(circle, path, None);
        }
        let chain = &[("/1", "2"), ("/2", "3"), ("/3", "4"), ("/4", "5"), ("/5", "6")];
        check(chain, "/2/x", Some("/6/x"));
        check(chain, "/1/x", None);
        let long = "/a".repeat(30);
        check(&[], &long, Some(&long));
        check(&[], &format!("{long}/a"), None);
        check(&[("/l", &long)], "/l/a", None);
    }
}
