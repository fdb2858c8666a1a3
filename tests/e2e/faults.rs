//! What can go wrong on the way to a server, in every dialect: each fault is mended by another try, or ends in one sentence that
//! names the connection and what happened.

use crate::support::{LEMBAS, Session, check};
use crate::tls;
use lembas_scripted_server::{Cut, Dialect, Reply, Scenario, Step};
use serde_json::{Value, json};
use std::net::TcpListener;

/// How a run with a fault ends.
enum Then {
    /// The request is made again, and that reply counts.
    Again,
    /// The run fails behind so many requests, with this in its sentence.
    Fails(usize, &'static str),
}

use Then::{Again, Fails};

/// The first request, and those behind the waits that the spec allows.
const WAITS: usize = 5;

/// Waits that are as short as they can be, and a silence that only a server breaks that is meant to.
pub(crate) fn fast() -> [(&'static str, &'static str, Value); 2] {
    [("loop.json", "/retry/base_ms", json!(1)), ("loop.json", "/server/idle_ms", json!(1500))]
}

fn text() -> Step {
    Step::Text("half of ".into())
}

fn error(status: u16) -> Reply {
    Reply::body(status, json!({"error": {"message": "the engine stopped", "type": "x"}}))
}

/// An error as the dialect's server writes it.
pub(crate) fn own(dialect: Dialect, status: u16) -> Reply {
    let text = "the engine stopped";
    Reply::body(
        status,
        match dialect {
            Dialect::OpenaiChat | Dialect::Responses => {
                json!({"error": {"message": text, "type": "x", "param": null, "code": null}})
            }
            Dialect::Anthropic => {
                json!({"type": "error", "error": {"type": "x", "message": text}, "request_id": "r"})
            }
            Dialect::Gemini => json!([{"error": {"code": status, "message": text, "status": "X"}}]),
            Dialect::Ollama => json!({ "error": text }),
        },
    )
}

fn stays(reply: Reply) -> Reply {
    Reply { repeat: true, ..reply }
}

/// Returns a reply with a header besides.
pub(crate) fn after(header: &str, value: &str, reply: Reply) -> Reply {
    Reply { headers: [(header.to_owned(), value.to_owned())].into(), ..reply }
}

/// An error inside a reply, as the dialect's server puts it.
fn inside(dialect: Dialect) -> Step {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let failed = json!({"type": "response.failed", "response": {"status": "failed",
        "error": {"code": "server_error", "message": "Overloaded"}}});
    let named = json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}});
    Step::Raw(match dialect {
        Dialect::OpenaiChat | Dialect::Gemini => format!("data: {named}\n\n"),
        Dialect::Responses => format!("event: response.failed\ndata: {failed}\n\n"),
        Dialect::Anthropic => format!("event: error\ndata: {overloaded}\n\n"),
        Dialect::Ollama => format!("{}\n", json!({"error": "Overloaded"})),
    })
}

/// A frame that ends in the middle, and what stands behind it.
fn truncated(dialect: Dialect, behind: &str) -> Reply {
    let half = match dialect {
        Dialect::Ollama => "{\"message\":{\"role\":\"assist",
        _ => "data: {\"type\":\"message_start\",\"mess",
    };
    Reply { end: false, ..Reply::steps([Step::Raw(format!("{half}{behind}"))]) }
}

fn table(dialect: Dialect) -> Vec<(&'static str, Reply, Then)> {
    let html = Reply::body(200, json!("<html><title>Sign in</title></html>"));
    let gateway = Reply::body(502, json!("<html><title>Bad gateway</title></html>"));
    // A line of JSON may go on in the next one.
    let broken = match dialect {
        Dialect::Ollama => "the stream ended without a finish reason",
        _ => "a frame of the stream is not JSON",
    };
    let silent = |steps: &[Step]| Reply::steps([steps, &[Step::Stall(60_000)]].concat());
    let reset = |steps: &[Step]| Reply::steps([steps, &[Step::Cut(Cut::Reset)]].concat());
    let odd = after("content-type", "text/plain", Reply::text("at last"));
    vec![
        ("reset before the head", reset(&[]), Again),
        ("reset behind reasoning", reset(&[Step::Reasoning("hm".into())]), Again),
        ("reset behind text", reset(&[text(), Step::DelayMs(300)]), Fails(1, "the reply was cut")),
        ("silence", silent(&[]), Again),
        ("silence behind text", silent(&[text()]), Fails(1, "the server was silent for 1.5 s")),
        ("429", after("retry-after", "0", error(429)), Again),
        (
            "429 for hours",
            after("retry-after", "7200", error(429)),
            Fails(1, "status 429: the engine stopped"),
        ),
        ("500", own(dialect, 500), Again),
        ("500 that stays", stays(own(dialect, 500)), Fails(2, "status 500: the engine stopped")),
        ("529", own(dialect, 529), Again),
        (
            "529 that stays",
            stays(own(dialect, 529)),
            Fails(WAITS, "status 529: the engine stopped"),
        ),
        ("400", own(dialect, 400), Fails(1, "status 400: the engine stopped")),
        ("400 cut off", Reply::body(400, json!("{\"error\": {\"mess")), Fails(1, "status 400: ")),
        ("401", own(dialect, 401), Fails(1, "status 401: the engine stopped")),
        ("a gateway's page", after("content-type", "text/html", gateway), Again),
        ("an error in a 200", Reply::steps([inside(dialect)]), Again),
        ("an error behind text", Reply::steps([text(), inside(dialect)]), Fails(1, "Overloaded")),
        (
            "a page",
            after("content-type", "text/html", html),
            Fails(1, "the server sent no stream but: <html>"),
        ),
        ("half a frame", truncated(dialect, "\n\n"), Again),
        ("half of the last frame", truncated(dialect, ""), Again),
        (
            "half a frame behind text",
            Reply {
                steps: [&[text()], &truncated(dialect, "\n\n").steps[..]].concat(),
                end: false,
                ..Reply::default()
            },
            Fails(1, broken),
        ),
        ("nothing", Reply::body(200, json!("")), Again),
        ("an odd content type", odd, Fails(0, "")),
    ]
}

fn play(dialect: Dialect, name: &str, fault: Reply, then: &Then) {
    let mended = matches!(then, Again);
    let good = matches!(then, Fails(0, _));
    let more = if mended { vec![Reply::text("at last")] } else { Vec::new() };
    let replies = [fault].into_iter().chain(more).collect();
    let (ran, requests) = check(Session {
        argv: &["run", "--json", "hello"],
        spec: &fast(),
        scenario: Scenario { dialect, replies, ..Scenario::new() },
        code: if mended || good { 0 } else { 3 },
        ..Session::default()
    });
    let shown = format!("{dialect:?}, {name}: {}", ran.stdout);
    match then {
        Again => {
            assert_eq!(ran.all("done")[0]["answer"], "at last", "{shown}");
            assert_eq!(ran.all("notice")[0]["about"], "retry", "{shown}");
            assert_eq!((requests.len(), &requests[0].body), (2, &requests[1].body), "{shown}");
        }
        Fails(0, _) => assert_eq!(ran.all("done")[0]["answer"], "at last", "{shown}"),
        Fails(count, why) => {
            let errors = ran.all("error");
            let message = errors[0]["message"].as_str().unwrap();
            assert_eq!((requests.len(), errors.len()), (*count, 1), "{shown}");
            assert!(message.starts_with("Connection local (model test-model): "), "{shown}");
            assert!(message.contains(why) && message.lines().count() == 1, "{shown}");
        }
    }
}

fn nobody_listens(dialect: Dialect) {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let why = format!("could not connect to {url}{}/", dialect.prefix());
    check(Session {
        argv: &["run", "hello"],
        url: Some(&url),
        spec: &fast(),
        scenario: Scenario { dialect, ..Scenario::new() },
        code: 3,
        stderr: &["lembas: Connection local (model test-model): ", &why],
        ..Session::default()
    });
}

/// A certificate for another name is told, and nothing is sent.
fn somebody_else_listens(dialect: Dialect) {
    let url = tls::of_another_name();
    let why = format!("could not connect to {url}{}/", dialect.prefix());
    let authority = format!("SSL_CERT_FILE={}", tls::AUTHORITY);
    check(Session {
        program: Some("env"),
        argv: &[authority.as_str(), LEMBAS, "run", "hello"],
        url: Some(&url),
        spec: &fast(),
        scenario: Scenario { dialect, ..Scenario::new() },
        code: 3,
        stderr: &["lembas: Connection local (model test-model): ", &why, "other.test"],
        ..Session::default()
    });
}

fn faults(dialect: Dialect) {
    nobody_listens(dialect);
    somebody_else_listens(dialect);
    for (name, fault, then) in table(dialect) {
        play(dialect, name, fault, &then);
    }
}

#[test]
fn openai_chat() {
    faults(Dialect::OpenaiChat);
}

#[test]
fn responses() {
    faults(Dialect::Responses);
}

#[test]
fn anthropic() {
    faults(Dialect::Anthropic);
}

#[test]
fn gemini() {
    faults(Dialect::Gemini);
}

#[test]
fn ollama() {
    faults(Dialect::Ollama);
}
