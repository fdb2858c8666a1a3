//! Watches JSON text go by and knows when its brackets are closed. It reads no values and keeps no text.

use super::json::plain;

/// How deep a JSON text that arrives in pieces is nested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nesting {
    depth: u32,
    quoted: bool,
    escaped: bool,
    opened: bool,
}

impl Nesting {
    /// Takes the next piece.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        let mut rest = piece.iter();
        if self.escaped {
            self.escaped = rest.next().is_none();
        }
        while !rest.as_slice().is_empty() {
            if self.quoted {
                let stop = rest.nth(plain(rest.as_slice()));
                self.quoted = stop != Some(&b'"');
                self.escaped = stop == Some(&b'\\') && rest.next().is_none();
            } else {
                self.unquoted(&mut rest);
            }
        }
    }

    /// Takes what stands before the next quote, and the quote.
    fn unquoted(&mut self, rest: &mut std::slice::Iter<'_, u8>) {
        for byte in rest {
            match byte {
                b'"' => {
                    self.quoted = true;
                    return;
                }
                b'{' | b'[' => {
                    self.depth = self.depth.saturating_add(1);
                    self.opened = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Returns whether an object or a list was opened and everything opened is closed again.
    pub(crate) fn closed(self) -> bool {
        self.opened && self.depth == 0 && !self.quoted
    }
}
