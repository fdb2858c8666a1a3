//! Lines of a stream that nobody vouches for: bounded, and never an end of the program.

use std::io::{self, BufRead};

/// The longest line that is read; longer ones are dropped up to their end.
pub(crate) const LONGEST: usize = 4 << 20;

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A text; bytes that are no UTF-8 are replaced.
    Text(String),
    /// More bytes than the limit.
    TooLong,
}

/// Reads lines of at most `longest` bytes.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    longest: usize,
    skipping: bool,
}

impl<R: BufRead> Lines<R> {
    /// Returns a reader of the lines of `from`.
    pub(crate) fn new(from: R, longest: usize) -> Lines<R> {
        Lines { from, longest, skipping: false }
    }

    /// Returns the next line, or `None` at the end. A line that is too long is told as soon as it is.
    ///
    /// # Errors
    /// The stream's own.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                let last = !line.is_empty() && !self.skipping;
                return Ok(last.then(|| text(&line)));
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let used = piece.len() + usize::from(end.is_some());
            if !self.skipping {
                let room = (self.longest + 1).saturating_sub(line.len());
                line.extend(piece.iter().take(room));
            }
            self.from.consume(used);
            let skipped = self.skipping;
            self.skipping = skipped && end.is_none();
            if line.len() > self.longest {
                self.skipping = end.is_none();
                return Ok(Some(Line::TooLong));
            }
            if end.is_some() && !skipped {
                return Ok(Some(text(&line)));
            }
        }
    }
}

fn text(line: &[u8]) -> Line {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Line::Text(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn check(bytes: &[u8], expected: &[&str]) {
        for capacity in [1, 3, 100] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, bytes), 5);
            let mut found = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                found.push(match line {
                    Line::Text(text) => text,
                    Line::TooLong => "(too long)".into(),
                });
            }
            assert_eq!(found, expected, "{capacity}");
        }
    }

    #[test]
    fn lines_are_bounded() {
        check(b"", &[]);
        check(b"a\n\nb", &["a", "", "b"]);
        check(b"12345\r\n", &["(too long)"]);
        check(b"1234\r\n12345\n123456\nx\n", &["1234", "12345", "(too long)", "x"]);
        check(b"1234567890123456789", &["(too long)"]);
        check(b"1234567890\n1234567890\na", &["(too long)", "(too long)", "a"]);
        check(b"\xff\n", &["\u{fffd}"]);
    }
}
