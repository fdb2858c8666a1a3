//! What a terminal would have made of a command's bytes: plain lines without colours and other sequences, of a line that
//! is written over again and again only the last state, and no binary rubbish. It takes in any bytes in pieces and holds
//! no more than one unfinished line.

use std::borrow::Cow;
use std::mem;

/// How long an unfinished line may grow before it is passed on.
const LINE: usize = 8 * 1024;

/// So many bytes that are no text, and one in so many characters, make a line binary.
const BINARY: (usize, usize) = (16, 4);

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

/// Makes plain text of what a command writes.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    state: State,
    line: Vec<u8>,
    /// Whether a carriage return came last: what follows overwrites the line.
    returned: bool,
    /// Whether a NUL came last.
    nul: bool,
    /// NULs of the line that stand behind another one: text has them between its parts, never in rows.
    hollow: usize,
    /// Whether bytes that are not UTF-8 were replaced.
    pub(super) foreign: bool,
    /// Bytes of binary lines, which are left out.
    pub(super) binary: u64,
}

impl Terminal {
    /// Takes in the next bytes and hands over the text of the lines they end.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut dyn FnMut(&str)) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.line.is_empty() && self.state == State::Text && !self.returned {
                let (lines, rest) = bytes.split_at(plain_lines(bytes));
                if let (false, Ok(text)) = (lines.is_empty(), str::from_utf8(lines)) {
                    out(text);
                    bytes = rest;
                    continue;
                }
            }
            let plain = bytes.iter().take_while(|byte| **byte >= b' ' && **byte != 0x7f).count();
            if self.state == State::Text && plain > 0 {
                let (text, rest) = bytes.split_at(plain);
                self.text(text, out);
                bytes = rest;
            } else {
                self.byte(*first, out);
                bytes = rest;
            }
        }
    }

    /// Hands over what is left of an unfinished line: nothing more will come.
    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&str)) {
        self.pass_on(true, out);
    }

    /// Returns the unfinished line as it stands.
    pub(super) fn unfinished(&self) -> String {
        without_controls(String::from_utf8_lossy(&self.line)).into_owned()
    }

    fn byte(&mut self, byte: u8, out: &mut dyn FnMut(&str)) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1b) => State::Escape,
            (State::Text, _) => {
                self.control(byte, out);
                State::Text
            }
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Escape, b' '..=b'/') => State::Escape,
            (State::Escape, _) => State::Text,
            (State::Control, 0x40..=0x7e) => State::Text,
            // A sequence never goes over the line: what was cut short must not swallow what follows.
            (State::Control | State::String | State::StringEnd, b'\n') => {
                self.control(byte, out);
                State::Text
            }
            (State::Control, _) => State::Control,
            (State::String, 0x07) | (State::StringEnd, b'\\') => State::Text,
            (State::String, 0x1b) => State::StringEnd,
            (State::String | State::StringEnd, _) => State::String,
        };
    }

    fn text(&mut self, text: &[u8], out: &mut dyn FnMut(&str)) {
        if mem::take(&mut self.returned) {
            self.line.clear();
            self.hollow = 0;
        }
        self.nul = false;
        self.line.extend_from_slice(text);
        if self.line.len() > LINE {
            self.pass_on(false, out);
        }
    }

    fn control(&mut self, byte: u8, out: &mut dyn FnMut(&str)) {
        match byte {
            b'\n' => {
                self.returned = false;
                self.line.push(b'\n');
                self.pass_on(true, out);
            }
            b'\t' => self.text(b"\t", out),
            0 => {
                self.hollow += usize::from(self.nul);
                self.text(b" ", out);
                self.nul = true;
            }
            b'\r' => self.returned = true,
            // One character back: its continuation bytes and its first byte.
            0x08 => while self.line.pop().is_some_and(|last| last & 0xc0 == 0x80) {},
            _ => {}
        }
    }

    /// Passes the line on; when it is not ended, a character cut off at its end waits for the rest.
    fn pass_on(&mut self, ended: bool, out: &mut dyn FnMut(&str)) {
        let cut =
            str::from_utf8(&self.line).err().filter(|fault| !ended && fault.error_len().is_none());
        let waits = cut.map(|fault| self.line.split_off(fault.valid_up_to())).unwrap_or_default();
        let line = mem::replace(&mut self.line, waits);
        let hollow = mem::take(&mut self.hollow);
        let text = String::from_utf8_lossy(&line);
        if matches!(text, Cow::Owned(_)) {
            if self.is_binary(&text, hollow) {
                self.binary += u64::try_from(line.len()).unwrap_or(u64::MAX);
                return;
            }
            self.foreign = true;
        }
        out(&without_controls(text));
    }

    /// Whether a line with bytes that are no text is binary. After one that is, the next ones need no more signs.
    fn is_binary(&self, text: &str, hollow: usize) -> bool {
        let (all, foreign) = text.chars().fold((0, hollow), |(all, foreign), one| {
            (all + 1, foreign + usize::from(one == char::REPLACEMENT_CHARACTER))
        });
        self.binary > 0 || foreign >= BINARY.0 && foreign * BINARY.1 >= all
    }
}

/// Returns how long the start of `bytes` is that is nothing but whole lines of plain ASCII.
fn plain_lines(bytes: &[u8]) -> usize {
    let plain = |byte: &&u8| matches!(**byte, b' '..=b'~' | b'\n' | b'\t');
    let plain = bytes.get(..bytes.iter().take_while(plain).count()).unwrap_or_default();
    memchr::memrchr(b'\n', plain).map_or(0, |at| at + 1)
}

/// Takes out the C1 controls of Unicode; the C0 controls were read already.
fn without_controls(text: Cow<'_, str>) -> Cow<'_, str> {
    let control = |one: &char| ('\u{80}'..'\u{a0}').contains(one);
    match text.chars().any(|one| control(&one)) {
        true => text.chars().filter(|one| !control(one)).collect::<String>().into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pieces: &[&[u8]]) -> (String, u64) {
        let (mut terminal, mut text) = (Terminal::default(), String::new());
        pieces.iter().for_each(|piece| terminal.push(piece, &mut |part| text.push_str(part)));
        terminal.finish(&mut |part| text.push_str(part));
        (text, terminal.binary)
    }

    fn check(bytes: &[u8], expected: &str) {
        let pieces: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(plain(&[bytes]), (expected.to_owned(), 0));
        assert_eq!(plain(&pieces), (expected.to_owned(), 0), "byte by byte");
    }

    #[test]
    fn terminal_text_becomes_plain() {
        check(b"a\x1b[1;31mred\x1b[0m\n", "ared\n");
        check(b"\x1b]8;;http://x/\x07link\x1b]8;;\x1b\\ \x1b]0;title\x07end\n", "link end\n");
        check(b"\x1b(Bplain\x1b=\n", "plain\n");
        check(b" 10%\r 50%\r100%\r\ndone\n", "100%\ndone\n");
        check(b"a\r\nb\r\n", "a\nb\n");
        check(b"one\ntwo\r\nthree", "one\ntwo\nthree");
        check(b"N\x08NA\x08A\n", "NA\n");
        check(b"k1=v1\0k2=v2\0", "k1=v1 k2=v2 ");
        check(b"\xff\xfeh\0e\0l\0l\0o\0 \0y\0o\0u\0\n\0", "\u{fffd}\u{fffd}h e l l o   y o u \n ");
        check(b"\x1b[31", "");
        check(b"\x1b]never ended\nnext\n", "\nnext\n");
        check("技術\u{85}é\n".as_bytes(), "技術é\n");
        check(b"a\xf0b\xffc\n", "a\u{fffd}b\u{fffd}c\n");
    }

    #[test]
    fn binary_lines_are_left_out() {
        let mut bytes = b"before\n".to_vec();
        bytes.extend((0..4000_u32).map(|number| (number * 7919 % 251) as u8 | 0x80));
        bytes.extend(b"\n\xff short\nafter\n");
        let (text, binary) = plain(&[&bytes]);
        assert_eq!((text.as_str(), binary), ("before\nafter\n", 4009));
        let table = [&b"\x7fELF\xd8"[..], &[0; 40], b"c\xf0", &[0; 12], b"\nend\n"].concat();
        assert_eq!(plain(&[&table]), ("end\n".to_owned(), 59));
    }

    #[test]
    fn an_unfinished_line_is_known() {
        let mut terminal = Terminal::default();
        terminal.push(b"a\n 10%\r 20%\r", &mut |_| {});
        assert_eq!(terminal.unfinished(), " 20%");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces(bytes in proptest::collection::vec(0u8..=255, 0..200), size in 1usize..9) {
            let pieces: Vec<_> = bytes.chunks(size).collect();
            let found = plain(&pieces);
            proptest::prop_assert_eq!(&found, &plain(&[&bytes]));
            let plain = |text: &str| text.chars().all(|one| one == '\n' || one == '\t' || !one.is_control());
            proptest::prop_assert!(plain(&found.0));
        }
    }
}
