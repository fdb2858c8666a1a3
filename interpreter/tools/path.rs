//! Which file a path of a call means, how it is shown, and what was probably meant by one that is not there.

use ignore::WalkBuilder;
use std::path::{Component, Path, PathBuf};

/// How alike two names must be, of 1, for one to be suggested.
const LIKE: f32 = 0.6;

/// How many entries of the project are looked at for a suggestion.
const LOOKED_AT: usize = 20_000;

/// Returns the path that `given` means: absolute as it is, otherwise in `cwd`. An absolute path inside the project
/// that lost its first slash, as small models write it, is put right.
pub(super) fn resolve(root: &Path, cwd: &Path, given: &str) -> PathBuf {
    let joined = tidy(&cwd.join(given));
    let slashed = tidy(&Path::new("/").join(given));
    let lost_slash =
        !given.starts_with(['/', '.']) && slashed.starts_with(root) && !joined.exists();
    if lost_slash { slashed } else { joined }
}

/// Takes out `.` and doubled slashes. `..` stays: where it leads depends on links.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Returns a path relative to `cwd` when it lies in it, otherwise whole.
pub(super) fn shown(cwd: &Path, path: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Returns at most `most` paths that may have been meant by `missing`: names like it beside it, then files of the
/// same name in the project.
pub(super) fn suggestions(root: &Path, missing: &Path, most: usize) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (missing.parent(), missing.file_name()) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten().take(LOOKED_AT);
    let names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let lower: Vec<_> = names.iter().map(|name| name.to_lowercase()).collect();
    let known: Vec<_> = lower.iter().map(String::as_str).collect();
    let wanted = name.to_string_lossy().to_lowercase();
    let like = similar::get_close_matches(wanted.as_str(), &known, most, LIKE);
    let beside =
        like.iter().filter_map(|like| names.get(lower.iter().position(|name| name == like)?));
    let mut found: Vec<_> = beside.map(|name| parent.join(name)).collect();
    let files = WalkBuilder::new(root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let same = files.flatten().take(LOOKED_AT).filter(|entry| entry.file_name() == name);
    let same = same.map(ignore::DirEntry::into_path).take(most);
    found.extend(same.filter(|path| path != missing));
    found.dedup();
    found.truncate(most);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_slash_is_put_back_only_inside_the_project() {
        let check = |given: &str, expected: &str| {
            let found =
                resolve(Path::new("/no/such/project"), Path::new("/no/such/project/src"), given);
            assert_eq!(found, Path::new(expected));
        };
        check("a.rs", "/no/such/project/src/a.rs");
        check("./a.rs", "/no/such/project/src/a.rs");
        check("/etc//x", "/etc/x");
        check("no/such/project/b.rs", "/no/such/project/b.rs");
        check("no/such/other/b.rs", "/no/such/project/src/no/such/other/b.rs");
        check("../b.rs", "/no/such/project/src/../b.rs");
    }
}
