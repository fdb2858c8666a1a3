//! Recordings that answer instead of a server, and a spec in a directory instead of the packed one.

use crate::process::{LIMIT, Ran};
use crate::support::{Home, LEMBAS, Session, check, messages};
use lembas_scripted_server::{Cut, Dialect, Reply, Scenario, Server, Step};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn home() -> (Server, Home) {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "");
    (server, home)
}

/// Returns a run's events without the model and in the name of no connection: a recording answers in its own.
fn events(ran: &Ran) -> Vec<Value> {
    let unnamed = |event: &Value| {
        let text = event.to_string();
        text.replace("Connection local", "Connection").replace("Connection replay", "Connection")
    };
    let others = ran.events.iter().filter(|event| event["type"] != "model");
    others.map(|event| unnamed(event).parse().unwrap()).collect()
}

/// Records a run, then plays it in the same project without a server, and asserts that the events are the same.
fn comes_back(dialect: Dialect, replies: Vec<Reply>, code: i32) {
    let server = Server::start(Scenario { dialect, replies, ..Scenario::new() }).unwrap();
    let home = Home::speaking(dialect, &server.url(), "", "");
    let fresh = || fs::write(home.project().join("a.txt"), "alpha\n").unwrap();
    fresh();
    let common = ["run", "--json", "--mode", "edit", "go"];
    let recorded = home.run(&[&common[..], &["--record", "r.replay"]].concat());
    server.verify().unwrap();
    drop(server);
    fresh();
    fs::remove_dir_all(home.lembas()).unwrap();
    let played = home.run(&[&common[..], &["--replay", "r.replay"]].concat());
    assert_eq!((recorded.code, played.code), (Some(code), Some(code)), "{}", played.stdout);
    assert_eq!(events(&recorded), events(&played));
    assert_eq!(played.all("model")[0]["ref"], "replay/test-model");
}

#[test]
fn what_was_recorded_comes_back() {
    for dialect in Dialect::ALL {
        comes_back(dialect, task(dialect), 0);
    }
}

fn task(dialect: Dialect) -> Vec<Reply> {
    let edit = json!({"path": "a.txt", "old": "alpha", "new": "beta \u{1f980}"});
    let odd = match dialect {
        Dialect::Ollama => Step::Reasoning("\u{1f980}".into()),
        _ => Step::RawB64(b": \xff\xfe not UTF-8\n\n".to_vec()),
    };
    vec![
        Reply::call("read", json!({"path": "a.txt"})),
        Reply { chunk_bytes: 7.try_into().ok(), words: true, ..Reply::call("edit", edit) },
        Reply::call("bash", json!({"command": "make it"})),
        Reply {
            words: true,
            ..Reply::steps([odd, Step::Text("All of it is done \u{1f980}.".into())])
        },
    ]
}

#[test]
fn failures_come_back_too() {
    let half = Reply::steps([Step::Text("half".into()), Step::DelayMs(30), Step::Cut(Cut::Close)]);
    let error = |status| Reply::body(status, json!({"error": {"message": "no"}}));
    for dialect in Dialect::ALL {
        comes_back(dialect, vec![error(400)], 3);
        comes_back(dialect, vec![error(500), Reply::text("at last")], 0);
    }
    let server = Server::start(Scenario::new().reply(half)).unwrap();
    let home = Home::new(&server, "");
    let recorded = home.run(&["run", "--json", "go", "--record", "r.replay"]);
    let played = home.run(&["run", "--json", "go", "--replay", "r.replay"]);
    assert_eq!((recorded.code, played.code), (Some(3), Some(3)), "{}", played.stdout);
    assert_eq!((recorded.types(), recorded.all("text")), (played.types(), played.all("text")));
}

#[test]
fn a_recording_that_cannot_be_written_further_is_told_once() {
    let long = "word ".repeat(2000);
    let server = Server::start(
        Scenario::new().reply(Reply::call("list", json!({}))).reply(Reply::text(&long)),
    )
    .unwrap();
    let home = Home::new(&server, "");
    // Files end at 4 KiB.
    let line = format!("trap '' XFSZ; ulimit -f 4; exec {LEMBAS} run --json go --record r.replay");
    let ran = home.run_with("bash", &["-c", &line], None, LIMIT);
    let told: Vec<Value> = ran.all("notice").into_iter().cloned().collect();
    assert_eq!((ran.code, told.len()), (Some(0), 1), "{}", ran.stdout);
    assert_eq!(told[0]["about"], "recording");
    let text = fs::read_to_string(home.project().join("r.replay")).unwrap();
    assert!(text.ends_with("{\"end\":\"complete\"}\n"), "{text}");
    let played = home.run(&["run", "go", "--replay", "r.replay"]);
    assert!(played.stderr.contains("has 1 replies"), "{}", played.stderr);
}

/// Plays a recording of this text and asserts the exit code and a part of what is said.
fn plays(text: &str, code: i32, part: &str) {
    let (server, home) = home();
    fs::write(home.project().join("r.replay"), text).unwrap();
    let ran = home.run(&["run", "go", "--replay", "r.replay"]);
    assert_eq!((ran.code, ran.late), (Some(code), None), "{}", ran.stderr);
    assert!(ran.stderr.contains(part), "no {part:?} in\n{}", ran.stderr);
    assert!(server.requests().is_empty());
}

#[test]
fn recordings_that_do_not_fit() {
    let head = "{\"recording\":1,\"dialect\":\"openai-chat\",\"model\":\"m\"}\n";
    plays("", 2, "r.replay:1: the recording is empty");
    plays(&format!("{head}nonsense\n"), 2, "r.replay:2: the line is no JSON object");
    plays(
        &format!("{head}{{\"status\":200}}\n"),
        2,
        "r.replay:2: the last reply has no \"end\" line",
    );
    plays("{\"recording\":1,\"dialect\":\"morse\",\"model\":\"m\"}\n", 2, "no dialect \"morse\"");
    plays("{\"recording\":9}\n", 2, "r.replay:1: the recording is of format 9");
    plays(head, 3, "has 0 replies and the program asked for one more");
}

#[test]
fn a_recording_that_is_too_short() {
    let server =
        Server::start(Scenario::new().reply(Reply::call("bash", json!({"command": "echo 1"}))))
            .unwrap();
    let home = Home::new(&server, "steps: 1\n");
    home.run(&["run", "--json", "go", "--record", "r.replay"]);
    let text = fs::read_to_string(home.project().join("r.replay")).unwrap();
    let first = text.split_inclusive("\"end\":\"complete\"}\n").next().unwrap();
    fs::write(home.project().join("r.replay"), first).unwrap();
    let ran = home.run(&["run", "go", "--replay", "r.replay"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains(
        "lembas: Connection replay (model test-model): the recording r.replay has 1 replies"
    ));
}

#[test]
fn a_spec_in_a_directory() {
    let say = json!("Looks at a file.");
    let (_, requests) = check(Session {
        files: &[("a.txt", "alpha\n")],
        spec: &[
            ("tools/read.json", "/description", say),
            ("tools/read.json", "/name", json!("look")),
        ],
        scenario: Scenario::new()
            .reply(Reply::call("look", json!({"path": "a.txt"})))
            .reply(Reply::text("ok")),
        argv: &["run", "--json", "go"],
        events: &["tool_start", "tool_end", "done"],
        results: Some(&["1\talpha"]),
        ..Session::default()
    });
    let tools = requests[0].json()["tools"].to_string();
    assert!(tools.contains("\"name\":\"look\",\"description\":\"Looks at a file.\""), "{tools}");
    assert_eq!(messages(&requests)[1]["content"], "go");
}

#[test]
fn a_sentence_of_a_tool_is_data() {
    check(Session {
        files: &[("a.txt", "")],
        spec: &[("tools/read.json", "/says/empty", json!("Not a word in {{ path }}."))],
        scenario: Scenario::new()
            .reply(Reply::call("read", json!({"path": "a.txt"})))
            .reply(Reply::text("ok")),
        argv: &["run", "--json", "go"],
        results: Some(&["Not a word in a.txt."]),
        ..Session::default()
    });
}

#[test]
fn a_dialect_that_only_the_spec_knows() {
    let home = Home::at("http://127.0.0.1:9", "", "");
    let folder = home.spec(&[]);
    let dialects = Path::new(&folder).join("dialects");
    fs::copy(dialects.join("openai-chat.json"), dialects.join("elvish.json")).unwrap();
    let connections = "connections:\n  local: { dialect: elvish, base_url: 'http://127.0.0.1:9', models: [ { id: test-model } ] }\n";
    home.configure("connections.yaml", connections);
    let ran = home.run(&["run", "go", "--harness", &folder]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("This program speaks no dialect \"elvish\"."), "{}", ran.stderr);
}

#[test]
fn the_packed_spec_and_its_copy_ask_the_same() {
    let body = |spec: bool| {
        let server = Server::start(Scenario::new().reply(Reply::text("ok"))).unwrap();
        let home = Home::new(&server, "");
        let folder = home.spec(&[]);
        let harness: &[&str] = if spec { &["--harness", &folder] } else { &[] };
        assert_eq!(home.run(&[&["run", "go"], harness].concat()).code, Some(0));
        let project = home.project().canonicalize().unwrap().display().to_string();
        String::from_utf8(server.requests()[0].body.clone()).unwrap().replace(&project, "PROJECT")
    };
    assert_eq!(body(true), body(false));
}

#[test]
fn a_broken_spec_is_told_before_any_request() {
    let (server, home) = home();
    let folder = home.spec(&[
        ("loop.json", "/steps", json!("many")),
        ("permission/modes.json", "/default", json!("audo")),
    ]);
    let ran = home.run_with(LEMBAS, &["run", "--harness", &folder, "go"], None, LIMIT);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.late), (Some(2), "", None), "{}", ran.stderr);
    for part in ["/harness/loop.json:1:", "/harness/permission/modes.json:1:"] {
        assert!(ran.stderr.contains(part), "no {part:?} in\n{}", ran.stderr);
    }
    assert!(server.requests().is_empty());
}
