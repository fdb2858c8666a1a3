//! Picks the values at given JSON pointers out of a frame in one pass, without building the rest. It decides nothing.

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The most pointers one set of places may have.
const MOST: usize = 48;

/// A set of pointers, compiled for one pass.
#[derive(Debug, Default)]
pub(crate) struct Places {
    nodes: Vec<Node>,
    slots: usize,
}

#[derive(Debug, Default)]
struct Node {
    keys: Vec<(String, usize)>,
    slots: Vec<usize>,
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
    slots: [Option<&'a RawValue>; MOST],
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
            let known = self.nodes.get(at).and_then(|node| {
                node.keys.iter().find(|(key, _)| *key == step).map(|(_, next)| *next)
            });
            at = known.unwrap_or_else(|| {
                let next = self.nodes.len();
                self.nodes.push(Node::default());
                if let Some(node) = self.nodes.get_mut(at) {
                    node.keys.push((step, next));
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
    pub(crate) fn read<'a>(&self, json: &'a str) -> Result<Found<'a>, serde_json::Error> {
        let mut found = Found { slots: [None; MOST] };
        let mut reader = serde_json::Deserializer::from_str(json);
        Step { places: self, node: 0, found: &mut found }.deserialize(&mut reader)?;
        reader.end()?;
        Ok(found)
    }
}

impl<'a> Found<'a> {
    /// Returns the first value of a part that is there and not null.
    pub(crate) fn first(&self, group: Group) -> Option<&'a RawValue> {
        self.slots
            .get(group.first..group.end)?
            .iter()
            .copied()
            .flatten()
            .find(|raw| raw.get() != "null")
    }

    /// Returns the first value of a part as text; numbers are given as they are written.
    pub(crate) fn text(&self, group: Group) -> Option<Cow<'a, str>> {
        self.first(group)
            .and_then(|raw| string(raw).or_else(|| number(raw).map(|_| Cow::Borrowed(raw.get()))))
    }

    /// Returns the first value of a part as a count; a fraction is cut off.
    pub(crate) fn count(&self, group: Group) -> Option<u64> {
        self.first(group).and_then(number)
    }

    /// Returns whether no place holds a value.
    pub(crate) fn nothing(&self) -> bool {
        self.slots.iter().flatten().all(|raw| raw.get() == "null")
    }
}

/// Returns the text of a JSON string.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

fn number(raw: &RawValue) -> Option<u64> {
    let digits = raw.get().split(['.', 'e', 'E']).next()?;
    digits.parse().ok()
}

struct Step<'p, 'f, 'a> {
    places: &'p Places,
    node: usize,
    found: &'f mut Found<'a>,
}

impl<'de> DeserializeSeed<'de> for Step<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let Some(node) = self.places.nodes.get(self.node).filter(|node| !node.slots.is_empty())
        else {
            return reader.deserialize_any(self);
        };
        let raw = <&RawValue as serde::Deserialize>::deserialize(reader)?;
        for slot in &node.slots {
            if let Some(place) = self.found.slots.get_mut(*slot) {
                *place = Some(raw);
            }
        }
        if node.keys.is_empty() {
            return Ok(());
        }
        // Some other pointer leads further down.
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_any(self)
            .map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Step<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let keys = self.places.nodes.get(self.node).map_or(&[][..], |node| &node.keys);
        while let Some(next) = map.next_key_seed(Key(keys))? {
            match next {
                Some(node) => map.next_value_seed(Step {
                    places: self.places,
                    node,
                    found: &mut *self.found,
                })?,
                None => map.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let keys = self.places.nodes.get(self.node).map_or(&[][..], |node| &node.keys);
        for index in 0usize.. {
            let wanted = keys.iter().find(|(key, _)| key.parse() == Ok(index));
            let more = match wanted {
                Some((_, node)) => list
                    .next_element_seed(Step {
                        places: self.places,
                        node: *node,
                        found: &mut *self.found,
                    })?
                    .is_some(),
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a key and says which node it leads to, without keeping it.
struct Key<'p>(&'p [(String, usize)]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Option<usize>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.0.iter().find(|(name, _)| name == key).map(|(_, node)| *node))
    }
}
