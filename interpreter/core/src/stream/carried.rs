//! Keeps what frames of deltas carry that the provider wants back with the next request, such as signed reasoning that comes in
//! pieces. What it means is the provider's business.

use super::common::Part;
use super::places::{Found, Places};
use crate::message::Carry;
use crate::spec::{CarriedPieces, Dialect};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What one reply carried so far.
#[derive(Debug)]
pub(super) struct Carried<'s> {
    dialect: &'s str,
    model: &'s str,
    /// The fields, with their places.
    places: Vec<(String, Part)>,
    pieces: Option<&'s CarriedPieces>,
    fields: Map<String, Value>,
}

impl<'s> Carried<'s> {
    /// Compiles the places of a dialect, among those of its frames.
    pub(super) fn new(dialect: &'s Dialect, model: &'s str, frame: &mut Places) -> Carried<'s> {
        let reply = &dialect.reply;
        let mut fields: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for place in &reply.carried {
            let name = place.rsplit('/').next().unwrap_or_default();
            fields.entry(name).or_default().push(place.clone());
        }
        let places = fields.into_iter();
        let places = places.map(|(name, at)| (name.to_string(), Part::new(frame, &at, reply)));
        Carried {
            dialect: &dialect.id,
            model,
            places: places.collect(),
            pieces: dialect.reply.carried_pieces.as_ref(),
            fields: Map::new(),
        }
    }

    /// Keeps what a frame carries.
    pub(super) fn keep(&mut self, found: &Found<'_>) {
        for (name, part) in &mut self.places {
            let Some(raw) = part.said(found) else { continue };
            let known =
                self.fields.entry(name.as_str()).or_insert_with(|| Value::Array(Vec::new()));
            match (known, serde_json::from_str(raw), self.pieces) {
                (Value::Array(known), Ok(Value::Array(list)), Some(pieces)) => {
                    list.into_iter().for_each(|entry| add(known, entry, pieces));
                }
                (known, value, _) => *known = value.unwrap_or_default(),
            }
        }
    }

    /// Gives away what was kept, if anything was.
    pub(super) fn taken(&mut self) -> Option<Carry> {
        let fields = std::mem::take(&mut self.fields);
        let carry =
            |fields| Carry { dialect: self.dialect.into(), model: self.model.into(), fields };
        (!fields.is_empty()).then(|| carry(fields))
    }
}

/// Adds an entry to a list, or what it says to the entry it is a piece of.
fn add(list: &mut Vec<Value>, entry: Value, pieces: &CarriedPieces) {
    let Some(last) = list.last_mut().filter(|last| one(last, &entry, pieces)) else {
        list.push(entry);
        return;
    };
    let (Value::Object(last), Value::Object(entry)) = (last, entry) else { return };
    for (key, value) in entry {
        match (last.get_mut(&key), value) {
            (Some(Value::String(known)), Value::String(more)) if pieces.joined.contains(&key) => {
                known.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => drop(last.insert(key, value)),
        }
    }
}

/// Whether two entries are pieces of one.
fn one(last: &Value, entry: &Value, pieces: &CarriedPieces) -> bool {
    let agree = |key: &String| last.get(key).is_some() && last.get(key) == entry.get(key);
    !pieces.same.is_empty() && pieces.same.iter().all(agree)
}
