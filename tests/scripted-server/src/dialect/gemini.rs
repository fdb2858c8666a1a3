//! Gemini's generateContent: how requests are read and replies are written. It sends nothing.
//!
//! The first call of a reply is signed with a hash of its arguments, as thinking models sign theirs.

mod rules;

use super::rule::{list, sign, text};
use super::{Asked, Frame, Speech, Vectors, Writer};
use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde_json::{Value, json};

/// The dialect.
pub(crate) struct Gemini;

impl Speech for Gemini {
    fn prefix(&self) -> &'static str {
        "/v1beta"
    }

    fn is_chat(&self, path: &str) -> bool {
        path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent")
    }

    fn asked(&self, body: &Value) -> Asked {
        let contents = list(body, "contents");
        let answered = contents.iter().rposition(|content| text(content, "role") == "model");
        let parts = contents
            .iter()
            .skip(answered.map_or(0, |at| at + 1))
            .flat_map(|content| list(content, "parts"));
        let said = |part: &Value| match part.pointer("/functionResponse/response") {
            Some(Value::Object(fields)) => fields.values().filter_map(Value::as_str).collect(),
            _ => text(part, "text").to_owned(),
        };
        let declared =
            list(body, "tools").iter().flat_map(|tools| list(tools, "functionDeclarations"));
        Asked {
            model: String::new(),
            text: parts.map(said).collect::<Vec<String>>().join("\n"),
            tools: declared.map(|tool| text(tool, "name").to_owned()).collect(),
        }
    }

    fn check(&self, request: &Incoming) -> Result<(), String> {
        rules::check(request)
    }

    fn models(&self, models: &[Value]) -> Value {
        let entry = |model: &Value| match model {
            Value::String(id) => json!({ "name": format!("models/{id}") }),
            whole => whole.clone(),
        };
        json!({"models": models.iter().map(entry).collect::<Vec<_>>()})
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let word = if status < 500 { "INVALID_ARGUMENT" } else { "INTERNAL" };
        json!({"error": {"code": status, "message": message, "status": word}})
    }

    fn vectors(&self) -> Option<Vectors> {
        Some(Vectors::Gemini)
    }

    fn writer(&self, number: usize, _: &Asked) -> Box<dyn Writer> {
        Box::new(Chunks { number, ..Chunks::default() })
    }
}

/// Writes a reply as chunks, each of whole parts.
#[derive(Default)]
struct Chunks {
    number: usize,
    calls: usize,
    finish: Option<&'static str>,
    usage: Option<Usage>,
}

impl Chunks {
    fn chunk(&self, candidate: &Value, usage: Option<&Value>, out: &mut Vec<Frame>) {
        let mut chunk =
            json!({"candidates": [candidate], "responseId": format!("resp_{}", self.number)});
        if let Some(usage) = usage {
            chunk["usageMetadata"] = usage.clone();
        }
        out.push(format!("data: {chunk}\r\n\r\n").into_bytes());
    }

    fn part(&self, part: &Value, out: &mut Vec<Frame>) {
        let content = json!({"role": "model", "parts": [part]});
        self.chunk(&json!({"index": 0, "content": content}), None, out);
    }
}

impl Writer for Chunks {
    fn text(&mut self, text: &str, out: &mut Vec<Frame>) {
        self.part(&json!({ "text": text }), out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>) {
        self.part(&json!({"text": text, "thought": true}), out);
    }

    /// Writes a call in one chunk: arguments have no pieces here, and those that are no JSON are a text.
    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>) {
        let text = arguments.concat();
        let arguments: Value =
            serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
        let mut part = json!({"functionCall": {"name": name, "args": arguments}});
        if let Some(id) = id {
            part["functionCall"]["id"] = id.into();
        }
        if self.calls == 0 {
            part["thoughtSignature"] = sign("gemini", &arguments.to_string()).into();
        }
        self.calls += 1;
        self.part(&part, out);
    }

    fn usage(&mut self, usage: Usage, _: &mut Vec<Frame>) {
        self.usage = Some(usage);
    }

    fn finish(&mut self, reason: Finish, _: &mut Vec<Frame>) {
        self.finish = Some(if reason == Finish::Length { "MAX_TOKENS" } else { "STOP" });
    }

    fn rest(&mut self, out: &mut Vec<Frame>) {
        if self.finish.is_none() && self.usage.is_none() {
            return;
        }
        let usage = self.usage.map(|usage| {
            let thought = usage.reasoning.unwrap_or_default();
            json!({
                "promptTokenCount": usage.input, "thoughtsTokenCount": thought,
                "candidatesTokenCount": usage.output.saturating_sub(thought),
                "cachedContentTokenCount": usage.cached.unwrap_or_default(),
            })
        });
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": []}});
        if let Some(finish) = self.finish {
            candidate["finishReason"] = finish.into();
        }
        self.chunk(&candidate, usage.as_ref(), out);
    }
}
