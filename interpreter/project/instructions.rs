//! The instructions a trusted project ships for agents. An untrusted project's are not opened.

use crate::regular;
use std::{io::ErrorKind, path::Path};

/// The files that are looked for, and how much of one is taken.
pub(crate) struct Looked<'a> {
    /// Names; the first that is there is taken.
    pub(crate) names: &'a [String],
    /// Most bytes of it.
    pub(crate) max_bytes: u64,
}

/// A file of instructions.
pub(crate) struct Instruction {
    /// Its name below the project.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// Reads the instructions of the project at `root`.
///
/// # Errors
/// A sentence about a file that is there and cannot be used.
pub(crate) fn instructions(root: &Path, looked: &Looked<'_>) -> Result<Vec<Instruction>, String> {
    for name in looked.names {
        let path = root.join(name);
        match regular::text(&path, looked.max_bytes) {
            Ok(text) => return Ok(vec![Instruction { path: name.clone(), text }]),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{} was left out: {error}.", path.display())),
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn check(files: &[(&str, &str)], expected: Result<&[&str], &str>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let names = ["AGENTS.md".to_string(), "CLAUDE.md".to_string()];
        let found = instructions(dir.path(), &Looked { names: &names, max_bytes: 10 });
        match expected {
            Ok(texts) => {
                let found: Vec<String> = found.unwrap().into_iter().map(|each| each.text).collect();
                assert_eq!(found, texts);
            }
            Err(part) => assert!(found.err().unwrap().contains(part)),
        }
    }

    #[test]
    fn the_first_that_is_there() {
        check(&[], Ok(&[]));
        check(&[("CLAUDE.md", "b")], Ok(&["b"]));
        check(&[("CLAUDE.md", "b"), ("AGENTS.md", "a")], Ok(&["a"]));
        check(&[("AGENTS.md", "more than ten")], Err("larger than 10 bytes"));
    }

    #[test]
    fn a_fifo_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        regular::tests::fifo(&dir.path().join("AGENTS.md"));
        let found =
            instructions(dir.path(), &Looked { names: &["AGENTS.md".into()], max_bytes: 9 });
        assert!(found.err().unwrap().contains("AGENTS.md was left out: it is not a regular file"));
    }
}
