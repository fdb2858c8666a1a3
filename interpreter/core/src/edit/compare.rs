//! Small comparisons for the model to read: what one text has and another has not. They inform; nothing is edited by them.

use crate::spec::EditLimits;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompareLine {
    /// ` ` for both, `-` for what only the first text has, `+` for what only the second has.
    pub sign: char,
    /// Its number in the second text, from 1.
    pub line: Option<usize>,
    /// The line, shortened.
    pub text: String,
}

/// Compares two pieces line by line; the first line of `new` has the number `first`.
pub(super) fn compare(
    old: &[&[u8]],
    new: &[&[u8]],
    first: usize,
    limits: &EditLimits,
) -> Vec<CompareLine> {
    let line = |sign, line: Option<usize>, bytes: Option<&&[u8]>| CompareLine {
        sign,
        line: line.map(|line| first + line),
        text: shown(bytes.copied().unwrap_or_default(), limits.line_chars),
    };
    let mut lines = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            lines.extend(op.new_range().map(|at| line(' ', Some(at), new.get(at))));
        } else {
            lines.extend(op.old_range().map(|at| line('-', None, old.get(at))));
            lines.extend(op.new_range().map(|at| line('+', Some(at), new.get(at))));
        }
    }
    lines
}

/// Returns the lines in which two whole texts differ, at most as many as the limits say, and how many are left out.
pub fn differences(old: &[u8], new: &[u8], limits: &EditLimits) -> (Vec<CompareLine>, usize) {
    let [old, new] = [old, new].map(|bytes| bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>());
    let mut lines = compare(&old, &new, 1, limits);
    lines.retain(|line| line.sign != ' ');
    let left = lines.len().saturating_sub(limits.diff_lines);
    lines.truncate(limits.diff_lines);
    (lines, left)
}

/// Returns a line as it is shown from the character `from` on.
pub(super) fn excerpt(line: &[u8], from: usize, most: usize) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(from).and_then(|(at, _)| text.get(at..)) {
        Some(rest) if from > 0 => format!("\u{2026}{}", shown(rest.as_bytes(), most)),
        _ => shown(line, most),
    }
}

/// Returns a line as it is shown, without its ending and not longer than `most` characters.
fn shown(line: &[u8], most: usize) -> String {
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}\u{2026}", line.get(..at).unwrap_or_default()),
        None => line.into_owned(),
    }
}
