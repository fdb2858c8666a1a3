//! Writes a request of the OpenAI chat dialect. The messages stand last and depend on nothing after them, so that the bytes of
//! one request's messages are a prefix of the next one's and a server's cache stays warm.

use super::{Ask, apply_quirks};
use crate::message::{Message, Part, Role, ToolCall, ToolResult};
use crate::spec::{Dialect, RequestNames, Rule};
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
    let names = &dialect.request;
    let mut body = serde_json::to_string(&fields(rules, dialect, ask))?;
    body.pop();
    body.push_str(r#","messages":"#);
    let messages: Vec<Wire<'_>> = wires(names, ask);
    body.push_str(&serde_json::to_string(&messages)?);
    body.push('}');
    Ok(body)
}

/// Everything of a request but its messages; never empty, for it names the model.
fn fields(rules: &[Rule], dialect: &Dialect, ask: &Ask<'_>) -> Map<String, Value> {
    let names = &dialect.request;
    let mut fields = Map::new();
    fields.insert("model".into(), ask.model.into());
    fields.extend(names.fixed.clone());
    if !ask.tools.is_empty() {
        let tool = |tool: &crate::prompt::ToolDefinition| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
        };
        fields.insert("tools".into(), ask.tools.iter().map(tool).collect());
        if !ask.may_call {
            fields.extend(names.withhold_tools.clone());
        }
    }
    if let Some(most) = ask.max_output {
        fields.insert(names.max_output.clone(), most.into());
    }
    if let Some(effort) = ask.effort {
        fields.insert(names.effort.clone(), effort.into());
    }
    apply_quirks(rules, dialect, ask, &mut fields);
    fields.extend(
        ask.extra
            .iter()
            .filter(|(name, _)| *name != "messages")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    fields
}

/// A message as it goes over the wire.
struct Wire<'a> {
    role: &'a str,
    /// Absent content is sent as null, which only an assistant message with calls may have.
    content: Option<Cow<'a, str>>,
    /// The field's name and the text.
    reasoning: Option<(&'a str, String)>,
    calls: Vec<&'a ToolCall>,
    /// The call this is the result of.
    answers: Option<&'a str>,
    carry: Vec<(&'a str, &'a Value)>,
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("role", self.role)?;
        if let Some(id) = self.answers {
            map.serialize_entry("tool_call_id", id)?;
        }
        map.serialize_entry("content", &self.content)?;
        if let Some((name, text)) = &self.reasoning {
            map.serialize_entry(name, text)?;
        }
        for (name, value) in &self.carry {
            map.serialize_entry(name, value)?;
        }
        if !self.calls.is_empty() {
            let calls: Vec<WireCall<'_>> = self.calls.iter().map(|call| WireCall(call)).collect();
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

struct WireCall<'a>(&'a ToolCall);

impl Serialize for WireCall<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let call = self.0;
        // Arguments that could not be read would be parsed, and refused, again on every request.
        let arguments = if call.broken.is_some() {
            "{}".into()
        } else {
            Value::Object(call.arguments.clone()).to_string()
        };
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &call.id)?;
        map.serialize_entry("type", "function")?;
        let name = wire_name(&call.name);
        map.serialize_entry("function", &json!({ "name": name, "arguments": arguments }))?;
        map.end()
    }
}

/// The longest name of a tool that every server takes.
const LONGEST_NAME: usize = 64;

/// Writes a name that the model made up so that a server takes it: one it refuses would be refused on every request.
fn wire_name(name: &str) -> String {
    let fits = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-');
    let name = if name.is_empty() { "_" } else { name };
    name.chars().take(LONGEST_NAME).map(|each| if fits(each) { each } else { '_' }).collect()
}

/// Turns the conversation into wire messages: every call is followed by its result, and there are no other results.
fn wires<'a>(names: &'a RequestNames, ask: &Ask<'a>) -> Vec<Wire<'a>> {
    let mut wires = Vec::new();
    for (at, message) in ask.messages.iter().enumerate() {
        match message.role {
            Role::System => wires.push(plain(&names.roles.system, content(message))),
            Role::User => wires.push(plain(&names.roles.user, content(message))),
            Role::Assistant => {
                let results = ask
                    .messages
                    .get(at + 1..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|next| next.role == Role::Tool);
                wires.extend(assistant(names, message, ask.sends_reasoning));
                answers(&mut wires, names, &calls(message), results);
            }
            // Results were written behind the calls they answer; those of no call have no place.
            Role::Tool => {}
        }
    }
    wires
}

fn plain<'a>(role: &'a str, content: Cow<'a, str>) -> Wire<'a> {
    Wire {
        role,
        content: Some(content),
        reasoning: None,
        calls: Vec::new(),
        answers: None,
        carry: Vec::new(),
    }
}

fn content(message: &Message) -> Cow<'_, str> {
    let mut texts = message.parts.iter().filter_map(Part::as_text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        _ => Cow::Owned(message.plain()),
    }
}

/// Nothing for a message without text and calls, which servers refuse.
fn assistant<'a>(
    names: &'a RequestNames,
    message: &'a Message,
    sends_reasoning: bool,
) -> Option<Wire<'a>> {
    let (content, calls) = (content(message), calls(message));
    if content.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let mut thought = String::new();
    let mut carry: Vec<(&str, &Value)> = Vec::new();
    for part in &message.parts {
        if let Part::Reasoning { text, carry: kept } = part {
            thought.push_str(text);
            carry.extend(
                names.carry.iter().filter_map(|name| Some((name.as_str(), kept.get(name)?))),
            );
        }
    }
    carry.dedup_by(|later, earlier| later.0 == earlier.0);
    Some(Wire {
        role: &names.roles.assistant,
        content: (!content.is_empty()).then_some(content),
        reasoning: (sends_reasoning && !thought.is_empty())
            .then_some((names.reasoning.as_str(), thought)),
        calls,
        answers: None,
        carry,
    })
}

fn calls(message: &Message) -> Vec<&ToolCall> {
    message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect()
}

fn answers<'a>(
    wires: &mut Vec<Wire<'a>>,
    names: &'a RequestNames,
    calls: &[&'a ToolCall],
    results: impl Iterator<Item = &'a Message>,
) {
    let mut results: Vec<&ToolResult> = results
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect();
    for call in calls {
        let found =
            results.iter().position(|result| result.id == call.id).map(|at| results.remove(at));
        let content = found.map_or(names.no_result.as_str(), |result| &result.text);
        wires.push(Wire { answers: Some(&call.id), ..plain(&names.roles.tool, content.into()) });
    }
}

#[cfg(test)]
mod tests;
