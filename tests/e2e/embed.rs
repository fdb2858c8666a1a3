//! `lembas embed`: the vectors of texts in every dialect that has them, and what goes wrong on the way.

use crate::faults::{after, fast, own};
use crate::process::{LIMIT, Ran};
use crate::support::{Home, LEMBAS, write};
use lembas_scripted_server::{Cut, Dialect, Reply, Scenario, Server, Step, Verdict};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::{fs, net::TcpListener};

/// The dialects that have vectors.
const DIALECTS: [Dialect; 4] =
    [Dialect::OpenaiChat, Dialect::Responses, Dialect::Gemini, Dialect::Ollama];

/// Starts a server with these replies, and a home whose connection has a key and short waits.
fn home(dialect: Dialect, replies: Vec<Reply>) -> (Server, Home, String) {
    let server = Server::start(Scenario { dialect, replies, ..Scenario::new() }).unwrap();
    let (home, spec) = at(dialect, &server.url());
    (server, home, spec)
}

fn at(dialect: Dialect, url: &str) -> (Home, String) {
    let home = Home::speaking(dialect, url, "key: sesame-open", "embedding: local/vectors\n");
    let spec = home.spec(&fast());
    (home, spec)
}

fn embed(home: &Home, spec: &str, arguments: &[&str]) -> Ran {
    let ran = home.run(&[&["embed", "--harness", spec], arguments].concat());
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("sesame-open"), "{}", ran.stderr);
    ran
}

#[test]
fn each_text_has_its_vector() {
    for dialect in DIALECTS {
        let (server, home, spec) = home(dialect, Vec::new());
        let ran = embed(&home, &spec, &["one", "two words"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "[3.0,0.0]\n[9.0,1.0]\n"));
        let ran = embed(&home, &spec, &["--json", "one"]);
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&printed["model"], &printed["vectors"]),
            (&json!("local/vectors"), &json!([[3.0, 0.0]]))
        );
        let counted = if dialect == Dialect::Gemini { Value::Null } else { json!(1) };
        assert_eq!(printed["tokens"], counted);
        server.verify().unwrap();
        let key = if dialect == Dialect::Gemini { "x-goog-api-key" } else { "authorization" };
        assert!(server.requests()[0].header(key).unwrap().ends_with("sesame-open"));
    }
}

#[test]
fn many_lines_are_asked_for_in_several_requests() {
    let lines: Vec<String> = (0..250).map(|number| "x".repeat(number % 50 + 1)).collect();
    for (dialect, requests) in [(Dialect::Gemini, 3), (Dialect::OpenaiChat, 1)] {
        let (server, home, _) = home(dialect, Vec::new());
        let input = lines.join("\n");
        let ran = home.run_with(LEMBAS, &["embed"], Some(&input), LIMIT);
        let expected: String =
            lines.iter().map(|line| format!("[{}.0,0.0]\n", line.len())).collect();
        assert_eq!((ran.code, ran.stdout), (Some(0), expected), "{}", ran.stderr);
        assert_eq!(server.requests().len(), requests);
    }
}

/// How a request with faults before it ends: with vectors, or in this sentence.
type Then = Option<&'static str>;

fn faults(dialect: Dialect) -> Vec<(&'static str, Vec<Reply>, Then)> {
    let cut = Reply::steps([Step::Cut(Cut::Reset)]);
    let half = Reply::steps([Step::Raw("{\"data\": [".into()), Step::Cut(Cut::Reset)]);
    let silent = Reply::steps([Step::Stall(60_000)]);
    let error = |status| own(dialect, status);
    let page = Reply::body(200, json!("<html><title>Sign in</title></html>"));
    let echoed = Reply::body(400, json!({"error": {"message": "the key sesame-open is not good"}}));
    vec![
        ("reset before the head", vec![cut], None),
        ("reset inside the answer", vec![half], None),
        ("silence", vec![silent], None),
        ("429", vec![after("retry-after", "0", error(429))], None),
        (
            "429 for hours",
            vec![after("retry-after", "7200", error(429))],
            Some("status 429: the engine stopped"),
        ),
        ("500", vec![error(500)], None),
        ("500 twice", vec![error(500), error(500)], Some("status 500: the engine stopped")),
        ("529", vec![error(529), error(529)], None),
        ("400", vec![error(400)], Some("status 400: the engine stopped")),
        ("401", vec![error(401)], Some("status 401: the engine stopped")),
        ("a key in an error", vec![echoed], Some("status 400: the key [redacted] is not good")),
        ("an error in a 200", vec![error(200)], None),
        ("half an answer", vec![Reply::body(200, json!("{\"data\": [{"))], None),
        ("nothing", vec![Reply::body(200, json!(""))], None),
        ("a page", vec![page], Some("the server sent no vectors but: <html>")),
        (
            "no vectors",
            vec![Reply::body(200, json!({"x": 1}))],
            Some("the answer has no vectors at /"),
        ),
    ]
}

/// Plays every fault in a dialect.
fn check(dialect: Dialect) {
    for (name, replies, then) in faults(dialect) {
        let count = replies.len();
        let (server, home, spec) = home(dialect, replies);
        let ran = embed(&home, &spec, &["one"]);
        let shown = format!("{dialect:?}, {name}: {}{}", ran.stdout, ran.stderr);
        match then {
            None => {
                assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "[3.0,0.0]\n"), "{shown}");
                assert_eq!(ran.stderr.matches("asking again in").count(), count, "{shown}");
                assert_eq!(server.requests().last().unwrap().verdict, Verdict::Vectors, "{shown}");
            }
            Some(why) => {
                assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{shown}");
                let last = ran.stderr.lines().last().unwrap();
                let named = last.starts_with("lembas: Connection local (model vectors): ");
                assert!(named && last.contains(why), "{shown}");
            }
        }
        server.verify().unwrap();
    }
}

#[test]
fn openai_chat() {
    check(Dialect::OpenaiChat);
}

#[test]
fn responses() {
    check(Dialect::Responses);
}

#[test]
fn gemini() {
    check(Dialect::Gemini);
}

#[test]
fn ollama() {
    check(Dialect::Ollama);
}

#[test]
fn nobody_listens() {
    for dialect in DIALECTS {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (home, spec) = at(dialect, &format!("http://{closed}"));
        let ran = embed(&home, &spec, &["one"]);
        assert_eq!(ran.code, Some(3));
        assert!(
            ran.stderr.contains(&format!("could not connect to http://{closed}")),
            "{}",
            ran.stderr
        );
    }
}

/// Runs the verb in a home without `embedding` whose server is known to have these models.
fn chosen(arguments: &[&str], known: &[(&str, bool)], config: &str) -> Ran {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, config);
    let models: Vec<Value> =
        known.iter().map(|(id, embeds)| json!({"id": id, "embeds": embeds})).collect();
    let url = format!("{}/v1", server.url());
    let offer = json!({"base_url": url, "server": "openai", "asked_at": 0, "models": models});
    let file = home.lembas().join("state/models.json");
    write(&file, json!({"connections": {"local": offer}}).to_string().as_bytes());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    home.run(&[&["embed", "--json", "one"], arguments].concat())
}

#[test]
fn which_model_is_meant() {
    let known = [("chat", false), ("e/1", true)];
    for (arguments, config) in [
        (&[][..], ""),
        (&["--model", "local/e/1"], ""),
        (&["--model", "e/1"], "embedding: local/other\n"),
        (&[], "embedding: e/1\n"),
    ] {
        let ran = chosen(arguments, &known, config);
        assert!(
            ran.stdout.starts_with("{\"model\":\"local/e/1\","),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let two = [("e1", true), ("e2", true)];
    for (arguments, known, why) in [
        (&[][..], &known[..1], "No model for vectors is chosen; name one with --model"),
        (&[], &two, "No model for vectors is chosen (local/e1, local/e2); name one"),
        (&["-m", "e3"], &two, "`e3` does not say which connection has it; name one"),
        (&["-m", "local/e1", ""], &two, "Text 2 is empty; there is no vector of nothing."),
    ] {
        let ran = chosen(arguments, known, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn where_there_are_none() {
    let (server, home, spec) = home(Dialect::Anthropic, Vec::new());
    let ran = embed(&home, &spec, &["one"]);
    let why =
        "The connection local cannot be asked: the dialect anthropic has no vectors of texts.";
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(why) && server.requests().is_empty(), "{}", ran.stderr);
    let ran = embed(&home, &spec, &[]);
    assert!(ran.stderr.contains("There is no text."), "{}", ran.stderr);
}
