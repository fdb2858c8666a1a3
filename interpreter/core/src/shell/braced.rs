//! `${…}`: a variable, an element of an array, what stands in where it is not set, and operations on its value.

use super::expand::{self, Atoms};
use super::reader::Reader;
use super::variables::{POSITIONAL, Values, name_at};
use super::words::Until;
use super::{Hidden, Piece, Unseen, Word, operation};
use compact_str::format_compact;

/// Which part of an array `${a…}` is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// No index stands there.
    Whole,
    /// `[@]`
    Each,
    /// `[*]`
    Joined,
    /// `[1]`
    At(usize),
}

/// A plain index is no longer than this, brackets included.
const LONGEST_INDEX: usize = 8;

impl Reader<'_, '_> {
    /// Reads `${…}`.
    pub(super) fn braced(&mut self, atoms: &mut Atoms, quoted: bool) {
        let start = self.at;
        self.bump();
        self.bump();
        let prefix =
            self.peek().filter(|sign| matches!(sign, '!' | '#') && self.ahead(1) != Some('}'));
        if prefix.is_some() {
            self.bump();
        }
        let mut name = self.name();
        if name.is_empty() {
            name.extend(self.bump());
        }
        let plain = prefix.is_none();
        let element = if prefix == Some('#') { Element::Whole } else { self.element(&name) };
        let named = name_at(&name).is_some();
        let whole = plain && (element == Element::Whole || !named);
        match self.peek() {
            Some('}') if plain => {
                self.bump();
                self.element_value(atoms, &name, element, quoted);
            }
            Some('}') if prefix == Some('!') && element == Element::Whole => {
                self.bump();
                self.pointed(atoms, &name, quoted, start);
            }
            Some(':') if whole && matches!(self.ahead(1), Some('-' | '=' | '+' | '?')) => {
                self.bump();
                self.alternative(atoms, &name, true, quoted);
            }
            Some('-' | '=' | '+' | '?') if whole => self.alternative(atoms, &name, false, quoted),
            _ => {
                let operation = self.single_word(Until::Brace);
                self.close_brace();
                match element {
                    Element::Each | Element::Joined if plain => {
                        self.operated_each(atoms, (&name, element), &operation, (quoted, start))
                    }
                    _ => {
                        let values = if plain { self.values(&name, element) } else { None };
                        self.operated(atoms, (&name, values), &operation, (prefix, quoted, start));
                    }
                }
            }
        }
    }

    /// Puts in what an operation makes of a variable's values, as far as that can be said.
    fn operated(
        &mut self,
        atoms: &mut Atoms,
        (name, values): (&str, Option<Values>),
        operation: &Word,
        (prefix, quoted, start): (Option<char>, bool, usize),
    ) {
        let stays = matches!(operation.text.as_str(), "%/" | "%%/");
        if stays && values.is_none() && prefix.is_none() && self.is_always_set(name) {
            return self.variable(atoms, name, quoted);
        }
        let counts = operation.text.starts_with(':') && self.evaluates(operation);
        let made = values.filter(|_| !counts && operation.also.is_empty());
        let made = made.and_then(|values| self.made(values, operation, start));
        if let Some(made) = made
            && atoms.splice(made, quoted, self.out)
        {
            return;
        }
        let runs = prefix == Some('!') || counts || reads_value_as_code(&operation.text);
        self.hide(atoms, if runs { Hidden::Indirect } else { Hidden::Expansion }, start);
    }

    /// Puts in what an operation makes of each element of an array, or which of them it takes.
    fn operated_each(
        &mut self,
        atoms: &mut Atoms,
        (name, element): (&str, Element),
        operation: &Word,
        (quoted, start): (bool, usize),
    ) {
        let name = if name_at(name).is_some() { name } else { POSITIONAL };
        let fields = self.out.variables.fields(name).filter(|_| operation.also.is_empty());
        let made = fields.and_then(|fields| match operation.text.strip_prefix(':') {
            Some(numbers) => taken(fields, numbers, usize::from(name == POSITIONAL)),
            None => self.made(fields, operation, start),
        });
        let spliced =
            made.is_some_and(|made| self.elements(atoms, made, element == Element::Each, quoted));
        if !spliced {
            let runs = self.evaluates(operation) || reads_value_as_code(&operation.text);
            self.hide(atoms, if runs { Hidden::Indirect } else { Hidden::Expansion }, start);
        }
    }

    /// Returns what an operation makes of values that are known texts.
    fn made(&self, values: Values, operation: &Word, start: usize) -> Option<Values> {
        let raw = self.text.get(start + 2..self.at).unwrap_or_default();
        if operation.text.starts_with('/') && raw.contains(['\\', '\'', '"', '$', '`']) {
            return None;
        }
        let mut found = Values::new();
        for value in values {
            let mut text = String::new();
            let mut sure = true;
            for piece in value {
                match piece {
                    Piece::Text(part) | Piece::Glob(part) => text.push_str(&part),
                    Piece::Doubt => sure = false,
                    _ => return None,
                }
            }
            let text = operation::applied(&text, &operation.pieces, expand::left(self.out))?;
            let doubt = (!sure).then_some(Piece::Doubt);
            found.push(std::iter::once(Piece::Text(text.into())).chain(doubt).collect());
        }
        Some(found)
    }

    /// Steps over `[@]`, `[*]` or a plain index.
    fn element(&mut self, name: &str) -> Element {
        match name {
            "@" => return Element::Each,
            "*" => return Element::Joined,
            _ => {}
        }
        let near = self.rest().char_indices().nth(LONGEST_INDEX).map(|(at, _)| at);
        let near = self.rest().get(..near.unwrap_or(self.rest().len())).unwrap_or_default();
        let inner = near.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((index, _)) = inner.filter(|_| name_at(name).is_some()) else {
            return Element::Whole;
        };
        let element = match index {
            "@" => Element::Each,
            "*" => Element::Joined,
            _ => match index.parse() {
                Ok(at) => Element::At(at),
                Err(_) => return Element::Whole,
            },
        };
        self.jump(self.at + index.len() + 2);
        element
    }

    /// Returns the values of a variable or of an element of an array.
    fn values(&self, name: &str, element: Element) -> Option<Values> {
        match element {
            Element::Whole => self.out.variables.get(name),
            Element::At(at) => {
                self.out.variables.fields(name)?.get(at).cloned().map(|field| vec![field])
            }
            Element::Each | Element::Joined => None,
        }
    }

    fn element_value(&mut self, atoms: &mut Atoms, name: &str, element: Element, quoted: bool) {
        let apart = element == Element::Each;
        let spliced = match element {
            Element::Whole => return self.variable(atoms, name, quoted),
            _ if name_at(name).is_none() => return self.variable(atoms, name, quoted),
            Element::At(_) => match self.values(name, element) {
                Some(values) => atoms.splice(values, quoted, self.out),
                None => false,
            },
            Element::Each | Element::Joined => match self.out.variables.fields(name) {
                Some(fields) => self.elements(atoms, fields, apart, quoted),
                None => false,
            },
        };
        if !spliced {
            atoms.push(Piece::Hidden(Hidden::Expansion, format_compact!("${name}")));
        }
        if self.out.variables.touched("IFS") && !quoted {
            atoms.push(Piece::Doubt);
        }
    }

    /// Puts in the value of the variable that another one names, as `${!x}` does.
    fn pointed(&mut self, atoms: &mut Atoms, name: &str, quoted: bool, start: usize) {
        let values = self.out.variables.get(name).unwrap_or_default();
        match values.as_slice() {
            [value] => match value.as_slice() {
                [Piece::Text(target)] if name_at(target) == Some(target.as_str()) => {
                    let target = target.clone();
                    self.variable(atoms, &target, quoted)
                }
                _ => self.hide(atoms, Hidden::Indirect, start),
            },
            _ => self.hide(atoms, Hidden::Indirect, start),
        }
    }

    /// Every shell sets these for itself: a line that did not touch them can rely on it.
    fn is_always_set(&self, name: &str) -> bool {
        matches!(name, "HOME" | "PWD") && !self.out.variables.touched(name)
    }

    /// Returns whether there are positional parameters, if `name` is all of them and the line says it.
    fn are_given(&self, name: &str) -> Option<bool> {
        let fields = self.out.variables.fields(POSITIONAL)?;
        matches!(name, "@" | "*").then_some(!fields.is_empty())
    }

    fn close_brace(&mut self) {
        if !self.eat('}') {
            self.fail(Unseen::Unended);
        }
    }

    /// Reads `${name:-word}` and its like from the sign on: the word is likely where the line says no value.
    fn alternative(&mut self, atoms: &mut Atoms, name: &str, colon: bool, quoted: bool) {
        let start = self.at;
        let sign = self.bump();
        let word = self.operand(quoted);
        self.close_brace();
        let (adds, always) = (sign == Some('+'), self.is_always_set(name));
        if sign == Some('?') || (always && !adds) {
            return self.variable(atoms, name, quoted);
        }
        if let Some(filled) = self.are_given(name) {
            match adds {
                false if filled => self.variable(atoms, name, quoted),
                true if !filled && (name == "@" || !quoted) => {
                    atoms.splice_fields(Values::new(), quoted, self.out);
                }
                true if !filled => {}
                _ if atoms.splice(word.values(), quoted, self.out) => {}
                _ => self.hide(atoms, Hidden::Expansion, start),
            }
            return;
        }
        let words = || word.values().into_iter();
        let likely = |pieces: Vec<Piece>, sure: bool| [pieces, doubt(sure)].concat();
        let mut found = Values::new();
        match self.out.variables.get(name).filter(|_| !always) {
            None => found.extend(words().map(|word| likely(word, always))),
            Some(values) => {
                let most = self.out.limits.max_spellings;
                for value in values {
                    // No more are kept apart.
                    if found.len() > most {
                        break;
                    }
                    let (filled, empty) = may_be(&value, colon);
                    let sure = filled != empty;
                    let uses = if adds { filled } else { empty };
                    if uses {
                        found.extend(words().map(|word| likely(word, sure)));
                    }
                    match adds {
                        false if filled => found.push(likely(value, sure)),
                        true if empty => found.push(doubt(sure)),
                        _ => {}
                    }
                }
            }
        }
        let found = self.out.variables.capped(found);
        let fits = atoms.splice(found.clone(), quoted, self.out);
        match sign {
            Some('=') if fits => self.out.variables.set(name, found, false),
            Some('=') => self.out.variables.forget(name),
            _ => {}
        }
        if !fits {
            atoms.push(Piece::Variable(name.into()));
        }
    }
}

/// Returns the elements that `${a[@]:1:2}` takes, counted from `first`.
fn taken(fields: Values, numbers: &str, first: usize) -> Option<Values> {
    let (from, count) = numbers.split_once(':').unwrap_or((numbers, ""));
    let from = from.trim().parse::<usize>().ok()?.checked_sub(first)?;
    let count = if count.is_empty() { usize::MAX } else { count.trim().parse().ok()? };
    Some(fields.into_iter().skip(from).take(count).collect())
}

/// Returns whether a value may be there, and whether it may be missing; where a colon stands, an empty one is missing.
fn may_be(value: &[Piece], colon: bool) -> (bool, bool) {
    let text =
        |piece: &Piece| matches!(piece, Piece::Text(text) | Piece::Glob(text) if !text.is_empty());
    let unknown = |piece: &Piece| matches!(piece, Piece::Variable(_) | Piece::Hidden(..));
    let likely = value.contains(&Piece::Doubt);
    match (value.iter().any(text), value.iter().any(unknown)) {
        (true, _) => (true, likely),
        (false, true) => (true, true),
        (false, false) => (!colon || likely, colon || likely),
    }
}

fn doubt(sure: bool) -> Vec<Piece> {
    if sure { Vec::new() } else { vec![Piece::Doubt] }
}

/// `@P` and its like, and an index that is more than a number, evaluate what they are given.
fn reads_value_as_code(operation: &str) -> bool {
    let index = operation.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or_default());
    let plain_index = index.is_none_or(|index| {
        index == "@" || index == "*" || index.chars().all(|sign| sign.is_ascii_digit())
    });
    operation.starts_with('@') || operation.contains("]@") || !plain_index
}
