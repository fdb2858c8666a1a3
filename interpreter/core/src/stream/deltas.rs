//! Reads frames that stand for themselves, each a message whole or in deltas: the chat dialects. Where the parts sit is the
//! dialect file's business.

use super::Taken;
use super::carried::Carried;
use super::common::{PiecePlaces, ProgressCounts, UsageCounts, fails, flat, list};
use super::draft::Draft;
use super::json::{NotJson, elements, string};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::spec::{Dialect, PartKeys};
use serde_json::Value;

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
    carried: Carried<'s>,
    part: &'s PartKeys,
    piece: PiecePlaces,
    counts: UsageCounts<'s>,
    steps: ProgressCounts,
}

impl<'s> Deltas<'s> {
    /// Compiles the places of a dialect.
    pub(super) fn new(dialect: &'s Dialect, model: &'s str) -> Deltas<'s> {
        let (mut frame, reply) = (Places::default(), &dialect.reply);
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
            carried: Carried::new(dialect, model, &mut frame),
            frame,
            part: &reply.part,
            piece: PiecePlaces::new(reply),
            counts: UsageCounts::new(reply),
            steps: ProgressCounts::new(reply),
        }
    }

    /// Takes one frame. Errors when it is not JSON.
    pub(super) fn frame(
        &mut self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<Taken, NotJson> {
        let found = self.frame.read(json)?;
        if fails(&found, self.error) {
            return Ok(Taken::Error);
        }
        if let Some(piece) = found.first(self.reasoning).and_then(string) {
            draft.reasoning(&piece, out);
        }
        self.carried.keep(&found);
        match found.first(self.text) {
            Some(raw) if raw.starts_with(['[', '{']) => {
                self.parts(&serde_json::from_str(raw)?, draft, out)
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
        let done = found.first(self.done).is_some_and(|raw| raw == "true");
        if done {
            draft.finish.get_or_insert_with(|| DONE.into());
        }
        if let Some(raw) = found.first(self.usage) {
            // A number stands beside its kin, in the frame itself.
            let counts = if raw.starts_with('{') { raw } else { json };
            draft.usage = self.counts.read(counts).or(draft.usage);
        }
        if let Some(event) = found.first(self.progress).and_then(|raw| self.steps.read(raw)) {
            out.push(event);
        }
        Ok(match found.nothing() {
            _ if done => Taken::End,
            true => Taken::Nothing,
            false => Taken::Known,
        })
    }

    /// Hands on what the provider wants back; the reply has ended.
    pub(super) fn end(&mut self, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        if let Some(carry) = self.carried.taken() {
            draft.carry(true, carry, out);
        }
    }

    fn calls(
        &self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        match found.first(self.calls) {
            Some(list) if list.starts_with('[') => {
                for raw in elements(list)? {
                    self.piece.read(raw, None, draft, out)?;
                }
            }
            Some(one) if one.starts_with('{') => self.piece.read(one, None, draft, out)?,
            _ => {}
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
