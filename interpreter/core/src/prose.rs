//! Knows, of a text that arrives in pieces, whether a line begins here and whether it is inside a fenced block. It keeps no text.

/// Where a text stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prose {
    /// Only blanks since the text began.
    fresh: bool,
    /// Only blanks since the last line break.
    start: bool,
    /// Backquotes in a row at the start of this line.
    quotes: u8,
    fenced: bool,
}

impl Prose {
    /// Returns the state at the start of a text.
    pub(crate) fn new() -> Prose {
        Prose { fresh: true, start: true, quotes: 0, fenced: false }
    }

    /// Takes the next piece.
    pub(crate) fn see(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                b'\n' => (self.start, self.quotes) = (true, 0),
                b'`' if self.start || self.quotes > 0 => {
                    (self.start, self.fresh) = (false, false);
                    self.quotes = self.quotes.saturating_add(1);
                    self.fenced ^= self.quotes == 3;
                }
                _ if byte.is_ascii_whitespace() => self.quotes = 0,
                _ => (self.start, self.fresh, self.quotes) = (false, false, 0),
            }
        }
    }

    /// Takes something that is no part of the text, such as a tag: behind it a line could begin, outside any fenced block.
    pub(crate) fn begin_line(&mut self) {
        *self = Prose { fresh: false, ..Prose::new() };
    }

    /// Returns whether a mark that must stand at the start of a line counts here.
    pub(crate) fn mark_counts(self) -> bool {
        self.start && !self.fenced
    }

    /// Returns whether nothing but blanks came so far.
    pub(crate) fn fresh(self) -> bool {
        self.fresh
    }
}
