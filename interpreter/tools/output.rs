//! What of a command's output is kept: the start and the end in memory, all of it up to a limit in a file that is made
//! once that is more. It never holds more than its limits and one unfinished line, however much comes.

use super::terminal::Terminal;
use crate::outputs::Outputs;
use lembas_core::spec::BashLimits;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// How much is kept where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Bytes of the start in memory.
    pub(super) head: usize,
    /// Bytes of the end in memory.
    pub(super) tail: usize,
    /// Bytes in the file.
    pub(super) file: u64,
}

impl From<&BashLimits> for Sizes {
    fn from(limits: &BashLimits) -> Sizes {
        Sizes { head: limits.head_bytes, tail: limits.tail_bytes, file: limits.file_bytes }
    }
}

/// Keeps an output. Places in it count bytes of its plain text from the start.
#[derive(Debug)]
pub(super) struct Output {
    sizes: Sizes,
    outputs: Arc<Outputs>,
    terminal: Terminal,
    text: Text,
}

#[derive(Debug, Default)]
struct Text {
    head: String,
    tail: String,
    /// The place where the tail begins.
    tail_at: u64,
    full: Full,
}

/// The file of all that came.
#[derive(Debug, Default)]
enum Full {
    /// It was not needed yet.
    #[default]
    None,
    /// It holds the text up to this place.
    Kept(PathBuf, File, u64),
    /// It does, and nothing will be added.
    Closed(PathBuf, u64),
    /// It could not be made or written.
    Lost,
}

/// A part of an output, as far as it was kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The start, or all of it.
    pub(super) head: String,
    /// The end; empty when nothing was left out.
    pub(super) tail: String,
    /// Bytes left out between the two.
    pub(super) left: u64,
    /// The file with all of the output, if it is more than is kept in memory, and where in it what is missing begins.
    pub(super) file: Option<PathBuf>,
    /// How much of the output the file holds; more came if that is less than all.
    pub(super) whole: bool,
    /// Whether bytes that are not UTF-8 were replaced, anywhere in the output.
    pub(super) foreign: bool,
    /// Bytes of binary lines that are not shown, anywhere in the output.
    pub(super) binary: u64,
}

impl Output {
    /// Makes an empty output that keeps so much; `outputs` makes the file.
    pub(super) fn new(sizes: Sizes, outputs: Arc<Outputs>) -> Output {
        Output { sizes, outputs, terminal: Terminal::default(), text: Text::default() }
    }

    /// Takes in the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Output { sizes, outputs, terminal, text } = self;
        terminal.push(bytes, &mut |part| text.keep(part, *sizes, outputs));
    }

    /// Takes in what is left of an unfinished line: nothing more will come.
    pub(super) fn finish(&mut self) {
        let Output { sizes, outputs, terminal, text } = self;
        terminal.finish(&mut |part| text.keep(part, *sizes, outputs));
        text.close(sizes.file);
    }

    /// Returns the place behind the last line that came.
    pub(super) fn end(&self) -> u64 {
        self.text.end()
    }

    /// Returns what came from a place on and the line that is not ended yet: both ends of it where it is much.
    pub(super) fn since(&mut self, place: u64) -> Kept {
        let (sizes, text) = (self.sizes, &mut self.text);
        let (end, place) = (text.end(), place.min(text.end()));
        let unfinished = self.terminal.unfinished();
        let both = length(sizes.head) + length(sizes.tail);
        let (mut head, mut tail, mut left) = (String::new(), String::new(), 0);
        if end - place <= both {
            head = text.part(place, end, &self.outputs);
        }
        if length(head.len()) < end - place {
            tail = text.part(end.saturating_sub(length(sizes.tail)).max(place), end, &self.outputs);
            let to = (place + length(sizes.head)).min(end - length(tail.len()));
            head = text.part(place, to, &self.outputs);
            whole_lines(&mut head, &mut tail);
            left = end - place - length(head.len()) - length(tail.len());
        }
        if left == 0 { &mut head } else { &mut tail }.push_str(&unfinished);
        let (file, whole) = text.file(sizes.file, left > 0);
        let Terminal { foreign, binary, .. } = self.terminal;
        Kept { head, tail, left, file, whole, foreign, binary }
    }

    /// Returns whether what came from a place on, as far as it is in memory, holds a text.
    pub(super) fn holds(&self, place: u64, wanted: &str) -> bool {
        let text = self.late(place, self.sizes.tail) + &self.terminal.unfinished();
        text.contains(wanted)
    }

    /// Returns the last whole lines from a place on, at most so many bytes of them.
    pub(super) fn last(&self, place: u64, most: usize) -> String {
        let text = self.late(place, most);
        if length(text.len()) == self.end() - place {
            return text;
        }
        text.split_once('\n').map_or(text.clone(), |(_, lines)| lines.to_owned())
    }

    /// Returns what came last, from a place on.
    fn late(&self, place: u64, most: usize) -> String {
        let end = self.end();
        self.text.part(place.max(end.saturating_sub(length(most))).min(end), end, &self.outputs)
    }
}

impl Text {
    fn end(&self) -> u64 {
        self.tail_at + length(self.tail.len())
    }

    fn keep(&mut self, text: &str, sizes: Sizes, outputs: &Outputs) {
        let room = if self.tail_at == length(self.head.len()) && self.tail.is_empty() {
            sizes.head - self.head.len()
        } else {
            0
        };
        let (head, rest) = text.split_at(floor(text, room));
        self.head.push_str(head);
        self.tail_at += length(head.len());
        self.tail.push_str(rest);
        if self.tail.len() > 2 * sizes.tail {
            let at = ceil(&self.tail, self.tail.len() - sizes.tail);
            self.write(at, sizes.file, Some(outputs));
            self.tail.drain(..at);
            self.tail_at += length(at);
        }
    }

    /// Brings the file up to `at` in the tail. Without `outputs` none is made.
    fn write(&mut self, at: usize, most: u64, outputs: Option<&Outputs>) {
        if let (Full::None, Some(outputs)) = (&self.full, outputs) {
            let made = outputs.create().and_then(|(path, mut file)| {
                file.write_all(self.head.as_bytes())?;
                Ok(Full::Kept(path, file, length(self.head.len())))
            });
            self.full = made.unwrap_or(Full::Lost);
        }
        let Full::Kept(_, file, written) = &mut self.full else { return };
        let known = usize::try_from(*written - self.tail_at.min(*written)).unwrap_or(usize::MAX);
        let room = usize::try_from(most.saturating_sub(*written)).unwrap_or(usize::MAX);
        if *written < self.tail_at || room == 0 || known >= at {
            return;
        }
        let text = self.tail.get(known..at).unwrap_or_default();
        let text = text.get(..floor(text, room)).unwrap_or_default();
        match file.write_all(text.as_bytes()) {
            // What does not fit whole ends the file: nothing is added behind a gap.
            Ok(()) => *written += length(text.len()),
            Err(_) => self.full = Full::Lost,
        }
    }

    /// Brings the file up to date and returns it, with whether it holds everything.
    fn file(&mut self, most: u64, wanted: bool) -> (Option<PathBuf>, bool) {
        if wanted {
            self.write(self.tail.len(), most, None);
        }
        match &self.full {
            Full::Kept(path, _, written) | Full::Closed(path, written) if wanted => {
                (Some(path.clone()), *written == self.end())
            }
            _ => (None, true),
        }
    }

    /// Lets go of the file: nothing more will come.
    fn close(&mut self, most: u64) {
        self.write(self.tail.len(), most, None);
        if let Full::Kept(path, _, written) = &self.full {
            self.full = Full::Closed(path.clone(), *written);
        }
    }

    /// Returns the text between two places, or the part of it from its start on that is still there.
    fn part(&self, from: u64, to: u64, outputs: &Outputs) -> String {
        let (mut part, mut at) = (String::new(), from);
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let head = to.min(length(self.head.len()));
        if at < head {
            part.push_str(slice(&self.head, place(at), place(head)));
            at = head;
        }
        let before = to.min(self.tail_at);
        if at < before {
            match self.read(at, before, outputs) {
                Ok(bytes) => part.push_str(&whole(&bytes)),
                Err(_) => return part,
            }
            at = before;
        }
        if at < to {
            part.push_str(slice(&self.tail, place(at - self.tail_at), place(to - self.tail_at)));
        }
        part
    }

    /// Reads a part that only the file has, or fails.
    fn read(&self, from: u64, to: u64, outputs: &Outputs) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
        match &self.full {
            Full::Kept(_, file, _) => file.read_exact_at(&mut bytes, from)?,
            Full::Closed(path, _) => outputs.open(path)?.read_exact_at(&mut bytes, from)?,
            Full::None | Full::Lost => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(bytes)
    }
}

/// Returns the text of bytes that may begin or end within a character.
fn whole(bytes: &[u8]) -> String {
    let begins = bytes.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    let bytes = bytes.get(begins..).unwrap_or_default();
    let cut = str::from_utf8(bytes).map_or_else(|fault| fault.valid_up_to(), str::len);
    String::from_utf8_lossy(bytes.get(..cut).unwrap_or_default()).into_owned()
}

/// Moves cut ends to whole lines where one is near.
fn whole_lines(head: &mut String, tail: &mut String) {
    let cut = head.rfind('\n').filter(|at| *at > head.len() / 2);
    if let Some(at) = cut {
        head.truncate(at + 1);
    }
    let cut = tail.find('\n').filter(|at| *at < tail.len() / 2);
    tail.drain(..cut.map_or(0, |at| at + 1));
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns the characters that are whole between two offsets.
fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(ceil(text, from)..floor(text, to)).unwrap_or_default()
}

/// Returns the greatest place up to `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the first place from `at` on where a character begins.
fn ceil(text: &str, at: usize) -> usize {
    (at.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(head: usize, tail: usize, file: u64) -> (Output, tempfile::TempDir) {
        let state = tempfile::tempdir().unwrap();
        let outputs = Arc::new(Outputs::new(state.path(), 9));
        (Output::new(Sizes { head, tail, file }, outputs), state)
    }

    #[test]
    fn the_start_and_the_end_are_kept_and_the_file_has_all() {
        let text: String = (0..1000).map(|line| format!("line {line:03}\n")).collect();
        let (mut output, _state) = output(100, 200, 1 << 20);
        text.as_bytes().chunks(70).for_each(|piece| output.push(piece));
        let kept = output.since(0);
        assert_eq!((kept.head.lines().count(), kept.tail.lines().count()), (11, 22));
        assert!(kept.head.starts_with("line 000\n") && kept.tail.ends_with("line 999\n"));
        assert_eq!(kept.head.len() + kept.tail.len() + kept.left as usize, text.len());
        assert!(kept.whole);
        let file = kept.file.unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        output.push(b"more\n");
        let more = output.since(length(text.len()));
        assert_eq!((more.head.as_str(), more.left, more.file), ("more\n", 0, None));
        output.since(0);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text + "more\n");
    }

    #[test]
    fn any_place_is_found_again() {
        let text: String = (0..400).map(|line| format!("技 {line:03}\n")).collect();
        let (mut output, _state) = output(100, 200, 1 << 20);
        output.push(text.as_bytes());
        output.finish();
        for (from, to) in [(0, 90), (0, 250), (96, 104), (1000, 1200), (2000, 2050), (3190, 3200)] {
            let found = output.text.part(from, to, &output.outputs);
            assert_eq!(found, slice(&text, from as usize, to as usize), "{from} to {to}");
        }
    }

    #[test]
    fn the_file_has_an_end() {
        let (mut output, _state) = output(10, 20, 100);
        let text = "0123456789abcde\n".repeat(50);
        output.push(text.as_bytes());
        let kept = output.since(0);
        assert!(!kept.whole && kept.left > 0);
        let file = std::fs::read_to_string(kept.file.unwrap()).unwrap();
        assert!(file.len() <= 100 && text.starts_with(&file));
        // What neither the file nor the memory has is counted.
        let later = output.since(400);
        assert_eq!(
            (later.head.as_str(), later.tail.as_str(), later.left),
            ("", "0123456789abcde\n", 384)
        );
    }

    #[test]
    fn an_unfinished_line_is_shown_and_not_counted() {
        let (mut output, _state) = output(100, 100, 100);
        output.push(b"one\n 10%\r 20%");
        assert_eq!((output.since(0).head.as_str(), output.end()), ("one\n 20%", 4));
        assert!(output.holds(4, "20%") && !output.holds(4, "one"));
        output.push(b"\r100%\n");
        assert_eq!(output.since(4).head, "100%\n");
        assert_eq!(output.last(0, 6), "100%\n");
        assert_eq!(output.last(0, 50), "one\n100%\n");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces(bytes in proptest::collection::vec(0u8..=255, 0..300), size in 1usize..9, head in 0usize..40, tail in 0usize..40, place in 0u64..100) {
            let (mut one, _first) = output(head, tail, 60);
            bytes.chunks(size).for_each(|piece| one.push(piece));
            one.finish();
            let kept = one.since(place);
            proptest::prop_assert!(kept.head.len() + kept.tail.len() <= head + tail);
            let all = length(kept.head.len() + kept.tail.len()) + kept.left;
            proptest::prop_assert_eq!(all, one.end() - place.min(one.end()));
        }
    }
}
