//! Hostile input, sizes and what cases cannot ask: any bytes, any cuts, bounded memory.

use super::{Context, Ending, Reply};
use crate::dialect::Spoken;
use crate::event::Event;
use crate::spec::{DialectName, Spec, packed};
use proptest::prelude::*;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| packed().unwrap());

fn events(dialect: DialectName, chunks: &[&[u8]], status: u16, context: &Context) -> Vec<Event> {
    let dialect = Spoken::named(&SPEC, dialect.name()).unwrap();
    let (mut reply, mut out) = (Reply::new(&SPEC, dialect, context), Vec::new());
    reply.status(status, [("Retry-After", "3")]);
    chunks.iter().for_each(|chunk| reply.push(chunk, &mut out));
    reply.end(&Ending::Complete, &mut out);
    out
}

/// Joins pieces that only the cut of the chunks parts.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        match (out.last_mut(), &event) {
            (Some(Event::Text { text: before }), Event::Text { text })
            | (Some(Event::Reasoning { text: before }), Event::Reasoning { text }) => {
                before.push_str(text);
            }
            _ => out.push(event),
        }
    }
    out
}

fn context() -> Context {
    Context { tools: ["read", "bash"].map(String::from).to_vec(), ..Context::default() }
}

/// Pieces from which hostile streams are made.
fn scraps() -> impl Strategy<Value = Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    let delta = |content: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":{}}}}}]}}\n\n",
            serde_json::json!(content)
        )
        .into_bytes()
    };
    prop_oneof![
        Just(text("data: ")),
        Just(text("\n")),
        Just(text("\r\n")),
        Just(text("\r")),
        Just(text(": ping\n")),
        Just(text("\u{feff}")),
        Just(text("event: error\n")),
        Just(text("[DONE]")),
        Just(text("{\"error\":{\"message\":\"no\"}}")),
        Just(text("{\"a\":[")),
        Just(text("}]}")),
        Just(text("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")),
        Just(text(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"p\"}}]}}]}\n\n"
        )),
        Just(text(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":{\"x\":1}}}]}}],\"usage\":{\"prompt_tokens\":1.5}}\n\n"
        )),
        prop::sample::select(vec![
            "<think>",
            "</think>",
            "<tool_call>\n",
            "{\"name\": \"read\", \"arguments\": {}}",
            "</tool_call>",
            "[TOOL_CALLS]",
            "\n",
            "hello ",
            "{\"name\":",
            "<｜DSML｜tool_calls>",
            "<",
            "``",
            "`\u{a0}\n"
        ])
        .prop_map(delta),
        prop::collection::vec(any::<u8>(), 0..12),
    ]
}

/// Frames of wires that speak of items, whole and odd.
fn item_scraps() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","signature":"s"}}"#,
        r#"{"type":"content_block_start"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"p"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
        r#"{"type":"content_block_delta","index":7,"delta":[]}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.output_item.added","item":{"id":"f","type":"function_call","call_id":"c","name":"read"}}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}"#,
        r#"{"type":"response.output_text.delta","delta":"so "}"#,
        r#"{"type":"response.output_text.done","text":"so"}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"f","delta":"{\"p"}"#,
        r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"x"},3]}}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":{}}]}}"#,
        r#"{"type":"response.failed","response":{"error":{"code":"server_error"}}}"#,
    ])
    .prop_map(|frame| format!("data: {frame}\n\n").into_bytes())
}

fn any_scraps() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop_oneof![scraps(), item_scraps()], 0..24)
}

fn any_dialect() -> impl Strategy<Value = DialectName> {
    prop::sample::select(DialectName::ALL)
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(dialect in any_dialect(), scraps in any_scraps(), cuts in prop::collection::vec(0usize..4000, 0..12), refused: bool) {
        let whole = scraps.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (whole.len() + 1)).chain([0, whole.len()]).collect();
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
        let status = if refused { 500 } else { 200 };
        let context = context();
        let all = joined(events(dialect, &[&whole], status, &context));
        prop_assert_eq!(&joined(events(dialect, &chunks, status, &context)), &all);
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        prop_assert_eq!(&joined(events(dialect, &bytes, status, &context)), &all);
    }

    #[test]
    fn a_reply_ends_in_exactly_one_finish_or_error(dialect in any_dialect(), scraps in any_scraps()) {
        let out = events(dialect, &[&scraps.concat()], 200, &context());
        let ends = out.iter().filter(|event| matches!(event, Event::Finish { .. } | Event::Error(_))).count();
        prop_assert_eq!(ends, 1);
        let failed = matches!(out.last(), Some(Event::Error(_)));
        prop_assert!(failed || matches!(out.last(), Some(Event::Finish { .. })), "{out:?}");
        prop_assert!(!failed || out.iter().all(|event| !matches!(event, Event::ToolCall(_))), "{out:?}");
    }
}

fn limited(frame_bytes: usize) -> Spec {
    let mut spec = packed().unwrap();
    spec.limits.stream.frame_bytes = frame_bytes;
    spec
}

#[test]
fn an_endless_line_is_given_up_and_not_kept() {
    let (spec, context) = (limited(1000), context());
    let dialect = Spoken::named(&spec, "openai-chat").unwrap();
    for start in ["data: ", "", "{", "data: x\ndata: ", "<html>"] {
        let (mut reply, mut out) = (Reply::new(&spec, dialect, &context), Vec::new());
        reply.push(start.as_bytes(), &mut out);
        (0..100).for_each(|_| reply.push(&[b'x'; 100], &mut out));
        assert!(reply.over(), "{start}");
        reply.end(&Ending::Complete, &mut out);
        let Some(Event::Error(failure)) = out.last() else { panic!("{start}: {out:?}") };
        assert_eq!((failure.kind.as_str(), failure.retry.as_str()), ("bad_frame", "no"), "{start}");
    }
}

#[test]
fn a_block_that_never_closes_becomes_text() {
    let (spec, context) = (limited(500), context());
    let mut body =
        String::from("data: {\"choices\":[{\"delta\":{\"content\":\"<tool_call>\\n\"}}]}\n\n");
    (0..50).for_each(|_| {
        body.push_str(
            "data: {\"choices\":[{\"delta\":{\"content\":\"twenty letters, about\"}}]}\n\n",
        )
    });
    let (mut reply, mut out) =
        (Reply::new(&spec, Spoken::named(&spec, "openai-chat").unwrap(), &context), Vec::new());
    reply.push(body.as_bytes(), &mut out);
    let shown: usize =
        out.iter().map(|event| if let Event::Text { text } = event { text.len() } else { 0 }).sum();
    assert!(shown > 1000, "{shown}");
}

#[test]
fn more_parts_than_the_limit_are_an_error() {
    let call = |at: usize| {
        let call = serde_json::json!({ "index": at, "id": at.to_string(), "function": { "name": "read", "arguments": "{}" } });
        serde_json::json!({ "choices": [{ "delta": { "tool_calls": [call] } }] })
    };
    let item = |at: usize| {
        let item = serde_json::json!({ "type": "message", "id": at.to_string(), "content": [] });
        serde_json::json!({ "type": "response.output_item.added", "output_index": at, "item": item })
    };
    let check = |dialect, frame: &dyn Fn(usize) -> serde_json::Value| {
        let frames = (0..=SPEC.limits.stream.parts).map(|at| format!("data: {}\n\n", frame(at)));
        let body: String = frames.collect();
        let events = events(dialect, &[body.as_bytes()], 200, &context());
        let last = events.last().unwrap();
        assert!(matches!(last, Event::Error(failure) if failure.kind == "bad_frame"), "{last:?}");
    };
    check(DialectName::OpenaiChat, &call);
    check(DialectName::Responses, &item);
}
