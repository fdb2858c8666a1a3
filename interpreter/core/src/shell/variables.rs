//! What the line itself says about variables: values assigned earlier, and which of them are sure.

use super::Piece;
use std::collections::HashMap;

/// The values a variable may have; several come from a loop over known words.
pub(super) type Values = Vec<Vec<Piece>>;

#[derive(Debug, Default)]
pub(super) struct Variables {
    known: HashMap<String, Values>,
    /// Every name assigned so far, in order, and where each was assigned first.
    log: Vec<String>,
    first: HashMap<String, usize>,
    /// Above zero where a value may have changed before it is used: in a function body.
    pub(super) in_function: usize,
    /// Something unseen ran in this shell: no value is sure any more.
    lost: bool,
    /// The positional parameters may be set.
    pub(super) positional: bool,
}

impl Variables {
    /// Returns the values of a variable, if the line says them.
    pub(super) fn get(&self, name: &str) -> Option<Values> {
        let mut values = self.known.get(name)?.clone();
        if self.lost || self.in_function > 0 {
            values.iter_mut().for_each(doubt);
        }
        Some(values)
    }

    /// Returns true if the line, or something unseen in it, may have changed the variable.
    pub(super) fn touched(&self, name: &str) -> bool {
        self.lost || self.first.contains_key(name)
    }

    /// Notes an assignment; `sure` is false where it may not have happened when the value is used.
    pub(super) fn set(&mut self, name: &str, mut values: Values, sure: bool) {
        self.note(name);
        if !sure {
            values.iter_mut().for_each(doubt);
        }
        self.known.insert(name.to_string(), values);
    }

    /// Notes that a variable now has a value the line does not say.
    pub(super) fn forget(&mut self, name: &str) {
        self.note(name);
        self.known.remove(name);
    }

    fn note(&mut self, name: &str) {
        self.first.entry(name.to_string()).or_insert(self.log.len());
        self.log.push(name.to_string());
    }

    /// Makes every value doubtful from now on: something unseen ran in this shell.
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.positional = true;
    }

    /// Returns a mark for [`Variables::doubt_since`] and [`Variables::changed_since`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Makes what was assigned since the mark doubtful: it happened in another shell, or may not have happened.
    pub(super) fn doubt_since(&mut self, mark: usize) {
        for name in self.log.get(mark..).unwrap_or_default() {
            if let Some(values) = self.known.get_mut(name) {
                values.iter_mut().for_each(doubt);
            }
        }
    }

    /// Returns true if a name assigned since the mark had been assigned before it too.
    pub(super) fn changed_since(&self, mark: usize) -> bool {
        let since = self.log.get(mark..).unwrap_or_default();
        since.iter().any(|name| self.first.get(name).is_some_and(|first| *first < mark))
    }
}

fn doubt(pieces: &mut Vec<Piece>) {
    if pieces.last() != Some(&Piece::Doubt) {
        pieces.push(Piece::Doubt);
    }
}

/// Returns the variable name that `text` starts with, if it does.
pub(super) fn name_at(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    if !(first.is_ascii_alphabetic() || first == '_') {
        return None;
    }
    let end = text
        .find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))
        .unwrap_or(text.len());
    text.get(..end)
}
