//! What "always" would store of a call, gathered while the call is judged: what was asked about and no more, and
//! nothing at all where an answer given now says nothing about the next time.

use super::always::{self, Looked};
use super::paths::{Located, Roots, below_root};
use super::program::Grammar;
use super::{Approval, wildcard};
use crate::shell::Line;
use crate::spec::{FileAction, Spec};
use std::path::Path;

/// The rule name of paths outside the project.
pub(super) const OUTSIDE: &str = "external_directory";

/// What has been asked about so far.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// Positions of the line's commands that no rule allows.
    commands: Vec<usize>,
    /// What is to be stored about files.
    files: Vec<Approval>,
    /// Something was asked about that has to be asked about each time.
    never: bool,
}

impl Offers {
    /// Notes that something has to be asked about each time.
    pub(super) fn never(&mut self) {
        self.never = true;
    }

    /// Returns whether nothing will be stored.
    pub(super) fn are_none(&self) -> bool {
        self.never
    }

    /// Notes a command of the line that was asked about.
    pub(super) fn command(&mut self, index: usize) {
        self.commands.push(index);
    }

    /// Notes a file that was asked about, or a directory with all `below` it; without a pattern there is none to store.
    pub(super) fn file(&mut self, tool: &str, pattern: Option<String>, below: bool) {
        let Some(pattern) = pattern else { return self.never() };
        let within = below.then(|| format!("{pattern}/**"));
        let patterns = [Some(pattern), within].into_iter().flatten();
        self.files.extend(patterns.map(|pattern| Approval { tool: tool.into(), pattern }));
    }

    /// Returns what is to be stored; empty where nothing can be.
    pub(super) fn approvals(
        self,
        spec: &Grammar<'_>,
        whole: Option<&(Line, Vec<Looked>)>,
    ) -> Vec<Approval> {
        let asked = |index| self.commands.contains(&index);
        let commands = match whole.filter(|_| !self.commands.is_empty() && !self.never) {
            Some((line, looked)) => always::of(spec, line, looked, asked),
            None => Some(Vec::new()),
        };
        let Some(mut found) = commands.filter(|_| !self.never) else { return Vec::new() };
        for approval in self.files {
            if !found.contains(&approval) {
                found.push(approval);
            }
        }
        found
    }
}

/// Returns the pattern of a file, or of a directory that may be used with all `below` it; `None` for what everybody's or the
/// program's own safety hangs on: the home directory, what holds it, a system's directories, what tools run from.
pub(super) fn pattern(
    spec: &Spec,
    roots: &Roots,
    located: &Located,
    action: FileAction,
    below: bool,
) -> Option<String> {
    let path = &located.path;
    let known = |name: &str| spec.wrappers.landmarks.iter().any(|known| known == name);
    let named = |part: &std::ffi::OsStr| known(&part.to_string_lossy());
    let holds =
        |known: &String| known.starts_with('/') && below_root(path, Path::new(known)).is_some();
    let last = below && path.file_name().is_some_and(named);
    let within = action != FileAction::Read && path.iter().any(named);
    let text = located.texts.last()?;
    if roots.guards(path) || spec.wrappers.landmarks.iter().any(holds) || last || within {
        return None;
    }
    Some(wildcard::escape(text))
}
