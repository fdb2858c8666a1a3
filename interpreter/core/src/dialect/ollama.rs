//! Writes a request of Ollama's own chat: arguments are objects, images stand beside the text, and the window is asked for.

use super::Ask;
use super::fields::{body, fields, set};
use super::history::{Answered, Turn, arguments, images, text, told, turns, wire_name};
use super::ids::Ids;
use super::reduced::{Known, definitions};
use crate::message::{Image, Message, Part};
use crate::spec::{Dialect, RequestNames, Rule};
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
    let known = Known::of(&dialect.request, ask.mending.limits);
    let ask = &Ask { tools: &definitions(ask.tools, known), ..*ask };
    let mut own = super::openai_chat::own(ask);
    if let (Some(place), Some(window)) = (&dialect.request.window, ask.window) {
        set(&mut own, place, window.into());
    }
    let names = &dialect.request;
    let turns = turns(ask.messages, &mut Ids::new(rules, dialect, ask));
    let messages: Vec<Value> = turns.iter().flat_map(|turn| messages(names, ask, turn)).collect();
    body(fields(rules, dialect, ask, own), "messages", &messages)
}

fn messages(names: &RequestNames, ask: &Ask<'_>, turn: &Turn<'_>) -> Vec<Value> {
    match turn {
        Turn::System(text) => vec![json!({ "role": names.roles.system, "content": text })],
        Turn::User(message) => {
            let shown: Vec<&Image> = images(message).collect();
            vec![seen(names, ask, &names.roles.user, &text(message), &shown)]
        }
        Turn::Assistant(message, answered) => {
            let mut all = vec![assistant(names, ask, message, answered)];
            all.extend(answered.iter().map(|each| answer(names, ask, each)));
            all
        }
    }
}

/// A message with images, or what stands in for them.
fn seen(names: &RequestNames, ask: &Ask<'_>, role: &str, text: &str, images: &[&Image]) -> Value {
    if images.is_empty() {
        return json!({ "role": role, "content": text });
    }
    if !ask.vision {
        return json!({ "role": role, "content": told(text, &names.no_image, images) });
    }
    let data: Vec<&str> = images.iter().map(|image| image.data.as_str()).collect();
    json!({ "role": role, "content": text, "images": data })
}

fn assistant(
    names: &RequestNames,
    ask: &Ask<'_>,
    message: &Message,
    answered: &[Answered<'_>],
) -> Value {
    let mut wire = Map::new();
    wire.insert("role".into(), names.roles.assistant.clone().into());
    wire.insert("content".into(), text(message).into());
    let thought = |part: &Part| match part {
        Part::Reasoning { text, .. } => Some(text.clone()),
        _ => None,
    };
    let thoughts: String = message.parts.iter().filter_map(thought).collect();
    if ask.sends_reasoning && !thoughts.is_empty() {
        wire.insert(names.reasoning.clone(), thoughts.into());
    }
    if !answered.is_empty() {
        let call = |Answered { call, id, .. }: &Answered<'_>| {
            let name = wire_name(&call.name, names.longest_name);
            json!({ "id": id, "function": { "name": name, "arguments": arguments(call) } })
        };
        wire.insert("tool_calls".into(), answered.iter().map(call).collect());
    }
    wire.into()
}

fn answer(names: &RequestNames, ask: &Ask<'_>, answered: &Answered<'_>) -> Value {
    let Answered { call, id, result } = answered;
    let text = result.map_or(names.no_result.as_str(), |result| &result.text);
    let images: Vec<&Image> = result.iter().flat_map(|result| &result.images).collect();
    let mut wire = seen(names, ask, &names.roles.tool, text, &images);
    wire["tool_name"] = wire_name(&call.name, names.longest_name).into();
    wire["tool_call_id"] = id.clone().into();
    wire
}
