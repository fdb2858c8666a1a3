//! How an errand of this crate ends. Exit codes are the program's business.

use lembas_core::spec::Problem;
use std::{fmt, io, path::Path};

/// The answer of an errand that could be run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as expected, or nothing differs.
    Passed,
    /// Something is not.
    Failed,
}

impl Outcome {
    /// Returns `Passed` if `good`.
    pub(crate) fn of(good: bool) -> Outcome {
        if good { Outcome::Passed } else { Outcome::Failed }
    }
}

/// Why an errand could not be run.
#[derive(Debug)]
pub enum Error {
    /// The call, the spec or a case file is wrong: one line each, `file:line:column: …` where there is a place.
    Input(Vec<String>),
    /// The report could not be written.
    Output(io::Error),
}

impl Error {
    /// Returns an error of one line.
    pub(crate) fn input(line: impl Into<String>) -> Error {
        Error::Input(vec![line.into()])
    }

    /// Returns the problems of a spec that was read from `dir`.
    pub(crate) fn problems(dir: &Path, problems: &[Problem]) -> Error {
        Error::Input(problems.iter().map(|each| format!("{}/{each}", dir.display())).collect())
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(lines) => f.write_str(&lines.join("\n")),
            Error::Output(error) => write!(f, "the report could not be written: {error}"),
        }
    }
}

impl std::error::Error for Error {}
