//! The answer to one question, here or from a peer, and its form on the wire.

use serde_json::{Value, json};

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// An answer.
    Out(Value),
    /// Not answered yet, and why.
    Pending(String),
    /// No answer: what went wrong.
    Error(String),
}

impl Reply {
    /// Returns the reply that a line of a peer holds, `None` for any other JSON.
    pub(crate) fn from_json(json: &Value) -> Option<Reply> {
        let object = json.as_object()?;
        let text =
            |key| object.get(key).map(|value| value.as_str().unwrap_or_default().to_string());
        object
            .get("out")
            .map(|out| Reply::Out(out.clone()))
            .or_else(|| text("pending").map(Reply::Pending))
            .or_else(|| text("error").map(Reply::Error))
    }

    /// Returns the line of this reply.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Reply::Out(out) => json!({ "out": out }),
            Reply::Pending(why) => json!({ "pending": why }),
            Reply::Error(error) => json!({ "error": error }),
        }
    }
}
