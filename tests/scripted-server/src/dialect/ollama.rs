//! Ollama's own chat: how requests are read and replies are written. It sends nothing.

mod rules;

use super::openai_chat;
use super::{Asked, Frame, Speech, Vectors, Writer};
use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde_json::{Value, json};

/// The dialect.
pub(crate) struct Ollama;

impl Speech for Ollama {
    fn prefix(&self) -> &'static str {
        ""
    }

    fn is_chat(&self, path: &str) -> bool {
        path == "/api/chat"
    }

    fn is_models(&self, path: &str) -> bool {
        path == "/api/tags"
    }

    fn stream_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn asked(&self, body: &Value) -> Asked {
        openai_chat::asked(body)
    }

    fn check(&self, request: &Incoming) -> Result<(), String> {
        rules::check(request)
    }

    fn models(&self, models: &[Value]) -> Value {
        let entry = |model: &Value| match model {
            Value::String(id) => json!({"name": id, "model": id}),
            whole => whole.clone(),
        };
        json!({"models": models.iter().map(entry).collect::<Vec<_>>()})
    }

    fn error(&self, _: u16, message: &str) -> Value {
        json!({ "error": message })
    }

    fn vectors(&self) -> Option<Vectors> {
        Some(Vectors::Ollama)
    }

    fn writer(&self, number: usize, asked: &Asked) -> Box<dyn Writer> {
        Box::new(Lines { number, model: asked.model.clone(), ..Lines::default() })
    }
}

/// Writes a reply as lines of JSON.
#[derive(Default)]
struct Lines {
    number: usize,
    model: String,
    calls: usize,
    finish: Option<&'static str>,
    usage: Option<Usage>,
}

impl Lines {
    fn line(&self, message: Value, done: bool) -> Value {
        json!({"model": self.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done})
    }

    fn message(&self, field: &str, value: &Value, out: &mut Vec<Frame>) {
        let mut message = json!({"role": "assistant", "content": ""});
        message[field] = value.clone();
        out.push(format!("{}\n", self.line(message, false)).into_bytes());
    }
}

impl Writer for Lines {
    fn text(&mut self, text: &str, out: &mut Vec<Frame>) {
        self.message("content", &text.into(), out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>) {
        self.message("thinking", &text.into(), out);
    }

    /// Writes a call in one line: arguments have no pieces here, and those that are no JSON are a text.
    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>) {
        let text = arguments.concat();
        let arguments: Value =
            serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
        let id = id.map_or_else(|| format!("call_{}_{}", self.number, self.calls), str::to_owned);
        let function = json!({"index": self.calls, "name": name, "arguments": arguments});
        self.calls += 1;
        self.message("tool_calls", &json!([{"id": id, "function": function}]), out);
    }

    fn usage(&mut self, usage: Usage, _: &mut Vec<Frame>) {
        self.usage = Some(usage);
    }

    fn finish(&mut self, reason: Finish, _: &mut Vec<Frame>) {
        self.finish = Some(if reason == Finish::Length { "length" } else { "stop" });
    }

    fn rest(&mut self, out: &mut Vec<Frame>) {
        let Some(finish) = self.finish else { return };
        let mut line = self.line(json!({"role": "assistant", "content": ""}), true);
        line["done_reason"] = finish.into();
        if let Some(usage) = self.usage {
            line["prompt_eval_count"] = usage.input.into();
            line["eval_count"] = usage.output.into();
        }
        out.push(format!("{line}\n").into_bytes());
    }
}
