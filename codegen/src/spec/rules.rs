//! Rules of a file in their order, and which of them may speak about a kind of thing. It decides nothing about what they
//! say.

use super::{DefaultRule, Judged, Rule};
use crate::when::{Fact, Record, When};
use foldhash::{HashMap, HashMapExt};
use std::{fmt, ops::Deref, sync::OnceLock};

/// The facts that most conditions begin with: what a command runs, what is done to a file.
const KINDS: [&str; 2] = ["program", "action"];

/// Rules in the order they are written.
#[derive(Clone)]
pub struct Rules<T> {
    list: Vec<T>,
    /// By the record they are about, or the tool they are for.
    groups: Vec<(String, OnceLock<Group>)>,
}

/// Rules of one group as positions in their order.
#[derive(Debug, Clone, Default)]
struct Group {
    /// Those that may speak about a kind which a condition names, those about any kind among them.
    named: HashMap<String, Vec<usize>>,
    /// Those that may speak about any kind.
    others: Vec<usize>,
}

/// What belongs to a group of rules.
pub trait Grouped {
    /// Returns the group's name: the record a rule is about, or the tool it is for.
    fn group(&self) -> &str;

    /// Returns the condition, if the rule has one.
    fn condition(&self) -> Option<&When>;
}

impl Grouped for Rule {
    fn group(&self) -> &str {
        &self.about
    }

    fn condition(&self) -> Option<&When> {
        Some(&self.when)
    }
}

impl Grouped for DefaultRule {
    fn group(&self) -> &str {
        &self.tool
    }

    fn condition(&self) -> Option<&When> {
        match &self.judged {
            Judged::When { when, .. } => Some(when),
            Judged::Pattern(_) => None,
        }
    }
}

impl<T: Grouped> Rules<T> {
    /// Returns the rules of a group that may speak about a record, in their order. Those left out are about another kind
    /// of thing: so much is judged that no condition is asked in vain.
    pub fn about(&self, group: &str, record: &dyn Record) -> impl DoubleEndedIterator<Item = &T> {
        let known = self.groups.iter().find(|(name, _)| name == group);
        let known = known.map(|(name, known)| known.get_or_init(|| self.group(name)));
        let found = known.map(|known| known.named.get(kind(record)).unwrap_or(&known.others));
        found.into_iter().flatten().filter_map(|index| self.list.get(*index))
    }

    /// Returns all rules of a group.
    pub fn of(&self, group: &str) -> impl Iterator<Item = &T> {
        self.list.iter().filter(move |rule| rule.group() == group)
    }

    /// Reads all conditions, which otherwise waits until somebody asks about their group.
    pub fn prepare(&self) {
        for (name, known) in &self.groups {
            known.get_or_init(|| self.group(name));
        }
    }

    fn group(&self, name: &str) -> Group {
        let mut named: HashMap<String, Vec<usize>> = HashMap::new();
        let mut others = Vec::new();
        for (index, rule) in self.list.iter().enumerate().filter(|(_, it)| it.group() == name) {
            let condition = rule.condition();
            match KINDS.iter().find_map(|fact| condition?.needs(fact)) {
                Some(kinds) => kinds.iter().for_each(|kind| {
                    named.entry(kind.to_string()).or_default().push(index);
                }),
                None => others.push(index),
            }
        }
        for known in named.values_mut() {
            known.extend(&others);
            known.sort_unstable();
            known.dedup();
        }
        Group { named, others }
    }
}

/// Returns the kind of thing a record is, as rules are told apart by it.
fn kind(record: &dyn Record) -> &str {
    let text = |fact: &&str| match record.fact(fact) {
        Fact::Text(text) => Some(text),
        _ => None,
    };
    KINDS.iter().find_map(text).unwrap_or_default()
}

impl<T> Default for Rules<T> {
    fn default() -> Rules<T> {
        Rules { list: Vec::new(), groups: Vec::new() }
    }
}

impl<T: Grouped> From<Vec<T>> for Rules<T> {
    fn from(list: Vec<T>) -> Rules<T> {
        let mut names: Vec<&str> = list.iter().map(Grouped::group).collect();
        names.sort_unstable();
        names.dedup();
        let groups = names.into_iter().map(|name| (name.to_string(), OnceLock::new())).collect();
        Rules { list, groups }
    }
}

impl<T> Deref for Rules<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<'a, T> IntoIterator for &'a Rules<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Rules<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.fmt(f)
    }
}
