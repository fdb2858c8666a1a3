//! Puts new text into the places found: only what the edit changes is written, everything else keeps the file's bytes.

use super::find::Place;
use super::indent::Reindent;
use crate::text;
use similar::{Algorithm, DiffOp, capture_diff, capture_diff_slices};
use std::ops::Range;

/// New bytes for a range of the file.
#[derive(Debug)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) bytes: Vec<u8>,
}

/// Returns what replaces the place: `new`, with every line that `old` has too taken from the file as it is, and with
/// the file's line endings and indentation. `kept` are lines of `old` and `new` that are known to be the same one, in
/// their order; for the others it is found out. Nothing when a new line's indentation has no counterpart.
pub(crate) fn replace(
    file: &[u8],
    endings: &Endings<'_>,
    place: &Place,
    old: &str,
    new: &str,
    kept: &[(usize, usize)],
) -> Option<Splice> {
    let found = file.get(place.range.clone())?;
    if found == old.as_bytes() && !old.contains('\n') && !new.contains('\n') {
        return Some(Splice { range: place.range.clone(), bytes: new.as_bytes().to_vec() });
    }
    let mut writer = Writer {
        out: Vec::with_capacity(new.len()),
        ending: endings.near(&place.range),
        open_end: found.last() != Some(&b'\n') && old.ends_with('\n'),
        reindent: place.reindent.as_ref(),
        last: None,
    };
    let old: Vec<_> = text::lines(old.as_bytes()).collect();
    let found: Vec<_> = text::lines(found).collect();
    let new: Vec<_> = text::lines(new.as_bytes()).collect();
    let [old_content, new_content] = [&old, &new].map(|lines| contents(lines));
    let counterparts = counterparts(&old, &found);
    for op in aligned(&old_content, &new_content, kept) {
        let paired =
            matches!(op, DiffOp::Equal { .. }) || op.old_range().len() == op.new_range().len();
        for (index, line) in new.get(op.new_range()).unwrap_or_default().iter().enumerate() {
            let at = op.old_range().start + index;
            let there = counterparts.get(at).copied().flatten().filter(|_| paired);
            if let Some(there) = there {
                writer.empty_lines(&found, &counterparts, there);
            } else if matches!(op, DiffOp::Equal { .. }) {
                // An empty line that the file does not have.
                continue;
            }
            let pair = there.and_then(|there| old.get(at).zip(found.get(there)));
            writer.line(*line, pair.map(|(old, found)| (old.0, *found)))?;
        }
    }
    let bytes = writer.finish();
    Some(Splice { range: place.range.clone(), bytes })
}

/// Returns which lines of one text are which of the other, where it is known of some.
fn aligned(old: &[&[u8]], new: &[&[u8]], kept: &[(usize, usize)]) -> Vec<DiffOp> {
    let mut ops = Vec::new();
    let (mut old_index, mut new_index) = (0, 0);
    for (old_kept, new_kept) in kept.iter().copied() {
        let (before, after) = (old_index..old_kept, new_index..new_kept);
        ops.extend(capture_diff(Algorithm::Myers, old, before, new, after));
        ops.push(DiffOp::Equal { old_index: old_kept, new_index: new_kept, len: 1 });
        (old_index, new_index) = (old_kept + 1, new_kept + 1);
    }
    let (before, after) = (old_index..old.len(), new_index..new.len());
    ops.extend(capture_diff(Algorithm::Myers, old, before, new, after));
    ops
}

type Line<'a> = (&'a [u8], &'a [u8]);

/// Returns which line of the place each given line is: they follow each other, and an empty line of one side may be
/// missing on the other.
fn counterparts(old: &[Line<'_>], found: &[Line<'_>]) -> Vec<Option<usize>> {
    let empty = |line: &Line<'_>| line.0.trim_ascii().is_empty();
    let mut at = 0;
    let counterpart = |line: &Line<'_>| {
        if !empty(line) {
            at += found.iter().skip(at).take_while(|line| empty(line)).count();
        } else if !found.get(at).is_some_and(empty) {
            return None;
        }
        at += 1;
        Some(at - 1)
    };
    old.iter().map(counterpart).collect()
}

fn contents<'a>(lines: &[Line<'a>]) -> Vec<&'a [u8]> {
    lines.iter().map(|(content, _)| *content).collect()
}

struct Writer<'a> {
    out: Vec<u8>,
    /// The ending for a new line without a counterpart: that of the line before it, at first of the lines around.
    ending: &'a [u8],
    /// Whether the place ends where the file ends without a line ending.
    open_end: bool,
    reindent: Option<&'a Reindent>,
    /// The line of the place that was written last.
    last: Option<usize>,
}

impl<'a> Writer<'a> {
    /// Writes the empty lines of the place, which nobody gave, between the line written last and the one at `there`.
    fn empty_lines(&mut self, found: &[Line<'a>], counterparts: &[Option<usize>], there: usize) {
        let from = self.last.map_or(there, |last| last + 1);
        for at in (from..there).filter(|at| !counterparts.contains(&Some(*at))) {
            for part in
                found.get(at).map(|(content, ending)| [*content, *ending]).into_iter().flatten()
            {
                self.out.extend_from_slice(part);
            }
        }
        self.last = Some(there);
    }

    /// Writes one new line; `pair` is the given line it replaces and the file's line there.
    fn line(&mut self, new: Line<'_>, pair: Option<(&[u8], Line<'a>)>) -> Option<()> {
        if let Some((_, (_, ending))) = pair
            && !ending.is_empty()
        {
            self.ending = ending;
        }
        match pair {
            Some((old, (found, _))) if old == new.0 => self.out.extend_from_slice(found),
            Some((old, (found, _))) => self.changed(new.0, old, found)?,
            None => self.added(new.0)?,
        }
        if !new.1.is_empty() {
            self.out.extend_from_slice(self.ending);
        }
        Some(())
    }

    fn added(&mut self, new: &[u8]) -> Option<()> {
        let (indent, rest) = text::indentation(new);
        match self.reindent {
            Some(_) if rest.is_empty() => {}
            Some(rule) => {
                self.out
                    .extend_from_slice(rule.apply(std::str::from_utf8(indent).ok()?)?.as_bytes());
                self.out.extend_from_slice(rest);
            }
            None => self.out.extend_from_slice(new),
        }
        Some(())
    }

    /// Writes a line whose start or end may be unchanged: those characters are the file's.
    fn changed(&mut self, new: &[u8], old: &[u8], found: &[u8]) -> Option<()> {
        if old == found {
            return self.added(new);
        }
        let cut =
            |line| if self.reindent.is_some() { text::indentation(line) } else { (&b""[..], line) };
        let ((indent, new_rest), (_, old_rest), (_, found_rest)) = (cut(new), cut(old), cut(found));
        let found_rest = text::trim_trailing(found_rest);
        let merged =
            keep_common(new_rest, old_rest, found_rest).unwrap_or_else(|| new_rest.to_vec());
        let mut line = indent.to_vec();
        line.extend_from_slice(&merged);
        self.added(&line)
    }

    fn finish(mut self) -> Vec<u8> {
        if self.open_end && self.out.ends_with(b"\n") {
            let ending = if self.out.ends_with(b"\r\n") { 2 } else { 1 };
            self.out.truncate(self.out.len() - ending);
        }
        self.out
    }
}

/// Returns `new` with the start and the end it shares with `old` taken from `found`, which reads like `old`
/// character by character, or word by word with other blanks between. Nothing when it does not.
fn keep_common(new: &[u8], old: &[u8], found: &[u8]) -> Option<Vec<u8>> {
    let [new, old, found] = [new, old, found].map(|bytes| std::str::from_utf8(bytes).ok());
    let (new, old, found) = (new?, old?.trim_end_matches([' ', '\t']), found?);
    [true, false].into_iter().find_map(|blanks| {
        let [new, old, found] = [new, old, found].map(|text| pieces(text, blanks));
        (old.len() == found.len()).then(|| merged(&new, &old, &found).concat().into_bytes())
    })
}

/// Returns the characters of a text; with `blanks`, those that stand in a row are one piece.
fn pieces(text: &str, blanks: bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = text::indentation(rest.as_bytes()).0.len();
        let (piece, after) = rest.split_at(if blanks && run > 0 { run } else { first.len_utf8() });
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn merged<'a>(new: &[&'a str], old: &[&str], found: &[&'a str]) -> Vec<&'a str> {
    let front = new.iter().zip(old).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - front;
    let ends = new.iter().rev().zip(old.iter().rev());
    let back = ends.take(room).take_while(|(a, b)| a == b).count();
    let middle = new.get(front..new.len() - back).unwrap_or_default();
    let (start, end) = (found.get(..front), found.get(old.len() - back..));
    [start.unwrap_or_default(), middle, end.unwrap_or_default()].concat()
}

/// Where the lines of a file end.
#[derive(Debug)]
pub(crate) struct Endings<'a> {
    file: &'a [u8],
    at: Vec<usize>,
}

impl<'a> Endings<'a> {
    /// Finds the line endings of `file`.
    pub(crate) fn of(file: &'a [u8]) -> Endings<'a> {
        Endings { file, at: memchr::memchr_iter(b'\n', file).collect() }
    }

    /// Returns the line ending used in the range, or after it, or before it; `\n` when there is none.
    pub(crate) fn near(&self, range: &Range<usize>) -> &'static [u8] {
        let after = self.at.partition_point(|at| *at < range.start);
        match self.at.get(after).or_else(|| self.at.last()) {
            Some(at) if *at > 0 && self.file.get(at - 1) == Some(&b'\r') => b"\r\n",
            _ => b"\n",
        }
    }
}

/// Returns the file with the splices put in, and the changed lines of the new file as `(first, last)`, from 1.
/// Lines that were only taken out leave a range whose last line is the one before its first.
pub(crate) fn apply(file: &[u8], splices: &[Splice]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut out = Vec::with_capacity(file.len());
    let mut ranges = Vec::new();
    let (mut done, mut line) = (0, 1);
    let mut rest = splices.iter().peekable();
    while let Some(first) = rest.next() {
        let start = text::line_start(file, first.range.start).max(done);
        copy(&mut out, file, done..start, &mut line);
        let mut block = Vec::new();
        block.extend_from_slice(file.get(start..first.range.start).unwrap_or_default());
        block.extend_from_slice(&first.bytes);
        let mut end = first.range.end;
        let mut stop = line_stop(file, &block, end);
        while let Some(next) = rest.next_if(|next| next.range.start < stop) {
            block.extend_from_slice(file.get(end..next.range.start).unwrap_or_default());
            block.extend_from_slice(&next.bytes);
            end = next.range.end;
            // A line is searched for its end once, however many places it has.
            if end >= stop || block.ends_with(b"\n") || block.is_empty() {
                stop = line_stop(file, &block, end);
            }
        }
        block.extend_from_slice(file.get(end..stop).unwrap_or_default());
        ranges.extend(changed(file.get(start..stop).unwrap_or_default(), &block, line));
        line += memchr::memchr_iter(b'\n', &block).count();
        out.extend_from_slice(&block);
        done = stop;
    }
    copy(&mut out, file, done..file.len(), &mut line);
    (out, join(ranges))
}

/// Returns where the lines that hold the block end in the file: at `end` when both sides end a line there.
fn line_stop(file: &[u8], block: &[u8], end: usize) -> usize {
    let starts_line = end.checked_sub(1).is_none_or(|before| file.get(before) == Some(&b'\n'));
    let whole = block.is_empty() || block.ends_with(b"\n");
    if whole && starts_line { end } else { text::line_end(file, end) }
}

fn copy(out: &mut Vec<u8>, file: &[u8], range: Range<usize>, line: &mut usize) {
    let bytes = file.get(range).unwrap_or_default();
    *line += memchr::memchr_iter(b'\n', bytes).count();
    out.extend_from_slice(bytes);
}

/// Returns the lines of `new` that differ from `old`, as [`apply`] does.
pub(crate) fn changed_lines(old: &[u8], new: &[u8]) -> Vec<(usize, usize)> {
    if old == new { Vec::new() } else { join(changed(old, new, 1)) }
}

/// Returns the lines that differ, counted in `new`, whose first line has the number `line`.
fn changed(old: &[u8], new: &[u8], line: usize) -> Vec<(usize, usize)> {
    let one = |bytes: &[u8]| memchr::memchr(b'\n', bytes).is_none_or(|at| at + 1 == bytes.len());
    if old != new && !new.is_empty() && !old.is_empty() && one(old) && one(new) {
        return vec![(line, line)];
    }
    let [old, new] =
        [old, new].map(|bytes| bytes.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>());
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let ops = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    ops.map(|op| (line + op.new_range().start, line + op.new_range().end - 1)).collect()
}

/// Joins ranges that touch.
fn join(ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if before.1 >= before.0 && last >= first && first <= before.1 + 1 => {
                before.1 = before.1.max(last)
            }
            _ => joined.push((first, last)),
        }
    }
    joined
}
