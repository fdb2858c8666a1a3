//! A session in each dialect: the same model says the same, and everybody sees the same.

use crate::support::{Home, Session, check, results, write};
use base64::{Engine, prelude::BASE64_STANDARD};
use lembas_scripted_server::{Dialect, Reply, Request, Scenario, Server, Step, Usage};
use serde_json::{Value, json};

/// What the model says: it thinks, looks, and answers.
fn replies() -> Vec<Reply> {
    let usage = |input, output| Step::Usage(Usage { input, output, ..Usage::default() });
    let text = |text: &str| Step::Text(text.into());
    let look = [
        Step::Reasoning("I should look. ".into()),
        Step::Reasoning("Yes.".into()),
        text("Looking.\n"),
        Step::call("read", json!({"path": "a.txt"})),
        Step::call("list", json!({})),
        usage(100, 20),
    ];
    let answer =
        [Step::Reasoning("Now I know.".into()), text("It says "), text("alpha."), usage(130, 9)];
    vec![
        Reply { words: true, ..Reply::steps(look) },
        Reply { chunk_bytes: 5.try_into().ok(), ..Reply::steps(answer) },
    ]
}

/// Plays the session, and returns what was seen, with the requests.
fn plays(dialect: Dialect, config: &str) -> (Vec<Value>, Vec<Request>) {
    let (ran, requests) = check(Session {
        files: &[("a.txt", "alpha\n")],
        config,
        scenario: Scenario { dialect, replies: replies(), ..Scenario::new() },
        argv: &["run", "--json", "what does it say?"],
        events: &["reasoning", "text", "tool_start", "tool_end", "reasoning", "text", "done"],
        results: Some(&["1\talpha", "a.txt"]),
        ..Session::default()
    });
    assert_eq!(ran.all("done")[0]["answer"], "It says alpha.");
    (seen(&ran.events), requests)
}

/// What was seen, with neighbouring pieces as one and without ids and times.
fn seen(events: &[Value]) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let last = seen.last_mut().filter(|last| last["type"] == kind);
        match (kind, last) {
            ("text" | "reasoning", Some(last)) => {
                let (before, more) =
                    (last["text"].as_str().unwrap(), event["text"].as_str().unwrap());
                last["text"] = format!("{before}{more}").into();
            }
            ("text" | "reasoning", None) => seen.push(json!({"type": kind, "text": event["text"]})),
            ("tool_start", _) => {
                seen.push(json!({"type": kind, "name": event["name"], "args": event["args"]}))
            }
            ("usage", _) => {
                seen.push(json!({"type": kind, "input": event["input"], "output": event["output"]}))
            }
            _ => {}
        }
    }
    seen
}

/// An image of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Plays a session in which the model wants to see an image, and returns its last request.
fn looks(dialect: Dialect, vision: bool) -> Request {
    let replies = vec![Reply::call("view_image", json!({"path": "p.png"})), Reply::text("A dot.")];
    let server = Server::start(Scenario { dialect, replies, ..Scenario::new() }).unwrap();
    let home = Home::speaking(dialect, &server.url(), "", "");
    let (name, url) = (dialect.name(), server.url() + dialect.prefix());
    home.configure(
        "connections.yaml",
        &format!(
            "connections:\n  local:\n    dialect: {name}\n    base_url: {url}\n    \
             models: [ {{ id: test-model, context: 32768, vision: {vision} }} ]\n"
        ),
    );
    write(&home.project().join("p.png"), &BASE64_STANDARD.decode(PIXEL).unwrap());
    let ran = home.run(&["run", "--json", "what is on it?"]);
    server.verify().unwrap_or_else(|wrong| panic!("{dialect:?}: {wrong}\n{}", ran.stdout));
    assert_eq!((ran.code, ran.late), (Some(0), None), "{dialect:?}: {}", ran.stdout);
    assert_eq!(ran.all("tool_end")[0]["is_error"], !vision, "{dialect:?}");
    server.requests().pop().unwrap()
}

#[test]
fn an_image_reaches_a_model_that_sees_in_every_dialect() {
    for dialect in Dialect::ALL {
        let request = looks(dialect, true);
        let body = String::from_utf8(request.body.clone()).unwrap();
        assert!(body.contains(PIXEL), "{dialect:?}: {body}");
        assert!(results(&[request])[0].contains("p.png: PNG, 1 x 1 pixels."), "{dialect:?}");
        let request = looks(dialect, false);
        let body = String::from_utf8(request.body.clone()).unwrap();
        assert!(!body.contains(PIXEL), "{dialect:?}: {body}");
        let told = &results(&[request])[0];
        assert!(told.contains("1 x 1 pixels") && told.contains("vision: true"), "{told}");
    }
}

#[test]
fn every_dialect_says_the_same() {
    let (wanted, _) = plays(Dialect::OpenaiChat, "");
    assert_eq!(
        wanted.iter().filter(|event| event["type"] == "tool_start").count(),
        2,
        "{wanted:#?}"
    );
    for dialect in Dialect::ALL {
        let (seen, _) = plays(dialect, "");
        assert_eq!(seen, wanted, "{dialect:?}");
        let (seen, _) = plays(dialect, "effort: high\n");
        assert_eq!(seen, wanted, "{dialect:?} with an effort");
    }
}

#[test]
fn a_key_goes_where_the_dialect_wants_it() {
    for (dialect, header, value) in [
        (Dialect::OpenaiChat, "authorization", "Bearer k-123"),
        (Dialect::Responses, "authorization", "Bearer k-123"),
        (Dialect::Anthropic, "x-api-key", "k-123"),
        (Dialect::Gemini, "x-goog-api-key", "k-123"),
        (Dialect::Ollama, "authorization", "Bearer k-123"),
    ] {
        let (_, requests) = check(Session {
            connection: "key: k-123",
            scenario: Scenario { dialect, ..Scenario::new() }.reply(Reply::text("ok")),
            argv: &["run", "--json", "hello"],
            absent: &["k-123"],
            ..Session::default()
        });
        assert_eq!(requests[0].header(header), Some(value), "{dialect:?}");
    }
}

#[test]
fn marks_for_the_cache_stand_where_the_prompt_is_kept() {
    let (_, requests) = plays(Dialect::Anthropic, "");
    let body = requests[1].json();
    let marked = |pointer: &str| {
        body.pointer(pointer).is_some_and(|at| at["cache_control"]["type"] == "ephemeral")
    };
    let last = body["tools"].as_array().unwrap().len() - 1;
    assert!(marked(&format!("/tools/{last}")) && marked("/system/0"));
    assert!(marked("/messages/0/content/0") && marked("/messages/2/content/1"));
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}
