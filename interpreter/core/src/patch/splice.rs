//! Makes the new content of one file from its hunks: only the lines a hunk changes are written, everything else keeps
//! the file's bytes.

use super::hunk::{Hunk, Line, Sign};
use super::place::{File, Placer, Spot};
use super::{Reason, Refused};
use crate::edit::{Endings, Place, replace};
use crate::spec::{EditLimits, Matcher};
use crate::text::{self, Kind};
use std::ops::Range;

/// What hunks made of a file.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) bytes: Vec<u8>,
    /// Where each hunk landed, in their order.
    pub(super) landings: Vec<Landing>,
    /// Lines of the file before, from 0, and how many lines took their place.
    pub(super) shifts: Vec<(Range<usize>, usize)>,
}

/// Where one hunk landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The id of the matcher that found it; nothing where an anchor, a number or a mark said where lines are added.
    pub matcher: Option<String>,
    /// The changed lines of the new content, first and last, from 1. Where lines were only taken out, the last is one
    /// less than the first.
    pub lines: Vec<(usize, usize)>,
}

/// Applies hunks to a file.
pub(super) fn apply(
    original: &[u8],
    hunks: &[Hunk],
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Result<Made, Refused> {
    check(original, hunks, limits)?;
    let marked =
        hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with('\u{feff}'));
    let bom = if original.starts_with(text::BOM) && !marked { text::BOM.len() } else { 0 };
    let file = File::new(original.get(bom..).unwrap_or_default());
    let placed = Placer::new(&file, matchers, limits).place(hunks)?;
    let endings = Endings::of(file.bytes);
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|index| placed.get(*index).map(|(_, spot)| spot.core.start));
    let mut made = Made {
        bytes: original.get(..bom).unwrap_or_default().to_vec(),
        landings: vec![Landing { matcher: None, lines: Vec::new() }; placed.len()],
        shifts: Vec::new(),
    };
    let (mut done, mut put, mut taken) = (0, 0, 0);
    for index in order {
        let Some((found, spot)) = placed.get(index) else { continue };
        let core = Core::of(&found.hunk);
        let range = file.start(spot.core.start)..file.start(spot.core.end);
        let bytes =
            written(&file, &endings, &core, spot, found.matcher).ok_or_else(|| Refused {
                hunk: Some(index + 1),
                hunks: hunks.len(),
                ..Refused::new(Reason::Drift).at(std::iter::once(spot.first), 1)
            })?;
        made.bytes.extend_from_slice(file.bytes.get(done..range.start).unwrap_or_default());
        let crlf = bytes.ends_with(b"\r\n") && !as_it_stands(&file, found.matcher);
        let bytes = ended(&file, &endings, &core, spot, (bytes, crlf), &mut made.bytes);
        made.bytes.extend_from_slice(&bytes);
        if let Some(landing) = made.landings.get_mut(index) {
            landing.matcher = found.matcher.map(|matcher| matcher.id.clone());
            landing.lines = core.changed(spot.core.start + 1 + put - taken);
        }
        made.shifts.push((spot.core.clone(), core.new_lines()));
        put += core.new_lines();
        taken += spot.core.len();
        done = range.end;
    }
    made.bytes.extend_from_slice(file.bytes.get(done..).unwrap_or_default());
    Ok(made)
}

fn check(file: &[u8], hunks: &[Hunk], limits: &EditLimits) -> Result<(), Refused> {
    let added = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.sign == Sign::Added);
    let size: usize = added.clone().map(|line| line.text.len() + 2).sum();
    let reason = match text::kind(file, false) {
        _ if size.saturating_add(file.len()) > limits.max_bytes => Reason::TooLarge,
        Kind::Binary => Reason::Binary,
        Kind::Wide => Reason::Encoding,
        Kind::Foreign(_) if !added.clone().all(|line| line.text.is_ascii()) => Reason::Encoding,
        Kind::Foreign(_) | Kind::Text => return Ok(()),
    };
    Err(Refused::new(reason))
}

/// What of a hunk lies between its context.
struct Core<'h> {
    hunk: &'h Hunk,
    lines: &'h [Line],
}

impl<'h> Core<'h> {
    fn of(hunk: &'h Hunk) -> Core<'h> {
        let (before, after) = hunk.context();
        let lines = hunk.lines.get(before..hunk.lines.len() - after).unwrap_or_default();
        Core { hunk, lines }
    }

    fn text(&self, without: Sign) -> String {
        let lines = self.lines.iter().filter(|line| line.sign != without);
        lines.flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }

    /// Returns the lines that stay: which of those before, and which of those after.
    fn kept(&self) -> Vec<(usize, usize)> {
        let (mut old, mut new) = (0, 0);
        let mut kept = Vec::new();
        for line in self.lines {
            if line.sign == Sign::Kept {
                kept.push((old, new));
            }
            old += usize::from(line.sign != Sign::Added);
            new += usize::from(line.sign != Sign::Removed);
        }
        kept
    }

    fn new_lines(&self) -> usize {
        self.lines.iter().filter(|line| line.sign != Sign::Removed).count()
    }

    /// Returns the lines it changes, where its first line has the number `line`.
    fn changed(&self, line: usize) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        let mut at = line;
        let mut within = false;
        for each in self.lines {
            if each.sign != Sign::Kept && !within {
                ranges.push((at, at - 1));
            }
            within = each.sign != Sign::Kept;
            if each.sign == Sign::Added
                && let Some(last) = ranges.last_mut()
            {
                last.1 = at;
            }
            at += usize::from(each.sign != Sign::Removed);
        }
        if ranges.is_empty() {
            // Only the ending of its last line differs.
            ranges.push((at.saturating_sub(1), at.saturating_sub(1)));
        }
        ranges
    }
}

/// Returns what takes the place of the lines a hunk changes. Where its context is the file's byte for byte it is
/// written as it stands; otherwise with the file's line endings, indentation and characters.
fn written(
    file: &File<'_>,
    endings: &Endings<'_>,
    core: &Core<'_>,
    spot: &Spot,
    matcher: Option<&Matcher>,
) -> Option<Vec<u8>> {
    let (old, new) = (core.text(Sign::Added), core.text(Sign::Removed));
    if as_it_stands(file, matcher) {
        return Some(new.into_bytes());
    }
    if spot.reindent.as_ref().is_some_and(|rule| rule.doubts(&core.hunk.made())) {
        return None;
    }
    let range = file.start(spot.core.start)..file.start(spot.core.end);
    let place = Place { range, reindent: spot.reindent.clone() };
    // Lines that are only added bring an ending of their own where the patch has one.
    let new = if old.is_empty() { new.replace("\r\n", "\n") } else { new };
    replace(file.bytes, endings, &place, &old, &new, &core.kept()).map(|splice| splice.bytes)
}

/// Returns whether a hunk is written as it stands in the patch.
fn as_it_stands(file: &File<'_>, matcher: Option<&Matcher>) -> bool {
    matcher.is_some_and(|matcher| matcher.fold.is_empty()) || file.bytes.is_empty()
}

/// Returns the bytes with the line ending that the end of the file has afterwards: as the hunk says, otherwise as it is.
/// `before` gets the ending that the line before needs when lines come after an open last line.
fn ended(
    file: &File<'_>,
    endings: &Endings<'_>,
    core: &Core<'_>,
    spot: &Spot,
    (mut bytes, crlf): (Vec<u8>, bool),
    before: &mut Vec<u8>,
) -> Vec<u8> {
    if spot.core.end < file.lines() || core.lines.is_empty() {
        return bytes;
    }
    let end = file.bytes.len();
    let open_now = !file.bytes.is_empty() && !file.bytes.ends_with(b"\n");
    let ending = endings.near(&(end..end));
    let comes_after_open = open_now && file.start(spot.core.start) == end;
    if comes_after_open && !bytes.is_empty() {
        before.extend_from_slice(ending);
    }
    let open = core.hunk.open_new || open_now && !core.hunk.open_old;
    if bytes.ends_with(b"\n") == open && !bytes.is_empty() {
        if open {
            // Of a line that is written as it stands, a carriage return is text.
            bytes.truncate(bytes.len() - if crlf { 2 } else { 1 });
        } else {
            bytes.extend_from_slice(ending);
        }
    }
    bytes
}
