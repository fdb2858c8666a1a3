//! Lists of commands by the words they start with, looked up by the first of them. Nothing is indexed before it is asked
//! for: most runs of the program never do.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Commands by the words they start with, each with a value; `*` in a word stands for anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Listed<T>")]
#[serde(bound = "T: Deserialize<'de> + Default")]
pub struct Entries<T = ()> {
    list: Vec<(String, T)>,
    index: OnceLock<Index>,
}

/// Positions in the list, by first words and of those with a `*` in it.
#[derive(Debug, Clone, Default)]
struct Index {
    firsts: HashMap<String, Vec<usize>>,
    patterns: Vec<usize>,
}

/// As it is written in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed<T> {
    Plain(Vec<String>),
    Valued(BTreeMap<String, T>),
}

impl<T: Default> From<Listed<T>> for Entries<T> {
    fn from(listed: Listed<T>) -> Entries<T> {
        let list = match listed {
            Listed::Plain(names) => names.into_iter().map(|name| (name, T::default())).collect(),
            Listed::Valued(names) => names.into_iter().collect(),
        };
        Entries { list, index: OnceLock::new() }
    }
}

impl<T> Entries<T> {
    /// Returns the entries that a command whose first word is `first` may start with.
    pub fn starting(&self, first: &str) -> impl Iterator<Item = (&str, &T)> {
        let index = self.index.get_or_init(|| self.indexed());
        let named = index.firsts.get(first).map(Vec::as_slice).unwrap_or_default();
        let found = named.iter().chain(&index.patterns).filter_map(|at| self.list.get(*at));
        found.map(|(entry, value)| (entry.as_str(), value))
    }

    fn indexed(&self) -> Index {
        let mut index = Index::default();
        for (at, (entry, _)) in self.list.iter().enumerate() {
            let first = entry.split(' ').next().unwrap_or_default();
            match first.contains('*') {
                true => index.patterns.push(at),
                false => index.firsts.entry(first.to_string()).or_default().push(at),
            }
        }
        index
    }
}
