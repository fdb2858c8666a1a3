//! Which file a path of a call means. What judges a call and what runs it both ask here, so they mean the same file.

use std::path::{Component, Path, PathBuf};

/// Returns the path that `given` means: absolute as it is, otherwise in `cwd`. An absolute path inside the project
/// that lost its first slash, as small models write it, is put right.
pub(crate) fn located(root: &Path, cwd: &Path, given: &str) -> PathBuf {
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
