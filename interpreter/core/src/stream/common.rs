//! Parts of a frame that several dialects put alike: pieces of calls, token counts, progress, lists of parts. Where they sit is
//! the dialect file's business.

use super::calls::CallPiece;
use super::draft::Draft;
use super::places::{Found, Group, Places, string};
use crate::event::{Event, Usage};
use crate::message::Carry;
use crate::spec::ReplyPlaces;
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns whether an error stands at these places.
pub(super) fn fails(found: &Found<'_>, error: Group) -> bool {
    found.first(error).is_some_and(|error| !matches!(error.get(), "\"\"" | "{}" | "[]" | "false"))
}

/// Where the pieces of a call sit.
#[derive(Debug)]
pub(super) struct PiecePlaces {
    places: Places,
    index: Group,
    id: Group,
    name: Group,
    arguments: Group,
}

/// Where the token counts sit.
#[derive(Debug)]
pub(super) struct UsageCounts {
    places: Places,
    /// The reply's count leaves the reasoning out.
    reasoning_apart: bool,
    input: Group,
    output: Group,
    cached: Group,
    cache_write: Group,
    reasoning: Group,
}

/// Where the progress sits.
#[derive(Debug)]
pub(super) struct ProgressCounts {
    places: Places,
    done: Group,
    total: Group,
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

pub(super) fn flat(value: &Value, key: &str) -> String {
    list(value)
        .iter()
        .filter_map(|part| part.as_str().or_else(|| part.get(key)?.as_str()))
        .collect()
}

impl PiecePlaces {
    pub(super) fn new(reply: &ReplyPlaces) -> PiecePlaces {
        let (mut places, piece) = (Places::default(), &reply.call_piece);
        PiecePlaces {
            index: places.group(&piece.index),
            id: places.group(&piece.id),
            name: places.group(&piece.name),
            arguments: places.group(&piece.arguments),
            places,
        }
    }

    /// Takes a piece of a call, with what goes back with it.
    pub(super) fn read(
        &self,
        raw: &RawValue,
        carry: Option<Carry>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), serde_json::Error> {
        let found = self.places.read(raw.get())?;
        let arguments = found.first(self.arguments);
        let text = arguments.and_then(string);
        let whole = text.is_none() && arguments.is_some();
        let arguments = text.or_else(|| arguments.map(|raw| raw.get().into())).unwrap_or_default();
        let piece = CallPiece {
            index: found.count(self.index),
            id: found.text(self.id),
            name: found.text(self.name),
            arguments,
            whole,
            carry,
        };
        draft.call(&piece, out);
        Ok(())
    }
}

impl UsageCounts {
    pub(super) fn new(reply: &ReplyPlaces) -> UsageCounts {
        let (mut places, counts) = (Places::default(), &reply.usage_counts);
        UsageCounts {
            reasoning_apart: counts.reasoning_apart,
            input: places.group(&counts.input),
            output: places.group(&counts.output),
            cached: places.group(&counts.cached),
            cache_write: places.group(&counts.cache_write),
            reasoning: places.group(&counts.reasoning),
            places,
        }
    }

    /// Reads the counts of an object; nothing without a count of the prompt or of the reply.
    pub(super) fn read(&self, json: &str) -> Option<Usage> {
        let found = self.places.read(json).ok()?;
        let (input, output) = (found.count(self.input), found.count(self.output));
        let reasoning = found.count(self.reasoning);
        let beside = reasoning.filter(|_| self.reasoning_apart).unwrap_or_default();
        (input.is_some() || output.is_some()).then(|| Usage {
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default() + beside,
            cached: found.count(self.cached),
            cache_write: found.count(self.cache_write),
            reasoning,
        })
    }
}

impl ProgressCounts {
    pub(super) fn new(reply: &ReplyPlaces) -> ProgressCounts {
        let (mut places, counts) = (Places::default(), &reply.progress_counts);
        ProgressCounts {
            done: places.group(&counts.done),
            total: places.group(&counts.total),
            places,
        }
    }

    pub(super) fn read(&self, raw: &RawValue) -> Option<Event> {
        let found = self.places.read(raw.get()).ok()?;
        Some(Event::Progress { done: found.count(self.done)?, total: found.count(self.total)? })
    }
}
