//! What a refused edit was probably meant for: the region most like the searched text, and the first difference.
//! It only informs; nothing is ever edited by it. The time is linear in the file.

use super::compare::{CompareLine, compare, excerpt};
use super::given;
use super::view::{Folding, View};
use crate::spec::{EditLimits, Fold, Matcher};
use crate::text;
use serde::Serialize;
use std::collections::HashMap;

/// How many positions of one repeated line are looked at.
const REPEATS: usize = 4;

/// How many lines are shown before the first difference.
const BEFORE: usize = 3;

/// How many letters and digits a line has that says where it is; where no line has, one does.
const TELLING: usize = 3;

/// Below how many bytes a line is taken apart in smaller pieces.
const SHORT: usize = 8;

/// How alike, of 100, a line must be to be shown when no line is the same.
const LIKE: usize = 40;

/// The region most like a searched text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Near {
    /// Its first line, from 1.
    pub line: usize,
    /// What lies around the first difference, in both: at most as many lines of each as the limits say.
    pub diff: Vec<CompareLine>,
    /// The number of the first line that differs, from 1.
    pub differs: usize,
    /// What differs there.
    pub difference: Difference,
    /// That line as the file has it, shortened; nothing when the file ends before.
    pub found: Option<String>,
    /// That line as it was given, shortened.
    pub given: String,
}

/// The first difference between a given line and the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The given line starts with a line number that the file does not have.
    LineNumber,
    /// One side indents with tabs, the other with spaces.
    Tabs,
    /// The depth of the indentation.
    Indentation,
    /// Blanks at the end of the line.
    TrailingBlanks,
    /// Blanks within the line.
    Blanks,
    /// Characters that look alike.
    Alike,
    /// Escapes.
    Escapes,
    /// Upper and lower case.
    Case,
    /// The words themselves.
    Text,
    /// The file ends before this line.
    End,
    /// No line differs: the lines are there, but not so that they can be told apart from their surroundings.
    None,
}

/// Returns the region of `file` most like `old`, when there is one worth showing.
pub(crate) fn nearest(
    file: &[u8],
    old: &str,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Option<Near> {
    let marks =
        table(matchers, Fold::Numbers).map(|matcher| matcher.marks.as_slice()).unwrap_or_default();
    let alike = table(matchers, Fold::Alike).map(Folding::of).unwrap_or_default();
    let view = View::of_file(file, &alike);
    let lines: Vec<_> = text::lines(view.text()).map(|(content, _)| key(content)).collect();
    // A number alone is a line as likely as the number of an empty one.
    let unnumbered = |line| {
        let rest = given::split_number(line, marks).map(|(_, rest)| rest);
        rest.filter(|rest| !rest.is_empty()).unwrap_or(line)
    };
    let wanted: Vec<_> = old.lines().map(|line| plain(unnumbered(line), &alike)).collect();
    let start = by_votes(&lines, &wanted, TELLING)
        .or_else(|| by_pieces(&lines, &wanted))
        .or_else(|| by_votes(&lines, &wanted, 1))?;
    let found: Vec<_> =
        text::lines(file).skip(start).map(|(content, _)| content).take(wanted.len()).collect();
    let given: Vec<_> = old.lines().collect();
    let first = (0..given.len())
        .find(|at| found.get(*at).copied() != given.get(*at).map(|line| line.as_bytes()));
    let at = first.unwrap_or(0);
    let line = given.get(at).copied().unwrap_or_default();
    let difference = match (first, found.get(at)) {
        (None, _) => Difference::None,
        (_, None) => Difference::End,
        (_, Some(found)) => {
            classify(line, &String::from_utf8_lossy(found), matchers, marks, &alike)
        }
    };
    let from = beginning(line, found.get(at).copied().unwrap_or_default(), limits.line_chars);
    let short = |line: &[u8]| excerpt(line, from, limits.line_chars);
    Some(Near {
        line: start + 1,
        diff: compared(&given, &found, at, start, limits),
        differs: start + at + 1,
        difference,
        found: found.get(at).map(|line| short(line)),
        given: short(line.as_bytes()),
    })
}

/// Returns the character from which two lines are shown, so that where they differ is among the `most` shown.
fn beginning(given: &str, found: &[u8], most: usize) -> usize {
    let found = String::from_utf8_lossy(found);
    let same = given.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    if same > most / 2 { same - most / 4 } else { 0 }
}

/// Compares the lines around the one at `at`; the region begins at line `start` of the file, both from 0.
fn compared(
    given: &[&str],
    found: &[&[u8]],
    at: usize,
    start: usize,
    limits: &EditLimits,
) -> Vec<CompareLine> {
    let from = at.saturating_sub(BEFORE.min(limits.near_lines / 2));
    let given: Vec<&[u8]> =
        given.iter().skip(from).take(limits.near_lines).map(|line| line.as_bytes()).collect();
    let found: Vec<&[u8]> = found.iter().skip(from).take(limits.near_lines).copied().collect();
    compare(&given, &found, start + from + 1, limits)
}

fn table(matchers: &[Matcher], fold: Fold) -> Option<&Matcher> {
    matchers.iter().find(|matcher| matcher.fold.contains(&fold))
}

fn plain(line: &str, alike: &Folding) -> Vec<u8> {
    key(View::of_given(line.as_bytes(), alike).text())
}

/// Returns a line in lower case without blanks: lines that differ only in these are the same here.
fn key(line: &[u8]) -> Vec<u8> {
    line.iter().filter(|byte| !byte.is_ascii_whitespace()).map(u8::to_ascii_lowercase).collect()
}

/// Returns the start for which most lines stand where they were given, long lines counting more, of lines with at
/// least so many letters and digits.
fn by_votes(lines: &[Vec<u8>], wanted: &[Vec<u8>], least: usize) -> Option<usize> {
    let mut at: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| tells(line, least)) {
        let places = at.entry(line).or_default();
        if places.len() < REPEATS {
            places.push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        for given in at.get(line.as_slice()).into_iter().flatten() {
            if let Some(start) = index.checked_sub(*given) {
                *votes.entry(start).or_default() += line.len().min(40);
            }
        }
    }
    votes
        .into_iter()
        .max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start)))
        .map(|(start, _)| start)
}

fn tells(line: &[u8], least: usize) -> bool {
    line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count() >= least
}

/// Returns the start for which the file's line is most like the longest given line, by the pieces of three bytes, or
/// two of a short one, that they share.
fn by_pieces(lines: &[Vec<u8>], wanted: &[Vec<u8>]) -> Option<usize> {
    let (index, longest) =
        wanted.iter().enumerate().max_by_key(|(index, line)| (line.len(), usize::MAX - index))?;
    let size = if longest.len() < SHORT { 2 } else { 3 };
    // A piece is known by 16 bits of it: that two are taken for one now and then does not matter here.
    let slot = |piece: &[u8]| {
        let bits = piece.iter().fold(0_usize, |bits, byte| (bits << 5) ^ usize::from(*byte));
        bits & 0xffff
    };
    let mut known = vec![false; 1 << 16];
    for piece in longest.windows(size) {
        if let Some(known) = known.get_mut(slot(piece)) {
            *known = true;
        }
    }
    let pieces = known.iter().filter(|known| **known).count();
    let likeness = |line: &[u8]| {
        let shared =
            line.windows(size).filter(|piece| known.get(slot(piece)) == Some(&true)).count();
        shared.min(pieces) * 200 / (line.windows(size).len() + pieces).max(1)
    };
    let scored = lines.iter().enumerate().map(|(at, line)| (likeness(line), usize::MAX - at));
    let (score, from_end) = scored.max()?;
    (score >= LIKE).then(|| (usize::MAX - from_end).saturating_sub(index))
}

fn classify(
    given: &str,
    found: &str,
    matchers: &[Matcher],
    marks: &[String],
    alike: &Folding,
) -> Difference {
    let unnumbered = given::split_number(given, marks).map(|(_, rest)| rest.trim());
    let (given_indent, _) = text::indentation(given.as_bytes());
    let (found_indent, _) = text::indentation(found.as_bytes());
    let [given, found] = [given, found].map(str::trim);
    let unescaped =
        table(matchers, Fold::Escapes).and_then(|matcher| given::read(given, "", matcher));
    let same = |fold: fn(&str) -> String| fold(given) == fold(found);
    if unnumbered == Some(found) {
        Difference::LineNumber
    } else if given == found {
        by_indent(given_indent, found_indent)
    } else if unescaped.is_some_and(|text| text.old == found) {
        Difference::Escapes
    } else if same(|line| line.split_whitespace().collect()) {
        Difference::Blanks
    } else if same(str::to_lowercase) {
        Difference::Case
    } else if plain(given, alike) == plain(found, alike) {
        Difference::Alike
    } else {
        Difference::Text
    }
}

fn by_indent(given: &[u8], found: &[u8]) -> Difference {
    match (given == found, given.contains(&b'\t') == found.contains(&b'\t')) {
        (true, _) => Difference::TrailingBlanks,
        (false, true) => Difference::Indentation,
        (false, false) => Difference::Tabs,
    }
}
