//! What the line itself says about variables: values assigned earlier, and which of them are sure.

use super::expand::size;
use super::{Limits, Piece};
use foldhash::{HashMap, HashSet};

/// The values a variable may have; several come from a loop over known words, or from what may have happened.
pub(super) type Values = Vec<Vec<Piece>>;

/// The positional parameters: an array that every shell has.
pub(super) const POSITIONAL: &str = "@";

/// What is known of a variable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Its values; of an array those of its first element.
    values: Values,
    /// The elements, if it is an array.
    fields: Option<Values>,
}

#[derive(Debug, Default)]
pub(super) struct Variables {
    known: HashMap<String, Known>,
    /// Every name assigned so far, in order, with what was known of it before, and where each was assigned first.
    log: Vec<(String, Option<Known>)>,
    first: HashMap<String, usize>,
    /// Above zero where a value may have changed before it is used: in a function body.
    pub(super) in_function: usize,
    /// Something unseen ran in this shell: no value is sure any more.
    lost: bool,
    /// The positional parameters may be set.
    pub(super) positional: bool,
    /// Names whose values another name, or an attribute, changes on the way.
    bent: HashSet<String>,
    /// Bytes of values that may still be kept beside the last ones.
    left: usize,
    /// How many values of a variable are kept apart.
    most: usize,
}

impl Variables {
    /// Returns what is known before anything ran.
    pub(super) fn new(limits: &Limits) -> Variables {
        let (left, most) = (limits.max_expanded, limits.max_spellings);
        Variables { left, most, ..Variables::default() }
    }

    /// Returns no more values than are kept apart; where some are left out, the others are doubtful.
    pub(super) fn capped(&self, mut values: Values) -> Values {
        if values.len() > self.most {
            values.truncate(self.most);
            values.iter_mut().for_each(doubt);
        }
        values
    }

    /// Notes what the line is called with: `$0`, and `$1` and on.
    pub(super) fn called(&mut self, own: Vec<Piece>, given: Values) {
        self.positional = true;
        self.known.insert("0".into(), Known { values: vec![own], fields: None });
        let values = given.first().cloned().into_iter().collect();
        self.known.insert(POSITIONAL.into(), Known { values, fields: Some(given) });
    }

    /// Returns the values of a variable, if the line says them.
    pub(super) fn get(&self, name: &str) -> Option<Values> {
        if self.in_function > 0 && place(name).is_some() {
            return None;
        }
        let own = |known: &Known| Some(known.values.clone()).filter(|values| !values.is_empty());
        let values = match place(name) {
            Some(at) => self
                .known
                .get(POSITIONAL)?
                .fields
                .as_ref()?
                .get(at)
                .cloned()
                .map(|field| vec![field]),
            None => own(self.known.get(name)?),
        };
        values.map(|values| self.as_sure(values))
    }

    /// Returns the elements of an array, if the line says them.
    pub(super) fn fields(&self, name: &str) -> Option<Values> {
        if self.in_function > 0 && name == POSITIONAL {
            return None;
        }
        let known = self.known.get(name)?;
        let fields = known
            .fields
            .clone()
            .or_else(|| (known.values.len() == 1).then(|| known.values.clone()))?;
        Some(self.as_sure(fields))
    }

    fn as_sure(&self, mut values: Values) -> Values {
        if self.lost || self.in_function > 0 {
            values.iter_mut().for_each(doubt);
        }
        values
    }

    /// Returns true if the line, or something unseen in it, may have changed the variable.
    pub(super) fn touched(&self, name: &str) -> bool {
        self.lost || self.first.contains_key(name)
    }

    /// Notes an assignment. Where it may not have happened when the value is used (`sure` is false), what the variable
    /// had before stays possible.
    pub(super) fn set(&mut self, name: &str, mut values: Values, sure: bool) {
        if !sure {
            let before = self.before(name);
            join(&mut values, before, self.most);
        }
        let values = self.capped(values);
        self.put(name, Some(Known { values, fields: None }));
    }

    /// Returns the values to keep beside those that a variable gets; nothing is sure any more once they are too many.
    fn before(&mut self, name: &str) -> Values {
        let Some(known) = self.known.get(name) else { return Values::new() };
        match self.left.checked_sub(bytes(known)) {
            Some(left) => {
                self.left = left;
                known.values.clone()
            }
            None => {
                self.lose_all();
                Values::new()
            }
        }
    }

    /// Notes that a name's values are changed on the way: no assignment says what it has.
    pub(super) fn bend(&mut self, name: &str) {
        self.bent.insert(name.to_string());
        self.forget(name);
    }

    /// Notes that a variable is an array of these elements.
    pub(super) fn set_fields(&mut self, name: &str, mut fields: Values, sure: bool) {
        if !sure {
            fields.iter_mut().for_each(doubt);
        }
        let values = fields.first().cloned().into_iter().collect();
        self.put(name, Some(Known { values, fields: Some(fields) }));
    }

    /// Makes the values of a variable doubtful.
    pub(super) fn doubt(&mut self, name: &str) {
        if let Some(known) = self.known.get(name).cloned() {
            self.set(name, known.values, false);
        }
    }

    /// Notes that a variable now has a value the line does not say.
    pub(super) fn forget(&mut self, name: &str) {
        self.put(name, None);
    }

    fn put(&mut self, name: &str, known: Option<Known>) {
        let known = known.filter(|_| !self.bent.contains(name));
        let most = self.known.get(name).map(bytes).unwrap_or_default();
        match self.left.checked_sub(most) {
            Some(left) => self.left = left,
            None => self.lose_all(),
        }
        self.first.entry(name.to_string()).or_insert(self.log.len());
        let before = match known {
            Some(known) => self.known.insert(name.to_string(), known),
            None => self.known.remove(name),
        };
        self.log.push((name.to_string(), before));
    }

    /// Makes every value doubtful from now on: something unseen ran in this shell.
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.positional = true;
    }

    /// Forgets every value: there are more than are kept.
    fn lose_all(&mut self) {
        self.lose();
        self.known.clear();
        self.left = 0;
    }

    /// Returns a mark for what is assigned from here on.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Puts back what was known at the mark: what was assigned since happened in another shell.
    pub(super) fn undo_since(&mut self, mark: usize) {
        for at in (mark..self.log.len()).rev() {
            let Some((name, before)) = self.log.get_mut(at) else { continue };
            let (name, before) = (std::mem::take(name), before.take());
            if self.first.get(&name).is_some_and(|first| *first >= mark) {
                self.first.remove(&name);
            }
            match before {
                Some(known) => self.known.insert(name, known),
                None => self.known.remove(&name),
            };
        }
        self.log.truncate(mark);
    }

    /// Makes what was assigned since the mark doubtful: it may not have happened, and what was before may still hold.
    pub(super) fn doubt_since(&mut self, mark: usize) {
        for at in mark..self.log.len() {
            let Some((name, before)) = self.log.get(at) else { continue };
            let most = before.as_ref().map(bytes).unwrap_or_default();
            let Some(left) = self.left.checked_sub(most) else { return self.lose_all() };
            self.left = left;
            if let Some(known) = self.known.get_mut(name) {
                let before = before.as_ref().map(|before| before.values.clone());
                join(&mut known.values, before.unwrap_or_default(), self.most);
                known.fields.iter_mut().flatten().for_each(doubt);
            }
        }
    }

    /// Joins values that are possible too to those of a variable.
    pub(super) fn also(&mut self, name: &str, values: Values) {
        let mut joined = self.before(name);
        join(&mut joined, values, self.most);
        self.put(name, Some(Known { values: joined, fields: None }));
    }

    /// Returns what was assigned since the mark and had been assigned before it too, with its values.
    pub(super) fn changed_since(&self, mark: usize) -> Vec<(String, Values)> {
        let mut seen = HashSet::default();
        let since = self.log.get(mark..).unwrap_or_default().iter().map(|(name, _)| name);
        let before = |name: &String| self.first.get(name).is_some_and(|first| *first < mark);
        let known = |name: &String| self.known.get(name).map(|known| known.values.clone());
        since
            .filter(|name| seen.insert(*name) && before(name))
            .map(|name| (name.clone(), known(name).unwrap_or_default()))
            .collect()
    }
}

fn bytes(known: &Known) -> usize {
    let fields = known.fields.iter().flatten();
    known.values.iter().chain(fields).flatten().map(size).sum()
}

/// Adds values that are possible too, and makes all of them doubtful.
fn join(values: &mut Values, more: Values, most: usize) {
    values.iter_mut().for_each(doubt);
    for mut value in more {
        doubt(&mut value);
        if !values.contains(&value) && values.len() < most {
            values.push(value);
        }
    }
}

fn doubt(pieces: &mut Vec<Piece>) {
    if pieces.last() != Some(&Piece::Doubt) {
        pieces.push(Piece::Doubt);
    }
}

/// Returns which of the positional parameters a name is, counted from zero.
fn place(name: &str) -> Option<usize> {
    name.parse::<usize>().ok()?.checked_sub(1)
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
