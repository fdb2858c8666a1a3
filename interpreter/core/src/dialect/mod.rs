//! From the provider-neutral conversation to a request, one file a dialect. Names come from `harness/dialects/<id>.json`.

pub mod openai_chat;

use crate::message::Message;
use crate::prompt::ToolDefinition;
use crate::quirk;
use crate::spec::{Action, Dialect, RequestFacts, Rule};
use serde_json::{Map, Value};

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
    /// The most tokens the reply may have.
    pub max_output: Option<u64>,
    /// Whether the server wants earlier reasoning sent back.
    pub sends_reasoning: bool,
    /// Fields of the connection's own, sent as they are; they win over everything but the messages.
    pub extra: &'a Map<String, Value>,
}

/// Applies the quirks about requests to the fields of one, without its messages.
fn apply_quirks(rules: &[Rule], dialect: &Dialect, ask: &Ask<'_>, fields: &mut Map<String, Value>) {
    let facts = RequestFacts {
        dialect: dialect.id.clone(),
        host: ask.host.into(),
        model: ask.model.into(),
        tools: ask.tools.len() as f64,
    };
    for (_, action) in quirk::hits(rules, "request", &facts) {
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
