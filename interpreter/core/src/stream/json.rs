//! Walks over JSON text: where values begin and end, and whether it is JSON at all. It keeps nothing and builds nothing.

use std::borrow::Cow;

/// How deep values may stand in each other.
const DEEPEST: u8 = 128;

/// A text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

impl From<serde_json::Error> for NotJson {
    fn from(_: serde_json::Error) -> NotJson {
        NotJson
    }
}

type Step<T> = Result<T, NotJson>;

/// A place in a text.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u8,
}

impl<'a> Walk<'a> {
    /// Begins at the start of a text.
    pub(crate) fn new(text: &'a str) -> Walk<'a> {
        Walk { text, bytes: text.as_bytes(), at: 0, depth: 0 }
    }

    /// Passes blanks, and returns the byte behind them, which stays.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Passes a value.
    pub(crate) fn value(&mut self) -> Step<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(|walk, _| walk.value()),
            Some(b'[') => self.list(|walk, _| walk.value()),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.number(),
        }
    }

    /// Returns where the walk stands, for `since`.
    pub(crate) fn here(&self) -> usize {
        self.at
    }

    /// Returns the text since a place.
    pub(crate) fn since(&self, from: usize) -> Step<&'a str> {
        self.text.get(from..self.at).ok_or(NotJson)
    }

    /// Errors when anything but blanks is left.
    pub(crate) fn end(&mut self) -> Step<()> {
        self.peek().map_or(Ok(()), |_| Err(NotJson))
    }

    /// Passes an object. `each` gets every key as it is written, and passes its value.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &'a [u8]) -> Step<()>,
    ) -> Step<()> {
        self.enclosed(b'}', |walk, _| {
            walk.peek();
            let key = walk.string()?;
            walk.peek();
            walk.byte(b':')?;
            each(walk, key)
        })
    }

    /// Passes a list. `each` gets the number of every element, and passes it.
    pub(crate) fn list(&mut self, each: impl FnMut(&mut Self, usize) -> Step<()>) -> Step<()> {
        self.enclosed(b']', each)
    }

    fn enclosed(
        &mut self,
        close: u8,
        mut each: impl FnMut(&mut Self, usize) -> Step<()>,
    ) -> Step<()> {
        if self.depth == DEEPEST {
            return Err(NotJson);
        }
        self.at += 1;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        self.depth += 1;
        for number in 0.. {
            each(self, number)?;
            let next = self.peek();
            self.at += 1;
            match next {
                Some(b',') => {}
                Some(byte) if byte == close => break,
                _ => return Err(NotJson),
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn byte(&mut self, byte: u8) -> Step<()> {
        if self.bytes.get(self.at) != Some(&byte) {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Step<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += word.len();
        if rest.starts_with(word) { Ok(()) } else { Err(NotJson) }
    }

    /// Passes a string, and returns what is between its quotes.
    fn string(&mut self) -> Step<&'a [u8]> {
        self.byte(b'"')?;
        let from = self.at;
        loop {
            self.at += plain(self.bytes.get(self.at..).unwrap_or_default());
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                _ => return Err(NotJson),
            }
        }
        self.at += 1;
        self.bytes.get(from..self.at - 1).ok_or(NotJson)
    }

    fn escape(&mut self) -> Step<()> {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|each| each.is_ascii_hexdigit()) => {
                self.at += 6;
            }
            _ => return Err(NotJson),
        }
        Ok(())
    }

    fn number(&mut self) -> Step<()> {
        self.either(b"-");
        if !self.either(b"0") {
            self.digits()?;
        }
        if self.either(b".") {
            self.digits()?;
        }
        if self.either(b"eE") {
            self.either(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    /// Passes one of these bytes, if it is there.
    fn either(&mut self, bytes: &[u8]) -> bool {
        let there = self.bytes.get(self.at).is_some_and(|byte| bytes.contains(byte));
        self.at += usize::from(there);
        there
    }

    fn digits(&mut self) -> Step<()> {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at > from { Ok(()) } else { Err(NotJson) }
    }
}

/// Returns the elements of a list.
pub(crate) fn elements(list: &str) -> Step<Vec<&str>> {
    let (mut walk, mut all) = (Walk::new(list), Vec::new());
    if walk.peek() != Some(b'[') {
        return Err(NotJson);
    }
    walk.list(|walk, _| {
        walk.peek();
        let from = walk.here();
        walk.value()?;
        all.push(walk.since(from)?);
        Ok(())
    })?;
    walk.end().map(|()| all)
}

/// Returns the text of a string as it stands in JSON; none where it is no string. Half of a pair of code units, as a server
/// writes it that cuts between them, is a sign that stands for what is not known.
#[inline]
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    match plain(inner.as_bytes()) == inner.len() {
        true => Some(Cow::Borrowed(inner)),
        false => unescaped(inner).map(Cow::Owned),
    }
}

/// Returns what a text between quotes means.
pub(crate) fn unescaped(inner: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(inner.len()), inner);
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut signs = after.chars();
        out.push(match signs.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (sign, behind) = code_point(signs.as_str())?;
                signs = behind.chars();
                sign
            }
            itself => itself,
        });
        rest = signs.as_str();
    }
    out.push_str(rest);
    Some(out)
}

/// Reads four hexadecimal digits, or two such groups where they are a pair; returns what is behind, too.
fn code_point(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
    let first = unit(text)?;
    let behind = text.get(4..)?;
    let pair = |second| char::decode_utf16([first, second]).next()?.ok();
    let second = behind.strip_prefix("\\u").and_then(unit);
    let second = second.filter(|_| char::from_u32(first.into()).is_none()).and_then(pair);
    match second {
        Some(sign) => Some((sign, behind.get(6..)?)),
        None => Some((char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), behind)),
    }
}

/// Returns how many bytes stand before a quote, a backslash or a control character; eight are looked at in one go.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The lowest byte with its high bit set is the first that is zero, or less than what was taken off.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let stop = control | zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c));
        let stop = stop & (ONES << 7);
        if stop != 0 {
            return at + stop.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let stops = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    at + rest.iter().position(stops).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::{Walk, string};
    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use std::borrow::Cow;

    fn read(text: &str) -> bool {
        let mut walk = Walk::new(text);
        walk.value().and_then(|()| walk.end()).is_ok()
    }

    proptest! {
        #[test]
        fn what_is_json_is_what_others_say_is_json(scraps in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"\":", "\\", "\\\"", "\\u00e9", "\\ud800", "\\x", "\u{1}", "\n", " ", "é", "12345678", "0", "-", "1",
            ".", "e", "E+", "true", "false", "null", "nul", "\u{7f}", "{}", "[1,2]", "{\"a\":1}"]), 0..12)) {
            let text = scraps.concat();
            prop_assert_eq!(read(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok(), "{}", text);
        }

        #[test]
        fn strings_of_all_lengths_are_passed(before in "[a-zé]{0,20}", stop in prop::sample::select(vec!["\\\"", "\u{1f}", "\\n", "\u{20}", "é"]), after in "[a-zé]{0,20}") {
            let text = format!("\"{before}{stop}{after}\"");
            prop_assert_eq!(read(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok(), "{}", text);
        }
    }

    proptest! {
        #[test]
        fn strings_mean_what_others_say_they_mean(scraps in prop::collection::vec(prop::sample::select(vec!["a", "é", "\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f",
            "\\u00e9", "\\uD83D\\uDE00", "\\ud83d", "\\ude00", "\\u0041", "😀", "u"]), 0..9)) {
            let text = format!("\"{}\"", scraps.concat());
            let (got, theirs) = (string(&text).map(Cow::into_owned), serde_json::from_str::<String>(&text));
            match theirs {
                Ok(theirs) => prop_assert_eq!(got, Some(theirs), "{}", text),
                Err(_) => prop_assert!(got.is_some_and(|got| got.contains(char::REPLACEMENT_CHARACTER)), "{}", text),
            }
        }
    }

    #[test]
    fn what_nests_too_deep_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(128)));
        assert!(!read(&nested(129)));
        assert!(!read(&"[".repeat(1_000_000)));
    }
}
