//! Watches JSON text go by and knows when its brackets are closed. It reads no values and keeps no text.

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
        for &byte in piece {
            if self.quoted {
                self.quoted = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.quoted = true,
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
