//! Reads an awk program into its names and the signs that reach out of it: `|`, `|&`, `>` and `>>` with the file if it is
//! a plain string, `<` of a `getline`, `@`. Strings, patterns and comments are data.

use super::cursor::{Cursor, in_name, starts_name};
use super::{Unread, ended};

/// Words behind which a value starts, so that a slash opens a pattern.
const BEFORE_VALUE: [&str; 8] = ["print", "printf", "return", "else", "do", "in", "case", "exit"];
/// Words whose parenthesis ends before a statement rather than a value.
const BEFORE_CONDITION: [&str; 4] = ["if", "while", "for", "switch"];

/// Names and signs by which the strings of a statement may be commands; these are told behind a `!`.
const RUNNERS: [&str; 3] = ["system", "|", "|&"];

/// Returns the names and signs of a program.
pub(super) fn read(text: &str, streams: &[String]) -> Vec<String> {
    let mut reader = Reader {
        text: Cursor::new(text),
        streams,
        open: Vec::new(),
        condition: false,
        value: false,
        unfinished: false,
        prints: None,
        gets: None,
        strings: Vec::new(),
        begun: 0,
        found: Vec::new(),
    };
    let end = reader.run();
    reader.strings();
    ended(reader.found, end)
}

struct Reader<'s> {
    text: Cursor,
    streams: &'s [String],
    /// Parentheses that are open, and whether each holds a condition.
    open: Vec<bool>,
    /// The last word opens a condition.
    condition: bool,
    /// A value has just ended, so that a slash divides it.
    value: bool,
    /// The statement goes on in the next line.
    unfinished: bool,
    /// How many parentheses were open at the `print` of this statement.
    prints: Option<usize>,
    /// The same for a `getline`.
    gets: Option<usize>,
    /// Strings of this statement, without their escapes.
    strings: Vec<String>,
    /// How much had been found before this statement.
    begun: usize,
    found: Vec<String>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), Unread> {
        while let Some(sign) = self.text.next() {
            let unfinished = std::mem::take(&mut self.unfinished);
            match sign {
                ' ' | '\t' | '\r' => self.unfinished = unfinished,
                '#' => {
                    self.text.take(|sign| sign != '\n');
                    self.unfinished = unfinished;
                }
                '\\' => {
                    self.text.eat('\r');
                    if !self.text.eat('\n') {
                        return Err(Unread);
                    }
                    self.unfinished = unfinished;
                }
                '\n' if unfinished => self.unfinished = true,
                '\n' | ';' | '{' | '}' => self.statement(),
                _ if starts_name(sign) => self.name(sign),
                _ => self.sign(sign)?,
            }
        }
        Ok(())
    }

    /// Tells the strings of a statement that runs something: each, and all as one.
    fn strings(&mut self) {
        let strings = std::mem::take(&mut self.strings);
        let mut parts = self.found.get(self.begun..).unwrap_or_default().iter();
        if parts.any(|part| RUNNERS.contains(&part.as_str())) {
            let all = strings.concat();
            let each = strings.iter().filter(|text| **text != all).chain([&all]);
            self.found.extend(each.map(|text| format!("! {text}")).collect::<Vec<_>>());
        }
        self.begun = self.found.len();
    }

    fn statement(&mut self) {
        self.strings();
        self.value = false;
        self.condition = false;
        self.prints = None;
        self.gets = None;
    }

    fn name(&mut self, first: char) {
        let name = format!("{first}{}", self.text.take(in_name));
        let is = |list: &[&str]| list.contains(&name.as_str());
        self.value = !is(&BEFORE_VALUE);
        self.condition = is(&BEFORE_CONDITION);
        if is(&["print", "printf"]) {
            self.prints = Some(self.open.len());
        }
        if is(&["getline"]) {
            self.gets = Some(self.open.len());
        }
        self.found.push(name);
    }

    fn sign(&mut self, sign: char) -> Result<(), Unread> {
        let condition = std::mem::take(&mut self.condition);
        let value = std::mem::take(&mut self.value);
        match sign {
            '"' => drop(self.string()?),
            '/' if !value => self.pattern()?,
            '0'..='9' | '.' => self.number(sign)?,
            '(' => self.open.push(condition),
            ')' => self.close(),
            ']' => self.value = true,
            '+' | '-' => self.value = self.text.eat(sign) && value,
            '>' => self.above()?,
            '|' => self.bar(),
            '<' => {
                if !self.text.eat('=') && self.gets.is_some() {
                    self.found.push("<".into());
                }
            }
            '@' => self.found.push("@".into()),
            '&' => self.unfinished = self.text.eat('&'),
            ',' | '?' | ':' => self.unfinished = true,
            '/' | '$' | '[' | '=' | '!' | '~' | '*' | '%' | '^' => {}
            _ => return Err(Unread),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.value = self.open.pop() == Some(false);
        let left = |at: Option<usize>, open: usize| at.filter(|at| *at <= open);
        self.gets = left(self.gets, self.open.len());
        self.prints = left(self.prints, self.open.len());
    }

    fn bar(&mut self) {
        if self.text.eat('|') {
            self.unfinished = true;
        } else {
            self.found.push(if self.text.eat('&') { "|&" } else { "|" }.into());
        }
    }

    /// Reads a `>`: a comparison, or in a `print` the file it goes to.
    fn above(&mut self) -> Result<(), Unread> {
        if self.text.eat('=') {
            return Ok(());
        }
        let appends = self.text.eat('>');
        if !appends && self.prints != Some(self.open.len()) {
            return Ok(());
        }
        self.text.take(|sign| sign == ' ' || sign == '\t');
        let mut file = String::new();
        if self.text.eat('"') {
            file = self.string()?;
            self.text.take(|sign| sign == ' ' || sign == '\t');
            if !matches!(self.text.peek(), None | Some(';' | '}' | '\n' | '#')) {
                file.clear();
            }
        }
        if !self.streams.contains(&file) {
            let sign = if appends { ">>" } else { ">" };
            self.found.push(format!("{sign} {file}").trim_end().to_string());
        }
        Ok(())
    }

    /// Reads a number. A name glued to it would be a part of it here and a name of its own elsewhere.
    fn number(&mut self, first: char) -> Result<(), Unread> {
        let digits = self.text.take(|sign| sign.is_ascii_digit() || sign == '.');
        if first == '.' && digits.is_empty() {
            return Err(Unread);
        }
        if self.text.eat('e') || self.text.eat('E') {
            if !self.text.eat('-') {
                self.text.eat('+');
            }
            if self.text.take(|sign| sign.is_ascii_digit()).is_empty() {
                return Err(Unread);
            }
        }
        self.value = true;
        if self.text.peek().is_some_and(in_name) { Err(Unread) } else { Ok(()) }
    }

    /// Reads a string up to its end and returns it as it is written.
    fn string(&mut self) -> Result<String, Unread> {
        let mut text = String::new();
        loop {
            match self.text.next() {
                None | Some('\n') => return Err(Unread),
                Some('"') => break,
                Some('\\') => text.extend(['\\', self.text.next().ok_or(Unread)?]),
                Some(sign) => text.push(sign),
            }
        }
        self.value = true;
        self.strings.push(text.replace('\\', ""));
        Ok(text)
    }

    /// Reads a pattern up to its end; a slash inside a bracket ends it in some programs only.
    fn pattern(&mut self) -> Result<(), Unread> {
        let mut bracket = false;
        loop {
            match self.text.next() {
                None | Some('\n') => return Err(Unread),
                Some('/') if bracket => return Err(Unread),
                Some('/') => break,
                Some('\\') => drop(self.text.next().ok_or(Unread)?),
                Some('[') if !bracket => {
                    bracket = true;
                    self.text.eat('^');
                    self.text.eat(']');
                }
                Some('[') => self.class()?,
                Some(']') => bracket = false,
                Some(_) => {}
            }
        }
        self.value = true;
        Ok(())
    }

    /// Goes past `[:name:]` inside a bracket, of which the first sign is read.
    fn class(&mut self) -> Result<(), Unread> {
        if self.text.eat(':') {
            self.text.take(|sign| sign.is_ascii_alphabetic());
            if !(self.text.eat(':') && self.text.eat(']')) {
                return Err(Unread);
            }
        }
        Ok(())
    }
}
