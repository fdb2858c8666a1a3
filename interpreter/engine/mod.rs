//! The loop: ask the model, judge every call, run what was allowed, go round again. It knows no front end and no
//! server; errors of tools are results for the model, never its own.

mod ask;
mod budget;
mod call;
mod gate;
mod place;
mod prepare;
mod repeat;
mod schedule;
mod step;

pub(crate) use ask::{Asker, Unattended};
pub(crate) use call::{Grant, Named, Outcome, Paths, Readable, Target};
pub(crate) use gate::Gate;
pub(crate) use place::Place;
pub(crate) use prepare::Preparer;

use crate::{
    bus::{Bus, BusEvent},
    provider::{Ask, Provider, Seen},
};
use budget::{Budget, Reached};
use lembas_core::{
    event::{Event, Failure, Finish},
    message::{Message, Part, Role, ToolCall},
    prompt::{self, ToolDefinition},
    spec::{Limits, PromptText, Spec, Tools},
    stream::Assembled,
};
use repeat::Repeats;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// How a turn ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The model answered.
    Answered,
    /// A limit was reached: steps, a budget, the output limit, the same call over and over.
    Limit,
    /// Step after step, every call was refused.
    Refused,
    /// The provider failed.
    Failed(Box<Failure>),
    /// A person stopped it.
    Cancelled,
}

impl Ended {
    /// Returns the word of the `done` event.
    fn word(&self) -> &'static str {
        match self {
            Ended::Answered => "answered",
            Ended::Limit => "limit",
            Ended::Refused => "refused",
            Ended::Failed(_) => "failed",
            Ended::Cancelled => "cancelled",
        }
    }
}

/// One conversation and everything it needs to go on.
pub(crate) struct Engine<'s, T> {
    /// The spec.
    pub(crate) spec: &'s Spec,
    /// The spec's limits, with the configuration's over them.
    pub(crate) limits: Limits,
    /// The model.
    pub(crate) provider: Provider<'s>,
    /// The tools' handlers.
    pub(crate) toolbox: T,
    /// Who decides about calls.
    pub(crate) gate: Gate<'s>,
    /// Who is asked where the gate leaves it to a person.
    pub(crate) asker: &'s dyn Asker,
    /// Who reads calls.
    pub(crate) preparer: Preparer<'s>,
    /// Who is told.
    pub(crate) bus: &'s Bus,
    /// The tools as the model is told of them; the same in every request of a session.
    pub(crate) definitions: Vec<ToolDefinition>,
    /// The conversation; it only grows.
    pub(crate) messages: Vec<Message>,
    /// Stops the turn.
    pub(crate) cancel: CancellationToken,
}

/// What counts within one turn.
struct Turn {
    budget: Budget,
    repeats: Repeats,
    /// Whether the model was asked for a reply it left out.
    reminded: bool,
    /// Whether a call has come, or begun to.
    calls: bool,
    answer: String,
}

impl<T: Tools<Output = Outcome, Context = Grant>> Engine<'_, T> {
    /// Takes a prompt and works until the model has answered or something ends the turn.
    pub(crate) async fn prompt(&mut self, text: &str) -> Ended {
        self.bus.emit(&BusEvent::Prompt { text: text.into() });
        self.messages.push(Message::text(Role::User, text));
        let mut turn = Turn {
            budget: Budget::new(),
            repeats: Repeats::default(),
            reminded: false,
            calls: false,
            answer: String::new(),
        };
        let ended = self.turn(&mut turn).await;
        if let Ended::Failed(failure) = &ended {
            self.bus.emit(&BusEvent::Error {
                kind: failure.kind.clone(),
                message: failure.message.clone(),
            });
        }
        self.bus.emit(&BusEvent::Done {
            reason: ended.word().into(),
            answer: turn.answer,
            steps: turn.budget.steps,
        });
        ended
    }

    async fn turn(&mut self, turn: &mut Turn) -> Ended {
        loop {
            if let Some(reached) = turn.budget.reached(&self.limits) {
                return self.wrap_up(turn, &reached, Ended::Limit).await;
            }
            let replied = match self.ask(turn, true).await {
                Ok(replied) => replied,
                Err(failure) => return Ended::Failed(failure),
            };
            if self.cancel.is_cancelled() {
                return Ended::Cancelled;
            }
            let calls = calls(self.messages.last());
            if calls.is_empty() {
                match self.answered(turn, &replied) {
                    Some(ended) => return ended,
                    None => continue,
                }
            }
            if let Some(ended) = self.step(turn, calls).await {
                return ended;
            }
        }
    }

    /// Makes one request and takes the reply into the conversation.
    async fn ask(&mut self, turn: &mut Turn, may_call: bool) -> Result<Assembled, Box<Failure>> {
        turn.budget.steps += 1;
        turn.answer.clear();
        self.bus.emit(&BusEvent::Step { number: turn.budget.steps });
        self.provider.context.call_prefix = format!("call_{}_", self.messages.len());
        let ask = Ask { messages: &self.messages, tools: &self.definitions, may_call };
        let (bus, spec, calls) = (self.bus, self.spec, &mut turn.calls);
        let mut see = |seen: Seen<'_>| {
            let call =
                matches!(seen, Seen::Event(Event::ToolCallDelta { .. } | Event::ToolCall(_)));
            if call && !std::mem::replace(calls, true) {
                // While the model still writes the first call, what it will be judged by is read.
                tokio::task::spawn_blocking(spec.judging());
            }
            tell(bus, seen);
        };
        let mut replied = self.provider.reply(&ask, &self.cancel, &mut see).await?;
        turn.budget.written += replied.usage.map_or(0, |usage| usage.output);
        if let Some(mut message) = replied.message.take() {
            if !may_call {
                message.parts.retain(|part| !matches!(part, Part::ToolCall(_)));
            }
            turn.answer = message.plain();
            self.messages.push(message);
        }
        Ok(replied)
    }

    /// Judges a reply without calls. A reply that is all reasoning is asked for its answer once; a model that gives
    /// none even then has failed.
    fn answered(&mut self, turn: &mut Turn, replied: &Assembled) -> Option<Ended> {
        if replied.finish == Some(Finish::Length) {
            let text = "the answer was cut at the output limit".to_string();
            self.bus.emit(&BusEvent::Notice { about: "cut".into(), text });
            return Some(Ended::Limit);
        }
        if !turn.answer.trim().is_empty() {
            return Some(Ended::Answered);
        }
        if turn.reminded {
            let why = "the model gave no answer, not even when it was asked for one";
            return Some(Ended::Failed(self.provider.failure("empty", why)));
        }
        turn.reminded = true;
        self.note(PromptText::BlocksReplyMissing, json!({}));
        None
    }

    /// Withdraws the tools and asks for an answer from what the model has.
    async fn wrap_up(&mut self, turn: &mut Turn, reached: &Reached, ended: Ended) -> Ended {
        let values = json!({ "limit": reached.limit, "amount": reached.amount });
        let note = say(self.spec, PromptText::TasksWrapUp, values);
        let text = note.lines().next().unwrap_or_default().trim_start_matches('[').to_string();
        self.bus.emit(&BusEvent::Notice { about: "limit".into(), text });
        self.messages.push(Message::text(Role::User, note));
        match self.ask(turn, false).await {
            Ok(_) if self.cancel.is_cancelled() => Ended::Cancelled,
            Ok(_) => ended,
            Err(failure) => Ended::Failed(failure),
        }
    }

    /// Appends a text of the spec to the conversation, on the person's side.
    fn note(&mut self, which: PromptText, values: serde_json::Value) {
        self.messages.push(Message::text(Role::User, say(self.spec, which, values)));
    }
}

/// Returns a text of the spec. One that cannot be rendered is a defect of the spec; its error is still a text that
/// says so, and the work goes on.
pub(crate) fn say(spec: &Spec, which: PromptText, values: serde_json::Value) -> String {
    prompt::text(spec, which, values)
        .unwrap_or_else(|error| error.to_string())
        .trim_end()
        .to_string()
}

fn calls(message: Option<&Message>) -> Vec<ToolCall> {
    let parts = message
        .into_iter()
        .filter(|message| message.role == Role::Assistant)
        .flat_map(|message| &message.parts);
    parts
        .filter_map(|part| if let Part::ToolCall(call) = part { Some(call.clone()) } else { None })
        .collect()
}

/// Passes what the provider tells on to the bus.
fn tell(bus: &Bus, seen: Seen<'_>) {
    let event = match seen {
        Seen::Retract => BusEvent::Retract {},
        Seen::Event(Event::Text { text }) => BusEvent::Text { text: text.clone() },
        Seen::Event(Event::Reasoning { text }) => BusEvent::Reasoning { text: text.clone() },
        Seen::Event(Event::ToolCallDelta { index, name, arguments }) => BusEvent::ToolCallDelta {
            index: *index,
            name: name.clone(),
            arguments: arguments.clone(),
        },
        Seen::Event(Event::Usage(usage)) => BusEvent::Usage(*usage),
        Seen::Event(Event::Progress { done, total }) => {
            BusEvent::Progress { done: *done, total: *total }
        }
        Seen::Event(Event::Notice { about, text }) => {
            BusEvent::Notice { about: about.clone(), text: text.clone() }
        }
        Seen::Event(
            Event::Carry { .. } | Event::ToolCall(_) | Event::Finish { .. } | Event::Error(_),
        ) => {
            return;
        }
    };
    bus.emit(&event);
}
