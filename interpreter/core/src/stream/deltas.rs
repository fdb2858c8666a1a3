//! Reads frames that stand for themselves, each a message whole or in deltas: the chat dialects. Where the parts sit is the
//! dialect file's business.

use super::Taken;
use super::common::{PiecePlaces, ProgressCounts, UsageCounts, fails, flat, list};
use super::draft::Draft;
use super::places::{Found, Group, Places, string};
use crate::event::Event;
use crate::spec::{PartKeys, ReplyPlaces};
use serde_json::Value;
use serde_json::value::RawValue;

/// The reason of a reply that is said to be done without one.
const DONE: &str = "done";

/// The reader of one reply's frames.
#[derive(Debug)]
pub(super) struct Deltas<'s> {
    frame: Places,
    text: Group,
    refusal: Group,
    reasoning: Group,
    calls: Group,
    call: Group,
    finish: Group,
    done: Group,
    usage: Group,
    progress: Group,
    error: Group,
    part: &'s PartKeys,
    piece: PiecePlaces,
    counts: UsageCounts<'s>,
    steps: ProgressCounts,
}

impl<'s> Deltas<'s> {
    /// Compiles the places of a dialect.
    pub(super) fn new(reply: &'s ReplyPlaces) -> Deltas<'s> {
        let mut frame = Places::default();
        Deltas {
            text: frame.group(&reply.text),
            refusal: frame.group(&reply.refusal),
            reasoning: frame.group(&reply.reasoning),
            calls: frame.group(&reply.calls),
            call: frame.group(&reply.call),
            finish: frame.group(&reply.finish),
            done: frame.group(&reply.done),
            usage: frame.group(&reply.usage),
            progress: frame.group(&reply.progress),
            error: frame.group(&reply.error),
            frame,
            part: &reply.part,
            piece: PiecePlaces::new(reply),
            counts: UsageCounts::new(reply),
            steps: ProgressCounts::new(reply),
        }
    }

    /// Takes one frame. Errors when it is not JSON.
    pub(super) fn frame(
        &self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<Taken, serde_json::Error> {
        let found = self.frame.read(json)?;
        if fails(&found, self.error) {
            return Ok(Taken::Error);
        }
        if let Some(piece) = found.first(self.reasoning).and_then(string) {
            draft.reasoning(&piece, out);
        }
        match found.first(self.text) {
            Some(raw) if raw.get().starts_with(['[', '{']) => {
                self.parts(&serde_json::from_str(raw.get())?, draft, out)
            }
            Some(raw) => draft.text(&string(raw).unwrap_or_default(), out),
            None => {}
        }
        if let Some(piece) = found.first(self.refusal).and_then(string) {
            draft.refusal(&piece, out);
        }
        self.calls(&found, draft, out)?;
        if let Some(word) = found.text(self.finish).filter(|word| !word.is_empty()) {
            draft.finish = Some(word.into_owned());
        }
        if found.first(self.done).is_some_and(|raw| raw.get() == "true") {
            draft.finish.get_or_insert_with(|| DONE.into());
        }
        if let Some(raw) = found.first(self.usage) {
            // A number stands beside its kin, in the frame itself.
            let counts = if raw.get().starts_with('{') { raw.get() } else { json };
            draft.usage = self.counts.read(counts).or(draft.usage);
        }
        if let Some(event) = found.first(self.progress).and_then(|raw| self.steps.read(raw)) {
            out.push(event);
        }
        Ok(if found.nothing() { Taken::Nothing } else { Taken::Known })
    }

    fn calls(
        &self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), serde_json::Error> {
        if let Some(list) = found.first(self.calls).filter(|raw| raw.get().starts_with('[')) {
            for raw in serde_json::from_str::<Vec<&RawValue>>(list.get())? {
                self.piece.read(raw, None, draft, out)?;
            }
        }
        match found.first(self.call) {
            Some(raw) => self.piece.read(raw, None, draft, out),
            None => Ok(()),
        }
    }

    /// Takes a list of parts, or a part, whose text or reasoning may be such a list again.
    fn parts(&self, value: &Value, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        for part in list(value) {
            if let Some(text) = part.get(&self.part.text) {
                draft.text(&flat(text, &self.part.text), out);
            } else if let Some(text) = part.get(&self.part.reasoning) {
                draft.reasoning(&flat(text, &self.part.text), out);
            }
        }
    }
}
