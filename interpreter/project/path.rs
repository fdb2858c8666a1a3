//! Which file a path of a call means. What judges a call and what runs it both ask here, so they mean the same file.

use std::path::{Component, Path, PathBuf};

/// Returns the path that `given` means: absolute as it is, otherwise in `cwd`. An absolute path inside the project
/// that lost its first slash, as small models write it, is put right.
pub(crate) fn located(root: &Path, cwd: &Path, given: &str) -> PathBuf {
    let joined = tidy(&cwd.join(given));
    let slashed = tidy(&Path::new("/").join(given));
    let lost_slash =
        !given.starts_with(['/', '.']) && slashed.starts_with(root) && !joined.exists();
    shown(if lost_slash { slashed } else { joined })
}

/// Returns a path as it is shown, on one line: what is no text in it, and control characters, are marks.
pub(crate) fn marked(path: &Path) -> String {
    path.to_string_lossy().replace(char::is_control, MARK)
}

/// What stands for a part of a name that cannot be shown.
const MARK: &str = "\u{fffd}";

/// Returns the path whose names are shown as those of `path` are: a name that is no text is shown with marks, and a
/// model knows no other. Where several are shown alike none is meant.
fn shown(path: PathBuf) -> PathBuf {
    if !path.to_string_lossy().contains(MARK) {
        return path;
    }
    path.components().fold(PathBuf::new(), |above, part| {
        let given = part.as_os_str();
        let next = above.join(given);
        if !given.to_string_lossy().contains(MARK) || next.symlink_metadata().is_ok() {
            return next;
        }
        let entries = above.read_dir().into_iter().flatten().flatten();
        let mut alike = entries
            .map(|entry| entry.file_name())
            .filter(|name| marked(Path::new(name)) == given.to_string_lossy());
        match (alike.next(), alike.next()) {
            (Some(name), None) => above.join(name),
            _ => next,
        }
    })
}

/// Takes out `.` and doubled slashes. `..` stays: where it leads depends on links.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_slash_is_put_back_only_inside_the_project() {
        let check = |given: &str, expected: &str| {
            let found =
                located(Path::new("/no/such/project"), Path::new("/no/such/project/src"), given);
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
