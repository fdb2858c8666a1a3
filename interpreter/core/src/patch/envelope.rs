//! The envelope format: `*** Begin Patch`, a section for each file, `*** End Patch`. It reads, and looks at no file.

use super::hunk::{Hunk, Line, Sign, head};
use super::{Action, Change, Reason, Refused};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const MOVE: &str = "*** Move to:";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";

/// Returns whether a line begins a patch of this format, or a file's section of one.
pub(super) fn begins(line: &str) -> bool {
    line.trim_end() == BEGIN || [ADD, DELETE, UPDATE].iter().any(|head| line.starts_with(head))
}

/// Reads every envelope among the lines; what stands around them is left out.
pub(super) fn read(lines: &[&str]) -> Result<Vec<Change>, Refused> {
    let bare = !lines.iter().any(|line| line.trim_end() == BEGIN);
    let mut reader = Reader { changes: Vec::new(), within: false };
    for (at, line) in lines.iter().enumerate() {
        match line.trim_end() {
            BEGIN => reader.within = true,
            END => reader.within = false,
            _ if names_again(lines, at) => {}
            _ => {
                reader.within |= bare && begins(line);
                if reader.within {
                    reader.line(line, at + 1)?;
                }
            }
        }
    }
    reader.changes.into_iter().map(finished).collect()
}

/// Returns whether a line is one of the two with which a unified diff names a file, right after its section's head:
/// writers mix the formats.
fn names_again(lines: &[&str], at: usize) -> bool {
    let is = |at: Option<usize>, heads: &[&str]| {
        let line = at.and_then(|at| lines.get(at));
        line.is_some_and(|line| heads.iter().any(|head| line.starts_with(head)))
    };
    let pair = |first: Option<usize>| {
        is(first.and_then(|first| first.checked_sub(1)), &[UPDATE, MOVE])
            && is(first, &["--- "])
            && is(first.map(|first| first + 1), &["+++ "])
    };
    pair(Some(at)) || pair(at.checked_sub(1))
}

struct Reader {
    changes: Vec<Change>,
    within: bool,
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) -> Result<(), Refused> {
        for (head, action) in [
            (ADD, Action::Add),
            (DELETE, Action::Delete { unseen: true }),
            (UPDATE, Action::Update),
        ] {
            if let Some(path) = line.strip_prefix(head) {
                let path = named(path, number, line)?;
                self.changes.push(Change {
                    path,
                    action,
                    hunks: Vec::new(),
                    executable: None,
                    original: false,
                });
                return Ok(());
            }
        }
        let bad = || Refused::line(Reason::BadLine, number, line);
        let Some(change) = self.changes.last_mut() else {
            return if line.trim().is_empty() { Ok(()) } else { Err(bad()) };
        };
        let read = match change.action {
            Action::Add => return added(change, line, number),
            Action::Update if line.starts_with(MOVE) => {
                change.action = Action::Move(named(&line[MOVE.len()..], number, line)?);
                true
            }
            Action::Update | Action::Move(_) => updated(change, line),
            Action::Delete { .. } | Action::Copy(_) => line.trim().is_empty(),
        };
        if read { Ok(()) } else { Err(bad().of(&change.path)) }
    }
}

fn named(path: &str, number: usize, line: &str) -> Result<String, Refused> {
    match path.trim() {
        "" => Err(Refused::line(Reason::BadPath, number, line)),
        path => Ok(path.to_owned()),
    }
}

/// Takes in a line of a new file. An empty line without its sign counts where signed ones follow.
fn added(change: &mut Change, line: &str, number: usize) -> Result<(), Refused> {
    let end = line.trim_end() == END_OF_FILE;
    let text = match line.strip_prefix('+') {
        Some(text) => text,
        None if line.trim().is_empty() => "",
        None => {
            let marked = change.hunks.last_mut().is_some_and(|hunk| hunk.marks_open(line));
            let fine = marked || end;
            let bad = || Refused::line(Reason::BadAdd, number, line).of(&change.path);
            return if fine { Ok(()) } else { Err(bad()) };
        }
    };
    if change.hunks.is_empty() {
        change.hunks.push(Hunk::default());
    }
    let bare = !line.starts_with('+');
    let line = Line { sign: Sign::Added, text: text.to_owned(), bare };
    change.hunks.iter_mut().for_each(|hunk| hunk.lines.push(line.clone()));
    Ok(())
}

/// Takes in a line of a changed file. Returns whether it can stand there.
fn updated(change: &mut Change, line: &str) -> bool {
    if let Some(head) = head(line) {
        // Anchors one below the other belong to one hunk.
        if change.hunks.last().is_none_or(|hunk| !hunk.lines.is_empty() || hunk.anchors.is_empty())
        {
            change.hunks.push(Hunk::default());
        }
        let Some(hunk) = change.hunks.last_mut() else { return false };
        hunk.said = head.numbers.map(|(at, old, _)| (at, old));
        hunk.anchors.extend(Some(head.anchor.to_owned()).filter(|text| !text.trim().is_empty()));
        return true;
    }
    if change.hunks.last().is_none_or(|hunk| hunk.end && !line.trim().is_empty()) {
        change.hunks.push(Hunk::default());
    }
    let Some(hunk) = change.hunks.last_mut() else { return false };
    if line.trim_end() == END_OF_FILE {
        hunk.end = true;
    } else if !hunk.end && !hunk.marks_open(line) {
        let Some(line) = Line::read(line) else { return false };
        hunk.lines.push(line);
    }
    true
}

fn finished(mut change: Change) -> Result<Change, Refused> {
    match change.action {
        Action::Add => {
            for hunk in &mut change.hunks {
                *hunk = hunk.trimmed().unwrap_or_else(|| hunk.clone());
            }
        }
        Action::Update | Action::Move(_) => change.hunks.retain(|hunk| !hunk.is_empty()),
        Action::Delete { .. } | Action::Copy(_) => {}
    }
    let nothing = change.action == Action::Update && change.hunks.is_empty();
    if nothing { Err(Refused::new(Reason::NoChange).of(&change.path)) } else { Ok(change) }
}
