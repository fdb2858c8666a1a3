//! Reads a jq filter into its names: words and `$variables` that are neither fields, keys nor text. What stands in
//! `\(…)` inside a string is a filter again.

use super::cursor::{Cursor, in_name, starts_name};
use super::{Unread, ended};

/// Returns the names of a filter.
pub(super) fn read(text: &str) -> Vec<String> {
    let mut reader =
        Reader { text: Cursor::new(text), open: Vec::new(), key: false, found: Vec::new() };
    let end = reader.run();
    ended(reader.found, end)
}

struct Reader {
    text: Cursor,
    /// Brackets that are open; `"` for a filter inside a string.
    open: Vec<char>,
    /// A key of an object may come next.
    key: bool,
    found: Vec<String>,
}

fn is_blank(sign: char) -> bool {
    sign.is_ascii_whitespace()
}

impl Reader {
    fn run(&mut self) -> Result<(), Unread> {
        while let Some(sign) = self.text.next() {
            let key = std::mem::take(&mut self.key);
            match sign {
                _ if is_blank(sign) => self.key = key,
                '#' => {
                    if self.text.line().ends_with('\\') {
                        return Err(Unread);
                    }
                    self.key = key;
                }
                '"' => self.string()?,
                '.' => self.dot(),
                '$' => {
                    self.text.take(is_blank);
                    let name = self.text.take(in_name);
                    self.found.push(format!("${name}"));
                }
                '@' => drop(self.text.take(in_name)),
                '0'..='9' => self.number(),
                '(' | '[' | '{' => self.opens(sign),
                ')' | ']' | '}' => self.closes(sign)?,
                ',' => self.key = self.open.last() == Some(&'{'),
                _ if starts_name(sign) => self.name(sign, key),
                _ => {}
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err(Unread) }
    }

    fn opens(&mut self, sign: char) {
        self.open.push(sign);
        self.key = sign == '{';
    }

    fn closes(&mut self, sign: char) -> Result<(), Unread> {
        match (self.open.pop(), sign) {
            (Some('"'), ')') => self.string(),
            (Some('('), ')') | (Some('['), ']') | (Some('{'), '}') => Ok(()),
            _ => Err(Unread),
        }
    }

    /// Reads what a dot opens: a field, a number, or the dot dot of all values.
    fn dot(&mut self) {
        match self.text.peek() {
            Some('.') => drop(self.text.next()),
            Some('0'..='9') => self.number(),
            _ => drop(self.text.take(in_name)),
        }
    }

    fn number(&mut self) {
        self.text.take(|sign| sign.is_ascii_digit() || sign == '.');
    }

    /// Reads a name; as a key of an object it is text.
    fn name(&mut self, first: char, key: bool) {
        let name = format!("{first}{}", self.text.take(in_name));
        self.text.take(is_blank);
        if !(key && matches!(self.text.peek(), Some(':' | ',' | '}'))) {
            self.found.push(name);
        }
    }

    /// Reads a string up to its end, or up to a filter in it.
    fn string(&mut self) -> Result<(), Unread> {
        loop {
            match self.text.next() {
                None => return Err(Unread),
                Some('"') => return Ok(()),
                Some('\\') => match self.text.next() {
                    None => return Err(Unread),
                    Some('(') => {
                        self.open.push('"');
                        return Ok(());
                    }
                    Some(_) => {}
                },
                Some(_) => {}
            }
        }
    }
}
