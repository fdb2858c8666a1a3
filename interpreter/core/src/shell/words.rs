//! Takes one word of the text apart: quotes, escapes, globs, braces; what begins with `$` is in `dollar`.

use super::expand::{Atom, Atoms};
use super::reader::{Reader, ends_word};
use super::{Hidden, Piece, Unseen, Word, escape, expand};
use compact_str::ToCompactString;

/// Where a word ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// At a blank or operator.
    Blank,
    /// At a blank only: the pattern behind `=~`.
    BlankOnly,
    /// At the brace that closes `${…}`.
    Brace,
}

impl Reader<'_, '_> {
    /// Reads one word and expands it; braces and splitting may make none or several of it.
    pub(super) fn word(&mut self) -> Vec<Word> {
        let atoms = self.atoms(Until::Blank);
        let mut words = Vec::new();
        expand::words(atoms, self.out, &mut words);
        words
    }

    /// Reads one word that is neither split nor brace-expanded: a redirect's target, an assigned value.
    pub(super) fn single_word(&mut self, until: Until) -> Word {
        let atoms = self.atoms(until);
        expand::single(atoms, self.out)
    }

    /// Reads the word behind the sign of `${x:-word}`; in double quotes single ones are signs like others.
    pub(super) fn operand(&mut self, quoted: bool) -> Word {
        if !quoted {
            return self.single_word(Until::Brace);
        }
        let mut atoms = Atoms::default();
        self.deeper(|reader| reader.quoted_until(Some('}'), &mut atoms));
        expand::single(atoms, self.out)
    }

    /// Reads the parts of one word.
    pub(super) fn atoms(&mut self, until: Until) -> Atoms {
        let mut atoms = Atoms::default();
        self.deeper(|reader| reader.atoms_into(until, &mut atoms));
        atoms
    }

    fn atoms_into(&mut self, until: Until, atoms: &mut Atoms) {
        let start = self.at;
        while let Some(sign) = self.peek() {
            match sign {
                '\\' => self.escaped(atoms),
                '\'' => self.single_quoted(atoms),
                '"' => self.double_quoted(atoms),
                '$' => {
                    let from = self.at;
                    self.dollar(atoms, false);
                    if until == Until::Blank {
                        self.brace_in(from, atoms);
                    }
                }
                '`' => self.backtick(atoms, false),
                '<' | '>' if self.ahead(1) == Some('(') && until != Until::Brace => {
                    self.process(atoms)
                }
                _ if ends(sign, until) => break,
                '*' | '?' | '[' => {
                    self.bump();
                    atoms.push(Piece::Glob(sign.to_compact_string()));
                }
                '~' if self.tilde_may_stand(start) => self.tilde(atoms),
                '{' if until == Until::Blank => {
                    self.bump();
                    atoms.open();
                }
                ',' | '}' if until == Until::Blank => {
                    self.bump();
                    atoms.mark(match sign {
                        ',' => Atom::Comma,
                        _ => Atom::Close,
                    });
                }
                _ => self.run(sign, means, atoms),
            }
        }
    }

    /// Reads the sign here, and all behind it that mean nothing either.
    fn run(&mut self, sign: char, means: fn(char) -> bool, atoms: &mut Atoms) {
        let first = sign.len_utf8();
        let behind = self.rest().get(first..).unwrap_or_default();
        let end = first + behind.find(means).unwrap_or(behind.len());
        atoms.text(self.rest().get(..end).unwrap_or_default());
        self.jump(self.at + end);
    }

    /// Gives up on a brace in `${…}` in a brace: which of them belong together is not told by what is read here.
    fn brace_in(&mut self, from: usize, atoms: &Atoms) {
        let raw = self.text.get(from..self.at).unwrap_or_default();
        if atoms.opened && raw.strip_prefix("${").is_some_and(|inner| inner.contains('{')) {
            self.fail(Unseen::Syntax);
        }
    }

    fn escaped(&mut self, atoms: &mut Atoms) {
        self.bump_raw();
        atoms.quoted = true;
        atoms.sign(self.bump().unwrap_or('\\'));
    }

    fn single_quoted(&mut self, atoms: &mut Atoms) {
        self.bump_raw();
        atoms.quoted = true;
        match self.rest().find('\'') {
            Some(end) => {
                atoms.text(self.rest().get(..end).unwrap_or_default());
                self.jump(self.at + end + 1);
            }
            None => self.fail(Unseen::Unended),
        }
    }

    /// Reads `$'…'` from the quote on.
    pub(super) fn ansi_quoted(&mut self, atoms: &mut Atoms) {
        self.bump_raw();
        atoms.quoted = true;
        let mut escaped = false;
        let end = self.rest().find(|sign| {
            let closes = sign == '\'' && !escaped;
            escaped = sign == '\\' && !escaped;
            closes
        });
        match end {
            Some(end) => {
                atoms.text(&escape::ansi_c(self.rest().get(..end).unwrap_or_default()));
                self.jump(self.at + end + 1);
            }
            None => self.fail(Unseen::Unended),
        }
    }

    /// Reads `"…"` from the quote on.
    pub(super) fn double_quoted(&mut self, atoms: &mut Atoms) {
        self.bump();
        atoms.quoted = true;
        atoms.text("");
        self.deeper(|reader| reader.quoted_until(Some('"'), atoms));
        if !self.eat('"') {
            self.fail(Unseen::Unended);
        }
    }

    /// Reads text in which only `$`, backticks and some escapes count, up to `end` or the end of the text.
    pub(super) fn quoted_until(&mut self, end: Option<char>, atoms: &mut Atoms) {
        while let Some(sign) = self.peek() {
            match sign {
                _ if Some(sign) == end => break,
                '"' if end == Some('}') => self.double_quoted(atoms),
                '\\' => {
                    self.bump_raw();
                    match self.bump() {
                        Some(kept @ ('$' | '`' | '\\')) => atoms.sign(kept),
                        Some('"') if end.is_some() => atoms.sign('"'),
                        Some(other) if Some(other) == end => atoms.sign(other),
                        other => {
                            atoms.sign('\\');
                            other.into_iter().for_each(|other| atoms.sign(other));
                        }
                    }
                }
                '$' => self.dollar(atoms, true),
                '`' => self.backtick(atoms, true),
                _ => self.run(sign, means_quoted, atoms),
            }
        }
    }

    /// A tilde counts at the start of a word, and in an assignment behind `=` or `:`.
    fn tilde_may_stand(&self, start: usize) -> bool {
        let before = self.text.get(start..self.at).unwrap_or_default();
        let assigned = super::variables::name_at(before)
            .is_some_and(|name| before.get(name.len()..).is_some_and(|rest| rest.starts_with('=')));
        before.is_empty() || (assigned && before.ends_with(['=', ':']))
    }

    fn tilde(&mut self, atoms: &mut Atoms) {
        let end = self
            .rest()
            .find(|sign: char| sign == '/' || sign == ':' || ends_word(sign))
            .unwrap_or(self.rest().len());
        let name = self.rest().get(..end).unwrap_or_default();
        if name
            .chars()
            .skip(1)
            .all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | '+'))
        {
            self.jump(self.at + end);
            if name == "~" && self.out.variables.touched("HOME") {
                self.variable(atoms, "HOME", true);
            } else {
                atoms.push(Piece::Tilde(name.into()));
            }
        } else {
            self.bump();
            atoms.sign('~');
        }
    }

    fn process(&mut self, atoms: &mut Atoms) {
        let start = self.at;
        self.bump();
        self.bump();
        self.substituted(')');
        atoms.push(Piece::Hidden(
            Hidden::Substitution,
            self.text.get(start..self.at).unwrap_or_default().into(),
        ));
    }
}

/// Returns true for a sign that may mean something in a word.
pub(super) fn means(sign: char) -> bool {
    ends_word(sign)
        || matches!(sign, '\\' | '\'' | '"' | '$' | '`' | '*' | '?' | '[' | '~' | '{' | ',' | '}')
}

/// Returns true for a sign that may mean something in double quotes, in `${…}` within them, or in a document.
fn means_quoted(sign: char) -> bool {
    matches!(sign, '\\' | '"' | '$' | '`' | '}')
}

fn ends(sign: char, until: Until) -> bool {
    match until {
        Until::Blank => ends_word(sign),
        Until::BlankOnly => matches!(sign, ' ' | '\t' | '\n'),
        Until::Brace => sign == '}',
    }
}
