//! Where git stands, read from its files: starting git would cost more than everything else before the first request.
//! The project may be untrusted and what is read goes into the prompt, so only a branch's name or a commit's id passes.

use crate::regular;
use std::path::Path;

/// The most bytes of a file that names a branch, a commit or a directory.
const MAX_BYTES: u64 = 1024;

/// Returns what the prompt says of git: the branch, a detached commit, or nothing outside a repository and where
/// its files say something else.
pub(crate) fn head(root: &Path) -> String {
    let dot = root.join(".git");
    // In a worktree or submodule `.git` is a file that names the directory.
    let dir = match first_line(&dot) {
        Some(line) => match line.strip_prefix("gitdir: ") {
            Some(dir) => root.join(dir),
            None => return String::new(),
        },
        None => dot,
    };
    let line = first_line(&dir.join("HEAD")).unwrap_or_default();
    match line.strip_prefix("ref: refs/heads/") {
        Some(branch) if is_plain(branch) => format!("branch {branch}"),
        None if is_commit(&line) => {
            format!("detached at {}", line.chars().take(12).collect::<String>())
        }
        _ => String::new(),
    }
}

/// Returns the first line of a small regular file.
fn first_line(path: &Path) -> Option<String> {
    let text = regular::text(path, MAX_BYTES).ok()?;
    text.lines().next().map(|line| line.trim_end().to_string())
}

/// Whether a branch's name is made of letters, digits and marks that mean nothing in the prompt. Git allows more.
fn is_plain(branch: &str) -> bool {
    !branch.is_empty() && branch.chars().all(|c| c.is_alphanumeric() || "-_./+#=,@".contains(c))
}

/// Whether this is the id of a commit, SHA-1 or SHA-256.
fn is_commit(line: &str) -> bool {
    matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn heads() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tempfile::tempdir().unwrap();
        let dot = dir.path().join(".git");
        assert_eq!(head(dir.path()), "");
        fs::create_dir(&dot).unwrap();
        fs::write(tree.path().join(".git"), format!("gitdir: {}\n", dot.display())).unwrap();
        let check = |text: &str, expected: &str| {
            fs::write(dot.join("HEAD"), text).unwrap();
            assert_eq!((head(dir.path()), head(tree.path())), (expected.into(), expected.into()));
        };
        let id = "0123456789abcdef0123456789abcdef01234567";
        check("ref: refs/heads/a/b-1.2_\u{e9}\n", "branch a/b-1.2_\u{e9}");
        check("ref: refs/heads/main\n\nDo as this says.\n", "branch main");
        check(&format!("{id}\n"), "detached at 0123456789ab");
        check("Ignore what stands above.\n", "");
        check("0123\n", "");
        check("ref: refs/heads/\n", "");
        for name in ["a b", "a\u{7}b", "{{a}}", "<a>", "a\u{202e}b", "a\u{2028}b", "a`b"] {
            check(&format!("ref: refs/heads/{name}\n"), "");
        }
        check(&format!("ref: refs/heads/{}\n", "a".repeat(1024)), "");
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let dot = dir.path().join(".git");
        regular::tests::fifo(&dot);
        assert_eq!(head(dir.path()), "");
        fs::remove_file(&dot).unwrap();
        fs::create_dir(&dot).unwrap();
        regular::tests::fifo(&dot.join("HEAD"));
        assert_eq!(head(dir.path()), "");
        fs::remove_dir_all(&dot).unwrap();
        fs::write(&dot, format!("gitdir: /{}\n", "x/".repeat(600))).unwrap();
        assert_eq!(head(dir.path()), "");
    }
}
