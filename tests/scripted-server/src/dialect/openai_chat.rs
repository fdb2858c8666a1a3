//! Chat completions: how requests are read and replies are written. It sends nothing.
//!
//! A model called `vendor/model` is behind a router, which signs reasoning by a hash of its text. The id of a call made behind
//! such reasoning says so, which lets the rules see whether the reasoning came back with the call.

mod rules;

use super::rule::sign;
use super::{Asked, Frame, Speech, Vectors, Writer};
use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde_json::{Value, json};

/// Every object is as old as every other, so that replies do not differ between runs.
const CREATED: u64 = 1_700_000_000;

/// What ids begin with of calls that were made behind signed reasoning.
const THOUGHT: &str = "call_r";

/// The dialect.
pub(crate) struct OpenaiChat;

impl Speech for OpenaiChat {
    fn prefix(&self) -> &'static str {
        "/v1"
    }

    fn is_chat(&self, path: &str) -> bool {
        path == "/v1/chat/completions"
    }

    fn asked(&self, body: &Value) -> Asked {
        asked(body)
    }

    fn check(&self, request: &Incoming) -> Result<(), String> {
        rules::check(request)
    }

    fn models(&self, models: &[Value]) -> Value {
        self::models(models)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        self::error(status, message)
    }

    fn vectors(&self) -> Option<Vectors> {
        Some(Vectors::Openai)
    }

    fn writer(&self, number: usize, asked: &Asked) -> Box<dyn Writer> {
        Box::new(Chunks::new(number, &asked.model))
    }
}

/// Returns what a body asks for.
pub(super) fn asked(body: &Value) -> Asked {
    let list = |name: &str| body.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let messages = list("messages");
    let answered =
        messages.iter().rposition(|message| role(message) == "assistant").map_or(0, |at| at + 1);
    let texts = messages
        .iter()
        .skip(answered)
        .filter(|message| ["user", "tool"].contains(&role(message)))
        .map(text);
    let tools = list("tools").iter().filter_map(|tool| tool.pointer("/function/name")?.as_str());
    Asked {
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        text: texts.collect::<Vec<_>>().join("\n"),
        tools: tools.map(str::to_owned).collect(),
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

/// Returns the list of models.
pub(super) fn models(models: &[Value]) -> Value {
    let entry = |model: &Value| match model {
        Value::String(id) => {
            json!({"id": id, "object": "model", "created": CREATED, "owned_by": "scripted"})
        }
        whole => whole.clone(),
    };
    json!({"object": "list", "data": models.iter().map(entry).collect::<Vec<_>>()})
}

/// Returns an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

/// Writes a reply as `chat.completion.chunk` events. The role comes with the first of them.
struct Chunks {
    number: usize,
    model: String,
    opened: bool,
    calls: usize,
    /// The reasoning that is not signed yet.
    thought: String,
    /// How many stretches of reasoning are signed.
    signed: usize,
}

impl Chunks {
    /// Returns the writer of a server's `number`th reply, in the name of a model.
    fn new(number: usize, model: &str) -> Chunks {
        Chunks {
            number,
            model: model.to_owned(),
            opened: false,
            calls: 0,
            thought: String::new(),
            signed: 0,
        }
    }

    fn is_routed(&self) -> bool {
        self.model.contains('/')
    }

    /// Signs the reasoning before what comes next.
    fn sign(&mut self, out: &mut Vec<Frame>) {
        let thought = std::mem::take(&mut self.thought);
        if !thought.is_empty() {
            let detail = json!({"type": "reasoning.text", "index": self.signed, "signature": sign("openai-chat", &thought)});
            self.signed += 1;
            self.delta(&json!({"reasoning_details": [detail]}), None, out);
        }
    }

    fn frame(&self, choices: &Value, usage: Option<&Value>) -> Frame {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", self.number), "object": "chat.completion.chunk", "created": CREATED,
            "model": self.model, "choices": choices,
        });
        if let (Some(usage), Some(chunk)) = (usage, chunk.as_object_mut()) {
            chunk.insert("usage".to_owned(), usage.clone());
        }
        format!("data: {chunk}\n\n").into_bytes()
    }

    fn delta(&mut self, delta: &Value, finish: Option<&str>, out: &mut Vec<Frame>) {
        if !self.opened {
            self.opened = true;
            self.delta(&json!({"role": "assistant", "content": ""}), None, out);
        }
        out.push(self.frame(&json!([{"index": 0, "delta": delta, "finish_reason": finish}]), None));
    }
}

impl Writer for Chunks {
    fn text(&mut self, text: &str, out: &mut Vec<Frame>) {
        self.sign(out);
        self.delta(&json!({ "content": text }), None, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>) {
        if !self.is_routed() {
            return self.delta(&json!({ "reasoning_content": text }), None, out);
        }
        self.thought.push_str(text);
        let detail = json!({"type": "reasoning.text", "index": self.signed, "text": text, "signature": null});
        self.delta(&json!({"reasoning": text, "reasoning_details": [detail]}), None, out);
    }

    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>) {
        self.sign(out);
        let index = self.calls;
        self.calls += 1;
        let mark = if self.signed > 0 { "r" } else { "" };
        let id = id.map_or_else(|| format!("call_{mark}{}_{index}", self.number), str::to_owned);
        let head = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        self.delta(&json!({"tool_calls": [head]}), None, out);
        for piece in arguments {
            let piece = json!({"index": index, "function": {"arguments": piece}});
            self.delta(&json!({"tool_calls": [piece]}), None, out);
        }
    }

    fn usage(&mut self, usage: Usage, out: &mut Vec<Frame>) {
        let mut tokens = json!({
            "prompt_tokens": usage.input, "completion_tokens": usage.output,
            "total_tokens": usage.input.saturating_add(usage.output),
        });
        if let Some(tokens) = tokens.as_object_mut() {
            if let Some(cached) = usage.cached {
                tokens
                    .insert("prompt_tokens_details".to_owned(), json!({ "cached_tokens": cached }));
            }
            if let Some(reasoning) = usage.reasoning {
                tokens.insert(
                    "completion_tokens_details".to_owned(),
                    json!({ "reasoning_tokens": reasoning }),
                );
            }
        }
        out.push(self.frame(&json!([]), Some(&tokens)));
    }

    fn finish(&mut self, reason: Finish, out: &mut Vec<Frame>) {
        self.sign(out);
        let word = match reason {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
        };
        self.delta(&json!({}), Some(word), out);
    }

    fn end(&mut self, out: &mut Vec<Frame>) {
        out.push(b"data: [DONE]\n\n".to_vec());
    }
}
