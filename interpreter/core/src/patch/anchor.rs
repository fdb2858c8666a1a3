//! What an anchor (`@@ def main():`) says of a file: the lines it names, and how far what belongs to each of them
//! reaches. It places no hunk.

use super::place::File;
use super::{Reason, Refused};
use crate::text;

/// A line that an anchor names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// The line, from 0.
    pub(super) line: usize,
    /// The line after the last one that belongs to it.
    pub(super) end: usize,
}

/// How a line may be an anchor's, the plainest way first.
const WAYS: [fn(&str, &str) -> bool; 3] = [
    |line, anchor| line.trim_end() == anchor.trim_end(),
    |line, anchor| line.trim() == anchor.trim(),
    |line, anchor| {
        let rest = line.trim().strip_prefix(anchor.trim());
        rest.is_some_and(|rest| !rest.starts_with(|one: char| one.is_alphanumeric() || one == '_'))
    },
];

/// Returns the lines that the last of `anchors` names, each within what the one before it names.
///
/// # Errors
/// An anchor that is not in the file.
pub(super) fn scopes(file: &File<'_>, anchors: &[String]) -> Result<Vec<Scope>, Refused> {
    let mut scopes = Vec::new();
    for anchor in anchors {
        let within: Vec<Scope> = match scopes.as_slice() {
            [] => vec![Scope { line: 0, end: file.lines() }],
            [..] => scopes
                .iter()
                .map(|scope: &Scope| Scope { line: scope.line + 1, ..*scope })
                .collect(),
        };
        let rest = within.iter().map(|scope| scope.line).min().unwrap_or(0)..file.lines();
        let ranges: Vec<_> = within.iter().map(|scope| scope.line..scope.end).collect();
        let named = named(file, anchor, &ranges);
        let named = if named.is_empty() { self::named(file, anchor, &[rest]) } else { named };
        if named.is_empty() {
            return Err(Refused::new(Reason::NoAnchor).text(anchor));
        }
        scopes = named.iter().map(|line| Scope { line: *line, end: end(file, *line) }).collect();
    }
    Ok(scopes)
}

fn named(file: &File<'_>, anchor: &str, ranges: &[std::ops::Range<usize>]) -> Vec<usize> {
    let found = WAYS.iter().map(|is| {
        let lines = ranges.iter().flat_map(Clone::clone);
        lines.filter(|line| is(&String::from_utf8_lossy(file.line(*line)), anchor)).collect()
    });
    found.into_iter().find(|lines: &Vec<usize>| !lines.is_empty()).unwrap_or_default()
}

/// Returns the line after the last one that is indented deeper than `line`, which a line at its own depth that begins
/// with a bracket does not end; where no such line follows, the next empty one.
fn end(file: &File<'_>, line: usize) -> usize {
    let depth = |line: usize| text::indentation(file.line(line)).0.len();
    let blank = |line: usize| file.line(line).trim_ascii().is_empty();
    let own = depth(line);
    let deeper = |line: usize| !blank(line) && depth(line) > own;
    let bracket = |line: usize| {
        let first = file.line(line).trim_ascii_start().first();
        let goes_on = (line + 1..file.lines()).find(|next| !blank(*next)).is_some_and(deeper);
        depth(line) == own && first.is_some_and(u8::is_ascii_punctuation) && goes_on
    };
    let mut end = line + 1;
    for next in line + 1..file.lines() {
        if deeper(next) || !blank(next) && bracket(next) {
            end = next + 1;
        } else if !blank(next) {
            break;
        }
    }
    if end > line + 1 {
        return end;
    }
    (line + 1..file.lines()).find(|next| blank(*next)).unwrap_or(file.lines())
}
