//! Writes a request of the OpenAI chat dialect. The messages stand last and depend on nothing after them, so that the bytes of
//! one request's messages are a prefix of the next one's and a server's cache stays warm.

use super::Ask;
use super::fields::{body, fields};
use super::history::{Answered, Turn, arguments, carried, images, text, told, turns, wire_name};
use super::ids::Ids;
use crate::message::{Image, Message, Part, ToolCall};
use crate::repair::Mending;
use crate::spec::{Dialect, Fix, RequestNames, Rule};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

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
    let messages: Vec<Wire<'_>> = turns.iter().flat_map(|turn| writer.wires(turn)).collect();
    let messages = writer.with_answers(messages);
    body(fields(rules, dialect, ask, own(ask)), "messages", &messages)
}

/// The model and the tools; never empty.
pub(super) fn own(ask: &Ask<'_>) -> Map<String, Value> {
    let mut own = Map::new();
    own.insert("model".into(), ask.model.into());
    if !ask.tools.is_empty() {
        let tool = |tool: &crate::prompt::ToolDefinition| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
        };
        own.insert("tools".into(), ask.tools.iter().map(tool).collect());
    }
    own
}

/// A message as it goes over the wire.
struct Wire<'a> {
    role: &'a str,
    /// Absent content is sent as null, which only an assistant message with calls may have.
    content: Option<Content<'a>>,
    /// The field's name and the text.
    reasoning: Option<(&'a str, String)>,
    calls: Vec<WireCall<'a>>,
    /// The call this is the result of.
    answers: Option<Cow<'a, str>>,
    carry: Vec<(&'a str, &'a Value)>,
}

/// Text alone is sent as a string: many servers take nothing else.
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Value>),
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("role", self.role)?;
        if let Some(id) = &self.answers {
            map.serialize_entry("tool_call_id", id)?;
        }
        match &self.content {
            None => map.serialize_entry("content", &())?,
            Some(Content::Text(text)) => map.serialize_entry("content", text)?,
            Some(Content::Parts(parts)) => map.serialize_entry("content", parts)?,
        }
        if let Some((name, text)) = &self.reasoning {
            map.serialize_entry(name, text)?;
        }
        for (name, value) in &self.carry {
            map.serialize_entry(name, value)?;
        }
        if !self.calls.is_empty() {
            map.serialize_entry("tool_calls", &self.calls)?;
        }
        map.end()
    }
}

struct WireCall<'a> {
    call: &'a ToolCall,
    id: Cow<'a, str>,
    longest_name: usize,
}

impl Serialize for WireCall<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let arguments = serde_json::to_string(&arguments(self.call)).unwrap_or_default();
        let name = wire_name(&self.call.name, self.longest_name);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("function", &json!({ "name": name, "arguments": arguments }))?;
        map.end()
    }
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

    fn wires(&self, turn: &Turn<'a>) -> Vec<Wire<'a>> {
        let roles = &self.names().roles;
        match turn {
            Turn::System(text) => vec![plain(&roles.system, Content::Text(text.clone()))],
            Turn::User(message) => {
                let images: Vec<&Image> = images(message).collect();
                vec![plain(&roles.user, self.content(text(message), &images))]
            }
            Turn::Assistant(message, answered) => {
                let mut wires = vec![self.assistant(message, answered)];
                self.answers(answered, &mut wires);
                wires
            }
        }
    }

    fn content(&self, text: Cow<'a, str>, images: &[&Image]) -> Content<'a> {
        if images.is_empty() {
            return Content::Text(text);
        }
        if !self.ask.vision {
            return Content::Text(told(&text, &self.names().no_image, images).into());
        }
        let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
        let image = |image: &&Image| {
            let url = format!("data:{};base64,{}", image.mime, image.data);
            json!({ "type": "image_url", "image_url": { "url": url } })
        };
        Content::Parts(text.into_iter().chain(images.iter().map(image)).collect())
    }

    fn assistant(&self, message: &'a Message, answered: &[Answered<'a>]) -> Wire<'a> {
        let names = self.names();
        let mut thought = String::new();
        let mut carry: Vec<(&str, &Value)> = Vec::new();
        for part in &message.parts {
            if let Part::Reasoning { text, carry: kept } = part {
                thought.push_str(text);
                let kept = carried(kept, self.dialect, self.ask);
                carry.extend(
                    names.carry.iter().filter_map(|name| Some((name.as_str(), kept?.get(name)?))),
                );
            }
        }
        carry.dedup_by(|later, earlier| later.0 == earlier.0);
        let said = text(message);
        Wire {
            role: &names.roles.assistant,
            content: (!said.is_empty()).then_some(Content::Text(said)),
            reasoning: (self.ask.sends_reasoning && !thought.is_empty())
                .then_some((names.reasoning.as_str(), thought)),
            calls: answered
                .iter()
                .map(|each| WireCall {
                    call: each.call,
                    id: each.id.clone(),
                    longest_name: names.longest_name,
                })
                .collect(),
            answers: None,
            carry,
        }
    }

    /// Lets the model speak between results and the person, where a server wants it to.
    fn with_answers(&self, wires: Vec<Wire<'a>>) -> Vec<Wire<'a>> {
        let Mending { repairs, limits } = self.ask.mending;
        if !repairs.has(Fix::AddAnswer) {
            return wires;
        }
        let roles = &self.names().roles;
        let mut out: Vec<Wire<'a>> = Vec::with_capacity(wires.len());
        for wire in wires {
            let behind = out.last().is_some_and(|last| last.role == roles.tool);
            if behind && wire.role == roles.user {
                let said = Content::Text(limits.no_answer.as_str().into());
                out.push(plain(&roles.assistant, said));
            }
            out.push(wire);
        }
        out
    }

    /// Writes the results; their images follow in a message of the person's, for few servers take them in a result.
    fn answers(&self, answered: &[Answered<'a>], wires: &mut Vec<Wire<'a>>) {
        let names = self.names();
        for Answered { id, result, .. } in answered {
            let text = result.map_or(names.no_result.as_str(), |result| &result.text);
            let content = Content::Text(text.into());
            wires.push(Wire { answers: Some(id.clone()), ..plain(&names.roles.tool, content) });
        }
        let images: Vec<&Image> =
            answered.iter().filter_map(|each| each.result).flat_map(|it| &it.images).collect();
        if !images.is_empty() {
            wires.push(plain(&names.roles.user, self.content("".into(), &images)));
        }
    }
}

fn plain<'a>(role: &'a str, content: Content<'a>) -> Wire<'a> {
    Wire {
        role,
        content: Some(content),
        reasoning: None,
        calls: Vec::new(),
        answers: None,
        carry: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
