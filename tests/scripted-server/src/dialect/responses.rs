//! OpenAI's responses: how requests are read and replies are written. It sends nothing.
//!
//! Reasoning is encrypted by a hash of its text. The id of a call made behind reasoning says so, which lets the rules see
//! whether the reasoning came back with the call.

mod rules;

use super::rule::{list, sign, text};
use super::{Asked, Frame, Speech, Vectors, Writer};
use crate::http::Incoming;
use crate::scenario::{Finish, Usage};
use serde_json::{Value, json};

/// What ids begin with of calls that were made behind reasoning.
const THOUGHT: &str = "call_t";

/// The dialect.
pub(crate) struct Responses;

impl Speech for Responses {
    fn prefix(&self) -> &'static str {
        "/v1"
    }

    fn is_chat(&self, path: &str) -> bool {
        path == "/v1/responses"
    }

    fn asked(&self, body: &Value) -> Asked {
        let input = list(body, "input");
        let answered = input.iter().rposition(|item| {
            text(item, "role") == "assistant" || text(item, "type") == "function_call"
        });
        let texts = input.iter().skip(answered.map_or(0, |at| at + 1)).map(said);
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
        super::openai_chat::models(models)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        super::openai_chat::error(status, message)
    }

    fn vectors(&self) -> Option<Vectors> {
        Some(Vectors::Openai)
    }

    fn writer(&self, number: usize, asked: &Asked) -> Box<dyn Writer> {
        Box::new(Events { number, model: asked.model.clone(), ..Events::default() })
    }
}

fn said(item: &Value) -> String {
    let key = if item.get("output").is_some() { "output" } else { "content" };
    match item.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
        _ => String::new(),
    }
}

/// The item that is open, with its text so far.
enum Open {
    Message(String),
    Reasoning(String),
}

/// Writes a reply as events. What ends it is held back until all of it is known.
#[derive(Default)]
struct Events {
    number: usize,
    model: String,
    begun: bool,
    sequence: usize,
    calls: usize,
    open: Option<Open>,
    thought: bool,
    done: Vec<Value>,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Events {
    fn event(&mut self, out: &mut Vec<Frame>, kind: &str, mut event: Value) {
        event["type"] = kind.into();
        event["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        out.push(format!("event: {kind}\ndata: {event}\n\n").into_bytes());
    }

    fn response(&self, status: &str) -> Value {
        json!({"id": format!("resp_{}", self.number), "object": "response", "model": self.model,
            "status": status, "output": self.done, "error": null, "incomplete_details": null, "usage": null})
    }

    fn begin(&mut self, out: &mut Vec<Frame>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for kind in ["response.created", "response.in_progress"] {
            let response = self.response("in_progress");
            self.event(out, kind, json!({ "response": response }));
        }
    }

    /// Returns the id of the item that is being written.
    fn item_id(&self) -> String {
        format!("item_{}_{}", self.number, self.done.len())
    }

    fn add(&mut self, item: &Value, out: &mut Vec<Frame>) {
        self.close(out);
        self.begin(out);
        let event = json!({"output_index": self.done.len(), "item": item});
        self.event(out, "response.output_item.added", event);
    }

    fn piece(&mut self, kind: &str, delta: &str, out: &mut Vec<Frame>) {
        let event =
            json!({"output_index": self.done.len(), "item_id": self.item_id(), "delta": delta});
        self.event(out, kind, event);
    }

    fn done(&mut self, item: Value, out: &mut Vec<Frame>) {
        let event = json!({"output_index": self.done.len(), "item": item});
        self.event(out, "response.output_item.done", event);
        self.done.push(item);
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        let id = self.item_id();
        match self.open.take() {
            None => {}
            Some(Open::Message(text)) => {
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                let item = json!({"type": "message", "id": id, "status": "completed",
                    "role": "assistant", "content": content});
                self.done(item, out);
            }
            Some(Open::Reasoning(text)) => {
                let summary = json!([{"type": "summary_text", "text": text}]);
                let item = json!({"type": "reasoning", "id": id, "summary": summary,
                    "encrypted_content": sign("responses", &text)});
                self.done(item, out);
            }
        }
    }
}

impl Writer for Events {
    fn text(&mut self, text: &str, out: &mut Vec<Frame>) {
        if !matches!(self.open, Some(Open::Message(_))) {
            self.close(out);
            let item = json!({"type": "message", "id": self.item_id(), "status": "in_progress",
                "role": "assistant", "content": []});
            self.add(&item, out);
            self.open = Some(Open::Message(String::new()));
        }
        if let Some(Open::Message(all)) = &mut self.open {
            all.push_str(text);
        }
        self.piece("response.output_text.delta", text, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<Frame>) {
        if !matches!(self.open, Some(Open::Reasoning(_))) {
            self.close(out);
            let item = json!({"type": "reasoning", "id": self.item_id(), "summary": []});
            self.add(&item, out);
            let event = json!({"output_index": self.done.len(), "item_id": self.item_id(),
                "summary_index": 0, "part": {"type": "summary_text", "text": ""}});
            self.event(out, "response.reasoning_summary_part.added", event);
            self.open = Some(Open::Reasoning(String::new()));
            self.thought = true;
        }
        if let Some(Open::Reasoning(all)) = &mut self.open {
            all.push_str(text);
        }
        self.piece("response.reasoning_summary_text.delta", text, out);
    }

    fn call(&mut self, name: &str, id: Option<&str>, arguments: &[&str], out: &mut Vec<Frame>) {
        self.close(out);
        let mark = if self.thought { "t" } else { "" };
        let made = || format!("call_{mark}{}_{}", self.number, self.calls);
        let id = id.map_or_else(made, str::to_owned);
        self.calls += 1;
        let mut item = json!({"type": "function_call", "id": self.item_id(),
            "status": "in_progress", "call_id": id, "name": name, "arguments": ""});
        self.add(&item, out);
        for piece in arguments {
            self.piece("response.function_call_arguments.delta", piece, out);
        }
        item["arguments"] = arguments.concat().into();
        item["status"] = "completed".into();
        self.done(item, out);
    }

    fn usage(&mut self, usage: Usage, _: &mut Vec<Frame>) {
        self.usage = Some(usage);
    }

    fn finish(&mut self, reason: Finish, _: &mut Vec<Frame>) {
        self.finish = Some(reason);
    }

    fn rest(&mut self, out: &mut Vec<Frame>) {
        self.close(out);
        let Some(finish) = self.finish else { return };
        self.begin(out);
        let cut = finish == Finish::Length;
        let mut response = self.response(if cut { "incomplete" } else { "completed" });
        if cut {
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
        if let Some(usage) = self.usage {
            response["usage"] = json!({
                "input_tokens": usage.input, "output_tokens": usage.output,
                "total_tokens": usage.input.saturating_add(usage.output),
                "input_tokens_details": {"cached_tokens": usage.cached.unwrap_or_default()},
                "output_tokens_details": {"reasoning_tokens": usage.reasoning.unwrap_or_default()},
            });
        }
        let kind = if cut { "response.incomplete" } else { "response.completed" };
        self.event(out, kind, json!({ "response": response }));
    }
}
