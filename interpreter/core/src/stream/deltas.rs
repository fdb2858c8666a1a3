//! Reads frames that stand for themselves, each a message whole or in deltas: the chat dialects. Where the parts sit is the
//! dialect file's business.

use super::Taken;
use super::carried::Carried;
use super::common::{Part, PiecePlaces, ProgressCounts, UsageCounts, fails, flat, list, reason};
use super::draft::Draft;
use super::json::{NotJson, elements, string};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::spec::{Dialect, PartKeys};
use serde_json::Value;
use std::borrow::Cow;

/// The reason of a reply that is said to be done without one.
const DONE: &str = "done";

/// The reader of one reply's frames.
#[derive(Debug)]
pub(super) struct Deltas<'s> {
    frame: Places,
    text: Part,
    refusal: Part,
    reasoning: Part,
    calls: Part,
    call: Part,
    finish: Group,
    done: Group,
    usage: Group,
    progress: Group,
    error: Group,
    whole: Group,
    dialect: &'s Dialect,
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
            text: Part::new(&mut frame, &reply.text, reply),
            refusal: Part::new(&mut frame, &reply.refusal, reply),
            reasoning: Part::new(&mut frame, &reply.reasoning, reply),
            calls: Part::new(&mut frame, &reply.calls, reply),
            call: Part::new(&mut frame, &reply.call, reply),
            finish: frame.group(&reply.finish),
            done: frame.group(&reply.done),
            usage: frame.group(&reply.usage),
            progress: frame.group(&reply.progress),
            error: frame.group(&reply.error),
            whole: frame.group(&reply.whole),
            dialect,
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
        self.said(&found, draft, out)?;
        self.calls(&found, draft, out)?;
        let done = self.ending(&found, draft);
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
            _ if found.first(self.whole).is_some() => Taken::Whole,
            true => Taken::Nothing,
            false => Taken::Known,
        })
    }

    /// Takes reasoning, text and refusal.
    fn said(
        &mut self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        if let Some(raw) = self.reasoning.said(found) {
            draft.reasoning(&self.reasoned(raw), out);
        }
        self.carried.keep(found);
        match self.text.said(found) {
            Some(raw) if raw.starts_with(['[', '{']) => {
                self.parts(&serde_json::from_str(raw)?, draft, out)
            }
            Some(raw) => draft.text(&string(raw).unwrap_or_default(), out),
            None => {}
        }
        if let Some(piece) = self.refusal.said(found).and_then(string) {
            draft.refusal(&piece, out);
        }
        Ok(())
    }

    /// Takes the reason the reply ended for, and returns whether it is said to be over.
    fn ending(&self, found: &Found<'_>, draft: &mut Draft<'_>) -> bool {
        if let Some(word) = reason(self.dialect, found, self.finish) {
            draft.finish = Some(word);
        }
        let done = found.first(self.done).is_some_and(|raw| raw == "true");
        if done {
            draft.finish.get_or_insert_with(|| DONE.into());
        }
        done
    }

    /// Hands on what the provider wants back; the reply has ended.
    pub(super) fn end(&mut self, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        if let Some(carry) = self.carried.taken() {
            draft.carry(true, carry, out);
        }
    }

    fn calls(
        &mut self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        match self.calls.said(found) {
            Some(list) if list.starts_with('[') => {
                for raw in elements(list)? {
                    self.piece.read(raw, None, draft, out)?;
                }
            }
            Some(one) if one.starts_with('{') => self.piece.read(one, None, draft, out)?,
            _ => {}
        }
        match self.call.said(found) {
            Some(raw) => self.piece.read(raw, None, draft, out),
            None => Ok(()),
        }
    }

    /// Reads a piece of reasoning: text, or a list of entries with a text or a summary.
    fn reasoned<'r>(&self, raw: &'r str) -> Cow<'r, str> {
        let said = |entry: &Value| {
            let keys = [Some(&self.part.text), self.part.summary.as_ref()];
            keys.into_iter().flatten().find_map(|key| Some(entry.get(key)?.as_str()?.to_string()))
        };
        string(raw).unwrap_or_else(|| {
            let entries = serde_json::from_str::<Vec<Value>>(raw).unwrap_or_default();
            entries.iter().filter_map(said).collect::<String>().into()
        })
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
