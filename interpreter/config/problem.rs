//! What is wrong with a configuration file, said so that an editor can jump to it.
//! A problem never shows a value: it may be a key.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// How much a problem takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The whole file was left out: nothing may be started with what remains.
    Error,
    /// One key or one connection was left out; the rest is in force.
    Warning,
}

/// One-based line and column, counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column, from 1.
    pub(crate) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One thing wrong with a file, shown as `file:line:column: what, and what would be right`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// How much it takes away.
    pub(crate) level: Level,
    /// The file it is about.
    pub(crate) file: PathBuf,
    /// Where in the file, unless it is about the file as a whole.
    pub(crate) place: Option<Place>,
    /// One or two sentences.
    pub(crate) message: String,
}

impl Problem {
    /// Returns an error about a file as a whole; a full stop is added where `message` has no end.
    pub(crate) fn file(file: &Path, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if !message.ends_with(['.', '?']) {
            message.push('.');
        }
        Self { level: Level::Error, file: file.into(), place: None, message }
    }

    /// Returns an error at a place.
    pub(crate) fn at(file: &Path, place: Place, message: impl Into<String>) -> Self {
        Self { place: Some(place), ..Self::file(file, message) }
    }

    /// Returns the same as a warning.
    pub(crate) fn warning(self) -> Self {
        Self { level: Level::Warning, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{}:{place}: {}", self.file.display(), self.message),
            None => write!(f, "{}: {}", self.file.display(), self.message),
        }
    }
}

/// Returns ` Did you mean …?` for the closest of `known`, or a list of them when none is close.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    const MOST: usize = 20;
    let near = similar::get_close_matches(&word.to_lowercase()[..], known, 1, 0.6);
    match near.first() {
        Some(near) => format!(" Did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() > MOST => {
            let shown: Vec<&str> = known.iter().take(MOST).copied().collect();
            format!(" There are: {} and {} more.", shown.join(", "), known.len() - MOST)
        }
        None => format!(" There are: {}.", known.join(", ")),
    }
}
