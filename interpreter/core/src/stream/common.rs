//! Parts of a frame that several dialects put alike: pieces of calls, token counts, progress, lists of parts. Where they sit is
//! the dialect file's business.

use super::calls::CallPiece;
use super::draft::Draft;
use super::json::{NotJson, string};
use super::places::{Found, Group, Places, is_empty};
use crate::event::{Event, Usage};
use crate::message::Carry;
use crate::spec::{Dialect, ReplyPlaces, UsagePlaces};
use serde_json::Value;
use std::borrow::Cow;

/// Our word for a server's that gives no reason yet.
const NONE: &str = "none";

/// Returns the server's word for why a reply ended, if it says why: the first one that the dialect knows, else the first.
pub(super) fn reason(dialect: &Dialect, found: &Found<'_>, places: Group) -> Option<String> {
    let ours = |word: &str| dialect.finish.get(word).map(String::as_str);
    let mut words = found.texts(places).filter(|word| !word.is_empty() && ours(word) != Some(NONE));
    let known = found.texts(places).find(|word| ours(word).is_some_and(|ours| ours != NONE));
    known.or_else(|| words.next()).map(Cow::into_owned)
}

/// Returns whether an error stands at these places.
pub(super) fn fails(found: &Found<'_>, error: Group) -> bool {
    found.first(error).is_some_and(|error| !is_empty(error) && error != "false")
}

/// Where a part sits in a frame that is a piece, and in one that is a whole reply.
#[derive(Debug)]
pub(super) struct Part {
    piece: Group,
    whole: Group,
    /// Whether a piece came: some servers say all of it once more at the end.
    came: bool,
}

impl Part {
    /// Compiles the places of a part of a reply, among those of its frames.
    pub(super) fn new(frame: &mut Places, places: &[String], reply: &ReplyPlaces) -> Part {
        let of_whole = |place: &String| reply.whole.iter().any(|whole| place.starts_with(whole));
        let (whole, piece): (Vec<_>, Vec<_>) = places.iter().cloned().partition(of_whole);
        Part { piece: frame.group(&piece), whole: frame.group(&whole), came: false }
    }

    /// Returns what a frame says of it.
    pub(super) fn said<'a>(&mut self, found: &Found<'a>) -> Option<&'a str> {
        let piece = found.said(self.piece);
        self.came |= piece.is_some();
        piece.or_else(|| found.said(self.whole).filter(|_| !self.came))
    }
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
pub(super) struct UsageCounts<'s> {
    places: Places,
    reply: &'s UsagePlaces,
    input: Group,
    output: Group,
    cached: Group,
    cache_write: Group,
    reasoning: Group,
    total: Group,
}

/// Token counts as far as they came.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    /// Returns these counts, and the earlier ones where these have none: a zero behind a count is none.
    pub(super) fn or(self, earlier: Counts) -> Counts {
        let or = |now: Option<u64>, before: Option<u64>| now.filter(|&n| n > 0).or(before).or(now);
        Counts {
            input: or(self.input, earlier.input),
            output: or(self.output, earlier.output),
            cached: or(self.cached, earlier.cached),
            cache_write: or(self.cache_write, earlier.cache_write),
            reasoning: or(self.reasoning, earlier.reasoning),
            total: or(self.total, earlier.total),
        }
    }

    /// Whether the reply's count leaves the reasoning out, as the sum or its size shows.
    fn reasoning_is_apart(&self) -> bool {
        let [input, output, reasoning] =
            [self.input, self.output, self.reasoning].map(Option::unwrap_or_default);
        let sum = input.saturating_add(output).saturating_add(reasoning);
        reasoning > output || (reasoning > 0 && self.total == Some(sum))
    }
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
        raw: &str,
        carry: Option<Carry>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        let found = self.places.read(raw)?;
        // Some servers put an empty piece into every frame.
        if [self.id, self.name, self.arguments].iter().all(|part| found.is_blank(*part)) {
            return Ok(());
        }
        let arguments = found.first(self.arguments);
        let text = arguments.and_then(string);
        let whole = text.is_none() && arguments.is_some();
        let arguments = text.or_else(|| arguments.map(Cow::Borrowed)).unwrap_or_default();
        let piece = CallPiece {
            index: found.count(self.index).or_else(|| found.text(self.index)?.parse().ok()),
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

impl<'s> UsageCounts<'s> {
    pub(super) fn new(reply: &'s ReplyPlaces) -> UsageCounts<'s> {
        let (mut places, counts) = (Places::default(), &reply.usage_counts);
        UsageCounts {
            reply: counts,
            input: places.group(&counts.input),
            output: places.group(&counts.output),
            cached: places.group(&counts.cached),
            cache_write: places.group(&counts.cache_write),
            reasoning: places.group(&counts.reasoning),
            total: places.group(&counts.total),
            places,
        }
    }

    /// Reads the counts of an object; nothing without a count of the prompt or of the reply.
    pub(super) fn read(&self, json: &str) -> Option<Usage> {
        self.usage(self.counts(json)?)
    }

    /// Reads the counts of an object as far as it has them.
    pub(super) fn counts(&self, json: &str) -> Option<Counts> {
        let found = self.places.read(json).ok()?;
        Some(Counts {
            input: found.count(self.input),
            output: found.count(self.output),
            cached: found.count(self.cached),
            cache_write: found.count(self.cache_write),
            reasoning: found.count(self.reasoning),
            total: found.count(self.total),
        })
    }

    /// Returns what counts amount to; nothing without one of the prompt or of the reply.
    pub(super) fn usage(&self, counts: Counts) -> Option<Usage> {
        let apart = self.reply.reasoning_apart || counts.reasoning_is_apart();
        let Counts { input, output, cached, cache_write, reasoning, .. } = counts;
        let beside = |count: Option<u64>, apart| count.filter(|_| apart).unwrap_or_default();
        let cache = [cached, cache_write].map(|count| beside(count, self.reply.cache_apart));
        let said = |count: Option<u64>| count.filter(|&n| n > 0 || !self.reply.none_is_nothing);
        (input.is_some() || output.is_some()).then(|| Usage {
            input: cache.iter().fold(input.unwrap_or_default(), |sum, n| sum.saturating_add(*n)),
            output: output.unwrap_or_default().saturating_add(beside(reasoning, apart)),
            cached: said(cached),
            cache_write: said(cache_write),
            reasoning: said(reasoning),
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

    pub(super) fn read(&self, raw: &str) -> Option<Event> {
        let found = self.places.read(raw).ok()?;
        Some(Event::Progress { done: found.count(self.done)?, total: found.count(self.total)? })
    }
}
