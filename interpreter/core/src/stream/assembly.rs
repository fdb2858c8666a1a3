//! The message a reply becomes, put together from its events. It reads no wire and shows nothing.

use crate::event::{Event, Failure, Finish, Usage};
use crate::message::{Carry, Message, Part, Role, ToolCall};

/// A reply's message while it comes.
#[derive(Debug, Default)]
pub struct Assembly {
    parts: Vec<Part>,
    /// Whether something stands in the last part that ends it.
    closed: bool,
    calls: Vec<ToolCall>,
    failed: Option<Box<Failure>>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    shown: bool,
}

/// A finished reply.
#[derive(Debug, Default)]
pub struct Assembled {
    /// The assistant's message.
    pub message: Option<Message>,
    /// How it ended; `None` for a reply that was stopped.
    pub finish: Option<Finish>,
    /// The tokens, if the server counted them.
    pub usage: Option<Usage>,
}

impl Assembly {
    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        self.shown |= matches!(
            event,
            Event::Text { .. } | Event::Reasoning { .. } | Event::ToolCallDelta { .. }
        );
        match event {
            Event::Text { text } => self.piece(text, false),
            Event::Reasoning { text } => self.piece(text, true),
            Event::Carry { reasoning, carry } => self.carry(*reasoning, carry),
            Event::ToolCall(call) => self.calls.push(call.clone()),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Finish { reason } => self.finish = Some(*reason),
            Event::Error(failure) => self.failed = Some(Box::new(failure.clone())),
            Event::ToolCallDelta { .. } | Event::Progress { .. } | Event::Notice { .. } => {}
        }
    }

    fn piece(&mut self, piece: &str, reasoning: bool) {
        let last = self.parts.last_mut().filter(|_| !self.closed);
        match last {
            Some(Part::Text { text, .. }) if !reasoning => text.push_str(piece),
            Some(Part::Reasoning { text, .. }) if reasoning => text.push_str(piece),
            _ => {
                self.closed = false;
                let (text, carry) = (piece.to_string(), None);
                self.parts.push(if reasoning {
                    Part::Reasoning { text, carry }
                } else {
                    Part::Text { text, carry }
                });
            }
        }
    }

    /// Puts a carry on the last part of its kind, or on an empty one: some providers hide all of their reasoning.
    fn carry(&mut self, reasoning: bool, carry: &Carry) {
        let fits = match self.parts.last() {
            Some(Part::Text { carry: None, .. }) => !reasoning,
            Some(Part::Reasoning { carry: None, .. }) => reasoning,
            _ => false,
        };
        if !fits || self.closed {
            self.closed = true;
            self.piece("", reasoning);
        }
        if let Some(Part::Text { carry: last, .. } | Part::Reasoning { carry: last, .. }) =
            self.parts.last_mut()
        {
            *last = Some(carry.clone());
        }
        self.closed = true;
    }

    /// Returns whether anything a person could see has come.
    pub fn shown(&self) -> bool {
        self.shown
    }

    /// Takes the failure the reply ended with.
    pub fn failure(&mut self) -> Option<Box<Failure>> {
        self.failed.take()
    }

    /// Returns the whole reply.
    pub fn done(self) -> Assembled {
        let mut parts = self.parts;
        parts.extend(self.calls.into_iter().map(Part::ToolCall));
        let message = (!parts.is_empty()).then_some(Message { role: Role::Assistant, parts });
        Assembled { message, finish: self.finish, usage: self.usage }
    }

    /// Returns what had come when the reply was stopped; calls that were not complete are left out.
    pub fn stopped(self) -> Assembled {
        Assembled { finish: None, ..Assembly { calls: Vec::new(), ..self }.done() }
    }
}
