//! From the provider-neutral conversation to a request, one file a dialect. Names come from `harness/dialects/<id>.json`.

mod anthropic;
mod fields;
mod gemini;
mod history;
mod ids;
mod object_root;
mod ollama;
mod openai_chat;
mod reduced;
mod repaired;
mod resolved;
mod responses;

use crate::message::Message;
use crate::prompt::ToolDefinition;
use crate::quirk;
use crate::repair::Mending;
use crate::spec::{Action, Dialect, DialectName, Fix, RequestFacts, Rule, Spec};
use serde_json::{Map, Value};

/// A dialect of a spec that this build speaks. What writes or reads it matches on the name, so that a dialect file
/// without its code does not build.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'s> {
    /// Which it is.
    pub name: DialectName,
    /// Its file.
    pub file: &'s Dialect,
}

impl<'s> Spoken<'s> {
    /// Returns the dialect with this id; `None` if the spec has none or this build does not speak it.
    pub fn named(spec: &'s Spec, id: &str) -> Option<Spoken<'s>> {
        Some(Spoken { name: DialectName::named(id)?, file: spec.dialect(id)? })
    }

    /// Returns the body of a request.
    ///
    /// # Errors
    /// None that valid text can cause; the serializer's words are passed on rather than hidden.
    pub fn request(&self, rules: &[Rule], ask: &Ask<'_>) -> Result<String, serde_json::Error> {
        let repairs = ask.mending.repairs;
        let (messages, tools) = (repaired::messages(&self.file.request, ask), repaired::tools(ask));
        let ask = &Ask {
            messages: &messages,
            tools: &tools,
            effort: repairs.effort(ask.effort),
            max_output: lower(ask.max_output, repairs.max_output),
            sends_reasoning: ask.sends_reasoning || repairs.has(Fix::SendReasoning),
            vision: ask.vision && !repairs.has(Fix::DropImages),
            ..*ask
        };
        match self.name {
            DialectName::Anthropic => anthropic::request(rules, self.file, ask),
            DialectName::Gemini => gemini::request(rules, self.file, ask),
            DialectName::Ollama => ollama::request(rules, self.file, ask),
            DialectName::OpenaiChat => openai_chat::request(rules, self.file, ask),
            DialectName::Responses => responses::request(rules, self.file, ask),
        }
    }
}

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The model's name as the server knows it.
    pub model: &'a str,
    /// The host the request goes to, lower case.
    pub host: &'a str,
    /// The conversation, system message first.
    pub messages: &'a [Message],
    /// The tools offered, in an order that stays the same for the session.
    pub tools: &'a [ToolDefinition],
    /// Whether they may be called; withholding them leaves the block of tools as it is, for the server's cache.
    pub may_call: bool,
    /// The reasoning effort, in the server's words.
    pub effort: Option<&'a str>,
    /// The window the server shall make room for, where it can be told.
    pub window: Option<u64>,
    /// The most tokens the reply may have.
    pub max_output: Option<u64>,
    /// Whether the server wants earlier reasoning sent back.
    pub sends_reasoning: bool,
    /// Whether the model takes images.
    pub vision: bool,
    /// Fields of the connection's own, sent as they are; they win over everything but the messages.
    pub extra: &'a Map<String, Value>,
    /// What the server has refused before, and what is done about it.
    pub mending: Mending<'a>,
}

/// The lower of two limits, as far as there are any.
fn lower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// What quirks about requests can ask.
fn request_facts(dialect: &Dialect, ask: &Ask<'_>) -> RequestFacts {
    RequestFacts {
        dialect: dialect.id.as_str().into(),
        host: ask.host.into(),
        model: ask.model.into(),
        effort: ask.effort.unwrap_or_default().into(),
        tools: ask.tools.len() as f64,
    }
}

/// Applies the quirks about requests to the fields of one, without its messages.
fn apply_quirks(rules: &[Rule], dialect: &Dialect, ask: &Ask<'_>, fields: &mut Map<String, Value>) {
    for (_, action) in quirk::hits(rules, "request", &request_facts(dialect, ask)) {
        match action {
            Action::DropField(name) => drop(fields.shift_remove(&name)),
            Action::RenameField(names) => {
                if let Some(value) = fields.shift_remove(&names.from) {
                    fields.insert(names.to, value);
                }
            }
            Action::SetField(set) => drop(fields.insert(set.field, set.value)),
            _ => {}
        }
    }
}
