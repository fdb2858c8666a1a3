//! What requests of the chat dialect look like, and that they grow only at their end.

use super::{Ask, request, wire_name};
use crate::message::{Message, Role};
use crate::prompt::ToolDefinition;
use crate::repair::{Mending, Repairs};
use crate::spec::{Spec, packed};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

fn messages(json: Value) -> Vec<Message> {
    serde_json::from_value(json).unwrap()
}

static UNREPAIRED: LazyLock<Repairs> = LazyLock::new(Repairs::default);
static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

fn body<'a>(spec: &'a Spec, messages: &'a [Message], change: impl FnOnce(&mut Ask<'a>)) -> String {
    let mut ask = Ask {
        model: "m",
        host: "127.0.0.1",
        messages,
        may_call: true,
        tools: &[],
        effort: None,
        window: None,
        max_output: None,
        sends_reasoning: false,
        vision: false,
        extra: &NOTHING,
        mending: Mending { limits: &spec.limits.repair, repairs: &UNREPAIRED },
    };
    change(&mut ask);
    request(&spec.quirks, spec.dialect("openai-chat").unwrap(), &ask).unwrap()
}

/// Checks the wire messages of a conversation.
fn check(conversation: Value, wire: Value) {
    let spec = packed().unwrap();
    let body: Value = serde_json::from_str(&body(&spec, &messages(conversation), |_| {})).unwrap();
    assert_eq!(body["messages"], wire);
}

fn call(id: &str) -> Value {
    json!({ "type": "tool_call", "id": id, "name": "read", "arguments": { "path": "a" } })
}

fn wire_call(id: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": arguments } })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "type": "tool_result", "id": id, "name": "read", "text": text })
}

const NO_RESULT: &str = "There is no result: this call was not run.";

#[test]
fn text_parts_are_joined() {
    check(
        json!([{ "role": "system", "parts": [{ "type": "text", "text": "be brief" }] },
            { "role": "user", "parts": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }]),
        json!([{ "role": "system", "content": "be brief" }, { "role": "user", "content": "ab" }]),
    );
}

#[test]
fn calls_are_followed_by_their_results() {
    check(
        json!([{ "role": "assistant", "parts": [call("c1"), call("c2")] },
            { "role": "tool", "parts": [result("c2", "two"), result("c1", "one")] }]),
        json!([{ "role": "assistant", "content": null, "tool_calls": [wire_call("c1", r#"{"path":"a"}"#), wire_call("c2", r#"{"path":"a"}"#)] },
            { "role": "tool", "tool_call_id": "c1", "content": "one" }, { "role": "tool", "tool_call_id": "c2", "content": "two" }]),
    );
}

#[test]
fn a_call_without_a_result_gets_a_stand_in_and_an_orphan_is_dropped() {
    check(
        json!([{ "role": "tool", "parts": [result("x", "orphan")] }, { "role": "assistant", "parts": [call("c1")] },
            { "role": "tool", "parts": [result("y", "orphan")] }, { "role": "user", "parts": [{ "type": "text", "text": "go on" }] }]),
        json!([{ "role": "assistant", "content": null, "tool_calls": [wire_call("c1", r#"{"path":"a"}"#)] },
            { "role": "tool", "tool_call_id": "c1", "content": NO_RESULT }, { "role": "user", "content": "go on" }]),
    );
}

#[test]
fn a_broken_call_goes_back_as_an_empty_object() {
    let broken = json!({ "type": "tool_call", "id": "c1", "name": "read", "arguments": {}, "raw": "{\"pa", "broken": "cut" });
    check(
        json!([{ "role": "assistant", "parts": [{ "type": "text", "text": "hm" }, broken] }, { "role": "tool", "parts": [result("c1", "cut off")] }]),
        json!([{ "role": "assistant", "content": "hm", "tool_calls": [wire_call("c1", "{}")] },
            { "role": "tool", "tool_call_id": "c1", "content": "cut off" }]),
    );
}

#[test]
fn a_name_no_server_would_take_is_written_otherwise() {
    for (name, written) in [
        ("read", "read"),
        ("mcp__a-b", "mcp__a-b"),
        ("no such tool!", "no_such_tool_"),
        ("lire\u{e9}", "lire_"),
        ("", "_"),
    ] {
        assert_eq!(wire_name(name, 64), written);
    }
    assert_eq!(wire_name(&"long".repeat(40), 64).len(), 64);
}

#[test]
fn reasoning_goes_back_only_where_it_is_wanted() {
    let spec = packed().unwrap();
    let thought = json!({ "type": "reasoning", "text": "hm", "carry": {
        "dialect": "openai-chat", "fields": { "reasoning_details": [{ "x": 1 }], "signature": "s" } } });
    let all = messages(
        json!([{ "role": "assistant", "parts": [thought, { "type": "text", "text": "ok" }] },
        { "role": "assistant", "parts": [{ "type": "reasoning", "text": "only thought" }] }]),
    );
    let wire = |sends| {
        let body: Value =
            serde_json::from_str(&body(&spec, &all, |ask| ask.sends_reasoning = sends)).unwrap();
        body["messages"].clone()
    };
    let details = json!([{ "x": 1 }]);
    assert_eq!(
        wire(false),
        json!([{ "role": "assistant", "content": "ok", "reasoning_details": details }])
    );
    assert_eq!(
        wire(true),
        json!([{ "role": "assistant", "content": "ok", "reasoning_content": "hm", "reasoning_details": details }])
    );
}

#[test]
fn the_fields_stand_in_a_fixed_order_before_the_messages() {
    let spec = packed().unwrap();
    let tools = [ToolDefinition {
        name: "read".into(),
        description: "Reads.".into(),
        parameters: json!({ "type": "object" }),
    }];
    let extra =
        Map::from_iter([("temperature".into(), json!(0)), ("messages".into(), json!("never"))]);
    let history = [Message::text(Role::User, "hi")];
    let text = body(&spec, &history, |ask| {
        (ask.tools, ask.effort, ask.max_output) = (&tools, Some("low"), Some(100));
        ask.extra = &extra;
    });
    let tool = r#"{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"}}}"#;
    let wanted = format!(
        r#"{{"model":"m","tools":[{tool}],"stream":true,"stream_options":{{"include_usage":true}},"max_tokens":100,"reasoning_effort":"low","temperature":0,"messages":[{{"role":"user","content":"hi"}}]}}"#
    );
    assert_eq!(text, wanted);
}

#[test]
fn quirks_of_a_host_change_the_fields() {
    let spec = packed().unwrap();
    let of = |host| {
        let text = body(&spec, &[], |ask| (ask.host, ask.max_output) = (host, Some(5)));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(
        of("api.openai.com"),
        json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true }, "max_completion_tokens": 5, "messages": [] })
    );
    assert_eq!(
        of("api.mistral.ai"),
        json!({ "model": "m", "stream": true, "max_tokens": 5, "messages": [] })
    );
}

proptest! {
    /// A history that grows by whole turns keeps the bytes of what was sent before.
    #[test]
    fn earlier_messages_are_a_prefix(turns in prop::collection::vec((".*", 0usize..3, ".*"), 1..6)) {
        let (spec, mut history, mut before) = (packed().unwrap(), Vec::new(), None::<String>);
        for (at, (said, calls, answer)) in turns.iter().enumerate() {
            history.push(Message::text(Role::User, said));
            let text = body(&spec, &history, |_| {});
            if let Some(before) = before {
                prop_assert!(text.starts_with(before.trim_end_matches("]}")), "{before} then {text}");
            }
            before = Some(text);
            let ids: Vec<String> = (0..*calls).map(|call| format!("c{at}_{call}")).collect();
            let mut parts = vec![json!({ "type": "text", "text": answer })];
            parts.extend(ids.iter().map(|id| call(id)));
            history.extend(messages(json!([{ "role": "assistant", "parts": parts },
                { "role": "tool", "parts": ids.iter().map(|id| result(id, answer)).collect::<Vec<_>>() }])));
        }
    }
}
