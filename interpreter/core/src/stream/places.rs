//! Picks the values at given JSON pointers out of a frame in one pass, without building the rest. It decides nothing.

use super::json::{NotJson, Walk, string, unescaped};
use std::borrow::Cow;

/// The most pointers one set of places may have.
const MOST: usize = 32;

/// A set of pointers, compiled for one pass.
#[derive(Debug, Default)]
pub(crate) struct Places {
    nodes: Vec<Node>,
    slots: usize,
}

#[derive(Debug, Default)]
struct Node {
    keys: Vec<Key>,
    slots: Vec<usize>,
}

/// A step down, by name or by number, and the node it leads to.
#[derive(Debug)]
struct Key {
    name: String,
    number: Option<usize>,
    node: usize,
}

/// The pointers of one part, in the order they are tried.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    first: usize,
    end: usize,
}

/// What a frame holds at the places.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    slots: [Option<&'a str>; MOST],
}

impl Places {
    /// Adds the pointers of one part. Pointers beyond the most a set may have find nothing.
    pub(crate) fn group(&mut self, pointers: &[String]) -> Group {
        let first = self.slots;
        for pointer in pointers.iter().filter(|pointer| pointer.starts_with('/')) {
            if self.slots < MOST {
                self.add(pointer);
            }
        }
        Group { first, end: self.slots }
    }

    fn add(&mut self, pointer: &str) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let known = self
                .nodes
                .get(at)
                .and_then(|node| node.keys.iter().find(|key| key.name == step).map(|key| key.node));
            at = known.unwrap_or_else(|| {
                let next = self.nodes.len();
                self.nodes.push(Node::default());
                if let Some(node) = self.nodes.get_mut(at) {
                    let number = step.parse().ok();
                    node.keys.push(Key { name: step, number, node: next });
                }
                next
            });
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.slots.push(self.slots);
            self.slots += 1;
        }
    }

    /// Reads one JSON text. Errors when it is not exactly one JSON value.
    pub(crate) fn read<'a>(&self, json: &'a str) -> Result<Found<'a>, NotJson> {
        let (mut found, mut walk) = (Found { slots: [None; MOST] }, Walk::new(json));
        self.value(Some(0), &mut walk, &mut found)?;
        walk.end()?;
        Ok(found)
    }

    /// Passes a value, and keeps what the pointers of its node and of those below lead to.
    fn value<'a>(
        &self,
        node: Option<usize>,
        walk: &mut Walk<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), NotJson> {
        let Some(node) = node.and_then(|node| self.nodes.get(node)) else {
            return walk.value();
        };
        let first = walk.peek().filter(|_| !node.keys.is_empty());
        let from = walk.here();
        match first {
            Some(b'{') => {
                walk.object(|walk, key| self.value(node.named(key), walk, found))?;
            }
            Some(b'[') => {
                walk.list(|walk, number| self.value(node.numbered(number), walk, found))?;
            }
            _ => walk.value()?,
        }
        for slot in &node.slots {
            if let Some(place) = found.slots.get_mut(*slot) {
                *place = Some(walk.since(from)?).filter(|raw| *raw != "null");
            }
        }
        Ok(())
    }
}

impl Node {
    /// Returns the node that a key leads to. One that is written with escapes is read only when nothing else fits.
    fn named(&self, key: &[u8]) -> Option<usize> {
        let find = |name: &[u8]| {
            self.keys.iter().find(|key| key.name.as_bytes() == name).map(|key| key.node)
        };
        let written = || unescaped(std::str::from_utf8(key).ok()?);
        find(key).or_else(|| key.contains(&b'\\').then(|| find(written()?.as_bytes())).flatten())
    }

    fn numbered(&self, number: usize) -> Option<usize> {
        self.keys.iter().find(|key| key.number == Some(number)).map(|key| key.node)
    }
}

impl<'a> Found<'a> {
    /// Returns the first value of a part that is there and not null.
    pub(crate) fn first(&self, group: Group) -> Option<&'a str> {
        self.slots.get(group.first..group.end)?.iter().find_map(|raw| *raw)
    }

    /// Returns the first value of a part that is not empty.
    pub(crate) fn said(&self, group: Group) -> Option<&'a str> {
        let slots = self.slots.get(group.first..group.end)?;
        slots.iter().find_map(|raw| raw.filter(|raw| !is_empty(raw)))
    }

    /// Returns the first value of a part as text; numbers are given as they are written.
    pub(crate) fn text(&self, group: Group) -> Option<Cow<'a, str>> {
        text(self.first(group)?)
    }

    /// Returns all values of a part that are texts, in the same way.
    pub(crate) fn texts(&self, group: Group) -> impl Iterator<Item = Cow<'a, str>> {
        let slots = self.slots.get(group.first..group.end).unwrap_or_default();
        slots.iter().filter_map(|raw| text((*raw)?))
    }

    /// Returns the first value of a part as a count; a fraction is cut off.
    pub(crate) fn count(&self, group: Group) -> Option<u64> {
        self.first(group).and_then(number)
    }

    /// Returns whether a part has no value, or one that is empty.
    pub(crate) fn is_blank(&self, group: Group) -> bool {
        self.first(group).is_none_or(|raw| raw == "\"\"")
    }

    /// Returns whether no place holds a value.
    pub(crate) fn nothing(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }
}

/// Returns whether a value is an empty text, list or object.
pub(super) fn is_empty(raw: &str) -> bool {
    matches!(raw, "\"\"" | "[]" | "{}")
}

fn text(raw: &str) -> Option<Cow<'_, str>> {
    string(raw).or_else(|| number(raw).map(|_| Cow::Borrowed(raw)))
}

fn number(raw: &str) -> Option<u64> {
    raw.parse().ok().or_else(|| raw.split(['.', 'e', 'E']).next()?.parse().ok())
}
