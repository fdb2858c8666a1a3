//! Entries of a file that are found by name. Those of the packed spec are read one by one, when they are first asked for:
//! a session asks for few of them. It decides nothing about what an entry says.

use serde::de::DeserializeOwned;
use std::{borrow::Cow, fmt, iter::once, ops::Range, sync::OnceLock};

/// Where the names of a file's entries stand, and the entries themselves.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// All names, one behind the other.
    pub names: Cow<'static, str>,
    /// The names without a `*`, in the order of their bytes and of their entries.
    pub plain: Cow<'static, [Name]>,
    /// The names with a `*`, in the order they were given in.
    pub patterns: Cow<'static, [Name]>,
    /// The first byte of each entry in its file, and the one behind its last; empty where entries are read already.
    pub spans: Cow<'static, [(u32, u32)]>,
}

/// A name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Its first eight bytes as one number, which tells most names apart.
    pub key: u64,
    /// Where it starts among the names, in bytes.
    pub start: u32,
    /// Its length in bytes.
    pub len: u32,
    /// The entry's number.
    pub entry: u32,
}

impl Index {
    /// Returns an index of these names and the numbers of their entries.
    pub(super) fn of<'n>(named: impl IntoIterator<Item = (&'n str, usize)>) -> Index {
        let (mut names, mut plain, mut patterns) = (String::new(), Vec::new(), Vec::new());
        for (text, entry) in named {
            // A spec's file is far smaller than what these hold.
            let [start, len, entry] = [names.len(), text.len(), entry].map(number);
            let list = if text.contains('*') { &mut patterns } else { &mut plain };
            list.push(Name { key: key(text.as_bytes()), start, len, entry });
            names.push_str(text);
        }
        let order = |name: &Name| (bytes(&names, *name), name.entry);
        plain.sort_by(|one, other| order(one).cmp(&order(other)));
        let (plain, patterns) = (plain.into(), patterns.into());
        Index { names: names.into(), plain, patterns, spans: Cow::default() }
    }

    /// Returns the text of a name.
    fn text(&self, name: Name) -> &str {
        self.names.get(range(name)).unwrap_or_default()
    }

    /// Returns the numbers of the entries called `name`.
    fn called(&self, name: &str) -> impl Iterator<Item = u32> {
        let key = key(name.as_bytes());
        let from = self.plain.partition_point(|each| each.key < key);
        let alike = self.plain.get(from..).unwrap_or_default().iter();
        let alike = alike.take_while(move |each| each.key == key);
        let same = move |each: &&Name| bytes(&self.names, **each) == name.as_bytes();
        alike.filter(same).map(|each| each.entry)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the first eight bytes of a name as a number in whose order names are.
fn key(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte);
    u64::from_be_bytes(first)
}

fn bytes(names: &str, name: Name) -> &[u8] {
    names.as_bytes().get(range(name)).unwrap_or_default()
}

fn range(name: Name) -> Range<usize> {
    let start = count(name.start);
    start..start.saturating_add(count(name.len))
}

/// Entries found by name.
#[derive(Clone)]
pub struct Named<T> {
    index: Index,
    /// The file the index speaks of; empty where entries are read already.
    text: &'static str,
    entries: Vec<OnceLock<Box<T>>>,
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named { index: Index::default(), text: "", entries: Vec::new() }
    }
}

impl<T: DeserializeOwned + Default> Named<T> {
    /// Returns entries that are read already.
    pub(super) fn read(index: Index, entries: impl IntoIterator<Item = T>) -> Named<T> {
        let entries = entries.into_iter().map(|entry| OnceLock::from(Box::new(entry))).collect();
        Named { index, text: "", entries }
    }

    /// Returns the entries of a packed file, which its build has checked.
    pub(super) fn late(text: &'static str, index: &Index) -> Named<T> {
        let entries = index.spans.iter().map(|_| OnceLock::new()).collect();
        Named { index: index.clone(), text, entries }
    }

    /// Returns the index, for a build.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the entries called `name`, in their order.
    pub(super) fn called<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a T> {
        self.index.called(name).filter_map(|entry| self.entry(entry))
    }

    /// Returns the entries that have a name with a `*`, with that name.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&str, u32)> {
        self.index.patterns.iter().map(|name| (self.index.text(*name), name.entry))
    }

    /// Returns the names without a `*`, each once.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.index.plain.iter().map(|name| self.index.text(*name));
        let before = once("").chain(names.clone());
        names.zip(before).filter(|(name, before)| name != before).map(|(name, _)| name)
    }

    /// Returns the entry with this number.
    pub(super) fn entry(&self, entry: u32) -> Option<&T> {
        let number = count(entry);
        Some(self.entries.get(number)?.get_or_init(|| Box::new(self.parsed(number))))
    }

    fn parsed(&self, number: usize) -> T {
        let span = self.index.spans.get(number).copied().unwrap_or_default();
        let text = self.text.get(count(span.0)..count(span.1)).unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }
}

impl<T: DeserializeOwned + Default + fmt::Debug> fmt::Debug for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.index.plain.iter().chain(&*self.index.patterns);
        f.debug_map()
            .entries(names.map(|name| (self.index.text(*name), self.entry(name.entry))))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{ "b": ["x", "y"], "aa": ["z"] }"#;

    fn index() -> Index {
        Index::of([("b", 0), ("aa", 1), ("c", 0), ("c", 1), ("m.*", 1), ("*k", 0)])
    }

    fn check(named: &Named<Vec<String>>) {
        let called = |name: &str| named.called(name).flatten().cloned().collect::<String>();
        for (name, texts) in
            [("b", "xy"), ("aa", "z"), ("c", "xyz"), ("m.*", ""), ("a", ""), ("", "")]
        {
            assert_eq!(called(name), texts, "{name}");
        }
        assert_eq!(named.names().collect::<Vec<_>>(), ["aa", "b", "c"]);
        assert_eq!(named.patterns().collect::<Vec<_>>(), [("m.*", 1), ("*k", 0)]);
        assert_eq!(named.entry(2), None);
    }

    #[test]
    fn entries_are_the_same_whenever_they_are_read() {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let read = Named::read(index(), [texts(&["x", "y"]), texts(&["z"])]);
        let spans = vec![(7, 17), (25, 30)].into();
        let late = Named::late(TEXT, &Index { spans, ..index() });
        check(&read);
        check(&late);
        assert_eq!(format!("{read:?}"), format!("{late:?}"));
    }

    #[test]
    fn a_span_that_fits_nothing_is_an_empty_entry() {
        let spans = vec![(90, 99), (2, 1)].into();
        let late = Named::<Vec<String>>::late(TEXT, &Index { spans, ..index() });
        assert_eq!(late.called("c").count(), 2);
        assert_eq!(late.called("c").flatten().count(), 0);
    }
}
