//! What is wrong with a spec, said so that an editor can jump to it.

use std::fmt;

/// One thing wrong with one file of a spec.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file's name inside the spec directory, `/`-separated.
    pub file: String,
    /// One-based line.
    pub line: usize,
    /// One-based column, in bytes.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    /// Returns a problem with the file as a whole.
    pub fn whole(file: &str, message: impl Into<String>) -> Problem {
        Problem { file: file.into(), line: 1, column: 1, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}
