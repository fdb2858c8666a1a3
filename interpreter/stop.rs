//! Why the program ends before its work is done, and with which exit code.

use std::fmt;

/// A reason to stop: lines for a person and the exit code.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The exit code.
    pub(crate) code: u8,
    /// What to say, one problem a line.
    pub(crate) lines: Vec<String>,
}

/// Something of ours failed.
pub(crate) const INTERNAL: u8 = 1;
/// The command line, a configuration file or a spec is wrong.
pub(crate) const USAGE: u8 = 2;
/// The provider failed.
pub(crate) const PROVIDER: u8 = 3;
/// A limit stopped the work.
pub(crate) const LIMIT: u8 = 4;
/// The work ended because calls were refused.
pub(crate) const REFUSED: u8 = 5;
/// A person interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

impl Stop {
    /// Returns a stop for what a person can mend: a command line, a file.
    pub(crate) fn usage(line: impl Into<String>) -> Stop {
        Stop { code: USAGE, lines: vec![format!("lembas: {}", line.into())] }
    }

    /// Returns a stop for a failure of the program itself.
    pub(crate) fn internal(line: impl Into<String>) -> Stop {
        Stop { code: INTERNAL, lines: vec![format!("lembas: {}", line.into())] }
    }

    /// Returns a stop for problems with files, each a line that begins with its place, so that an editor can jump there.
    pub(crate) fn problems<T: fmt::Display>(problems: impl IntoIterator<Item = T>) -> Stop {
        Stop { code: USAGE, lines: problems.into_iter().map(|each| each.to_string()).collect() }
    }
}
