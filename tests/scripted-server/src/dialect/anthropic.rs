//! Anthropic's messages: how requests are read and replies are written. It sends nothing.
//!
//! Thinking is signed with a hash of its text. The id of a call made behind thinking says so, which lets the rules see
//! whether the thinking came back with the call.

mod rules;

use super::rule::{list, sign, text};
use super::{Asked, Frame, Speech, Writer};
use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde_json::{Value, json};

/// What ids begin with of calls that were made behind thinking.
const THOUGHT: &str = "toolu_t";

/// The dialect.
pub(crate) struct Anthropic;

impl Speech for Anthropic {
    fn prefix(&self) -> &'static str {
        "/v1"
    }

    fn is_chat(&self, path: &str) -> bool {
        path == "/v1/messages"
    }

    fn asked(&self, body: &Value) -> Asked {
        let messages = list(body, "messages");
        let answered = messages.iter().rposition(|message| text(message, "role") == "assistant");
        let texts = messages.iter().skip(answered.map_or(0, |at| at + 1)).flat_map(said);
        Asked {
            model: text(body, "model").to_owned(),
            text: texts.collect::<Vec<_>>().join("\n"),
            tools: list(body, "tools").iter().map(|tool| text(tool, "name").to_owned()).collect(),
        }
    }

    fn check(&self, request: &Incoming) -> Result<(), String> {
        rules::check(request)
    }

    fn models(&self, models: &[Value]) -> Value {
        let entry = |model: &Value| match model {
            Value::String(id) => json!({"type": "model", "id": id, "display_name": id}),
            whole => whole.clone(),
        };
        json!({"data": models.iter().map(entry).collect::<Vec<_>>(), "has_more": false})
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = if status < 500 { "invalid_request_error" } else { "api_error" };
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    fn writer(&self, number: usize, asked: &Asked) -> Box<dyn Writer> {
        Box::new(Events { number, model: asked.model.clone(), ..Events::default() })
    }
}

/// Returns the texts of a message: its own, and those of results.
fn said(message: &Value) -> Vec<String> {
    let block = |block: &Value| match text(block, "type") {
        "text" => vec![text(block, "text").to_owned()],
        "tool_result" => said(block),
        _ => Vec::new(),
    };
    match message.get("content") {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(blocks)) => blocks.iter().flat_map(block).collect(),
        _ => Vec::new(),
    }
}

/// The block that is open.
#[derive(Default)]
enum Open {
    #[default]
    None,
    Text,
    /// With the thinking so far.
    Thinking(String),
}

/// Writes a reply as events. What ends it is held back until all of it is known.
#[derive(Default)]
struct Events {
    number: usize,
    model: String,
    begun: bool,
    blocks: usize,
    calls: usize,
    open: Open,
    thought: bool,
    finish: Option<&'static str>,
    usage: Option<Usage>,
}

impl Events {
    fn event(&self, out: &mut Vec<Frame>, event: &Value) {
        out.push(format!("event: {}\ndata: {event}\n\n", text(event, "type")).into_bytes());
    }

    fn begin(&mut self, out: &mut Vec<Frame>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let message = json!({
            "id": format!("msg_{}", self.number), "type": "message", "role": "assistant", "content": [],
            "model": self.model, "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        });
        self.event(out, &json!({"type": "message_start", "message": message}));
    }

    fn start(&mut self, block: &Value, out: &mut Vec<Frame>) {
        self.stop(out);
        self.begin(out);
        let index = self.blocks;
        self.event(
            out,
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        );
    }

    fn delta(&self, delta: &Value, out: &mut Vec<Frame>) {
        let index = self.blocks;
        self.event(out, &json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    /// Ends the block that is open, thinking with its signature.
    fn stop(&mut self, out: &mut Vec<Frame>) {
        match std::mem::take(&mut self.open) {
            Open::None => return,
            Open::Text => {}
            Open::Thinking(text) => {
                self.delta(
                    &json!({"type": "signature_delta", "signature": sign("anthropic", &text)}),
                    out,
                );
            }
        }
        self.end_block(out);
    }

    fn end_block(&mut self, out: &mut Vec<Frame>) {
        self.event(out, &json!({"type": "content_block_stop", "index": self.blocks}));
        self.blocks += 1;
    }
}

impl Writer for Events {
    fn text(&mut self, text: &str, out: &mut Vec<Frame>) {
        if !matches!(self.open, Open::Text) {
            self.start(&json!({"type": "text", "text": ""}), out);
            self.open = Open::Text;
        }
        self.delta(&json!({"type": "text_delta", "text": text}), out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>) {
        if !matches!(self.open, Open::Thinking(_)) {
            self.start(&json!({"type": "thinking", "thinking": "", "signature": ""}), out);
            self.open = Open::Thinking(String::new());
            self.thought = true;
        }
        if let Open::Thinking(all) = &mut self.open {
            all.push_str(text);
        }
        self.delta(&json!({"type": "thinking_delta", "thinking": text}), out);
    }

    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>) {
        let mark = if self.thought { "t" } else { "" };
        let made = || format!("toolu_{mark}{}_{}", self.number, self.calls);
        let id = id.map_or_else(made, str::to_owned);
        self.calls += 1;
        self.start(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}), out);
        for piece in arguments {
            self.delta(&json!({"type": "input_json_delta", "partial_json": piece}), out);
        }
        self.end_block(out);
    }

    fn usage(&mut self, usage: Usage, _: &mut Vec<Frame>) {
        self.usage = Some(usage);
    }

    fn finish(&mut self, reason: Finish, _: &mut Vec<Frame>) {
        self.finish = Some(match reason {
            Finish::Stop => "end_turn",
            Finish::ToolCalls => "tool_use",
            Finish::Length => "max_tokens",
        });
    }

    fn rest(&mut self, out: &mut Vec<Frame>) {
        self.stop(out);
        if self.finish.is_none() && self.usage.is_none() {
            return;
        }
        self.begin(out);
        let usage = self.usage.unwrap_or_default();
        let cached = usage.cached.unwrap_or_default();
        let tokens = json!({
            "input_tokens": usage.input.saturating_sub(cached), "cache_read_input_tokens": cached,
            "output_tokens": usage.output,
        });
        let delta = json!({"stop_reason": self.finish, "stop_sequence": null});
        self.event(out, &json!({"type": "message_delta", "delta": delta, "usage": tokens}));
    }

    fn end(&mut self, out: &mut Vec<Frame>) {
        self.event(out, &json!({"type": "message_stop"}));
    }
}
