//! Reads a sed script into its commands: a letter each, with the file or command that some have behind it. The flags
//! `e` and `w` of a substitution are told as commands of these names.

use super::cursor::Cursor;
use super::{Unread, ended};

/// Returns the commands of a script. A bracket that holds the delimiter is read both ways, for programs differ.
pub(super) fn read(text: &str, streams: &[String]) -> Vec<String> {
    let posix = Reader::new(text, streams, true).run();
    if !text.contains('[') {
        return posix;
    }
    let plain = Reader::new(text, streams, false).run();
    let more: Vec<String> =
        plain.into_iter().filter(|each| each != super::UNREAD && !posix.contains(each)).collect();
    posix.into_iter().chain(more).collect()
}

struct Reader<'s> {
    text: Cursor,
    streams: &'s [String],
    /// A delimiter inside `[…]` is a sign like others.
    brackets: bool,
    /// Groups that are open.
    open: usize,
    found: Vec<String>,
}

fn is_blank(sign: char) -> bool {
    sign != '\n' && sign.is_ascii_whitespace()
}

impl Reader<'_> {
    fn new<'s>(text: &str, streams: &'s [String], brackets: bool) -> Reader<'s> {
        Reader { text: Cursor::new(text), streams, brackets, open: 0, found: Vec::new() }
    }

    fn run(mut self) -> Vec<String> {
        let end = self.commands();
        ended(self.found, end)
    }

    fn commands(&mut self) -> Result<(), Unread> {
        loop {
            self.text.take(|sign| sign == ';' || sign.is_ascii_whitespace());
            match self.text.peek() {
                None if self.open == 0 => return Ok(()),
                None => return Err(Unread),
                Some('#') => drop(self.text.line()),
                Some(_) => {
                    self.addresses()?;
                    self.command()?;
                }
            }
        }
    }

    fn blanks(&mut self) {
        self.text.take(is_blank);
    }

    fn number(&mut self) -> bool {
        !self.text.take(|sign| sign.is_ascii_digit()).is_empty()
    }

    fn addresses(&mut self) -> Result<(), Unread> {
        if self.address()? {
            self.blanks();
            if self.text.eat(',') {
                self.blanks();
                let relative = self.text.eat('+') || self.text.eat('~');
                if !(if relative { self.number() } else { self.address()? }) {
                    return Err(Unread);
                }
            }
        }
        self.text.take(|sign| sign == '!' || is_blank(sign));
        Ok(())
    }

    fn address(&mut self) -> Result<bool, Unread> {
        if self.text.eat('$') {
            return Ok(true);
        }
        if self.number() {
            return Ok(!self.text.eat('~') || self.number());
        }
        let delimiter = if self.text.eat('/') {
            '/'
        } else if self.text.eat('\\') {
            self.delimiter()?
        } else {
            return Ok(false);
        };
        self.delimited(delimiter, self.brackets)?;
        self.text.take(|sign| sign == 'I' || sign == 'M');
        Ok(true)
    }

    fn command(&mut self) -> Result<(), Unread> {
        let letter = self.text.next().ok_or(Unread)?;
        match letter {
            '{' => {
                self.open += 1;
                return Ok(());
            }
            '}' => {
                self.open = self.open.checked_sub(1).ok_or(Unread)?;
                return self.end();
            }
            'e' | 'r' | 'R' | 'w' | 'W' => {
                let line = self.text.line();
                self.tell(letter, line.trim());
                return Ok(());
            }
            _ => self.tell(letter, ""),
        }
        match letter {
            '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
                self.end()
            }
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.number();
                self.end()
            }
            'a' | 'i' | 'c' => self.added(),
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.blanks();
                self.text.take(|sign| !sign.is_ascii_whitespace() && sign != ';' && sign != '}');
                Ok(())
            }
            's' => self.substitution(),
            'y' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter, false)?;
                self.delimited(delimiter, false)?;
                self.end()
            }
            _ => Err(Unread),
        }
    }

    /// Notes a command; writing to a stream of the program's own is none.
    fn tell(&mut self, letter: char, behind: &str) {
        if !(letter.eq_ignore_ascii_case(&'w')
            && self.streams.iter().any(|stream| stream == behind))
        {
            self.found.push(format!("{letter} {behind}").trim_end().to_string());
        }
    }

    /// Reads what may stand behind a command.
    fn end(&mut self) -> Result<(), Unread> {
        self.blanks();
        match self.text.peek() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(_) => Err(Unread),
        }
    }

    /// Reads a text up to the end of a line that no backslash continues.
    fn added(&mut self) -> Result<(), Unread> {
        self.blanks();
        if self.text.eat('\\') {
            self.blanks();
            self.text.eat('\n');
        }
        while let Some(sign) = self.text.next() {
            match sign {
                '\\' => drop(self.text.next()),
                '\n' => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn delimiter(&mut self) -> Result<char, Unread> {
        self.text.next().filter(|sign| *sign != '\n' && *sign != '\\').ok_or(Unread)
    }

    fn substitution(&mut self) -> Result<(), Unread> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, self.brackets)?;
        self.delimited(delimiter, false)?;
        loop {
            match self.text.peek() {
                Some('w') => {
                    self.text.next();
                    let line = self.text.line();
                    self.tell('w', line.trim());
                    return Ok(());
                }
                Some('e') => self.tell('e', ""),
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {}
                _ => return self.end(),
            }
            self.text.next();
        }
    }

    /// Goes past the delimiter that ends a part.
    fn delimited(&mut self, delimiter: char, brackets: bool) -> Result<(), Unread> {
        loop {
            match self.text.next() {
                None | Some('\n') => return Err(Unread),
                Some(sign) if sign == delimiter => return Ok(()),
                Some('\\') => drop(self.text.next().ok_or(Unread)?),
                Some('[') if brackets => self.bracket()?,
                Some(_) => {}
            }
        }
    }

    /// Goes past the end of a bracket expression.
    fn bracket(&mut self) -> Result<(), Unread> {
        self.text.eat('^');
        self.text.eat(']');
        loop {
            match self.text.next() {
                None | Some('\n') => return Err(Unread),
                Some(']') => return Ok(()),
                Some('[') => self.class()?,
                Some(_) => {}
            }
        }
    }

    /// Goes past `[:name:]` and its like inside a bracket expression, of which the first sign is read.
    fn class(&mut self) -> Result<(), Unread> {
        let Some(mark) = self.text.peek().filter(|sign| matches!(sign, ':' | '.' | '=')) else {
            return Ok(());
        };
        self.text.next();
        loop {
            match self.text.next() {
                None | Some('\n') => return Err(Unread),
                Some(sign) if sign == mark && self.text.eat(']') => return Ok(()),
                Some(_) => {}
            }
        }
    }
}
