//! Servers that fail: what is tried again, what a person is told, and that nothing half-written runs.

use crate::process::Ran;
use crate::support::{Session, check};
use lembas_scripted_server::{Cut, Repeat, Reply, Request, Scenario, Step};
use serde_json::{Value, json};
use std::net::TcpListener;

/// Waits that are as short as they can be, so that what is tried again takes no time.
fn fast() -> [(&'static str, &'static str, Value); 1] {
    [("loop.json", "/retry/base_ms", json!(1))]
}

const KEY: &str = "sk-not-to-be-seen-0123";

/// Asserts that a run ends with exit code 3 and one sentence with this in it, behind so many requests.
fn fails(session: Session, requests: usize, why: &str) -> (Ran, Vec<Request>) {
    let (ran, got) = check(Session {
        argv: &["run", "--json", "--mode", "auto", "--record", "r.replay", "hello"],
        spec: &fast(),
        code: 3,
        events: &["step", "error", "done"],
        absent: &[KEY],
        ..session
    });
    assert_eq!(got.len(), requests, "{}", ran.stdout);
    let errors = ran.all("error");
    let message = errors[0]["message"].as_str().unwrap();
    assert!(message.starts_with("Connection local (model test-model): "), "{message}");
    assert!(message.contains(why), "no {why:?} in {message}");
    assert_eq!((errors.len(), message.lines().count()), (1, 1), "{message}");
    assert_eq!(ran.all("done")[0]["reason"], "failed");
    (ran, got)
}

fn says(replies: impl IntoIterator<Item = Reply>) -> Session<'static> {
    Session {
        scenario: Scenario { replies: replies.into_iter().collect(), ..Scenario::new() },
        ..Session::default()
    }
}

/// Returns the same reply twice, for a failure that is tried once more.
fn twice(reply: Reply) -> Session<'static> {
    says([reply.clone(), reply])
}

fn error(status: u16, message: &str) -> Reply {
    Reply::body(status, json!({"error": {"message": message, "type": "x"}}))
}

fn text(text: &str) -> Step {
    Step::Text(text.into())
}

#[test]
fn nobody_listens() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}");
    let session = Session { url: Some(&url), ..says([]) };
    fails(session, 0, &format!("could not connect to {url}/v1/chat/completions: "));
    let nowhere = Session { url: Some("http://no-such-host.invalid:9"), ..says([]) };
    fails(nowhere, 0, "could not connect to http://no-such-host.invalid:9/v1/chat/completions: ");
}

#[test]
fn a_person_reads_one_sentence() {
    let (ran, _) = check(Session {
        argv: &["run", "hello"],
        code: 3,
        ..says([error(404, "there is no model x")])
    });
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        "lembas: Connection local (model test-model): status 404: there is no model x\n"
    );
}

#[test]
fn a_person_sees_why_it_takes_longer() {
    let (ran, _) = check(Session {
        argv: &["run", "hello"],
        spec: &fast(),
        ..says([error(500, "oops"), Reply::text("at last")])
    });
    assert_eq!(ran.stdout, "at last\n");
    let line = "- Connection local (model test-model): status 500: oops; asking again in 0.001 s\n";
    assert_eq!(ran.stderr, line);
}

#[test]
fn keys_stay_unseen() {
    let echo = error(401, &format!("Incorrect API key provided: {KEY}. Get one elsewhere."));
    let header = [("x-echo".to_owned(), format!("Bearer {KEY}"))].into();
    let session = || Session {
        connection: "key: sk-not-to-be-seen-0123\nheaders: { X-Own: other-secret-456 }",
        ..says([Reply { headers: header, ..echo }])
    };
    let (_, requests) = fails(session(), 1, "Incorrect API key provided: [redacted].");
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[0].header("x-own"), Some("other-secret-456"));
}

#[test]
fn a_key_is_not_left_in_part_where_words_are_shortened() {
    let long = format!("{} key {KEY}", "x".repeat(580));
    let (ran, _) = fails(
        Session { connection: "key: sk-not-to-be-seen-0123", ..says([error(401, &long)]) },
        1,
        "xxx key [redacted",
    );
    assert!(!ran.stdout.contains("sk-not"), "{}", ran.stdout);
}

#[test]
fn a_refusal_without_end() {
    let frames = Step::Repeat(Repeat { repeat: 20_000, text: "no ".into() });
    let reply = Reply { status: Some(400), ..Reply::steps([frames, Step::DelayMs(600_000)]) };
    fails(says([reply]), 1, "status 400");
}

#[test]
fn refusals_that_stay() {
    fails(says([error(404, "model 'test-model' not found")]), 1, "model 'test-model' not found");
    fails(says([error(400, "bad thing")]), 1, "status 400: bad thing");
    fails(says([Reply::body(402, json!(""))]), 1, "status 402: billing");
    fails(says([Reply::body(307, json!(""))]), 1, "status 307: bad response");
    fails(says([Reply::body(403, json!("<html><title>Not you</title></html>"))]), 1, "Not you");
}

#[test]
fn replies_that_are_none() {
    let html = "<html><head><title>Sign in</title></head></html>";
    fails(says([Reply::body(200, json!(html))]), 1, "the server sent no stream but: <html>");
    fails(says([Reply::body(200, json!("hello there"))]), 1, "no stream but: hello there");
    fails(twice(Reply::body(200, json!({"hello": 1}))), 2, "without a finish reason");
    fails(twice(Reply::body(200, json!(""))), 2, "the server sent nothing");
    fails(twice(Reply::body(200, json!("data: {\"choices\": [{\"delta\"\n\n"))), 2, "not JSON");
}

#[test]
fn broken_connections() {
    let before = || Reply::steps([Step::Cut(Cut::Close)]);
    fails(says(vec![before(); 5]), 5, "the connection broke before a reply came");
    let head_only = || Reply::steps([Step::Raw(": hi\n\n".into()), Step::Cut(Cut::Close)]);
    fails(twice(head_only()), 2, "the reply was cut");
    for cut in [Cut::Close, Cut::Reset] {
        let (ran, _) = fails(
            says([Reply::steps([text("half of "), Step::DelayMs(50), Step::Cut(cut)])]),
            1,
            "cut",
        );
        assert_eq!(ran.all("text")[0]["text"], "half of ");
    }
    let reasoning = || Reply::steps([Step::Reasoning("hm".into()), Step::Cut(Cut::Close)]);
    let (ran, _) = fails(twice(reasoning()), 2, "the reply was cut");
    assert_eq!(ran.all("retract").len(), 1);
}

#[test]
fn silence_ends() {
    let connection = "timeout: { idle_s: 1 }";
    let session = |reply| Session { connection, ..says([reply]) };
    let stalls = Reply::steps([text("half of "), Step::Stall(60_000)]);
    fails(session(stalls), 1, "the server was silent for 1 s");
    let twice = Session { connection, ..twice(Reply::steps([Step::Stall(60_000)])) };
    fails(twice, 2, "the server was silent for 1 s");
}

#[test]
fn a_call_that_is_cut_never_runs() {
    let whole = || Step::call("bash", json!({"command": "touch made"}));
    let half = || {
        let call = json!({"index": 0, "id": "a", "function": {"name": "bash", "arguments": "{\"command\":\"touch made"}});
        Step::Raw(format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]})))
    };
    for step in [whole, half] {
        let cut = || Reply::steps([step(), Step::DelayMs(20), Step::Cut(Cut::Close)]);
        let (ran, _) = fails(twice(cut()), 2, "the reply was cut");
        assert_eq!((ran.all("tool_start").len(), ran.all("retract").len()), (0, 1));
        check(Session {
            argv: &["run", "--json", "--mode", "auto", "hello"],
            spec: &fast(),
            events: &["tool_call_delta", "retract", "text", "done"],
            files_after: Some(&[]),
            ..says([cut(), Reply::text("instead")])
        });
    }
}

/// Asserts that a failure is followed by another request, whose answer counts.
fn goes_on(first: Reply, events: &[&str]) {
    let (ran, requests) = check(Session {
        argv: &["run", "--json", "hello"],
        spec: &fast(),
        events,
        ..says([first, Reply::text("at last")])
    });
    assert_eq!(ran.all("done")[0]["answer"], "at last");
    assert_eq!(
        ran.all("retract").len(),
        usize::from(events.contains(&"retract")),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.all("step").len(), 1);
    let notices = ran.all("notice");
    let text = notices[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("Connection local ") && text.contains("; asking again in 0"),
        "{text}"
    );
    assert_eq!((notices.len(), &notices[0]["about"]), (1, &json!("retry")), "{}", ran.stdout);
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn tried_again() {
    let after = |name: &str, value: &str, reply: Reply| Reply {
        headers: [(name.to_owned(), value.to_owned())].into(),
        ..reply
    };
    let plain = &["step", "text", "done"];
    goes_on(error(500, "oops"), plain);
    goes_on(error(503, "loading model"), plain);
    goes_on(Reply::body(502, json!("<html>bad gateway</html>")), plain);
    goes_on(after("retry-after", "0", error(429, "slow down")), plain);
    goes_on(after("retry-after-ms", "3", error(429, "slow down")), plain);
    goes_on(Reply::steps([Step::Cut(Cut::Reset)]), plain);
    let inside =
        Step::Raw("data: {\"error\": {\"message\": \"CUDA error\", \"code\": 500}}\n\n".into());
    goes_on(Reply::steps([inside.clone()]), plain);
    goes_on(
        Reply::steps([Step::Reasoning("hm".into()), inside]),
        &["reasoning", "retract", "text", "done"],
    );
}

#[test]
fn a_limit_of_hours_says_when_it_ends() {
    let error = json!({"type": "usage_limit_reached", "message": "No more today.", "resets_in_seconds": 9568});
    let reply = Reply::body(429, json!({ "error": error }));
    fails(says([reply]), 1, "status 429: No more today. (this limit ends in 2h 39m 28s)");
}

#[test]
fn a_wait_that_is_too_long_is_told() {
    // Without a date of its own the server's clock is ours.
    for wait in ["7200", "Fri, 01 Jan 2100 00:00:00 GMT"] {
        let headers = [("retry-after".to_owned(), wait.to_owned())].into();
        fails(says([Reply { headers, ..error(429, "come back later") }]), 1, "come back later");
    }
    fails(says([error(429, "Please retry after 3 hours.")]), 1, "Please retry after 3 hours.");
}

#[test]
fn frames_nobody_knows_are_passed_over() {
    let odd = "event: ping\ndata: {\"ping\": 1}\n\n: comment\n\nid: 7\ndata: {\"object\": \"chat.completion.chunk\", \"choices\": []}\n\n";
    check(Session {
        argv: &["run", "hello"],
        stdout: &["one two\n"],
        ..says([Reply::steps([text("one "), Step::Raw(odd.into()), text("two")])])
    });
}
