//! Writes a request of Anthropic's messages: turns of blocks whose roles alternate, results before anything else of the person's,
//! thinking back to the model it came from, and marks where a server's cache shall keep the prompt.

use super::Ask;
use super::fields::{body, dropped, fields};
use super::history::{Answered, Turn, arguments, carried, images, instructions, turns, wire_name};
use super::ids::Ids;
use super::object_root;
use crate::message::{Carry, Image, Message, Part, ToolResult};
use crate::spec::{Budget, CacheMark, Dialect, RequestNames, Rule, SchemaForm};
use lembas_codegen::when::Pattern;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Returns the body of a request.
///
/// # Errors
/// None that valid text can cause; the serializer's words are passed on rather than hidden.
pub(super) fn request(
    rules: &[Rule],
    dialect: &Dialect,
    ask: &Ask<'_>,
) -> Result<String, serde_json::Error> {
    let (writer, names) = (Writer { dialect, ask }, &dialect.request);
    let turns = turns(ask.messages, &mut Ids::new(rules, dialect, ask));
    let mut system: Vec<Value> = instructions(&turns).filter_map(said).collect();
    let mut tools = writer.tools();
    let mut messages = writer.messages(&turns);
    if let Some(cache) =
        names.cache.as_ref().filter(|cache| !dropped(rules, dialect, ask, &cache.field))
    {
        mark(cache, &mut tools, &mut system, &mut messages);
    }
    let mut own = Map::from_iter([("model".into(), ask.model.into())]);
    for (name, list) in [("system", system), ("tools", tools)] {
        if !list.is_empty() {
            own.insert(name.into(), list.into());
        }
    }
    let mut fields = fields(rules, dialect, ask, own);
    if let Some(budget) = &names.budget {
        goes_on(budget, &names.roles.assistant, &mut fields, &mut messages);
    }
    body(fields, "messages", &messages)
}

/// A message as it goes over the wire.
#[derive(Serialize)]
struct Wire<'a> {
    role: &'a str,
    content: Vec<Value>,
}

/// Marks the end of the tools, of the instructions and of the last messages of the person's, as far as the marks go.
fn mark(cache: &CacheMark, tools: &mut [Value], system: &mut [Value], messages: &mut [Wire<'_>]) {
    let said = messages.iter_mut().rev().filter(|message| message.role == "user");
    let ends = [tools.last_mut(), system.last_mut()].into_iter().flatten();
    for end in ends.chain(said.filter_map(|message| message.content.last_mut())).take(cache.most) {
        end[&cache.field] = cache.value.clone();
    }
}

/// Makes thinking and the end of the conversation fit. A model that thinks by a budget refuses to go on with what it said
/// without thinking, so it must not think in this turn; one that does not think refuses to go on behind thoughts.
fn goes_on(
    budget: &Budget,
    assistant: &str,
    fields: &mut Map<String, Value>,
    messages: &mut [Wire<'_>],
) {
    let thinks = |field: &Value| field.get(&budget.number).is_some();
    if fields.get(&budget.field).is_some_and(thinks) && goes_on_without_thought(messages, assistant)
    {
        fields.shift_remove(&budget.field);
    }
    let off = |field: &Value| field["type"] == "disabled";
    let last = messages.last_mut().filter(|last| last.role == assistant);
    if let Some(last) = last.filter(|_| fields.get(&budget.field).is_none_or(off)) {
        last.content.retain(|block| !is_thought(block));
    }
}

/// Whether the model spoke last, or its calls did, and no thinking stands at the beginning of it.
fn goes_on_without_thought(messages: &[Wire<'_>], assistant: &str) -> bool {
    let thought = |message: &Wire<'_>| message.content.first().is_some_and(is_thought);
    match messages {
        [.., last] if last.role == assistant => !thought(last),
        [.., said, results] => {
            let kind = results.content.first().map(|block| &block["type"]);
            kind.is_some_and(|kind| kind == "tool_result") && !thought(said)
        }
        _ => false,
    }
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Writes the turns of one request.
struct Writer<'a> {
    dialect: &'a Dialect,
    ask: &'a Ask<'a>,
}

impl<'a> Writer<'a> {
    fn names(&self) -> &'a RequestNames {
        &self.dialect.request
    }

    fn tools(&self) -> Vec<Value> {
        let names = self.names().schema_names.as_ref().and_then(|names| Pattern::new(names).ok());
        let tool = |tool: &crate::prompt::ToolDefinition| {
            let schema = match self.names().schema {
                SchemaForm::ObjectRoot => {
                    let limits = &self.ask.mending.limits.schema;
                    object_root::parameters(&tool.parameters, names.as_ref(), limits)
                }
                _ => tool.parameters.clone(),
            };
            json!({ "name": tool.name, "description": tool.description, "input_schema": schema })
        };
        self.ask.tools.iter().map(tool).collect()
    }

    /// Writes the conversation. Neighbours of one role are one message, and nobody says nothing.
    fn messages(&self, turns: &[Turn<'_>]) -> Vec<Wire<'a>> {
        let roles = &self.names().roles;
        let mut messages: Vec<Wire<'_>> = Vec::new();
        let mut add = |role: &'a str, mut content: Vec<Value>| match messages.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.append(&mut content),
            _ => messages.push(Wire { role, content }),
        };
        for turn in turns {
            match turn {
                Turn::System(_) => {}
                Turn::User(message) => add(&roles.user, self.shown(message)),
                Turn::Assistant(message, answered) => {
                    add(&roles.assistant, self.blocks(message, answered));
                    add(&roles.user, answered.iter().map(|each| self.answer(each)).collect());
                    add(
                        &roles.user,
                        answered.iter().flat_map(|each| self.shown_failing(each)).collect(),
                    );
                }
            }
        }
        for said in messages.iter_mut().filter(|message| message.role == roles.assistant) {
            // Thinking that led to nothing is refused.
            while said.content.last().is_some_and(is_thought) {
                said.content.pop();
            }
        }
        if let Some(last) = messages.last_mut().filter(|last| last.role == roles.assistant) {
            trim(last.content.last_mut());
        }
        messages
    }

    fn shown(&self, message: &Message) -> Vec<Value> {
        let texts = message.parts.iter().filter_map(Part::as_text).filter_map(said);
        texts.chain(images(message).map(|image| self.image(image))).collect()
    }

    fn image(&self, image: &Image) -> Value {
        if !self.ask.vision {
            return json!({ "type": "text", "text": self.names().no_image });
        }
        let source = json!({ "type": "base64", "media_type": image.mime, "data": image.data });
        json!({ "type": "image", "source": source })
    }

    /// Writes what the model said, in the order it said it.
    fn blocks(&self, message: &Message, answered: &[Answered<'_>]) -> Vec<Value> {
        let mut calls = answered.iter();
        let block = |part: &Part| match part {
            Part::Text { text, .. } => said(text),
            Part::Reasoning { text, carry } => self.thought(text, carry),
            Part::ToolCall(call) => calls.next().map(|answered| {
                let name = wire_name(&call.name, self.names().longest_name);
                let input = arguments(call);
                json!({ "type": "tool_use", "id": answered.id, "name": name, "input": input })
            }),
            Part::Image(_) | Part::ToolResult(_) => None,
        };
        message.parts.iter().filter_map(block).collect()
    }

    /// Writes thinking back. Without what the provider signed it with, only servers that ask for it take it.
    fn thought(&self, text: &str, carry: &Option<Carry>) -> Option<Value> {
        let kept = carried(carry, self.dialect, self.ask);
        let field = |name: &str| kept.and_then(|kept| kept.get(name));
        if let Some(data) = field("data") {
            return Some(json!({ "type": "redacted_thinking", "data": data }));
        }
        let signature = match field("signature") {
            Some(signature) => signature.clone(),
            None if self.ask.sends_reasoning && !text.is_empty() => "".into(),
            None => return None,
        };
        Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
    }

    /// Writes the images of a failure, which takes none, behind the results.
    fn shown_failing(&self, answered: &Answered<'_>) -> Vec<Value> {
        let failed = answered.result.filter(|result| says_failing(result));
        failed
            .into_iter()
            .flat_map(|result| &result.images)
            .map(|image| self.image(image))
            .collect()
    }

    fn answer(&self, answered: &Answered<'_>) -> Value {
        let text = answered.result.map_or(&self.names().no_result, |result| &result.text);
        let images = answered.result.filter(|result| !says_failing(result));
        let images = images.map_or(&[][..], |result| &result.images);
        let mut block = json!({ "type": "tool_result", "tool_use_id": answered.id });
        if !images.is_empty() {
            let text = said(text);
            let images = images.iter().map(|image| self.image(image));
            block["content"] = text.into_iter().chain(images).collect();
        } else if !text.trim().is_empty() {
            block["content"] = text.as_str().into();
        }
        if answered.result.is_some_and(says_failing) {
            block["is_error"] = true.into();
        }
        block
    }
}

/// Whether a result is told as a failure: one without a word is refused.
fn says_failing(result: &ToolResult) -> bool {
    result.error && !result.text.trim().is_empty()
}

/// A block of text; blank ones are refused.
fn said(text: impl AsRef<str>) -> Option<Value> {
    let text = text.as_ref();
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

/// Takes the blanks off the end of what the model shall go on with: a reply cannot begin behind them.
fn trim(block: Option<&mut Value>) {
    if let Some(Value::String(text)) = block.and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}
