//! Patches: the envelope format and unified diffs, read into one shape and planned against a tree that is handed in.
//! Everything is computed here and nothing is written: a plan is whole, or there is none.

mod anchor;
mod envelope;
mod hunk;
mod place;
mod plan;
mod report;
mod splice;
mod unidiff;

pub use plan::{Entry, Landed, Landing, Plan, Tree, Verb, Write, plan};
pub use report::{applied, refused};

use crate::edit::Near;
use hunk::Hunk;
use serde::Serialize;

/// A patch as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    changes: Vec<Change>,
}

impl Patch {
    /// Returns every path the patch names, targets of moves and copies too, each once.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for change in &self.changes {
            let target = match &change.action {
                Action::Move(to) | Action::Copy(to) => Some(to.as_str()),
                Action::Add | Action::Delete { .. } | Action::Update => None,
            };
            for path in [Some(change.path.as_str()), target].into_iter().flatten() {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    path: String,
    action: Action,
    hunks: Vec<Hunk>,
    /// Whether the file may be executed afterwards, where the patch says so.
    executable: Option<bool>,
    /// Whether what is moved or copied is the file as it was before the whole patch, as git has it.
    original: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Add,
    /// With `unseen`, whatever the file holds; otherwise the hunks must take out all of it.
    Delete {
        unseen: bool,
    },
    Update,
    Move(String),
    Copy(String),
}

/// A patch that is not applied, and where it fails.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// The file, as the patch names it.
    pub path: Option<Box<str>>,
    /// The hunk of that file, from 1.
    pub hunk: Option<usize>,
    /// How many hunks that file has.
    pub hunks: usize,
    /// The line of the patch that is wrong, from 1.
    pub line: Option<usize>,
    /// What stands there, an anchor that was not found, or the words of the system.
    pub text: Option<Box<str>>,
    /// Lines of the file where it fits, from 1.
    pub places: Vec<usize>,
    /// Whether there are more places than listed.
    pub more: bool,
    /// The region of the file most like the hunk.
    pub near: Option<Box<Near>>,
}

/// Why a patch is not applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The text is no patch.
    #[default]
    NoPatch,
    /// A line of the patch cannot be read.
    BadLine,
    /// A line of a new file does not begin with `+`.
    BadAdd,
    /// A file is named and nothing is changed in it.
    NoChange,
    /// A path is empty or cannot be read.
    BadPath,
    /// The patch of a binary file, or a binary file.
    Binary,
    /// A link, a submodule, a device, or the patch of one.
    Special,
    /// The file does not exist.
    Missing,
    /// A file stands already where one is added.
    Exists,
    /// A file stands already where one is moved or copied to.
    Taken,
    /// The path is a directory.
    Directory,
    /// The file is not UTF-8 and what is put in is not ASCII, or it is UTF-16.
    Encoding,
    /// The file is larger than can be handled, or would be.
    TooLarge,
    /// The hunk is not in the file.
    NotFound,
    /// The hunk is in the file more than once.
    Ambiguous,
    /// The hunk is in the file, but only where another hunk of the patch is, or before it.
    Overlap,
    /// The hunk is in the file, but not under its anchor.
    NotUnder,
    /// The hunk is in the file, but not at its end.
    NotEnd,
    /// The anchor is not in the file.
    NoAnchor,
    /// The anchor of lines that are only added is in the file more than once.
    AnchorAmbiguous,
    /// Lines are only added and nothing says where, or what says it is blank.
    Unanchored,
    /// The file already reads as the hunk would leave it.
    AlreadyApplied,
    /// Every file already reads as the patch would leave it.
    AllApplied,
    /// The file holds more than what the patch takes out of it.
    NotEmptied,
    /// The file reads the same afterwards.
    Same,
    /// The indentation of a new line has no counterpart in the file.
    Drift,
    /// The file was changed by somebody else and would be deleted as a whole.
    Stale,
    /// The path leads elsewhere than when the call was judged.
    Moved,
    /// The system refused.
    Failed,
}

impl Refused {
    /// Returns a refusal for `reason` alone.
    pub fn new(reason: Reason) -> Refused {
        Refused { reason, ..Refused::default() }
    }

    fn line(reason: Reason, line: usize, text: &str) -> Refused {
        Refused { line: Some(line), text: Some(text.into()), ..Refused::new(reason) }
    }

    fn of(mut self, path: &str) -> Refused {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    fn text(mut self, text: &str) -> Refused {
        self.text = Some(text.into());
        self
    }

    /// Lists at most `most` lines, counted from 0, as places.
    fn at(mut self, lines: impl Iterator<Item = usize>, most: usize) -> Refused {
        self.places = lines.take(most + 1).map(|line| line + 1).collect();
        self.more = self.places.len() > most;
        self.places.truncate(most);
        self
    }
}

/// Reads a patch of either format.
///
/// # Errors
/// Where the text stops being a patch, or that it is none.
pub fn read(text: &str) -> Result<Patch, Refused> {
    let lines = lines(text);
    let changes = if lines.iter().any(|line| envelope::begins(line)) {
        envelope::read(&lines)?
    } else {
        unidiff::read(&lines)?
    };
    if changes.is_empty() { Err(Refused::new(Reason::NoPatch)) } else { Ok(Patch { changes }) }
}

/// Returns the lines of a patch. Where its own lines end in CRLF, those of the files in it say nothing.
fn lines(text: &str) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let own = |line: &&str| envelope::begins(line) || unidiff::begins(line);
    if lines.iter().find(|line| own(line)).is_some_and(|line| line.ends_with('\r')) {
        return lines.iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    }
    lines
}

#[cfg(test)]
mod tests;
