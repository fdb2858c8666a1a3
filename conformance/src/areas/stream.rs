//! `stream`: the bytes of a provider's reply, and the events they become in canonical order.
//!
//! The body is read whole, byte by byte and in the chunks the case gives; all must agree. Order is canonical, not time: text,
//! reasoning and calls by where they began, then notices, token counts, and the finish or the error.

use lembas_core::dialect::Spoken;
use lembas_core::event::{Event, Failure};
use lembas_core::message::ToolCall;
use lembas_core::spec::Spec;
use lembas_core::stream::{Context, Ending, Reply};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Question {
    dialect: String,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    chunks: Vec<String>,
    #[serde(default)]
    split_at: Vec<usize>,
    /// Why the connection broke; absent when the body ended as it should.
    #[serde(default)]
    cut: Option<String>,
    #[serde(default)]
    context: Context,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let bytes = question.body.as_bytes();
    let whole = question.events(spec, &[bytes])?;
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    for (how, chunks) in [("byte by byte", each), ("in its chunks", question.chunks(bytes)?)] {
        let other = question.events(spec, &chunks)?;
        if other != whole {
            return Err(format!("the body read {how} gives {other}, read whole {whole}"));
        }
    }
    Ok(json!({ "events": whole }))
}

impl Question {
    fn chunks<'b>(&'b self, bytes: &'b [u8]) -> Result<Vec<&'b [u8]>, String> {
        if !self.chunks.is_empty() {
            return Ok(self.chunks.iter().map(String::as_bytes).collect());
        }
        let (mut rest, mut chunks, mut before) = (bytes, Vec::new(), 0);
        for at in &self.split_at {
            let length = at.checked_sub(before).ok_or("\"split_at\" holds rising offsets")?;
            let (chunk, after) =
                rest.split_at_checked(length).ok_or("\"split_at\" points behind the body")?;
            chunks.push(chunk);
            (rest, before) = (after, *at);
        }
        chunks.push(rest);
        Ok(chunks)
    }

    fn events(&self, spec: &Spec, chunks: &[&[u8]]) -> Result<Value, String> {
        let dialect = Spoken::named(spec, &self.dialect)
            .ok_or_else(|| format!("no dialect {:?}", self.dialect))?;
        let (mut reply, mut events) = (Reply::new(spec, dialect, &self.context), Vec::new());
        reply.status(
            self.status.unwrap_or(200),
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())),
        );
        chunks.iter().for_each(|chunk| reply.push(chunk, &mut events));
        reply.end(&self.cut.clone().map_or(Ending::Complete, Ending::Cut), &mut events);
        Ok(canonical(events, self.status.is_none_or(|status| (200..300).contains(&status))))
    }
}

/// Puts events in canonical order; `replied` when the server began a reply, so that it matters whether text had come.
fn canonical(events: Vec<Event>, replied: bool) -> Value {
    let (mut parts, mut places, mut ends): (Vec<Value>, Vec<usize>, [Vec<Value>; 3]) =
        Default::default();
    let mut calls = Vec::new();
    for event in events {
        match event {
            Event::Text { text } => piece(&mut parts, "text", &text),
            Event::Reasoning { text } => piece(&mut parts, "reasoning", &text),
            Event::ToolCallDelta { index, .. } if index < places.len() => {}
            Event::ToolCallDelta { .. } => {
                places.push(parts.len());
                parts.push(Value::Null);
            }
            Event::ToolCall(call) => calls.push(tool_call(call)),
            Event::Notice { about, .. } => {
                ends[0].push(json!({ "type": "notice", "about": about }))
            }
            Event::Carry { .. } | Event::Progress { .. } => {}
            Event::Usage(usage) => ends[1] = vec![tagged("usage", json!(usage))],
            Event::Finish { reason } => ends[2].push(json!({ "type": "finish", "reason": reason })),
            Event::Error(failure) => ends[2].push(error(failure, replied)),
        }
    }
    for (at, call) in calls.into_iter().enumerate() {
        match places.get(at).and_then(|place| parts.get_mut(*place)) {
            Some(place) => *place = call,
            None => parts.push(call),
        }
    }
    parts.retain(|part| !part.is_null());
    let mut merged = Vec::new();
    for part in parts {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some(kind), Some(text)) => piece(&mut merged, kind, text),
            _ => merged.push(part),
        }
    }
    merged.into_iter().chain(ends.into_iter().flatten()).collect()
}

/// Adds a piece of text to the last part when that is of the same kind.
fn piece(parts: &mut Vec<Value>, kind: &str, text: &str) {
    if let Some(Value::Object(last)) = parts.last_mut()
        && last.get("type").is_some_and(|last| last == kind)
        && let Some(Value::String(before)) = last.get_mut("text")
    {
        before.push_str(text);
        return;
    }
    parts.push(json!({ "type": kind, "text": text }));
}

fn tagged(kind: &str, value: Value) -> Value {
    let mut out = Map::from_iter([("type".to_string(), kind.into())]);
    out.extend(value.as_object().cloned().unwrap_or_default());
    Value::Object(out)
}

fn tool_call(call: ToolCall) -> Value {
    let arguments = if call.broken.is_some() { Value::Null } else { call.arguments.into() };
    let mut out =
        json!({ "type": "tool_call", "name": call.name, "args": arguments, "id": call.id });
    if let Some(broken) = call.broken {
        out["error"] = json!(broken);
    }
    out
}

/// The server's words and status are for a person and no part of the answer.
fn error(failure: Failure, replied: bool) -> Value {
    let mut out = tagged("error", json!(failure));
    if let Value::Object(out) = &mut out {
        let unsaid = ["message", "status", if replied { "" } else { "after_output" }];
        out.retain(|key, _| !unsaid.contains(&key.as_str()));
    }
    out
}

/// Takes what no case relies on out of `out`: blanks between inline reasoning and text, and the ids of calls where the
/// same event of `expect` gives none.
pub(super) fn asked_for(expect: &Value, out: &Value) -> Value {
    let mut out = out.clone();
    let expected = || expect["events"].as_array().into_iter().flatten();
    // Blanks where inline reasoning and text meet belong to neither.
    let loose = expected().any(|event| event["type"] == "reasoning");
    for (expect, got) in expected().zip(out["events"].as_array_mut().into_iter().flatten()) {
        if let (Value::Object(got), None) = (&mut *got, expect.get("id")) {
            got.shift_remove("id");
        }
        if let (Some(wanted), Some(text)) = (expect["text"].as_str(), got["text"].as_str())
            && loose
            && wanted.trim() == text.trim()
        {
            got["text"] = wanted.into();
        }
    }
    out
}
