//! The program without a model, and the support itself, tried with a shell in the program's place.

use crate::support::{Home, LEMBAS, Session, check};
use lembas_scripted_server::{Reply, Scenario, Server};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Returns a session that runs a shell line, in a project with one file, after which all must be as written here.
fn shell<'a>(argv: &'a [&'a str; 2]) -> Session<'a> {
    Session {
        program: Some("sh"),
        argv,
        files: &[("a/b.txt", "old\n")],
        input: Some("typed\n"),
        code: 3,
        files_after: Some(&[("a/b.txt", "old\n"), ("c.txt", "typed\n")]),
        events: &["text", "finish"],
        stdout: &["plain"],
        ..Session::default()
    }
}

const GOOD: &str = "cat > c.txt; echo plain; echo '{\"type\":\"text\"}'; echo '{\"type\":\"usage\"}'; echo '{\"type\":\"finish\"}'; exit 3";

#[test]
fn the_program_starts_and_ends() {
    let server = Server::start(Scenario::new()).unwrap();
    let ran = Home::new(&server, "").run(&["--version"]);
    assert_eq!((ran.code, ran.late), (Some(0), None), "{}", ran.stderr);
}

#[test]
fn a_session_that_goes_as_written() {
    let (ran, requests) = check(shell(&["-c", GOOD]));
    assert_eq!((ran.types(), requests.len()), (vec!["text", "usage", "finish"], 0));
}

#[test]
fn what_differs_is_reported() {
    let differs = |session: Session, part: &str| {
        let failure = catch_unwind(AssertUnwindSafe(|| check(session))).unwrap_err();
        let text = failure.downcast::<String>().unwrap();
        assert!(text.contains(part), "{text}");
    };
    let argv = ["-c", GOOD];
    differs(Session { code: 0, ..shell(&argv) }, "Some(0)");
    differs(Session { stdout: &["fancy"], ..shell(&argv) }, "no \"fancy\" on stdout");
    differs(Session { events: &["finish", "text"], ..shell(&argv) }, "no \"text\" in its place");
    differs(Session { files_after: Some(&[("a/b.txt", "new\n")]), ..shell(&argv) }, "c.txt");
    differs(
        Session { scenario: Scenario::new().reply(Reply::text("hi")), ..shell(&argv) },
        "replies[0] was never asked",
    );
}

#[test]
fn the_program_agrees_with_itself_as_a_peer() {
    let home = Home::at("http://127.0.0.1:9", "", "");
    let peer = format!("'{LEMBAS}' conformance --serve");
    let ran = home.run(&["conformance", "--peer", &peer]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().unwrap();
    let passed = last.strip_suffix(" passed, 0 failed, 0 skipped");
    let passed: usize = passed.and_then(|count| count.parse().ok()).unwrap_or_default();
    assert!(passed >= 300, "{last}");
}

#[test]
fn a_home_of_its_own() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "mode: plan\n");
    let line = "env | cut -d= -f1 | grep -v -e '^PWD$' -e '^SHLVL$' -e '^_$' -e '^OLDPWD$' | sort | tr '\\n' ' '; \
                cat \"$LEMBAS_HOME\"/config/*.yaml; wc -c";
    let ran = home.run_with("sh", &["-c", line], None, Duration::from_secs(30));
    let expected = format!(
        "HOME LEMBAS_HOME PATH model: local/test-model\nmode: plan\nconnections:\n  local:\n    dialect: openai-chat\n    \
         base_url: {}/v1\n    models: [ {{ id: test-model, context: 32768 }} ]\n0\n",
        server.url()
    );
    assert_eq!((ran.stdout, ran.stderr.as_str()), (expected, ""));
}

#[test]
fn late_programs_are_killed_with_their_children() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "");
    let run = |line: &str, limit: u64| {
        home.run_with("sh", &["-c", line], None, Duration::from_millis(limit))
    };
    let ran = run("sleep 600 & sleep 600", 100);
    assert_eq!((ran.code, ran.late), (None, Some("it was killed at the limit")));
    let ran = run("echo begun; sleep 600 &", 1000);
    let why = Some("something it started held its output open");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.late), (Some(0), "begun\n", why));
}
