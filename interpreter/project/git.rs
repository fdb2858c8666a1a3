//! Where git stands, read from its files: starting git would cost more than everything else before the first request.

use std::{fs, path::Path};

/// Returns what the prompt says of git: the branch, a detached commit, or nothing outside a repository.
pub(crate) fn head(root: &Path) -> String {
    let dot = root.join(".git");
    // In a worktree or submodule `.git` is a file that names the directory.
    let dir = match fs::read_to_string(&dot) {
        Ok(text) => match text.trim().strip_prefix("gitdir: ") {
            Some(dir) => root.join(dir),
            None => return String::new(),
        },
        Err(_) => dot,
    };
    let Ok(head) = fs::read_to_string(dir.join("HEAD")) else { return String::new() };
    match head.trim().strip_prefix("ref: refs/heads/") {
        Some(branch) => format!("branch {branch}"),
        None => format!("detached at {}", head.trim().chars().take(12).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(head(dir.path()), "");
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/a/b\n").unwrap();
        assert_eq!(head(dir.path()), "branch a/b");
        fs::write(dir.path().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(head(dir.path()), "detached at 0123456789ab");
        let tree = tempfile::tempdir().unwrap();
        fs::write(
            tree.path().join(".git"),
            format!("gitdir: {}\n", dir.path().join(".git").display()),
        )
        .unwrap();
        assert_eq!(head(tree.path()), "detached at 0123456789ab");
    }
}
