//! What of a command's output is kept: plain text without terminal sequences, the start and the end, the rest counted.
//! It takes in any bytes in pieces and never holds more than its limits and one unfinished line.

use std::mem;

/// How long an unfinished line may grow before it is passed on.
const LINE: usize = 8 * 1024;

/// Where in a terminal sequence the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// In ESC `[` …, ended by a letter.
    Control,
    /// In ESC `]` and the like, ended by BEL or ESC `\`.
    String,
    /// After an ESC in such a string.
    StringEnd,
}

/// Keeps the start and the end of an output.
#[derive(Debug)]
pub(super) struct Output {
    state: State,
    line: Vec<u8>,
    /// Whether a carriage return came last: what follows overwrites the line.
    returned: bool,
    foreign: bool,
    head: String,
    tail: String,
    /// Bytes taken out between start and end.
    left: usize,
    head_most: usize,
    tail_most: usize,
}

/// An output as far as it was kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The start, or all of it.
    pub(super) head: String,
    /// The end; empty when nothing was left out.
    pub(super) tail: String,
    /// Bytes left out between the two.
    pub(super) left: usize,
    /// Whether bytes that are not UTF-8 were replaced.
    pub(super) foreign: bool,
}

impl Output {
    /// Makes an empty output that keeps so many bytes of the start and of the end.
    pub(super) fn new(head_most: usize, tail_most: usize) -> Output {
        let (line, head, tail) = (Vec::new(), String::new(), String::new());
        Output {
            state: State::Text,
            line,
            returned: false,
            foreign: false,
            head,
            tail,
            left: 0,
            head_most,
            tail_most,
        }
    }

    /// Takes in the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            let plain = bytes.iter().take_while(|byte| **byte >= b' ' && **byte != 0x7f).count();
            if self.state == State::Text && plain > 0 {
                let (text, rest) = bytes.split_at(plain);
                self.text(text);
                bytes = rest;
            } else {
                self.byte(*first);
                bytes = rest;
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1b) => State::Escape,
            (State::Text, _) => {
                self.control(byte);
                State::Text
            }
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Escape, b' '..=b'/') => State::Escape,
            (State::Escape, _) => State::Text,
            (State::Control, 0x40..=0x7e) => State::Text,
            // A sequence never goes over the line: what was cut short must not swallow what follows.
            (State::Control | State::String | State::StringEnd, b'\n') => {
                self.control(byte);
                State::Text
            }
            (State::Control, _) => State::Control,
            (State::String, 0x07) | (State::StringEnd, b'\\') => State::Text,
            (State::String, 0x1b) => State::StringEnd,
            (State::String | State::StringEnd, _) => State::String,
        };
    }

    fn text(&mut self, text: &[u8]) {
        if mem::take(&mut self.returned) {
            self.line.clear();
        }
        self.line.extend_from_slice(text);
        if self.line.len() > LINE {
            self.pass_on(false);
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.returned = false;
                self.line.push(b'\n');
                self.pass_on(true);
            }
            b'\t' => self.text(b"\t"),
            0 => self.text(b" "),
            b'\r' => self.returned = true,
            // One character back: its continuation bytes and its first byte.
            0x08 => while self.line.pop().is_some_and(|last| last & 0xc0 == 0x80) {},
            _ => {}
        }
    }

    /// Passes the line on; when it is not ended, a character cut off at its end waits for the rest.
    fn pass_on(&mut self, ended: bool) {
        let cut = std::str::from_utf8(&self.line)
            .err()
            .filter(|fault| !ended && fault.error_len().is_none());
        let waits = cut.map(|fault| self.line.split_off(fault.valid_up_to())).unwrap_or_default();
        let line = mem::replace(&mut self.line, waits);
        let text = String::from_utf8_lossy(&line);
        self.foreign |= matches!(text, std::borrow::Cow::Owned(_));
        // INVARIANT: C0 controls were read above; what is left to drop are the C1 controls of Unicode.
        if text.chars().any(|one| ('\u{80}'..'\u{a0}').contains(&one)) {
            let text: String =
                text.chars().filter(|one| !('\u{80}'..'\u{a0}').contains(one)).collect();
            self.keep(&text);
        } else {
            self.keep(&text);
        }
    }

    fn keep(&mut self, text: &str) {
        let room = if self.tail.is_empty() && self.left == 0 {
            self.head_most - self.head.len()
        } else {
            0
        };
        let (head, rest) = text.split_at(floor(text, room));
        self.head.push_str(head);
        self.tail.push_str(rest);
        if self.tail.len() > 2 * self.tail_most {
            self.shorten();
        }
    }

    /// Takes out of the tail what is before its last bytes.
    fn shorten(&mut self) {
        let over = self.tail.len().saturating_sub(self.tail_most);
        let at = (over..self.tail.len())
            .find(|at| self.tail.is_char_boundary(*at))
            .unwrap_or(self.tail.len());
        self.left += at;
        self.tail.drain(..at);
    }

    /// Ends the output and returns what was kept; cut ends are moved to whole lines where one is near.
    pub(super) fn finish(mut self) -> Kept {
        self.pass_on(true);
        if self.left == 0 && self.tail.len() <= self.tail_most {
            let head = self.head + &self.tail;
            return Kept { head, tail: String::new(), left: 0, foreign: self.foreign };
        }
        self.shorten();
        let cut = self
            .head
            .rfind('\n')
            .filter(|at| *at > self.head_most / 2)
            .map(|at| self.head.split_off(at + 1));
        let line =
            self.tail.find('\n').filter(|at| *at < self.tail_most / 2).map_or(0, |at| at + 1);
        let left = self.left + cut.map_or(0, |cut| cut.len()) + line;
        self.tail.drain(..line);
        Kept { head: self.head, tail: self.tail, left, foreign: self.foreign }
    }
}

/// Returns the greatest place up to `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]], head: usize, tail: usize) -> Kept {
        let mut output = Output::new(head, tail);
        pieces.iter().for_each(|piece| output.push(piece));
        output.finish()
    }

    fn check(bytes: &[u8], expected: &str) {
        let pieces: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(kept(&[bytes], 1000, 1000).head, expected);
        assert_eq!(kept(&pieces, 1000, 1000).head, expected, "byte by byte");
    }

    #[test]
    fn terminal_text_becomes_plain() {
        check(b"a\x1b[1;31mred\x1b[0m\n", "ared\n");
        check(b"\x1b]8;;http://x/\x07link\x1b]8;;\x1b\\ \x1b]0;title\x07end\n", "link end\n");
        check(b"\x1b(Bplain\x1b=\n", "plain\n");
        check(b" 10%\r 50%\r100%\r\ndone\n", "100%\ndone\n");
        check(b"a\r\nb\r\n", "a\nb\n");
        check(b"N\x08NA\x08A\n", "NA\n");
        check(b"k1=v1\0k2=v2\0", "k1=v1 k2=v2 ");
        check(b"\x1b[31", "");
        check(b"\x1b]never ended\nnext\n", "\nnext\n");
        check("技術\u{85}é\n".as_bytes(), "技術é\n");
        check(b"a\xf0b\xffc\n", "a\u{fffd}b\u{fffd}c\n");
    }

    #[test]
    fn the_start_and_the_end_are_kept() {
        let text: String = (0..1000).map(|line| format!("line {line:03}\n")).collect();
        let found = kept(&[text.as_bytes()], 100, 200);
        assert_eq!((found.head.lines().count(), found.tail.lines().count()), (11, 22));
        assert!(found.head.starts_with("line 000\n") && found.tail.ends_with("line 999\n"));
        assert_eq!(found.head.len() + found.left + found.tail.len(), text.len());
        assert_eq!(kept(&[b"short"], 100, 200).left, 0);
        let long = "技".repeat(20_000);
        let found = kept(&[long.as_bytes()], 100, 200);
        assert!(found.head.len() + found.tail.len() <= 300 && !found.foreign);
        assert_eq!(found.head.len() + found.left + found.tail.len(), long.len());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces(bytes in proptest::collection::vec(0u8..=255, 0..200), size in 1usize..9, head in 0usize..40, tail in 0usize..40) {
            let pieces: Vec<_> = bytes.chunks(size).collect();
            let found = kept(&pieces, head, tail);
            proptest::prop_assert_eq!(&found, &kept(&[&bytes], head, tail));
            proptest::prop_assert!(found.head.len() + found.tail.len() <= head + tail);
            let plain = |text: &str| text.chars().all(|one| one == '\n' || one == '\t' || !one.is_control());
            proptest::prop_assert!(plain(&found.head) && plain(&found.tail));
        }
    }
}
