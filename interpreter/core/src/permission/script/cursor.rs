//! A place in a text, and the few steps readers of scripts take from it.

/// A place in a text. Reading at the end returns nothing.
pub(super) struct Cursor {
    signs: Vec<char>,
    at: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Cursor {
        Cursor { signs: text.chars().collect(), at: 0 }
    }

    /// Returns the next sign and stays.
    pub(super) fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    /// Returns the next sign and goes past it.
    pub(super) fn next(&mut self) -> Option<char> {
        let sign = self.peek();
        self.at += usize::from(sign.is_some());
        sign
    }

    /// Goes past the sign if it is next.
    pub(super) fn eat(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    /// Goes past all signs that fit and returns them.
    pub(super) fn take(&mut self, fits: impl Fn(char) -> bool) -> String {
        let rest = self.signs.get(self.at..).unwrap_or_default();
        let taken: String = rest.iter().take_while(|sign| fits(**sign)).collect();
        self.at += taken.chars().count();
        taken
    }

    /// Goes past the line and its end, and returns it.
    pub(super) fn line(&mut self) -> String {
        let line = self.take(|sign| sign != '\n');
        self.eat('\n');
        line
    }
}

/// Returns whether a name may start with the sign.
pub(super) fn starts_name(sign: char) -> bool {
    sign.is_ascii_alphabetic() || sign == '_'
}

/// Returns whether a name may hold the sign.
pub(super) fn in_name(sign: char) -> bool {
    starts_name(sign) || sign.is_ascii_digit()
}
