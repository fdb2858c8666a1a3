//! Where the loop ends: the same call over and over, limits of steps and tokens, refusals, replies without an answer.

use crate::process::Ran;
use crate::support::{Session, check, messages, results};
use lembas_scripted_server::{Finish, Reply, Request, Scenario, Step, Usage};
use serde_json::json;

/// Plays these replies to a prompt in auto mode and asserts the exit code and the reason of the end.
fn ends(
    config: &str,
    replies: Vec<Reply>,
    code: i32,
    reason: &str,
    answer: &str,
) -> (Ran, Vec<Request>) {
    let (ran, requests) = check(Session {
        files: &[("a.txt", "alpha\n")],
        config,
        scenario: Scenario { replies, ..Scenario::new() },
        argv: &["run", "--json", "go"],
        code,
        ..Session::default()
    });
    let done = ran.all("done")[0];
    assert_eq!(
        (&done["reason"], &done["answer"]),
        (&json!(reason), &json!(answer)),
        "{}",
        ran.stdout
    );
    assert_eq!(done["steps"], json!(requests.len()));
    (ran, requests)
}

fn read() -> Reply {
    Reply::call("read", json!({"path": "a.txt"}))
}

/// Returns a call that differs from the others by a number.
fn other(number: usize) -> Reply {
    Reply::call("bash", json!({"command": format!("echo {number}")}))
}

fn times<T>(count: usize, make: impl Fn(usize) -> T) -> Vec<T> {
    (0..count).map(make).collect()
}

/// Asserts that only the last request withdraws the tools, and that it does so by a flag.
fn wrapped_up(requests: &[Request], why: &str) {
    let last = requests.len() - 1;
    for (number, request) in requests.iter().enumerate() {
        let body = request.json();
        assert!(body["tools"].is_array());
        assert_eq!(body["tool_choice"] == "none", number == last, "request {number}");
    }
    let asked = messages(requests).last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(asked.contains(why) && asked.contains("The tools are withdrawn"), "{asked}");
}

#[test]
fn the_same_call_over_and_over() {
    let mut replies = times(6, |_| read());
    replies.push(Reply::text("I am stuck."));
    let (ran, requests) = ends("", replies, 4, "limit", "I am stuck.");
    let results = results(&requests);
    for (number, result) in results.iter().enumerate() {
        let part = if number < 2 { "1\talpha" } else { "This is the same call" };
        assert!(result.contains(part), "result {number}: {result}");
    }
    assert_eq!(
        (results.len(), ran.all("tool_start").len(), ran.all("tool_denied").len()),
        (6, 2, 4)
    );
    wrapped_up(&requests, "The same call came 6 times running");
}

#[test]
fn a_broken_call_over_and_over() {
    let mut replies = times(6, |_| Reply::call("read", json!("{\"path\": a.txt}")));
    replies.push(Reply::text("I am stuck."));
    let (_, requests) = ends("", replies, 4, "limit", "I am stuck.");
    wrapped_up(&requests, "The same call came 6 times running");
}

#[test]
fn another_call_between_breaks_the_row() {
    let replies = vec![read(), read(), other(0), read(), read(), Reply::text("ok")];
    let (ran, _) = ends("", replies, 0, "answered", "ok");
    assert_eq!(ran.all("tool_denied").len(), 0);
}

#[test]
fn steps() {
    let replies = vec![other(1), other(2), Reply::text("Two of five are done.")];
    let (_, requests) = ends("steps: 2\n", replies, 4, "limit", "Two of five are done.");
    wrapped_up(&requests, "its limit of 2 steps");
}

#[test]
fn calls_after_the_tools_are_withdrawn_do_not_run() {
    let late = Reply::steps([
        Step::Text("One more.".into()),
        Step::call("bash", json!({"command": "touch made"})),
    ]);
    let (ran, requests) =
        ends("steps: 1\nmode: auto\n", vec![other(1), late], 4, "limit", "One more.");
    assert_eq!(ran.all("tool_start").len(), 1);
    wrapped_up(&requests, "its limit of 1 steps");
}

#[test]
fn written_tokens() {
    let spends = |output| {
        Reply::steps([
            Step::call("bash", json!({"command": format!("echo {output}")})),
            Step::Usage(Usage { input: 10, output, ..Usage::default() }),
        ])
    };
    let replies = vec![spends(60), spends(50), Reply::text("enough")];
    let (ran, requests) = ends("budget: { output_tokens: 100 }\n", replies, 4, "limit", "enough");
    assert_eq!(ran.all("usage")[1]["output"], 50);
    wrapped_up(&requests, "its limit of 100 written tokens");
}

#[test]
fn nothing_but_refusals() {
    let refused = |number| Reply::call("bash", json!({"command": format!("make {number}")}));
    let mut replies = times(3, refused);
    replies.push(Reply::text("I was not allowed to."));
    let (ran, requests) = ends("", replies, 5, "refused", "I was not allowed to.");
    assert_eq!(ran.all("tool_denied").len(), 3);
    wrapped_up(&requests, "For 3 steps running, every call was refused");
}

#[test]
fn a_call_that_runs_among_refusals_counts() {
    let mixed = |number| {
        Reply::steps([
            Step::call("bash", json!({"command": format!("make {number}")})),
            Step::call("bash", json!({"command": format!("echo {number}")})),
        ])
    };
    let mut replies = times(4, mixed);
    replies.push(Reply::text("ok"));
    ends("", replies, 0, "answered", "ok");
}

#[test]
fn the_output_limit() {
    let cut = |step| Reply::steps([step, Step::Finish(Finish::Length)]);
    let (ran, _) = ends("", vec![cut(Step::Text("half of".into()))], 4, "limit", "half of");
    assert!(ran.all("notice").iter().any(|notice| notice["about"] == "cut"), "{}", ran.stdout);
    let call = Step::call("bash", json!("{\"command\": \"echo 1; touch"));
    let (ran, requests) =
        ends("mode: auto\n", vec![cut(call), Reply::text("ok")], 0, "answered", "ok");
    assert!(results(&requests)[0].starts_with("This call was cut off at the output limit"));
    assert_eq!(ran.all("tool_start").len(), 0);
}

#[test]
fn a_reply_without_an_answer_is_asked_for_it_once() {
    let thought = || Reply::steps([Step::Reasoning("I think it is four.".into())]);
    let (_, requests) = ends("", vec![thought(), Reply::text("four")], 0, "answered", "four");
    let asked = messages(&requests).last().unwrap()["content"].to_string();
    assert!(asked.contains("Your reply held only reasoning"), "{asked}");
    let (ran, requests) = check(Session {
        scenario: Scenario::new().reply(thought()).reply(thought()),
        argv: &["run", "--json", "go"],
        code: 3,
        events: &["error", "done"],
        ..Session::default()
    });
    assert_eq!(requests.len(), 2);
    let message = ran.all("error")[0]["message"].to_string();
    assert!(message.contains("Connection local (model test-model): "), "{message}");
}
