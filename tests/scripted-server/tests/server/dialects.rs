//! What each dialect's replies look like on the wire, and which requests it refuses.

use crate::client::{Client, post_to, serve};
use serde_json::{Value, json};

fn path(dialect: &str) -> &'static str {
    match dialect {
        "responses" => "/v1/responses",
        "anthropic" => "/v1/messages",
        "gemini" => "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        "ollama" => "/api/chat",
        _ => "/v1/chat/completions",
    }
}

/// Returns a good request of a dialect.
fn good(dialect: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    match dialect {
        "responses" => json!({"model": "m", "stream": true, "store": false,
            "tools": [{"type": "function", "name": "read", "strict": false, "parameters": schema}],
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]}),
        "anthropic" => json!({"model": "m", "stream": true, "max_tokens": 5000,
            "tools": [{"name": "read", "input_schema": schema}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}),
        "gemini" => {
            json!({"tools": [{"functionDeclarations": [{"name": "read", "parameters": schema}]}],
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
        }
        _ => json!({"model": "m", "stream": true,
            "tools": [{"type": "function", "function": {"name": "read", "parameters": schema}}],
            "messages": [{"role": "user", "content": "hi"}]}),
    }
}

/// Asserts that a good request with values at some pointers replaced (null removes one) breaks a rule, or none.
fn check(dialect: &str, changes: &[(&str, Value)], broken: Option<&str>) {
    let mut body = good(dialect);
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = body.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Value::Null => drop(parent.remove(key)),
            value => drop(parent.insert(key.to_owned(), value.clone())),
        }
    }
    let server = serve(&json!({"dialect": dialect, "replies": [{"steps": [{"text": "ok"}]}]}));
    let mut client = Client::connect(&server);
    client.send(&post_to(path(dialect), &body));
    let answer = client.answer();
    let status = if broken.is_some() { 400 } else { 200 };
    let part = broken.unwrap_or("ok");
    assert_eq!(answer.status, status, "{body}: {}", answer.text());
    assert!(answer.text().contains(part), "{body}: no {part:?} in {}", answer.text());
}

/// Returns the bytes of a reply.
fn reply(dialect: &str, reply: &Value) -> String {
    let server = serve(&json!({"dialect": dialect, "replies": [reply]}));
    let mut client = Client::connect(&server);
    client.send(&post_to(path(dialect), &good(dialect)));
    client.answer().text()
}

/// Asserts that a reply of every kind of step holds these parts in this order, and no reason where it has no end.
fn written(dialect: &str, parts: &[&str]) {
    let steps = json!({"words": true, "steps": [
        {"reasoning": "hm"}, {"text": "a b"}, {"call": {"name": "read", "arguments": {"path": "x"}}},
        {"usage": {"input": 7, "output": 3, "cached": 2}},
    ]});
    let text = reply(dialect, &steps);
    let mut rest = text.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place in {text}"));
        rest = &rest[at..];
    }
    let open = reply(dialect, &json!({"steps": [{"text": "a"}], "end": false}));
    let ends = ["end_turn", "done_reason", "STOP", "response.completed"];
    assert!(ends.iter().all(|end| !open.contains(end)), "{open}");
}

#[test]
fn replies_of_responses() {
    let parts = [
        "event: response.created\n",
        "\"delta\":\"hm\"",
        "\"encrypted_content\":\"",
        "\"delta\":\"a \"",
        "\"delta\":\"b\"",
        "\"call_id\":\"call_t1_0\"",
        "response.function_call_arguments.delta",
        "event: response.completed\n",
        "\"cached_tokens\":2",
    ];
    written("responses", &parts);
}

#[test]
fn replies_of_anthropic() {
    let parts = [
        "event: message_start\n",
        "\"thinking\":\"hm\"",
        "signature_delta",
        "content_block_stop",
        "\"text\":\"a \"",
        "\"id\":\"toolu_t1_0\"",
        "input_json_delta",
        "\"stop_reason\":\"tool_use\"",
        "\"input_tokens\":5",
        "message_stop",
    ];
    written("anthropic", &parts);
}

#[test]
fn replies_of_gemini() {
    let parts = [
        "\"text\":\"hm\",\"thought\":true",
        "\"text\":\"a \"",
        "\"functionCall\":{",
        "\"thoughtSignature\"",
        "\"finishReason\":\"STOP\"",
        "\"promptTokenCount\":7",
    ];
    written("gemini", &parts);
}

#[test]
fn replies_of_ollama() {
    let parts = [
        "\"thinking\":\"hm\"",
        "\"content\":\"a \"",
        "\"arguments\":{\"path\":\"x\"}",
        "\"done\":true",
        "\"done_reason\":\"stop\"",
    ];
    written("ollama", &parts);
}

#[test]
fn requests_of_responses() {
    let check = |changes: &[(&str, Value)], broken| check("responses", changes, broken);
    let (user, call) = (
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}),
    );
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "done"});
    let input = |items: Value, broken| check(&[("/input", items)], broken);
    check(&[], None);
    check(&[("/store", json!(true))], Some("store:"));
    check(&[("/reasoning_effort", json!("low"))], Some("has moved to"));
    check(&[("/tools/0/strict", json!(null))], Some("additionalProperties"));
    input(json!([user, call("a"), output("a")]), None);
    input(json!([user, call("a"), call("b"), output("b"), output("a"), user]), None);
    input(json!([user, call("a")]), Some("No tool output found"));
    input(json!([user, call("a"), user]), Some("No tool output found"));
    input(json!([user, output("a")]), Some("No tool call found"));
    input(json!([user, call(&"x".repeat(65)), output("x")]), Some("from 1 to 64"));
    input(json!([user, call("call_t1_0"), output("call_t1_0")]), Some("required 'reasoning' item"));
    let reasoning = json!({"type": "reasoning", "summary": [], "encrypted_content": "other"});
    input(json!([user, reasoning, call("a"), output("a")]), Some("could not be verified"));
    input(
        json!([{"type": "message", "role": "user", "content": [{"type": "output_text", "text": "hi"}]}]),
        Some("Invalid value"),
    );
}

#[test]
fn requests_of_anthropic() {
    let check = |changes: &[(&str, Value)], broken| check("anthropic", changes, broken);
    let user = json!({"role": "user", "content": "hi"});
    let calls = |ids: &[&str]| {
        let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
        json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()})
    };
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
    let said = |content: Value| json!({"role": "user", "content": content});
    let text = json!({"type": "text", "text": "hi"});
    let messages = |messages: Value, broken| check(&[("/messages", messages)], broken);
    check(&[], None);
    check(&[("/max_tokens", json!(null))], Some("max_tokens:"));
    check(
        &[("/thinking", json!({"type": "enabled", "budget_tokens": 5000}))],
        Some("budget_tokens"),
    );
    check(&[("/thinking", json!({"type": "enabled", "budget_tokens": 1024}))], None);
    check(&[("/tools/0/input_schema/anyOf", json!([]))], Some("top level"));
    check(&[("/tools/0/input_schema/properties/a[b]", json!({}))], Some("Property keys"));
    messages(
        json!([user, calls(&["a", "b"]), said(json!([result("b"), result("a"), text]))]),
        None,
    );
    messages(json!([user, user]), Some("messages[1].role:"));
    messages(
        json!([user, calls(&["a"]), said(json!([text, result("a")]))]),
        Some("behind other content"),
    );
    messages(
        json!([user, calls(&["a", "b"]), said(json!([result("a")]))]),
        Some("before the results of b"),
    );
    messages(json!([user, calls(&["a"])]), Some("before the results of a"));
    messages(json!([said(json!([result("a")]))]), Some("unexpected tool_use_id"));
    messages(json!([user, calls(&["a", "a"])]), Some("there twice"));
    messages(json!([user, calls(&["functions.read:0"])]), Some("does not match"));
    messages(
        json!([user, calls(&["toolu_t1_0"]), said(json!([result("toolu_t1_0")]))]),
        Some("did not come back"),
    );
    messages(json!([said(json!([{"type": "text", "text": " "}]))]), Some("blank"));
    let thought = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, text]});
    messages(json!([user, thought, user]), Some("Invalid `signature`"));
    messages(
        json!([user, {"role": "assistant", "content": [{"type": "text", "text": "so "}]}]),
        Some("trailing whitespace"),
    );
    let marked = json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}});
    messages(json!([said(json!([marked, marked, marked, marked, marked]))]), Some("maximum of 4"));
}

#[test]
fn thinking_and_failures_of_anthropic() {
    let check = |changes: &[(&str, Value)], broken| check("anthropic", changes, broken);
    let messages = |messages: Value, broken| check(&[("/messages", messages)], broken);
    let user = json!({"role": "user", "content": "hi"});
    let text = json!({"type": "text", "text": "hi"});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]});
    let said = |content: Value| json!({"role": "user", "content": content});
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    let model = |content: Value| json!({"role": "assistant", "content": content});
    messages(json!([user, model(json!([text, hidden])), user]), Some("final block"));
    messages(json!([user, model(json!([hidden, text])), user]), None);
    messages(json!([user, model(json!([hidden, text]))]), Some("thinking is disabled"));
    let goes_on = ("/messages", json!([user, model(json!([text]))]));
    let thinking = ("/thinking", json!({"type": "enabled", "budget_tokens": 1024}));
    check(&[goes_on, thinking], Some("must start with a thinking block"));
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true});
    messages(json!([user, call, said(json!([failed]))]), Some("cannot be empty"));
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}});
    let failed =
        json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [image]});
    messages(json!([user, call, said(json!([failed]))]), Some("must be type `text`"));
}

#[test]
fn requests_of_gemini() {
    let check = |changes: &[(&str, Value)], broken| check("gemini", changes, broken);
    let user = json!({"role": "user", "parts": [{"text": "hi"}]});
    let call = |signature: &str| json!({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}, "thoughtSignature": signature}]});
    let skip = "skip_thought_signature_validator";
    let answer =
        json!({"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {}}}]});
    let contents = |contents: Value, broken| check(&[("/contents", contents)], broken);
    let parameters = |schema: Value, broken| {
        check(&[("/tools/0/functionDeclarations/0/parameters", schema)], broken)
    };
    check(&[], None);
    contents(json!([user, call(skip), answer]), None);
    contents(json!([user, call(""), answer, user]), None);
    contents(json!([user, call(""), answer]), Some("missing a thought_signature"));
    contents(json!([user, call("other"), answer]), Some("not valid"));
    contents(json!([user, call(skip), user]), Some("number of function response parts"));
    contents(json!([user, call(skip)]), Some("before the responses"));
    contents(
        json!([user, {"role": "model", "parts": [{"text": "so"}]}, call(skip), answer]),
        Some("immediately after"),
    );
    contents(json!([{"role": "user", "parts": []}]), Some("no list with a part"));
    parameters(json!({"type": "object", "properties": {}}), Some("non-empty"));
    parameters(json!({"type": "object", "properties": {"a": {"type": "array"}}}), Some("items"));
    parameters(json!({"type": "object", "properties": {"a": {"enum": [1]}}}), Some("only texts"));
    parameters(
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        Some("cannot start list"),
    );
    parameters(json!({"type": "object", "properties": {"a": {"const": 1}}}), Some("Unknown name"));
    parameters(
        json!({"type": "object", "properties": {"a": {"type": "file"}}}),
        Some("Invalid value"),
    );
    parameters(
        json!({"type": "object", "properties": {"a": {"type": "string", "format": "int32"}}}),
        Some("are supported for"),
    );
    parameters(
        json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}], "title": "A"}}}),
        Some("only field set"),
    );
    check(&[("/systemInstruction", json!({"parts": [{"text": ""}]}))], Some("empty text"));
    let level = |level: &str| json!({"thinkingConfig": {"thinkingLevel": level}});
    check(&[("/generationConfig", level("low"))], None);
    check(&[("/generationConfig", level("max"))], Some("thinking_level"));
    parameters(
        json!({"type": "object", "properties": {"a": {}}, "required": ["b"]}),
        Some("not defined"),
    );
}

#[test]
fn requests_of_ollama() {
    let check = |changes: &[(&str, Value)], broken| check("ollama", changes, broken);
    let user = json!({"role": "user", "content": "hi"});
    let call = |arguments: Value| json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": arguments}}]});
    let result =
        json!({"role": "tool", "content": "done", "tool_name": "read", "tool_call_id": "a"});
    let messages = |messages: Value, broken| check(&[("/messages", messages)], broken);
    check(&[], None);
    check(&[("/think", json!("high"))], None);
    check(&[("/think", json!("hard"))], Some("invalid think value"));
    let schema = |schema: Value, broken| {
        check(&[("/tools/0/function/parameters/properties/a", schema)], broken);
    };
    schema(json!({"type": ["string", "null"], "enum": [1]}), None);
    schema(json!(true), Some("cannot unmarshal"));
    schema(json!({"required": true}), Some("cannot unmarshal"));
    schema(json!({"$ref": "#/$defs/a"}), Some("is lost"));
    messages(json!([user, call(json!({})), result]), None);
    messages(json!([user, call(json!("{}")), result]), Some("cannot unmarshal"));
    messages(json!([user, call(json!({})), user]), Some("before the results"));
    messages(json!([user, result]), Some("no call"));
    messages(json!([{"role": "user", "content": [{"type": "text"}]}]), Some("is no text"));
    messages(json!([{"role": "user", "content": "hi", "images": ["?"]}]), Some("no base64"));
}
