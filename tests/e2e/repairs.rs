//! Servers that refuse what can be mended: the request is changed, once for each cause, a person is told in one line, and a later
//! run begins with what was learned.

use crate::support::{Home, Session, check, results};
use lembas_scripted_server::{Dialect, Reply, Request, Scenario, Server, Step};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn no(status: u16, message: &str) -> Reply {
    Reply::body(status, json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

fn effort() -> Reply {
    no(
        400,
        "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low' and 'high'.",
    )
}

/// Asserts that refusals are mended, each told with these words, and that the last request fits.
fn check_mended(
    dialect: Dialect,
    refusals: &[Reply],
    words: &[&str],
    config: &str,
    fits: impl Fn(&Value) -> bool,
) -> Vec<Request> {
    let replies = refusals.iter().cloned().chain([Reply::text("at last")]).collect();
    let (ran, requests) = check(Session {
        argv: &["run", "--json", "hello"],
        config,
        connection: "key: sk-not-to-be-seen-0123",
        absent: &["sk-not"],
        scenario: Scenario { dialect, replies, ..Scenario::new() },
        ..Session::default()
    });
    assert_eq!(ran.all("done")[0]["answer"], "at last", "{}", ran.stdout);
    assert_eq!(requests.len(), refusals.len() + 1, "{}", ran.stdout);
    let notices = ran.all("notice");
    assert_eq!(notices.len(), words.len(), "{notices:?}");
    for (notice, words) in notices.iter().zip(words) {
        let text = notice["text"].as_str().unwrap();
        assert_eq!(notice["about"], "repair");
        assert!(text.starts_with("Connection local (model test-model): status "), "{text}");
        assert!(text.ends_with(&format!("; asking again ({words})")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let last = requests.last().unwrap().json();
    assert!(fits(&last), "{last:#}");
    requests
}

#[test]
fn refusals_are_mended() {
    let chat = Dialect::OpenaiChat;
    check_mended(chat, &[effort()], &["clamp effort: medium, low"], "effort: medium\n", |body| {
        body["reasoning_effort"] == "low"
    });
    let unknown = no(400, "Unrecognized request argument supplied: reasoning_effort");
    check_mended(
        chat,
        &[unknown],
        &["drop effort: high, none is sent"],
        "effort: high\n",
        |body| body.get("reasoning_effort").is_none(),
    );
    let field = no(400, "Unknown parameter: 'stream_options'.");
    check_mended(chat, &[field], &["drop param: stream_options"], "", |body| {
        body.get("stream_options").is_none()
    });
    let tools = no(404, "No endpoints found that support tool use");
    check_mended(chat, &[tools], &["drop tools"], "", |body| body.get("tools").is_none());
    let output = no(
        400,
        "max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for x",
    );
    check_mended(Dialect::Anthropic, &[output], &["lower output: 4096"], "", |body| {
        body["max_tokens"] == 4096
    });
    let several = [no(500, "Jinja Exception: System role not supported"), effort()];
    let words = ["system in user", "clamp effort: medium, low"];
    check_mended(chat, &several, &words, "effort: medium\n", |body| {
        body["messages"][0]["role"] == "user" && body["reasoning_effort"] == "low"
    });
}

#[test]
fn a_refusal_inside_a_reply_is_mended() {
    let frame = json!({"error": {"message": "max_tokens: 9 > 5, which is the maximum allowed number of output tokens", "code": 400}});
    let inside = Reply::steps([Step::Raw(format!("data: {frame}\n\n"))]);
    check_mended(Dialect::Anthropic, &[inside], &["lower output: 5"], "", |body| {
        body["max_tokens"] == 5
    });
}

/// Asserts that a run fails with the last of these refusals, and after how many repairs.
fn check_told(replies: Vec<Reply>, repairs: usize, why: &str) {
    let asked = replies.len();
    let (ran, requests) = check(Session {
        argv: &["run", "--json", "hello"],
        config: "effort: medium\n",
        code: 3,
        scenario: Scenario { replies, ..Scenario::new() },
        ..Session::default()
    });
    assert_eq!((requests.len(), ran.all("notice").len()), (asked, repairs), "{}", ran.stdout);
    let message = ran.all("error")[0]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
}

#[test]
fn what_cannot_be_mended_is_told() {
    check_told(vec![effort(), effort()], 1, "does not support 'medium'");
    check_told(
        vec![no(400, "Unknown parameter: 'nothing_of_the_kind'.")],
        0,
        "nothing_of_the_kind",
    );
    let unpaired = "messages with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'";
    check_told(vec![no(400, unpaired)], 0, "must be followed");
    let long = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
    check_told(vec![no(400, long)], 0, "maximum context length is 4096");
    let cut = json!({"error": {"message": "Unknown parameter: 'stream_options'.", "code": 400}});
    let behind = [Step::Text("half".into()), Step::Raw(format!("data: {cut}\n\n"))];
    check_told(vec![Reply::steps(behind)], 0, "stream_options");
}

#[test]
fn tools_stay_withdrawn_and_results_go_back() {
    let refusal = no(400, "Jinja Exception: This model only supports single tool-calls at once!");
    let two = [Step::call("read", json!({"path": "a"})), Step::call("read", json!({"path": "b"}))];
    let (_, requests) = check(Session {
        files: &[("a", "alpha\n"), ("b", "beta\n")],
        argv: &["run", "--json", "hello"],
        scenario: Scenario {
            replies: vec![Reply::steps(two), refusal, Reply::text("done")],
            ..Scenario::new()
        },
        ..Session::default()
    });
    let roles: Vec<Value> = requests[2].json()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "tool"]);
    assert_eq!(results(&requests).len(), 2);
}

/// A template without a role for results gets them in the person's words, and calls in the model's.
#[test]
fn results_go_back_in_words() {
    let refusal = no(400, "Jinja Exception: Conversation roles must alternate user/assistant/...");
    let (ran, requests) = check(Session {
        files: &[("a", "alpha\n")],
        argv: &["run", "--json", "hello"],
        scenario: Scenario {
            replies: vec![
                Reply::steps([Step::call("read", json!({"path": "a"}))]),
                refusal,
                Reply::text("done"),
            ],
            ..Scenario::new()
        },
        ..Session::default()
    });
    let told = ran.all("notice")[0]["text"].as_str().unwrap().to_owned();
    assert!(told.ends_with("; asking again (results in user)"), "{told}");
    let last = requests[2].json();
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages[2]["content"], r#"I call the tool read with {"path":"a"}."#);
    let (role, text) = (&messages[3]["role"], messages[3]["content"].as_str().unwrap());
    assert_eq!(role, "user");
    assert!(text.starts_with("The tool read returned:\n") && text.contains("alpha"), "{text}");
}

/// Runs the program in one home against these replies, and returns the bodies of the requests.
fn runs(home: &Home, replies: Vec<Reply>, code: i32) -> Vec<Value> {
    let server = Server::start(Scenario { replies, ..Scenario::new() }).unwrap();
    let file = home.lembas().join("config/connections.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let line = text.lines().find(|line| line.contains("base_url")).unwrap();
    let base = format!("    base_url: {}/v1", server.url());
    // A server on another port is another server to what was learned.
    let learned = home.lembas().join("state/learned.json");
    if let Ok(known) = fs::read_to_string(&learned) {
        let old = line.trim().strip_prefix("base_url: ").unwrap();
        fs::write(&learned, known.replace(old, base.trim().strip_prefix("base_url: ").unwrap()))
            .unwrap();
    }
    home.configure("connections.yaml", &text.replace(line, &base));
    let ran = home.run(&["run", "--json", "hello"]);
    assert_eq!(ran.code, Some(code), "{}\n{}", ran.stdout, ran.stderr);
    server.verify().unwrap();
    server.requests().iter().map(Request::json).collect()
}

#[test]
fn a_later_run_begins_with_what_was_learned() {
    let home = Home::at("http://127.0.0.1:1", "", "effort: medium\n");
    let learned = || fs::read_to_string(home.lembas().join("state/learned.json"));
    // What a server never took is not kept.
    runs(&home, vec![effort(), no(400, "something else")], 3);
    assert!(learned().is_err());
    let field = no(400, "Unknown parameter: 'stream_options'.");
    let tools = no(400, "x does not support tools");
    runs(&home, vec![effort(), field, tools, Reply::text("ok")], 0);
    let text = learned().unwrap();
    assert!(text.contains("local/test-model") && !text.contains("drop_tools"), "{text}");
    let mode = fs::metadata(home.lembas().join("state/learned.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let bodies = runs(&home, vec![Reply::text("ok")], 0);
    assert_eq!(bodies[0]["reasoning_effort"], "low");
    assert!(bodies[0].get("stream_options").is_none() && bodies[0].get("tools").is_some());
}

#[test]
fn a_window_is_learned_from_a_refusal() {
    let home = Home::at("http://127.0.0.1:1", "", "");
    let long =
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it";
    runs(&home, vec![no(400, long)], 3);
    let text = fs::read_to_string(home.lembas().join("state/learned.json")).unwrap();
    let learned: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(learned["models"]["local/test-model"]["context"], 4096);
}

#[test]
fn a_damaged_list_stops_nothing() {
    let home = Home::at("http://127.0.0.1:1", "", "effort: medium\n");
    crate::support::write(&home.lembas().join("state/learned.json"), b"{ no");
    let bodies = runs(&home, vec![effort(), Reply::text("ok")], 0);
    assert_eq!(bodies.len(), 2);
    let text = fs::read_to_string(home.lembas().join("state/learned.json")).unwrap();
    assert_eq!(text, "{ no");
}
