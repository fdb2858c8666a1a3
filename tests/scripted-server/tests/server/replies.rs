//! What a reply looks like on the wire.

use crate::client::{Client, Ended, body, serve};
use serde_json::{Value, json};

/// Asserts what a reply becomes: the delta of each frame (or `usage`, `finish:…`, the text of what is no chunk),
/// and how the answer ends.
fn check(reply: &Value, expected: &[Value], ended: Ended) {
    let server = serve(&json!({ "replies": [reply] }));
    let answer = Client::connect(&server).ask(&body("hi"));
    assert_eq!(answer.events().iter().map(short).collect::<Vec<_>>(), expected, "{reply}");
    assert_eq!(answer.ended, ended, "{reply}");
}

fn short(event: &Value) -> Value {
    let Some(choice) = event.pointer("/choices/0") else {
        return event.get("usage").unwrap_or(event).clone();
    };
    assert_eq!(event["object"], "chat.completion.chunk");
    assert_eq!((&event["id"], &event["model"]), (&json!("chatcmpl-1"), &json!("m")));
    match &choice["finish_reason"] {
        Value::Null => choice["delta"].clone(),
        reason => json!(format!("finish:{}", reason.as_str().unwrap())),
    }
}

fn role() -> Value {
    json!({"role": "assistant", "content": ""})
}

fn text(text: &str) -> Value {
    json!({ "content": text })
}

#[test]
fn text_and_reasoning() {
    check(
        &json!({"steps": [{"reasoning": "hm"}, {"text": "a \"b\"\n"}]}),
        &[
            role(),
            json!({"reasoning_content": "hm"}),
            text("a \"b\"\n"),
            json!("finish:stop"),
            json!("[DONE]"),
        ],
        Ended::Well,
    );
}

#[test]
fn words() {
    check(
        &json!({"words": true, "steps": [{"text": "a bc\nd"}, {"call": {"name": "x", "arguments": "{\"a\": 1}", "id": "c"}}]}),
        &[
            role(),
            text("a "),
            text("bc\n"),
            text("d"),
            json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "x", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\": "}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
            json!("finish:tool_calls"),
            json!("[DONE]"),
        ],
        Ended::Well,
    );
}

#[test]
fn calls() {
    let head = |index: usize, id: &str, name: &str| json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
    let arguments = |index: usize, text: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
    check(
        &json!({"steps": [
            {"call": {"name": "bash", "arguments": {"command": "ls", "b": [1]}}},
            {"call": {"name": "read", "arguments": "{broken"}},
        ]}),
        &[
            role(),
            head(0, "call_1_0", "bash"),
            arguments(0, "{\"command\":\"ls\",\"b\":[1]}"),
            head(1, "call_1_1", "read"),
            arguments(1, "{broken"),
            json!("finish:tool_calls"),
            json!("[DONE]"),
        ],
        Ended::Well,
    );
}

#[test]
fn usage_comes_after_the_finish() {
    check(
        &json!({"steps": [{"text": "a"}, {"usage": {"input": 7, "output": 2, "cached": 5, "reasoning": 1}}]}),
        &[
            role(),
            text("a"),
            json!("finish:stop"),
            json!({
                "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 1},
            }),
            json!("[DONE]"),
        ],
        Ended::Well,
    );
}

#[test]
fn given_finish_and_no_end() {
    let steps = json!([{"text": "a"}, {"finish": "length"}]);
    check(
        &json!({"steps": steps}),
        &[role(), text("a"), json!("finish:length"), json!("[DONE]")],
        Ended::Well,
    );
    check(
        &json!({"steps": steps, "end": false}),
        &[role(), text("a"), json!("finish:length")],
        Ended::Well,
    );
    check(&json!({"steps": [{"text": "a"}], "end": false}), &[role(), text("a")], Ended::Well);
}

#[test]
fn raw_bytes() {
    check(
        &json!({"end": false, "steps": [{"raw": ": ping\n\n"}, {"raw_b64": "b2RkCgo="}]}),
        &[json!(": ping"), json!("odd")],
        Ended::Well,
    );
    let server = serve(&json!({"replies": [{"end": false, "steps": [{"raw_b64": "//4A"}]}]}));
    assert_eq!(Client::connect(&server).ask(&body("hi")).chunks, [b"\xff\xfe\0"]);
}

#[test]
fn cuts() {
    check(
        &json!({"steps": [{"text": "a"}, "cut", {"text": "b"}]}),
        &[role(), text("a")],
        Ended::Closed,
    );
    check(&json!({"steps": [{"text": "a"}, {"cut": "reset"}]}), &[role(), text("a")], Ended::Reset);
    check(&json!({"steps": [{"text": "a"}, {"stall": 20}]}), &[role(), text("a")], Ended::Closed);
    for (cut, ended) in [("close", Ended::Closed), ("reset", Ended::Reset)] {
        let server = serve(&json!({"replies": [{"steps": [{ "cut": cut }]}]}));
        let answer = Client::connect(&server).ask(&body("hi"));
        assert_eq!((answer.head.as_str(), answer.ended), ("", ended), "cut before the head");
    }
}

#[test]
fn a_cut_in_the_middle_of_a_frame() {
    let reply = json!({"steps": [{"raw": "data: {\"cho"}, "cut"]});
    check(&reply, &[json!("{\"cho")], Ended::Closed);
}

#[test]
fn pauses_keep_the_order() {
    check(
        &json!({"delay_ms": 5, "steps": [{"text": "a"}, {"delay_ms": 5}, {"text": "b"}]}),
        &[role(), text("a"), text("b"), json!("finish:stop"), json!("[DONE]")],
        Ended::Well,
    );
}

#[test]
fn what_comes_before_a_pause_is_sent_before_it() {
    let server = serve(&json!({"replies": [{"steps": [{"text": "a"}, {"stall": 600_000}]}]}));
    let mut client = Client::connect(&server);
    client.send(&crate::client::post(&body("hi")));
    client.wait_for("\"a\"");
    assert_eq!(server.requests()[0].end, None);
}

#[test]
fn a_chunk_a_frame_or_pieces() {
    let ask =
        |reply: Value| Client::connect(&serve(&json!({ "replies": [reply] }))).ask(&body("hi"));
    let whole = ask(json!({"steps": [{"text": "ä"}]}));
    assert_eq!(whole.chunks.len(), 4);
    assert!(whole.chunks.iter().all(|chunk| chunk.ends_with(b"\n\n")));
    for size in [1, 7, 100_000] {
        let pieces = ask(json!({"steps": [{"text": "ä"}], "chunk_bytes": size}));
        assert!(pieces.chunks.iter().rev().skip(1).all(|piece| piece.len() == size));
        assert_eq!(pieces.text(), whole.text());
    }
    let body = ask(json!({"body": "abcde", "chunk_bytes": 2}));
    assert_eq!(body.chunks, [&b"ab"[..], b"cd", b"e"]);
}

#[test]
fn many_deltas() {
    let ask = |count: usize| {
        let server = serve(&json!({"replies": [{"steps": [{"repeat": count, "text": "x "}]}]}));
        Client::connect(&server).ask(&body("hi")).events()
    };
    assert_eq!(
        ask(0).iter().map(short).collect::<Vec<_>>(),
        [role(), json!("finish:stop"), json!("[DONE]")]
    );
    let many = ask(20_000);
    assert_eq!(many.len(), 20_003);
    assert!(many[1..20_001].iter().all(|event| short(event) == text("x ")));
}

#[test]
fn bodies_status_and_headers() {
    let ask =
        |reply: Value| Client::connect(&serve(&json!({ "replies": [reply] }))).ask(&body("hi"));
    let busy = ask(
        json!({"status": 429, "headers": {"Retry-After": "1"}, "body": {"error": {"message": "slow"}}}),
    );
    assert_eq!((busy.status, busy.text().as_str()), (429, "{\"error\":{\"message\":\"slow\"}}"));
    assert!(
        busy.head.contains("\r\nRetry-After: 1\r\n")
            && busy.head.contains("\r\nContent-Type: application/json\r\n")
    );
    let page =
        ask(json!({"status": 502, "headers": {"content-type": "text/html"}, "body": "<html>"}));
    assert_eq!((page.status, page.text().as_str()), (502, "<html>"));
    assert!(
        page.head.contains("\r\ncontent-type: text/html\r\n")
            && !page.head.contains("Content-Type")
    );
    let stream = ask(json!({"headers": {"X-Id": "7"}, "steps": [{"text": "a"}]}));
    assert!(
        stream.head.contains("\r\nX-Id: 7\r\n")
            && stream.head.contains("\r\nContent-Type: text/event-stream\r\n")
    );
}
