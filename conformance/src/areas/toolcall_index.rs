//! `toolcall_index`: the tool-call entries of a reply's deltas, and the calls they make up.

use lembas_core::dialect::Spoken;
use lembas_core::event::Event;
use lembas_core::spec::Spec;
use lembas_core::stream::{Context, Ending, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Question {
    /// Entries of `tool_calls`, one a delta.
    pieces: Vec<Value>,
    /// Names of the tools offered.
    #[serde(default)]
    tools: Vec<String>,
    /// The server's word for why the reply ended.
    #[serde(default)]
    finish: Option<String>,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let dialect = Spoken::named(spec, "openai-chat").ok_or("no dialect \"openai-chat\"")?;
    let context = Context { tools: question.tools, ..Context::default() };
    let (mut reply, mut events) = (Reply::new(spec, dialect, &context), Vec::new());
    let mut send = |delta: Value, finish: Option<&str>| {
        let frame = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        reply.push(format!("data: {frame}\n\n").as_bytes(), &mut events);
    };
    question.pieces.into_iter().for_each(|piece| send(json!({ "tool_calls": [piece] }), None));
    send(json!({}), Some(question.finish.as_deref().unwrap_or("tool_calls")));
    reply.end(&Ending::Complete, &mut events);
    let calls = events.into_iter().filter_map(|event| match event {
        Event::ToolCall(call) => Some(json!(call)),
        _ => None,
    });
    Ok(json!({ "calls": calls.collect::<Vec<_>>() }))
}
