//! What holds for every session, whatever it is about: a history that only grows, event lines by their schema.

use jsonschema::Validator;
use lembas_scripted_server::Request;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::sync::LazyLock;

static EVENT: LazyLock<Validator> = LazyLock::new(|| {
    let schema = include_str!("../../schema/events.schema.json");
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
});

/// A request's body as far as a server's cache depends on it, byte for byte.
#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow, alias = "input", alias = "contents")]
    messages: &'b RawValue,
    #[serde(borrow)]
    tools: Option<&'b RawValue>,
}

/// The mark for a server's cache, which moves to the end and is no part of what is kept.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// Asserts of consecutive requests that the bytes of the messages of each are the start of the next one's, and that
/// the bytes of the tools are the same in all.
pub(crate) fn history_only_grows(requests: &[Request]) {
    let bodies: Vec<Body> = requests
        .iter()
        .filter(|request| request.method == "POST")
        .filter_map(|request| serde_json::from_slice(&request.body).ok())
        .collect();
    for (number, pair) in bodies.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        let tools = |body: &Body| body.tools.map(|tools| tools.get().to_owned());
        assert_eq!(tools(before), tools(after), "the tools changed after request {number}");
        let text = |body: &Body| body.messages.get().replace(MARK, "");
        let (before, after) = (text(before), text(after));
        let kept = before.trim_end().strip_suffix(']').unwrap_or_default();
        assert!(
            after.starts_with(kept),
            "the messages of request {number} are no start of the next one's:\n{kept}\n{after}"
        );
    }
}

/// Asserts that every line of a `--json` run is an event by the schema.
pub(crate) fn lines_are_events(stdout: &str) {
    for line in stdout.lines() {
        let event: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let wrong: Vec<_> = EVENT.iter_errors(&event).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{line}\n{}", wrong.join("\n"));
    }
}

/// Asserts that a turn ended as one: every call that began has its end, and the last event says how it went.
pub(crate) fn events_are_whole(events: &[Value]) {
    let ids = |kind: &str| {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        let mut ids: Vec<_> = of_kind.map(|event| event["id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("tool_start"), ids("tool_end"), "calls begun and ended");
    let last = events.last().map(|event| &event["type"]);
    assert!(last.is_none_or(|kind| kind == "done"), "the last event is {last:?}");
}
