//! A conversation as a server takes it that has refused it before: repairs of what every wire shares, before one writes it.

use super::{Ask, reduced};
use crate::message::{Image, Message, Part, Role};
use crate::prompt::ToolDefinition;
use crate::say::filled;
use crate::spec::{Fix, RepairLimits, RequestNames};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns the conversation with the repairs that hold. Somebody says something in it, on some wires the person first.
pub(super) fn messages<'a>(names: &RequestNames, ask: &Ask<'a>) -> Cow<'a, [Message]> {
    let all = repaired(ask);
    let mut said = all.iter().filter(|message| message.role != Role::System && is_written(message));
    let begins = said.next().map(|first| first.role);
    if begins.is_some_and(|role| role == Role::User || !names.user_first) {
        return all;
    }
    let (mut all, limits) = (all.into_owned(), ask.mending.limits);
    let behind = all.iter().take_while(|message| message.role == Role::System).count();
    all.insert(behind, Message::text(Role::User, limits.no_user.clone()));
    Cow::Owned(all)
}

fn repaired<'a>(ask: &Ask<'a>) -> Cow<'a, [Message]> {
    let (repairs, limits) = (ask.mending.repairs, ask.mending.limits);
    let fixes = [
        (Fix::MergeSystem, merge_system as fn(Vec<Message>, &RepairLimits) -> Vec<Message>),
        (Fix::SystemInUser, system_in_user),
        (Fix::OneToolCall, one_tool_call),
        (Fix::ResultsInUser, results_in_user),
        (Fix::MergeRoles, merge_roles),
        (Fix::AddUser, add_user),
    ];
    let mut held = fixes.into_iter().filter(|(fix, _)| repairs.has(*fix)).peekable();
    if held.peek().is_none() && repairs.unreasoned == 0 && repairs.image_bytes.is_none() {
        return Cow::Borrowed(ask.messages);
    }
    let mut all = ask.messages.to_vec();
    for message in all.iter_mut().take(repairs.unreasoned) {
        message.parts.retain(|part| !matches!(part, Part::Reasoning { .. }));
    }
    if let Some(most) = repairs.image_bytes {
        all.iter_mut().for_each(|message| no_large_images(message, most, &limits.large_image));
    }
    Cow::Owned(held.fold(all, |all, (_, repair)| repair(all, limits)))
}

/// Returns the tools with the repairs that hold.
pub(super) fn tools<'a>(ask: &Ask<'a>) -> Cow<'a, [ToolDefinition]> {
    let (repairs, limits) = (ask.mending.repairs, ask.mending.limits);
    if repairs.has(Fix::DropTools) {
        return Cow::Borrowed(&[]);
    }
    if !repairs.has(Fix::PlainSchema) {
        return Cow::Borrowed(ask.tools);
    }
    Cow::Owned(reduced::definitions(ask.tools, reduced::Known::plain(limits)))
}

/// Puts a line in the place of images with more bytes than a server takes.
fn no_large_images(message: &mut Message, most: u64, line: &str) {
    let large = |image: &Image| (image.data.len() as u64 / 4).saturating_mul(3) > most;
    for part in &mut message.parts {
        match part {
            Part::Image(image) if large(image) => *part = Part::said(line),
            Part::ToolResult(result) => {
                let before = result.images.len();
                result.images.retain(|image| !large(image));
                for _ in result.images.len()..before {
                    result.text.push('\n');
                    result.text.push_str(line);
                }
            }
            _ => {}
        }
    }
}

/// Makes all instructions the first message.
fn merge_system(all: Vec<Message>, _: &RepairLimits) -> Vec<Message> {
    let (system, mut rest) = apart(all);
    if let Some(system) = system {
        rest.insert(0, Message::text(Role::System, system));
    }
    rest
}

/// Puts the instructions before the person's first words.
fn system_in_user(all: Vec<Message>, _: &RepairLimits) -> Vec<Message> {
    let (system, mut rest) = apart(all);
    let Some(system) = system else { return rest };
    match rest.iter_mut().find(|message| message.role == Role::User) {
        Some(first) => first.parts.insert(0, Part::said(format!("{system}\n\n"))),
        None => rest.insert(0, Message::text(Role::User, system)),
    }
    rest
}

/// Takes the instructions out of a conversation, as one text.
fn apart(all: Vec<Message>) -> (Option<String>, Vec<Message>) {
    let (system, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|message| message.role == Role::System);
    let texts: Vec<String> = system.iter().map(Message::plain).collect();
    ((!texts.is_empty()).then(|| texts.join("\n\n")), rest)
}

/// Gives each call a message of its own, with its result behind it.
fn one_tool_call(all: Vec<Message>, _: &RepairLimits) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(all.len());
    let mut messages = all.into_iter().peekable();
    while let Some(message) = messages.next() {
        if message.role != Role::Assistant {
            out.push(message);
            continue;
        }
        let mut results = Vec::new();
        while let Some(next) = messages.next_if(|next| next.role == Role::Tool) {
            results.extend(next.parts);
        }
        let mut parts = Vec::new();
        for part in message.parts {
            let id = if let Part::ToolCall(call) = &part { Some(call.id.clone()) } else { None };
            parts.push(part);
            let Some(id) = id else { continue };
            out.push(Message { role: Role::Assistant, parts: std::mem::take(&mut parts) });
            let of_call = |part: &Part| matches!(part, Part::ToolResult(it) if it.id == id);
            if let Some(at) = results.iter().position(of_call) {
                out.push(Message { role: Role::Tool, parts: vec![results.remove(at)] });
            }
        }
        if !parts.is_empty() {
            out.push(Message { role: Role::Assistant, parts });
        }
    }
    out
}

/// Says calls and their results in words, for a server that knows only the person and the model.
fn results_in_user(all: Vec<Message>, limits: &RepairLimits) -> Vec<Message> {
    let said = |message: Message| {
        let role = if message.role == Role::Tool { Role::User } else { message.role };
        let mut parts: Vec<Part> = Vec::with_capacity(message.parts.len());
        for part in message.parts {
            let (text, images) = match part {
                Part::ToolCall(call) => {
                    let arguments = Value::Object(call.arguments).to_string();
                    let values = json!({ "name": call.name, "arguments": arguments });
                    (filled(&limits.call, &values).unwrap_or(arguments), Vec::new())
                }
                Part::ToolResult(result) => {
                    let values = json!({ "name": result.name, "text": result.text });
                    (filled(&limits.result, &values).unwrap_or(result.text), result.images)
                }
                other => {
                    parts.push(other);
                    continue;
                }
            };
            let apart = if parts.iter().any(|part| part.as_text().is_some()) { "\n\n" } else { "" };
            parts.push(Part::said(format!("{apart}{text}")));
            parts.extend(images.into_iter().map(Part::Image));
        }
        Message { role, parts }
    };
    all.into_iter().map(said).collect()
}

/// Makes neighbours of one role one message, a blank line between their texts. What says nothing stands between nobody.
fn merge_roles(all: Vec<Message>, _: &RepairLimits) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(all.len());
    let said = |message: &Message| message.role == Role::Tool || is_written(message);
    for message in all.into_iter().filter(said) {
        match out.last_mut() {
            Some(last) if last.role == message.role && message.role != Role::Tool => {
                let said = last.plain();
                if !said.is_empty() && !message.plain().is_empty() {
                    last.parts.push(Part::said("\n\n"));
                }
                last.parts.extend(message.parts);
            }
            _ => out.push(message),
        }
    }
    out
}

/// Lets the person say something where the model spoke first or last. Behind calls their results are last.
fn add_user(mut all: Vec<Message>, limits: &RepairLimits) -> Vec<Message> {
    let said = || Message::text(Role::User, limits.no_user.clone());
    let behind = all.iter().take_while(|message| message.role == Role::System).count();
    let first = all.iter().skip(behind).find(|message| is_written(message));
    if first.is_none_or(|first| first.role != Role::User) {
        all.insert(behind, said());
    }
    let last = all.iter().rev().find(|message| is_written(message));
    if last.is_some_and(|last| last.role == Role::Assistant && !calls(last)) {
        all.push(said());
    }
    all
}

/// Whether a message goes over every wire by itself: results go with their calls, and what says nothing stays.
fn is_written(message: &Message) -> bool {
    let shows = message.parts.iter().any(|part| matches!(part, Part::Image(_)));
    let says = shows || !message.plain().trim().is_empty();
    message.role != Role::Tool && (says || calls(message))
}

fn calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
}
