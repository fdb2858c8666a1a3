//! What differs between dialects, behind one enum: paths, frames, errors and the rules of a request.
//! Everything else in this crate is the same for all of them.

mod openai_chat;

use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

/// A dialect the server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Chat completions, streamed as server-sent events.
    #[default]
    OpenaiChat,
}

/// What a request asks for, as far as a reply depends on it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The model's id.
    pub(crate) model: String,
    /// The text after the model's last message.
    pub(crate) text: String,
    /// The names of the tools offered.
    pub(crate) tools: Vec<String>,
}

/// The bytes of one frame of a stream.
pub(crate) type Frame = Vec<u8>;

/// Writes one reply in a dialect, a frame at a time, and remembers what the dialect's frames depend on.
pub(crate) trait Writer {
    /// Writes a piece of the answer.
    fn text(&mut self, text: &str, out: &mut Vec<Frame>);
    /// Writes a piece of reasoning.
    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>);
    /// Writes a whole tool call whose arguments come in pieces.
    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>);
    /// Writes the tokens used.
    fn usage(&mut self, usage: Usage, out: &mut Vec<Frame>);
    /// Writes why the reply ends.
    fn finish(&mut self, reason: Finish, out: &mut Vec<Frame>);
    /// Writes the end mark.
    fn end(&mut self, out: &mut Vec<Frame>);
}

impl Dialect {
    /// Tells whether a path (without its query) is where replies are asked for.
    pub(crate) fn is_chat(self, path: &str) -> bool {
        match self {
            Dialect::OpenaiChat => path == openai_chat::CHAT_PATH,
        }
    }

    /// Tells whether a path (without its query) is the list of models.
    pub(crate) fn is_models(self, path: &str) -> bool {
        match self {
            Dialect::OpenaiChat => path == openai_chat::MODELS_PATH,
        }
    }

    /// Returns the content type of a stream.
    pub(crate) fn stream_type(self) -> &'static str {
        match self {
            Dialect::OpenaiChat => "text/event-stream",
        }
    }

    /// Returns what a body asks for; what is missing or odd is left empty.
    pub(crate) fn asked(self, body: &Value) -> Asked {
        match self {
            Dialect::OpenaiChat => openai_chat::asked(body),
        }
    }

    /// Checks a request for a reply.
    ///
    /// # Errors
    /// The first rule it breaks, with the place.
    pub(crate) fn check(self, request: &Incoming) -> Result<(), String> {
        match self {
            Dialect::OpenaiChat => openai_chat::rules::check(request),
        }
    }

    /// Returns the body of the list of models.
    pub(crate) fn models(self, models: &[Value]) -> Value {
        match self {
            Dialect::OpenaiChat => openai_chat::models(models),
        }
    }

    /// Returns the body of an error.
    pub(crate) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Dialect::OpenaiChat => openai_chat::error(status, message),
        }
    }

    /// Returns the writer of the `number`th reply of a server, whose ids contain that number.
    pub(crate) fn writer(self, number: usize, asked: &Asked) -> Box<dyn Writer> {
        match self {
            Dialect::OpenaiChat => Box::new(openai_chat::Chunks::new(number, &asked.model)),
        }
    }
}
