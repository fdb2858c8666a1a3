//! Reads the frames of a Gemini stream: each holds whole parts of the reply, in order. Where they sit is the dialect file's
//! business.

use super::Taken;
use super::common::{PiecePlaces, UsageCounts, fails, reason};
use super::draft::Draft;
use super::json::{NotJson, elements, string};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::message::Carry;
use crate::spec::Dialect;
use serde_json::{Map, Value};

/// The reason of a reply whose prompt a filter took.
const BLOCKED: &str = "blocked";

/// The reader of one reply's frames.
#[derive(Debug)]
pub(super) struct Gemini<'s> {
    dialect: &'s Dialect,
    model: &'s str,
    frame: Places,
    parts: Group,
    finish: Group,
    blocked: Group,
    usage: Group,
    error: Group,
    part: PartPlaces,
    piece: PiecePlaces,
    counts: UsageCounts<'s>,
}

/// Where things sit in a part.
#[derive(Debug)]
struct PartPlaces {
    places: Places,
    text: Group,
    reasoning: Group,
    call: Group,
    image: Group,
    /// The fields that go back, with their places.
    carried: Vec<(String, Group)>,
}

impl<'s> Gemini<'s> {
    /// Compiles the places of a dialect.
    pub(super) fn new(dialect: &'s Dialect, model: &'s str) -> Gemini<'s> {
        let (mut frame, reply) = (Places::default(), &dialect.reply);
        Gemini {
            dialect,
            model,
            parts: frame.group(&reply.parts),
            finish: frame.group(&reply.finish),
            blocked: frame.group(&reply.blocked),
            usage: frame.group(&reply.usage),
            error: frame.group(&reply.error),
            frame,
            part: PartPlaces::new(dialect),
            piece: PiecePlaces::new(reply),
            counts: UsageCounts::new(reply),
        }
    }

    /// Takes one frame. Errors when it is not JSON.
    pub(super) fn frame(
        &self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<Taken, NotJson> {
        let found = self.frame.read(json)?;
        if fails(&found, self.error) {
            return Ok(Taken::Error);
        }
        if let Some(parts) = found.first(self.parts).filter(|raw| raw.starts_with('[')) {
            for raw in elements(parts)? {
                self.part(raw, draft, out)?;
            }
        }
        if let Some(word) = reason(self.dialect, &found, self.finish) {
            draft.finish = Some(word);
        } else if reason(self.dialect, &found, self.blocked).is_some() {
            draft.finish.get_or_insert_with(|| BLOCKED.into());
        }
        if let Some(raw) = found.first(self.usage) {
            draft.usage = self.counts.read(raw).or(draft.usage);
        }
        Ok(if found.nothing() { Taken::Nothing } else { Taken::Known })
    }

    fn part(&self, raw: &str, draft: &mut Draft<'_>, out: &mut Vec<Event>) -> Result<(), NotJson> {
        let places = &self.part;
        let found = places.places.read(raw)?;
        let carry = places.carry(&found, &self.dialect.id, self.model);
        if let Some(call) = found.first(places.call) {
            return self.piece.read(call, carry, draft, out);
        }
        if found.first(places.image).is_some() {
            out.push(Event::Notice { about: "image_dropped".into(), text: String::new() });
        }
        let thought = found.first(places.reasoning).is_some_and(|raw| raw != "false");
        let text = found.first(places.text).and_then(string).unwrap_or_default();
        match thought {
            true => draft.reasoning(&text, out),
            false => draft.text(&text, out),
        }
        if let Some(carry) = carry {
            draft.carry(thought, carry, out);
        }
        Ok(())
    }
}

impl PartPlaces {
    fn new(dialect: &Dialect) -> PartPlaces {
        let (mut places, reply) = (Places::default(), &dialect.reply);
        let name = |place: &String| place.rsplit('/').next().unwrap_or_default().to_string();
        PartPlaces {
            text: places.group(&reply.text),
            reasoning: places.group(&reply.reasoning),
            call: places.group(&reply.call),
            image: places.group(&reply.image),
            carried: reply
                .carried
                .iter()
                .map(|place| (name(place), places.group(std::slice::from_ref(place))))
                .collect(),
            places,
        }
    }

    fn carry(&self, found: &Found<'_>, dialect: &str, model: &str) -> Option<Carry> {
        let field = |(name, group): &(String, Group)| {
            let value = serde_json::from_str(found.first(*group)?).ok()?;
            Some((name.clone(), value))
        };
        let fields: Map<String, Value> = self.carried.iter().filter_map(field).collect();
        (!fields.is_empty()).then(|| Carry { dialect: dialect.into(), model: model.into(), fields })
    }
}
