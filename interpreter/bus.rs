//! The one bus: what happens while the agent works, told to whoever listens. The engine knows no front end.

use lembas_core::{
    event::Usage,
    permission::{self, Step},
};
use serde::Serialize;
use serde_json::{Map, Value};

/// One thing that happened. The names are those of `event.type` in `harness/acp.md`, except that the protocol asks for
/// an approval by a request of its own; `schema/events.schema.json` describes the lines `lembas run --json` makes of
/// them.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum BusEvent {
    /// The model that answers.
    Model {
        /// The ref, `<connection>/<model>`.
        r#ref: String,
        /// The connection it is spoken to through.
        connection: String,
    },
    /// The permission mode.
    Mode {
        /// Its id.
        mode: String,
    },
    /// A prompt was taken in.
    Prompt {
        /// As the person sees it.
        text: String,
    },
    /// A request goes out.
    Step {
        /// Which, from 1.
        number: u32,
    },
    /// A piece of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// A piece of the reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// A piece of a call that is being written.
    ToolCallDelta {
        /// Which call of the reply, from 0.
        index: usize,
        /// The tool's name as far as it is known.
        name: String,
        /// The new piece of the arguments.
        arguments: String,
    },
    /// The server says how far it is with the prompt.
    Progress {
        /// Tokens processed.
        done: u64,
        /// Tokens in all.
        total: u64,
    },
    /// A call runs.
    ToolStart {
        /// The call's id.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// One line that says what it does.
        title: String,
        /// The arguments.
        args: Map<String, Value>,
    },
    /// A call that runs has printed something. The protocol has a `tool_call_update` for it.
    ToolOutput {
        /// The call's id.
        id: String,
        /// The last of the new lines.
        text: String,
    },
    /// A call has run.
    ToolEnd {
        /// The call's id.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// What the model gets.
        output: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// A person is asked about a call.
    Approval(Approval),
    /// A call was refused and did not run.
    ToolDenied {
        /// The call's id.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// One line that says what it would have done.
        title: String,
        /// What the model is told.
        reason: String,
        /// How it was judged; empty when it was refused before that.
        trace: Vec<Step>,
    },
    /// Tokens of a step.
    Usage(Usage),
    /// Something odd.
    Notice {
        /// A fixed word.
        about: String,
        /// A sentence.
        text: String,
    },
    /// What streamed in this step is void: the request is made again.
    Retract {},
    /// The turn failed.
    Error {
        /// A fixed word: the failure's kind.
        kind: String,
        /// A sentence.
        message: String,
    },
    /// The turn is over.
    Done {
        /// `answered`, `failed`, `limit`, `refused` or `cancelled`.
        reason: String,
        /// The last answer, possibly empty.
        answer: String,
        /// Requests made.
        steps: u32,
    },
}

/// What a person is told who is asked about a call. What becomes of it follows as `tool_start` or `tool_denied`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Approval {
    /// The call's id.
    pub(crate) id: String,
    /// The tool's name as the model wrote it.
    pub(crate) name: String,
    /// One line that says what it does.
    pub(crate) title: String,
    /// Why a person is asked: a sentence.
    pub(crate) reason: String,
    /// What the model says the call is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) purpose: Option<String>,
    /// How it was judged.
    pub(crate) trace: Vec<Step>,
    /// What "always" would store; empty where it is not offered.
    pub(crate) always: Vec<permission::Approval>,
}

/// Someone who listens.
pub(crate) type Subscriber = Box<dyn Fn(&BusEvent) + Send + Sync>;

/// Passes events on to every subscriber, in the order they were added, before `emit` returns.
#[derive(Default)]
pub(crate) struct Bus {
    subscribers: Vec<Subscriber>,
}

impl Bus {
    /// Adds a subscriber for the life of the bus.
    pub(crate) fn subscribe(&mut self, subscriber: Subscriber) {
        self.subscribers.push(subscriber);
    }

    /// Tells everybody.
    pub(crate) fn emit(&self, event: &BusEvent) {
        for subscriber in &self.subscribers {
            subscriber(event);
        }
    }
}
