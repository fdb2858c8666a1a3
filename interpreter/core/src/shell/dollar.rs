//! What begins with `$` or a backtick: variables, arithmetic, substitutions. `${…}` is in `braced`.

use super::expand::{self, Atoms};
use super::reader::Reader;
use super::variables::{POSITIONAL, Values, name_at};
use super::{Hidden, Piece, Unseen, Word};
use compact_str::format_compact;

impl Reader<'_, '_> {
    /// Reads from a `$` on.
    pub(super) fn dollar(&mut self, atoms: &mut Atoms, quoted: bool) {
        let start = self.at;
        match self.ahead(1) {
            Some('(') if self.is_arithmetic() => self.arithmetic(atoms, start, "))"),
            Some('(') => {
                self.bump();
                self.bump();
                let from = self.out.line.commands.len();
                self.substituted(')');
                let document = quoted && self.reads_document(from);
                let why = if document { Hidden::Document } else { Hidden::Substitution };
                self.hide(atoms, why, start);
            }
            Some('{') => self.deeper(|reader| reader.braced(atoms, quoted)),
            Some('[') => self.arithmetic(atoms, start, "]"),
            Some('\'') if !quoted => {
                self.bump();
                self.ansi_quoted(atoms);
            }
            Some('"') if !quoted => {
                self.bump();
                self.double_quoted(atoms);
            }
            Some(sign) if sign.is_ascii_alphabetic() || sign == '_' => {
                self.bump();
                let name = self.name();
                self.variable(atoms, &name, quoted);
            }
            Some(sign @ ('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!')) => {
                self.bump();
                self.bump();
                self.variable(atoms, &sign.to_string(), quoted);
            }
            _ => {
                self.bump();
                atoms.sign('$');
            }
        }
    }

    pub(super) fn hide(&mut self, atoms: &mut Atoms, why: Hidden, start: usize) {
        atoms.push(Piece::Hidden(why, self.text.get(start..self.at).unwrap_or_default().into()));
    }

    /// Returns whether all that was read since then is one program without arguments and a text for it to read.
    fn reads_document(&self, from: usize) -> bool {
        let line = &self.out.line;
        let Some([command]) = line.commands.get(from..) else { return false };
        let [redirect] = command.redirects.as_slice() else { return false };
        let document = redirect.document.and_then(|index| line.documents.get(index));
        command.words.len() == 1
            && command.assignments.is_empty()
            && redirect.fd.is_none()
            && document.is_some_and(|document| document.known)
    }

    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(sign) =
            self.peek().filter(|sign| sign.is_ascii_alphanumeric() || *sign == '_')
        {
            name.push(sign);
            self.bump();
        }
        name
    }

    pub(super) fn variable(&mut self, atoms: &mut Atoms, name: &str, quoted: bool) {
        let splits_anew = self.out.variables.touched("IFS");
        if name == "IFS" && !splits_anew {
            return if quoted { atoms.text(" \t\n") } else { atoms.space() };
        }
        let all = matches!(name, "@" | "*");
        let positional = all || name.parse::<u32>().is_ok_and(|number| number > 0);
        let variables = &self.out.variables;
        let unset = positional && !variables.positional && variables.in_function == 0;
        let fields = if all { variables.fields(POSITIONAL) } else { None };
        let spliced = match (fields, variables.get(name)) {
            (Some(fields), _) => self.elements(atoms, fields, name == "@", quoted),
            (None, Some(values)) => atoms.splice(values, quoted, self.out),
            (None, None) if unset && name == "@" => {
                self.elements(atoms, Values::new(), true, quoted)
            }
            (None, None) if unset => return atoms.push(Piece::Doubt),
            (None, None) => false,
        };
        if !spliced && self.out.variables.touched(name) {
            atoms.push(Piece::Hidden(Hidden::Expansion, format_compact!("${name}")));
        } else if !spliced {
            atoms.push(Piece::Variable(name.into()));
        }
        if splits_anew && !quoted {
            atoms.push(Piece::Doubt);
        }
    }

    /// Puts the elements of an array in: each a word, or in quotes all as one if they are not `apart`.
    pub(super) fn elements(
        &mut self,
        atoms: &mut Atoms,
        fields: Values,
        apart: bool,
        quoted: bool,
    ) -> bool {
        if apart || !quoted {
            return atoms.splice_fields(fields, quoted, self.out);
        }
        let mut joined = expand::joined(&fields);
        if self.out.variables.touched("IFS") {
            joined.push(Piece::Doubt);
        }
        atoms.splice(vec![joined], quoted, self.out)
    }

    /// Returns true if a word that is read as arithmetic names a variable whose value on this line is no number.
    pub(super) fn evaluates(&self, word: &Word) -> bool {
        let texts = word.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            _ => None,
        });
        let odd = |name: &str| {
            let values = self.out.variables.get(name).unwrap_or_default();
            values.iter().any(|pieces| !is_number(pieces))
        };
        texts.into_iter().any(|text| {
            let names = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
            runs_something(text) || names.filter(|name| name_at(name).is_some()).any(odd)
        })
    }

    /// Returns true if `$((` here is arithmetic: the bracket that closes the inner one is followed by another.
    pub(super) fn is_arithmetic(&self) -> bool {
        self.ahead(1) == Some('(')
            && self.ahead(2) == Some('(')
            && closes_twice(self.rest().get(1..).unwrap_or_default())
    }

    /// Returns true if `((` here begins an arithmetic command.
    pub(super) fn begins_arithmetic(&self) -> bool {
        self.peek() == Some('(') && self.ahead(1) == Some('(') && closes_twice(self.rest())
    }

    /// Reads an expression up to `end`; what it hides is harmless if all names in it are numbers here.
    pub(super) fn arithmetic(&mut self, atoms: &mut Atoms, start: usize, end: &str) {
        let open = if end == "]" { 2 } else { 3 };
        for _ in 0..open {
            self.bump();
        }
        let harmless = self.deeper(|reader| reader.expression(end));
        self.hide(atoms, if harmless { Hidden::Expansion } else { Hidden::Arithmetic }, start);
    }

    /// Reads an arithmetic expression with its end; returns true if it can run nothing.
    pub(super) fn expression(&mut self, end: &str) -> bool {
        let close = if end == "]" { ']' } else { ')' };
        let mut open = 0usize;
        let mut harmless = true;
        while let Some(sign) = self.peek() {
            if open == 0 && sign == close {
                self.bump();
                if end == "]" || self.eat(close) {
                    return harmless;
                }
                continue;
            }
            match sign {
                '(' | '[' => open += 1,
                ')' | ']' => open = open.saturating_sub(1),
                _ => {}
            }
            harmless &= self.expression_part(sign);
        }
        self.fail(Unseen::Unended);
        false
    }

    fn expression_part(&mut self, sign: char) -> bool {
        let mut inner = Atoms::default();
        match sign {
            '$' => self.dollar(&mut inner, true),
            '`' => self.backtick(&mut inner, true),
            '\'' | '"' | '\\' => {
                self.bump();
                return false;
            }
            _ if sign.is_ascii_alphabetic() || sign == '_' => {
                let stepped =
                    self.text.get(..self.at).is_some_and(|before| before.ends_with(['+', '-']));
                let name = self.name();
                let values = self.out.variables.get(&name);
                let changed = self
                    .rest()
                    .trim_start()
                    .starts_with(['=', '+', '-', '*', '/', '%', '<', '>', '&', '^', '|']);
                if (stepped || changed) && values.is_some() {
                    self.out.variables.forget(&name);
                }
                return self.peek() != Some('[')
                    && values.is_none_or(|values| values.iter().all(|pieces| is_number(pieces)));
            }
            _ => {
                self.bump();
                return true;
            }
        }
        inner.pieces().all(|piece| match piece {
            Piece::Text(text) => text.chars().all(|sign| sign.is_ascii_digit()),
            Piece::Hidden(why, _) => *why == Hidden::Expansion,
            _ => true,
        })
    }

    /// Reads a backtick substitution: its text is unescaped once, then read as a line of its own.
    pub(super) fn backtick(&mut self, atoms: &mut Atoms, quoted: bool) {
        let start = self.at;
        self.bump_raw();
        let mut text = String::new();
        loop {
            match self.bump_raw() {
                None => return self.fail(Unseen::Unended),
                Some('`') => break,
                Some('\\') => match self.bump_raw() {
                    Some(kept @ ('$' | '`' | '\\')) => text.push(kept),
                    Some('"') if quoted => text.push('"'),
                    Some(other) => text.extend(['\\', other]),
                    None => text.push('\\'),
                },
                Some(sign) => text.push(sign),
            }
        }
        self.skip_joins();
        let base = self.base + start;
        self.deeper(|outer| {
            let mut inner = Reader::new(&text, base, outer.out);
            inner.substituted_whole();
        });
        self.hide(atoms, Hidden::Substitution, start);
    }
}

/// Returns true if a text that is read once more would run something.
pub(super) fn runs_something(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

fn is_number(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| match piece {
        Piece::Text(text) => {
            text.trim_start_matches(['-', '+']).chars().all(|sign| sign.is_ascii_digit())
        }
        Piece::Hidden(why, _) => *why == Hidden::Expansion,
        Piece::Doubt => true,
        _ => false,
    })
}

/// Returns true if the first bracket of `text` is closed by a bracket right behind the one that closes the second.
fn closes_twice(text: &str) -> bool {
    let mut open = 0usize;
    let mut signs = text.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (_, '\\') if quote != Some('\'') => {
                signs.next();
            }
            (Some(end), _) if sign == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(sign),
            (None, '(') => open += 1,
            (None, ')') => {
                open = open.saturating_sub(1);
                if open == 1 {
                    return signs.peek() == Some(&')');
                }
            }
            _ => {}
        }
    }
    false
}

/// Returns the name and the rest of `name=value`, `name+=value` or `name[index]=value`, by its raw spelling.
pub(super) fn assigned_name(raw: &str) -> Option<&str> {
    let name = name_at(raw)?;
    let rest = raw.get(name.len()..)?;
    let indexed = rest.starts_with('[') && rest.contains("]=");
    (rest.starts_with('=')
        || rest.starts_with("+=")
        || indexed
        || (rest.starts_with('[') && rest.contains("]+=")))
    .then_some(name)
}
