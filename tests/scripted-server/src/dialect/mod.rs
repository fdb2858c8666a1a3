//! What differs between dialects: paths, frames, errors and the rules of a request, one file a dialect.
//! Everything else in this crate is the same for all of them.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod responses;
mod rule;
mod vectors;

use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;
pub(crate) use vectors::Vectors;

/// A dialect the server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Chat completions, streamed as server-sent events.
    #[default]
    OpenaiChat,
    /// OpenAI's responses, streamed as server-sent events.
    Responses,
    /// Anthropic's messages, streamed as server-sent events.
    Anthropic,
    /// Gemini's generateContent, streamed as server-sent events.
    Gemini,
    /// Ollama's own chat, streamed as lines of JSON.
    Ollama,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 5] = [
        Dialect::OpenaiChat,
        Dialect::Responses,
        Dialect::Anthropic,
        Dialect::Gemini,
        Dialect::Ollama,
    ];

    /// Returns its name in scenarios and in the spec.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::OpenaiChat => "openai-chat",
            Dialect::Responses => "responses",
            Dialect::Anthropic => "anthropic",
            Dialect::Gemini => "gemini",
            Dialect::Ollama => "ollama",
        }
    }

    /// Returns what stands between the server's root and the dialect's own paths, such as `/v1`.
    pub fn prefix(self) -> &'static str {
        self.speech().prefix()
    }

    /// Returns how it is spoken.
    pub(crate) fn speech(self) -> &'static dyn Speech {
        match self {
            Dialect::OpenaiChat => &openai_chat::OpenaiChat,
            Dialect::Responses => &responses::Responses,
            Dialect::Anthropic => &anthropic::Anthropic,
            Dialect::Gemini => &gemini::Gemini,
            Dialect::Ollama => &ollama::Ollama,
        }
    }
}

/// What a request asks for, as far as a reply depends on it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The model's id; empty where the path and not the body names it.
    pub(crate) model: String,
    /// The text after the model's last message.
    pub(crate) text: String,
    /// The names of the tools offered.
    pub(crate) tools: Vec<String>,
}

/// The bytes of one frame of a stream.
pub(crate) type Frame = Vec<u8>;

/// How a dialect is spoken.
pub(crate) trait Speech {
    /// Returns what stands between the server's root and the dialect's own paths.
    fn prefix(&self) -> &'static str;
    /// Tells whether a path (without its query) is where replies are asked for.
    fn is_chat(&self, path: &str) -> bool;
    /// Tells whether a path (without its query) is the list of models.
    fn is_models(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix()) == Some("/models")
    }
    /// Returns the content type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }
    /// Returns what a body asks for; what is missing or odd is left empty.
    fn asked(&self, body: &Value) -> Asked;
    /// Checks a request for a reply, or returns the first rule it breaks, with the place.
    fn check(&self, request: &Incoming) -> Result<(), String>;
    /// Returns the body of the list of models.
    fn models(&self, models: &[Value]) -> Value;
    /// Returns the body of an error.
    fn error(&self, status: u16, message: &str) -> Value;
    /// Returns how vectors are asked for on this wire, if they are.
    fn vectors(&self) -> Option<Vectors> {
        None
    }
    /// Returns the writer of the `number`th reply of a server, whose ids contain that number.
    fn writer(&self, number: usize, asked: &Asked) -> Box<dyn Writer>;
}

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
    /// Writes what was held back until the last step.
    fn rest(&mut self, _: &mut Vec<Frame>) {}
    /// Writes the end mark.
    fn end(&mut self, _: &mut Vec<Frame>) {}
}
