//! Writes a request of Gemini: parts in place of messages, schemas in a subset of OpenAPI, signatures back on their parts.

use super::Ask;
use super::fields::{body, fields};
use super::history::{
    Answered, Turn, arguments, carried, images, instructions, text, turns, wire_name,
};
use super::ids::Ids;
use super::reduced;
use crate::message::{Carry, Image, Message, Part, ToolCall, ToolResult};
use crate::spec::{Dialect, Fix, RequestNames, Rule, StandIn};
use serde_json::{Map, Value, json};

/// Returns the body of a request. The model is part of its path.
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
    let mut own = Map::new();
    let system: Vec<Value> = instructions(&turns)
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({ "text": text }))
        .collect();
    if !system.is_empty() {
        own.insert("systemInstruction".into(), json!({ "parts": system }));
    }
    if !ask.tools.is_empty() {
        own.insert("tools".into(), json!([{ "functionDeclarations": writer.tools() }]));
    }
    let fields = fields(rules, dialect, ask, own);
    let mut contents: Vec<Value> = Vec::new();
    for content in turns.iter().flat_map(|turn| writer.contents(turn)) {
        join(&mut contents, content, &dialect.request.roles.assistant);
    }
    body(fields, "contents", &contents)
}

/// Adds a content. What the model said in two messages is one, for a call may stand behind nothing but the person's turn.
fn join(contents: &mut Vec<Value>, mut content: Value, model: &str) {
    match contents.last_mut() {
        Some(last) if last["role"] == model && content["role"] == model => {
            if let (Value::Array(parts), Value::Array(more)) =
                (&mut last["parts"], content["parts"].take())
            {
                parts.extend(more);
            }
        }
        _ => contents.push(content),
    }
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
        let known = reduced::Known::of(self.names(), self.ask.mending.limits);
        let tool = |tool: &crate::prompt::ToolDefinition| {
            let mut declared = json!({ "name": tool.name, "description": tool.description });
            // An object without properties is refused; a function without parameters is not.
            if let Some(parameters) = reduced::parameters(&tool.parameters, known) {
                declared["parameters"] = parameters;
            }
            declared
        };
        self.ask.tools.iter().map(tool).collect()
    }

    fn contents(&self, turn: &Turn<'_>) -> Vec<Value> {
        let roles = &self.names().roles;
        match turn {
            Turn::System(_) => Vec::new(),
            Turn::User(message) => {
                let text = text(message);
                let text = (!text.is_empty()).then(|| json!({ "text": text }));
                let parts: Vec<Value> =
                    text.into_iter().chain(self.images(images(message))).collect();
                (!parts.is_empty())
                    .then(|| json!({ "role": roles.user, "parts": parts }))
                    .into_iter()
                    .collect()
            }
            Turn::Assistant(message, answered) => {
                let mut all = vec![json!({ "role": roles.assistant, "parts": self.said(message) })];
                if !answered.is_empty() {
                    let results = answered.iter().filter_map(|each| each.result);
                    let shown = self.images(results.flat_map(|result| &result.images));
                    let parts: Vec<Value> =
                        answered.iter().map(|each| self.answer(each)).chain(shown).collect();
                    all.push(json!({ "role": roles.user, "parts": parts }));
                }
                all
            }
        }
    }

    fn images<'i>(&self, images: impl Iterator<Item = &'i Image>) -> Vec<Value> {
        let image = |image: &Image| match self.ask.vision {
            true => json!({ "inlineData": { "mimeType": image.mime, "data": image.data } }),
            false => json!({ "text": self.names().no_image }),
        };
        images.map(image).collect()
    }

    /// Writes what the model said. Reasoning goes back only where it carries something: nothing else of it is wanted.
    fn said(&self, message: &Message) -> Vec<Value> {
        let mut first = true;
        let mut parts = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text { text, carry } if !text.is_empty() || self.back(carry).is_some() => {
                    parts.push(self.carrying(json!({ "text": text }), carry))
                }
                Part::Reasoning { text, carry } if self.back(carry).is_some() => {
                    parts.push(self.carrying(json!({ "text": text, "thought": true }), carry))
                }
                Part::ToolCall(call) => {
                    parts.push(self.call(call, std::mem::replace(&mut first, false)))
                }
                _ => {}
            }
        }
        parts
    }

    fn back<'c>(&self, carry: &'c Option<Carry>) -> Option<&'c Map<String, Value>> {
        carried(carry, self.dialect, self.ask)
    }

    fn carrying(&self, mut part: Value, carry: &Option<Carry>) -> Value {
        let kept = self.back(carry);
        for name in &self.names().carry {
            if let Some(value) = kept.and_then(|kept| kept.get(name)) {
                part[name] = value.clone();
            }
        }
        part
    }

    fn call(&self, call: &ToolCall, first: bool) -> Value {
        let name = wire_name(&call.name, self.names().longest_name);
        let function = json!({ "name": name, "args": arguments(call) });
        let mut part = self.carrying(json!({ "functionCall": function }), &call.carry);
        if let Some(stand_in) = self.names().stand_in.as_ref().filter(|_| first)
            && part.get(&stand_in.field).is_none()
            && self.wants(stand_in)
        {
            part[&stand_in.field] = stand_in.value.clone();
        }
        part
    }

    /// Whether the model refuses calls that carry nothing.
    fn wants(&self, stand_in: &StandIn) -> bool {
        let name = self.ask.model.rsplit('/').next().unwrap_or_default();
        self.ask.mending.repairs.has(Fix::SendReasoning)
            || stand_in.models.iter().any(|model| name.starts_with(model.as_str()))
    }

    fn answer(&self, Answered { call, result, .. }: &Answered<'_>) -> Value {
        let names = self.names();
        let text = result.map_or(names.no_result.as_str(), |result| &result.text);
        let failed = result.is_some_and(|result: &ToolResult| result.error);
        let response = if failed { json!({ "error": text }) } else { json!({ "output": text }) };
        let name = wire_name(&call.name, names.longest_name);
        json!({ "functionResponse": { "name": name, "response": response } })
    }
}
