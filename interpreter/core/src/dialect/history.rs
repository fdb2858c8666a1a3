//! The conversation as every wire wants it: each call directly before its result, no call without one and no result without
//! a call. It writes no wire.

use super::Ask;
use super::ids::Ids;
use crate::message::{Carry, Image, Message, Part, Role, ToolCall, ToolResult};
use crate::spec::Dialect;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A part of the conversation that a wire writes as a whole.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// The program's instructions.
    System(Cow<'a, str>),
    /// The person, or a note on the person's side.
    User(&'a Message),
    /// The model, with the result of each of its calls.
    Assistant(&'a Message, Vec<Answered<'a>>),
}

/// A call with what it came to.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    /// The call.
    pub(super) call: &'a ToolCall,
    /// Its id on the wire.
    pub(super) id: Cow<'a, str>,
    /// Its result; `None` for a call that has none.
    pub(super) result: Option<&'a ToolResult>,
}

/// Returns the turns of a conversation. A message that says nothing is left out, for servers refuse it; results of no call have
/// no place.
pub(super) fn turns<'a>(messages: &'a [Message], ids: &mut Ids) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => turns.push(Turn::System(text(message))),
            Role::User if is_blank(message) => {}
            Role::User => turns.push(Turn::User(message)),
            Role::Assistant => {
                let behind = messages.get(at + 1..).unwrap_or_default();
                let results = behind.iter().take_while(|next| next.role == Role::Tool);
                let answered = answered(message, results, ids);
                if !(answered.is_empty() && text(message).trim().is_empty()) {
                    turns.push(Turn::Assistant(message, answered));
                }
            }
            Role::Tool => {}
        }
    }
    turns
}

/// Returns the texts of the program's instructions.
pub(super) fn instructions<'t>(turns: &'t [Turn<'_>]) -> impl Iterator<Item = &'t str> {
    turns.iter().filter_map(|turn| match turn {
        Turn::System(text) => Some(text.as_ref()),
        Turn::User(_) | Turn::Assistant(..) => None,
    })
}

/// Whether a message shows nothing.
fn is_blank(message: &Message) -> bool {
    images(message).next().is_none() && text(message).trim().is_empty()
}

fn answered<'a>(
    message: &'a Message,
    results: impl Iterator<Item = &'a Message>,
    ids: &mut Ids,
) -> Vec<Answered<'a>> {
    let result = |part: &'a Part| if let Part::ToolResult(it) = part { Some(it) } else { None };
    let mut results: Vec<&ToolResult> =
        results.flat_map(|message| &message.parts).filter_map(result).collect();
    let calls = message
        .parts
        .iter()
        .filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None });
    let mut answer = |call: &'a ToolCall| {
        let at = results.iter().position(|result| result.id == call.id);
        Answered { call, id: ids.next(&call.id), result: at.map(|at| results.remove(at)) }
    };
    calls.map(&mut answer).collect()
}

/// Returns the text of a message.
pub(super) fn text(message: &Message) -> Cow<'_, str> {
    let mut texts = message.parts.iter().filter_map(Part::as_text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        _ => Cow::Owned(message.plain()),
    }
}

/// Returns the images of a message.
pub(super) fn images(message: &Message) -> impl Iterator<Item = &Image> {
    message.parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        _ => None,
    })
}

/// Returns a text with `no_image` behind it, a line for every image, for a model that takes none.
pub(super) fn told(text: &str, no_image: &str, images: &[&Image]) -> String {
    let told = images.iter().map(|_| no_image);
    let said = Some(text).filter(|text| !text.is_empty());
    said.into_iter().chain(told).collect::<Vec<_>>().join("\n")
}

/// Returns what a part carries if it came in this dialect, and from this model where nothing else can take it.
pub(super) fn carried<'a>(
    carry: &'a Option<Carry>,
    dialect: &Dialect,
    ask: &Ask<'_>,
) -> Option<&'a Map<String, Value>> {
    let same = |carry: &&Carry| {
        !dialect.request.carry_to_same_model || carry.model.is_empty() || carry.model == ask.model
    };
    carry.as_ref().filter(same).and_then(|carry| carry.of(&dialect.id))
}

/// Returns a call's arguments. Those that could not be read would be parsed, and refused, again on every request.
pub(super) fn arguments(call: &ToolCall) -> Cow<'_, Map<String, Value>> {
    if call.broken.is_some() { Cow::Owned(Map::new()) } else { Cow::Borrowed(&call.arguments) }
}

/// Writes a name that the model made up so that a server takes it: one it refuses would be refused on every request.
pub(super) fn wire_name(name: &str, longest: usize) -> String {
    let fits = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-');
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let mark = if begins { "" } else { "_" };
    let written = mark.chars().chain(name.chars()).take(longest);
    written.map(|each| if fits(each) { each } else { '_' }).collect()
}
