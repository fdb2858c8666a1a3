//! Writes a request of OpenAI's responses: items in place of messages, flat tools, and reasoning back to the model it came from,
//! for the server keeps nothing.

use super::Ask;
use super::fields::{body, fields};
use super::history::{
    Answered, Turn, arguments, carried, images, instructions, text, turns, wire_name,
};
use super::ids::{Ids, made};
use crate::message::{Carry, Image, Message, Part};
use crate::spec::{Dialect, RequestNames, Rule};
use serde_json::{Map, Value, json};

/// How long the word is by which a server keeps beginnings.
const KEY: usize = 22;

/// Returns the body of a request.
///
/// # Errors
/// None that valid text can cause; the serializer's words are passed on rather than hidden.
pub(super) fn request(
    rules: &[Rule],
    dialect: &Dialect,
    ask: &Ask<'_>,
) -> Result<String, serde_json::Error> {
    let writer = Writer { dialect, ask };
    let turns = turns(ask.messages, &mut Ids::new(rules, dialect, ask));
    let mut own = Map::from_iter([("model".into(), ask.model.into())]);
    let instructions = instructions(&turns).collect::<Vec<_>>().join("\n\n");
    if let (Some(key), false) = (&dialect.request.cache_key, instructions.is_empty()) {
        own.insert(key.clone(), made(&instructions, 0, KEY).into());
    }
    if !instructions.is_empty() {
        own.insert("instructions".into(), instructions.into());
    }
    if !ask.tools.is_empty() {
        own.insert("tools".into(), writer.tools().into());
    }
    let input: Vec<Value> = turns.iter().flat_map(|turn| writer.items(turn)).collect();
    body(fields(rules, dialect, ask, own), "input", &input)
}

/// Writes the turns of one request.
struct Writer<'a> {
    dialect: &'a Dialect,
    ask: &'a Ask<'a>,
}

impl Writer<'_> {
    fn names(&self) -> &RequestNames {
        &self.dialect.request
    }

    fn tools(&self) -> Vec<Value> {
        let tool = |tool: &crate::prompt::ToolDefinition| {
            // Strict tools must require all they have; none of ours is written for that.
            json!({ "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false })
        };
        self.ask.tools.iter().map(tool).collect()
    }

    fn items(&self, turn: &Turn<'_>) -> Vec<Value> {
        match turn {
            Turn::System(_) => Vec::new(),
            Turn::User(message) => {
                let shown = self.shown(&text(message), images(message));
                let some = !shown.is_empty();
                some.then(|| self.message(&self.names().roles.user, shown)).into_iter().collect()
            }
            Turn::Assistant(message, answered) => {
                let mut items = self.said(message, answered);
                items.extend(answered.iter().map(|each| self.output(each)));
                items
            }
        }
    }

    fn message(&self, role: &str, content: Vec<Value>) -> Value {
        json!({ "type": "message", "role": role, "content": content })
    }

    /// Writes what the person or a tool shows.
    fn shown<'i>(&self, text: &str, images: impl Iterator<Item = &'i Image>) -> Vec<Value> {
        let text = (!text.is_empty()).then(|| json!({ "type": "input_text", "text": text }));
        let image = |image: &Image| match self.ask.vision {
            true => {
                let url = format!("data:{};base64,{}", image.mime, image.data);
                json!({ "type": "input_image", "detail": "auto", "image_url": url })
            }
            false => json!({ "type": "input_text", "text": self.names().no_image }),
        };
        text.into_iter().chain(images.map(image)).collect()
    }

    /// Writes what the model said, in the order it said it. Reasoning that led to nothing is refused.
    fn said(&self, message: &Message, answered: &[Answered<'_>]) -> Vec<Value> {
        let mut calls = answered.iter();
        let mut items: Vec<Value> = Vec::new();
        for part in &message.parts {
            items.extend(match part {
                Part::Text { text, .. } if !text.is_empty() => {
                    let said = json!({ "type": "output_text", "text": text });
                    Some(self.message(&self.names().roles.assistant, vec![said]))
                }
                Part::Reasoning { text, carry } => self.reasoning(text, carry),
                Part::ToolCall(call) => calls.next().map(|answered| {
                    let arguments = serde_json::to_string(&arguments(call)).unwrap_or_default();
                    let name = wire_name(&call.name, self.names().longest_name);
                    json!({ "type": "function_call", "call_id": answered.id, "name": name,
                        "arguments": arguments })
                }),
                _ => None,
            });
        }
        while items.last().is_some_and(|item| item["type"] == "reasoning") {
            items.pop();
        }
        items
    }

    /// Writes reasoning back. Without what the provider encrypted, only servers that ask for it take it.
    fn reasoning(&self, text: &str, carry: &Option<Carry>) -> Option<Value> {
        let mut item = Map::from_iter([("type".into(), "reasoning".into())]);
        match carried(carry, self.dialect, self.ask) {
            Some(kept) => {
                let kept = self.names().carry.iter().filter_map(|name| kept.get_key_value(name));
                item.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
            }
            None if self.ask.sends_reasoning && !text.is_empty() => {
                let content = json!([{ "type": "reasoning_text", "text": text }]);
                item.insert("content".into(), content);
            }
            None => return None,
        }
        item.entry("summary").or_insert_with(|| json!([]));
        Some(item.into())
    }

    fn output(&self, answered: &Answered<'_>) -> Value {
        let text = answered.result.map_or(&self.names().no_result, |result| &result.text);
        let images = answered.result.map_or(&[][..], |result| &result.images);
        let output = match images {
            [] => Value::from(text.as_str()),
            _ => self.shown(text, images.iter()).into(),
        };
        json!({ "type": "function_call_output", "call_id": answered.id, "output": output })
    }
}
