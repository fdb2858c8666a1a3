//! What a reply has become so far, the same for every dialect: text, reasoning, calls, counts. It reads no JSON of a wire.

use super::Context;
use super::calls::{CallPiece, Calls};
use super::text_calls::{Said, TextCalls};
use crate::event::{Event, Usage};
use crate::message::Carry;
use crate::spec::{Dialect, Rule, StreamLimits};
use crate::think::{Piece, Splitter};

/// A reply under construction.
#[derive(Debug)]
pub(super) struct Draft<'s> {
    splitter: Splitter<'s>,
    text_calls: TextCalls<'s>,
    said: Kept<'s>,
    /// The last token counts.
    pub(super) usage: Option<Usage>,
    /// The server's word for why the reply ended.
    pub(super) finish: Option<String>,
    /// Whether a part of it was a refusal.
    pub(super) refused: bool,
}

/// What was passed on.
#[derive(Debug)]
pub(super) struct Kept<'s> {
    /// The calls so far.
    pub(super) calls: Calls<'s>,
    /// Whether text that is not blank came.
    pub(super) text: bool,
    /// Whether reasoning came.
    pub(super) reasoning: bool,
    /// Whether a call was written as text.
    pub(super) written: bool,
}

impl<'s> Draft<'s> {
    /// Returns an empty draft.
    pub(super) fn new(
        rules: &[Rule],
        dialect: &'s Dialect,
        context: &'s Context,
        limits: StreamLimits,
    ) -> Draft<'s> {
        let named = context.text_calls.as_deref();
        Draft {
            splitter: Splitter::new(&dialect.think_tags, context.opens_in_think),
            text_calls: TextCalls::new(rules, named, &context.tools, limits.frame_bytes),
            said: Kept {
                calls: Calls::new(&context.tools, &context.call_prefix, limits.parts),
                text: false,
                reasoning: false,
                written: false,
            },
            usage: None,
            finish: None,
            refused: false,
        }
    }

    /// Takes a piece of the answer, which may hold inline reasoning or a call written as text.
    pub(super) fn text(&mut self, piece: &str, out: &mut Vec<Event>) {
        let Draft { splitter, text_calls, said, .. } = self;
        splitter.push(piece, &mut |piece| said.split(text_calls, piece, out));
    }

    /// Takes a piece of reasoning.
    pub(super) fn reasoning(&mut self, piece: &str, out: &mut Vec<Event>) {
        if !piece.is_empty() {
            self.splitter.parted_by_server();
            self.said.reasoning(piece, out);
        }
    }

    /// Takes what the provider wants back with the text or reasoning so far.
    pub(super) fn carry(&mut self, reasoning: bool, carry: Carry, out: &mut Vec<Event>) {
        // What may still become a call written as text is said first: the carry belongs behind it.
        self.flush(out);
        out.push(Event::Carry { reasoning, carry });
    }

    /// Takes a piece of a refusal.
    pub(super) fn refusal(&mut self, piece: &str, out: &mut Vec<Event>) {
        if !piece.is_empty() {
            self.refused = true;
            self.said.say(Said::Text(piece), out);
        }
    }

    /// Takes a piece of a tool call.
    pub(super) fn call(&mut self, piece: &CallPiece<'_>, out: &mut Vec<Event>) {
        let (index, name) = self.said.calls.push(piece);
        out.push(Event::ToolCallDelta {
            index,
            name: name.into(),
            arguments: piece.arguments.clone().into_owned(),
        });
    }

    /// Opens a call that the server tells apart from all others. Returns which it is, from 0.
    pub(super) fn begin_call(&mut self, id: &str, name: &str, out: &mut Vec<Event>) -> usize {
        let index = self.said.calls.begin(id, name);
        out.push(Event::ToolCallDelta { index, name: name.into(), arguments: String::new() });
        index
    }

    /// Takes what such a call's beginning did not say of it.
    pub(super) fn identify(&mut self, index: usize, id: &str, name: &str) {
        self.said.calls.identify(index, id, name);
    }

    /// Takes the arguments of such a call as the server says them at its end.
    pub(super) fn settle(&mut self, index: usize, arguments: &str) {
        self.said.calls.settle(index, arguments);
    }

    /// Whether such a call is one of this tool with these arguments.
    pub(super) fn is_call(&self, index: usize, name: &str, arguments: &str) -> bool {
        self.said.calls.is(index, name, arguments)
    }

    /// Takes more of the arguments of such a call.
    pub(super) fn arguments(&mut self, index: usize, arguments: &str, out: &mut Vec<Event>) {
        let name = self.said.calls.extend(index, arguments).into();
        out.push(Event::ToolCallDelta { index, name, arguments: arguments.into() });
    }

    /// Hands on what was held back.
    pub(super) fn flush(&mut self, out: &mut Vec<Event>) {
        let Draft { splitter, text_calls, said, .. } = self;
        splitter.end(&mut |piece| said.split(text_calls, piece, out));
        text_calls.end(&mut |each| said.say(each, out));
    }

    /// Returns what was passed on.
    pub(super) fn kept(&self) -> &Kept<'s> {
        &self.said
    }

    /// Gives the parts away at the end.
    pub(super) fn into_kept(self) -> Kept<'s> {
        self.said
    }
}

impl<'s> Kept<'s> {
    fn split(&mut self, text_calls: &mut TextCalls<'s>, piece: Piece<'_>, out: &mut Vec<Event>) {
        match piece {
            Piece::Reasoning(text) => self.reasoning(text, out),
            Piece::Text(text) => text_calls.push(text, &mut |each| self.say(each, out)),
        }
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Event>) {
        self.reasoning = true;
        out.push(Event::Reasoning { text: text.into() });
    }

    fn say(&mut self, said: Said<'_>, out: &mut Vec<Event>) {
        match said {
            Said::Text("") => {}
            Said::Text(text) => {
                self.text = self.text || text.chars().any(|each| !each.is_whitespace());
                out.push(Event::Text { text: text.into() });
            }
            Said::Calls(calls) => {
                self.written = true;
                for (name, arguments) in calls {
                    let index = self.calls.add(&name, &arguments);
                    out.push(Event::ToolCallDelta { index, name, arguments });
                }
            }
        }
    }
}
