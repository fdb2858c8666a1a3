//! What kind of bytes a file holds, decided by content alone, and where lines begin. It never looks at names.

/// How far into a file a NUL byte makes it binary.
const SAMPLE: usize = 8 * 1024;

/// The byte order mark of UTF-8.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// What kind of content bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Valid UTF-8, with or without a byte order mark.
    Text,
    /// Text of some kind, but not UTF-8: the first byte that does not fit is at this offset.
    Foreign(usize),
    /// UTF-16 or UTF-32, by its byte order mark.
    Wide,
    /// There is a NUL byte near the start.
    Binary,
}

/// Returns what kind of content `bytes` are. With `cut`, a character cut off at the end is no fault.
pub fn kind(bytes: &[u8], cut: bool) -> Kind {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Kind::Wide;
    }
    if memchr::memchr(0, bytes.get(..SAMPLE).unwrap_or(bytes)).is_some() {
        return Kind::Binary;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Kind::Text,
        Err(fault) if cut && fault.error_len().is_none() => Kind::Text,
        Err(fault) => Kind::Foreign(fault.valid_up_to()),
    }
}

/// Returns the offset where the line that holds `at` begins.
pub fn line_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or(bytes);
    memchr::memrchr(b'\n', before).map_or(0, |found| found + 1)
}

/// Returns the offset just after the line feed that ends the line holding `at`, or the length.
pub fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(bytes.len(), |found| at + found + 1)
}

/// Returns the number, from 1, of the line that holds the offset `at`.
pub fn line_number(bytes: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', bytes.get(..at).unwrap_or(bytes)).count()
}

/// Returns the lines, each as its content and its ending (`\n`, `\r\n` or nothing).
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| match line {
        [content @ .., b'\r', b'\n'] => (content, &b"\r\n"[..]),
        [content @ .., b'\n'] => (content, &b"\n"[..]),
        content => (content, &b""[..]),
    })
}

/// Returns whether `byte` is a space or a tab.
pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Splits a line's content into its indentation and the rest.
pub fn indentation(content: &[u8]) -> (&[u8], &[u8]) {
    let blanks = content.iter().take_while(|byte| is_blank(**byte)).count();
    content.split_at(blanks)
}

/// Returns a line's content without the blanks at its end.
pub fn trim_trailing(content: &[u8]) -> &[u8] {
    let blanks = content.iter().rev().take_while(|byte| is_blank(**byte)).count();
    content.get(..content.len() - blanks).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        assert_eq!(kind(b"", false), Kind::Text);
        assert_eq!(kind("技".as_bytes(), false), Kind::Text);
        assert_eq!(kind(&"技".as_bytes()[..2], false), Kind::Foreign(0));
        assert_eq!(kind(&"技".as_bytes()[..2], true), Kind::Text);
        assert_eq!(kind(b"caf\xe9 x", true), Kind::Foreign(3));
        assert_eq!(kind(b"\xff\xfeh\0", false), Kind::Wide);
        assert_eq!(kind(b"ELF\0", false), Kind::Binary);
    }

    #[test]
    fn lines_keep_their_endings() {
        let found: Vec<_> = lines(b"a\r\nb\n\nc").collect();
        assert_eq!(found, [(&b"a"[..], &b"\r\n"[..]), (b"b", b"\n"), (b"", b"\n"), (b"c", b"")]);
        assert_eq!(line_number(b"a\nb\nc", 4), 3);
        assert_eq!((line_start(b"a\nbc\n", 3), line_end(b"a\nbc\n", 2)), (2, 5));
    }
}
