//! What a reply becomes while it streams, the same for every dialect. Events carry no bytes of the wire.

use crate::message::{Carry, ToolCall};
use serde::{Deserialize, Serialize};

/// One event of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
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
    /// What the provider wants back with the text or reasoning before it; the next piece of that kind begins a new part.
    Carry {
        /// Whether it belongs to reasoning; otherwise to text.
        reasoning: bool,
        /// The fields.
        carry: Carry,
    },
    /// A piece of a tool call, for showing only; the whole call follows as `ToolCall`.
    ToolCallDelta {
        /// Which call of the reply, from 0.
        index: usize,
        /// The tool's name as far as it is known.
        name: String,
        /// The new piece of the arguments.
        arguments: String,
    },
    /// A complete call. Only sent when the reply ended without an error.
    ToolCall(ToolCall),
    /// Tokens as the server counted them; the last one of a reply counts.
    Usage(Usage),
    /// The server says how far it is with the prompt.
    Progress {
        /// Tokens processed.
        done: u64,
        /// Tokens in all.
        total: u64,
    },
    /// Something odd that a person or the loop may want to know.
    Notice {
        /// What about, a fixed word such as `no_finish_reason`.
        about: String,
        /// A sentence, possibly empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// The reply ended as the server meant it to.
    Finish {
        /// How.
        reason: Finish,
    },
    /// The reply failed.
    Error(Failure),
}

/// Tokens of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The whole prompt, cached or not.
    pub input: u64,
    /// The whole reply, reasoning included.
    pub output: u64,
    /// How much of the input came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// How much of the input was written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// How much of the output was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The output limit or the window was reached.
    Length,
    /// The model waits for results of its calls.
    ToolCalls,
    /// A filter took the reply away.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The server wants the turn sent back as it is.
    Pause,
}

/// What failed, in words a program can act on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A fixed word: `auth`, `rate_limit`, `server`, `cut`, `bad_frame`, `context_length`, …
    pub kind: String,
    /// `no`, `wait`, `once` or `fix`.
    pub retry: String,
    /// The repair that would mend it, when `retry` is `fix`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The HTTP status it came with or stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the server asked to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
    /// When the limit that was hit ends, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at_ms: Option<u64>,
    /// In how many milliseconds it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_in_ms: Option<u64>,
    /// A limit read from the server's words (tokens, bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The window, where `limit` is what this prompt leaves of it.
    #[serde(skip)]
    pub window: Option<u64>,
    /// How much was used, read from the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// Values the server said it allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// The parameter the server refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// Whether text that is not blank had come before.
    #[serde(default)]
    pub after_output: bool,
    /// The server's own words, bounded, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Failure {
    /// Returns a failure of this kind, to be tried again as `retry` says; `message` may be empty.
    pub fn new(kind: &str, retry: &str, message: impl Into<String>) -> Failure {
        Failure {
            kind: kind.into(),
            retry: retry.into(),
            message: message.into(),
            ..Failure::default()
        }
    }
}
