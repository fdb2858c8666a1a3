//! Peers that misbehave: each is a line of shell, and none may stop the run or outlive it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lembas_conformance::{Error, Options, Outcome, run};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

/// Three questions that this build has no answer for, so that only the peer's count.
const CASES: &str = r#"{ "area": "peer-only", "cases": [
  { "name": "a", "in": 1, "expect": 1 },
  { "name": "b", "in": 2, "expect": { "one_of": [2, 3] } },
  { "name": "c", "in": 3, "expect": 3 }
] }"#;

/// For peers that answer, however busy the machine is.
const PATIENT: Duration = Duration::from_secs(30);
/// For peers that never do.
const BRIEF: Duration = Duration::from_millis(200);

fn report(cases: &str, timeout: Duration, command: &str) -> (Outcome, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("cases.json");
    fs::write(&path, cases).unwrap();
    let peer = Some(command.to_string());
    let options = Options { cases: vec![path], peer, timeout, ..Options::default() };
    let mut out = Vec::new();
    let outcome = run(&options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    (outcome, text.lines().map(String::from).collect())
}

/// Asks a peer and looks for one text in each line of the report; the last line is the tally.
fn check(timeout: Duration, command: &str, expected: &[&str]) {
    let (outcome, lines) = report(CASES, timeout, command);
    assert_eq!(lines.len(), expected.len(), "{command}\n{lines:#?}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{command}\n{line}\nhas no {expected}");
    }
    let failed = !lines.iter().any(|line| line.contains(" 0 failed"));
    assert_eq!(outcome == Outcome::Failed, failed);
}

/// Shell functions: `spec` answers the first question, `reply` answers every further one with its argument.
const SHELL: &str = r#"
spec() { read -r line; printf '%s\n' '{"version":"9.9","areas":["peer-only"],"name":"shell"}'; }
reply() { while read -r line; do printf '%s\n' "$1"; done; }
"#;

fn shell(body: &str) -> String {
    format!("{SHELL}\n{body}")
}

const GREETING: &str = "peer shell: spec 9.9, here";

#[test]
fn answers_are_compared() {
    let echo =
        r#"spec; while read -r line; do in=${line##*'"in":'}; printf '{"out":%s\n' "$in"; done"#;
    check(
        PATIENT,
        &shell(echo),
        &[GREETING, "skip peer-only/a: no such", "skip", "skip", "0 passed, 0 failed, 3 skipped"],
    );
    check(
        PATIENT,
        &shell("spec; reply '{\"out\":3}'"),
        &[GREETING, "fail peer-only/a: expected 1, peer 3", "skip", "skip", "1 failed, 2 skipped"],
    );
    check(
        PATIENT,
        &shell("spec; reply '{\"pending\":\"not yet\"}'"),
        &[GREETING, "a: no such area in this build; peer: not yet", "skip", "skip", "3 skipped"],
    );
    check(
        PATIENT,
        &shell("spec; reply '{\"error\":\"boom\"}'"),
        &[GREETING, "peer no answer: boom", "fail", "fail", "3 failed"],
    );
}

#[test]
fn a_wrong_peer_fails_a_run_that_is_right_here() {
    let cases = r#"{ "area": "hardline", "cases": [
        { "name": "root", "in": { "command": "rm -rf /" }, "expect": { "rule": "wipe-system" } },
        { "name": "a folder", "in": { "command": "rm -rf build" }, "expect": { "rule": null } } ] }"#;
    let peer = |out: &str| {
        let greeting = r#"{"version":"9.9","areas":["hardline"],"name":"shell"}"#;
        let body = format!("read -r line; printf '%s\\n' '{greeting}'; reply '{{\"out\":{out}}}'");
        report(cases, PATIENT, &shell(&body))
    };
    let (outcome, lines) = peer(r#"{"rule":null}"#);
    assert_eq!(outcome, Outcome::Failed);
    let wrong = r#"fail hardline/root: expected {"rule":"wipe-system"}, peer {"rule":null}"#;
    assert_eq!(lines[1..], [wrong, "1 passed, 1 failed, 0 skipped"]);
    let (outcome, lines) = peer(r#"{"rule":"wipe-system"}"#);
    assert_eq!(outcome, Outcome::Failed);
    let wrong = r#"fail hardline/a folder: expected {"rule":null}, peer {"rule":"wipe-system"}"#;
    assert_eq!(lines[1..], [wrong, "1 passed, 1 failed, 0 skipped"]);
}

#[test]
fn a_peer_need_not_know_about_specs() {
    check(
        PATIENT,
        &shell("reply '{\"out\":3}'"),
        &["a: expected 1, peer 3", "skip", "skip", "0 passed, 1 failed, 2 skipped"],
    );
    check(
        PATIENT,
        &shell(r#"read -r line; printf '%s\n' '{"version":"1","areas":["others"]}'; reply x"#),
        &["peer unnamed", "the peer has no such area", "skip", "skip", "3 skipped"],
    );
}

#[test]
fn rubbish_is_one_cases_trouble() {
    let once = r#"
        echo starting up; spec
        read -r line; printf '%s\n' 'Traceback: boom' '{"out":1}'; spec; reply '{"out":3}'"#;
    check(
        PATIENT,
        &shell(once),
        &[
            GREETING,
            "a: peer no answer: it wrote a line that is no reply: Traceback: boom",
            "skip",
            "skip",
            "1 failed, 2 skipped",
        ],
    );
    check(
        BRIEF,
        "while read -r line; do echo '[]'; done",
        &["no reply", "no reply", "no reply", "3 failed"],
    );
    check(
        BRIEF,
        "exec cat",
        &["it wrote a line that is no reply: {\"area\"", "fail", "fail", "3 failed"],
    );
}

#[test]
fn a_peer_that_hangs_is_started_anew() {
    let hangs = ["no reply within 200ms", "no reply", "no reply", "3 failed"];
    check(BRIEF, "exec sleep 1000", &hangs);
    check(BRIEF, "sleep 1000 | sleep 1000", &hangs);
    check(BRIEF, "trap '' TERM INT HUP; while :; do sleep 1000; done", &hangs);
}

#[test]
fn a_peer_that_ends_is_started_anew_and_then_given_up() {
    check(PATIENT, "exit 7", &["it ended (exit status: 7)", "it ended", "it ended", "3 failed"]);
    check(
        PATIENT,
        &shell("spec; read -r line; exit 3"),
        &[GREETING, "it ended (exit status: 3)", "it ended", "it ended", "3 failed"],
    );
    let case = |i| format!(r#"{{ "name": "{i}", "in": {i}, "expect": {i} }}"#);
    let cases = (0..6).map(case).collect::<Vec<_>>().join(",");
    let cases = format!(r#"{{ "area": "peer-only", "cases": [{cases}] }}"#);
    let (_, lines) = report(&cases, PATIENT, "no-such-program 2> /dev/null");
    let last = "given up after 4 starts; the last time, it ended (exit status: 127)";
    let given_up = lines.iter().filter(|line| line.contains(last)).count();
    assert_eq!(given_up, 3, "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "0 passed, 6 failed, 0 skipped");
}

#[test]
fn a_flood_is_cut() {
    let flood = ["peer no answer", "peer no answer", "peer no answer", "3 failed"];
    check(BRIEF, "yes", &flood);
    check(BRIEF, "exec tr '\\0' x < /dev/zero", &flood);
    let (_, lines) = report(CASES, PATIENT, &shell("spec; read -r line; tr '\\0' x < /dev/zero"));
    assert!(lines[1].contains("a line of more than"), "{lines:#?}");
    check(BRIEF, "exec cat /dev/zero", &flood);
}

#[test]
fn nothing_of_a_peer_outlives_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    report(
        CASES,
        BRIEF,
        &format!("sleep 1000 & echo $! >> '{0}'; echo $$ >> '{0}'; sleep 1000", pids.display()),
    );
    let pids = fs::read_to_string(pids).unwrap();
    assert!(pids.lines().count() >= 2);
    for pid in pids.lines() {
        assert!(!alive(pid), "{pid} is still there");
    }
}

#[test]
fn nothing_of_a_peer_outlives_a_run_that_is_killed() {
    const PIDS: &str = "LEMBAS_TEST_PIDS";
    if let Ok(pids) = std::env::var(PIDS) {
        report(
            CASES,
            PATIENT,
            &format!("echo $$ > '{pids}.new'; mv '{pids}.new' '{pids}'; sleep 1000"),
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "nothing_of_a_peer_outlives_a_run_that_is_killed"])
        .env(PIDS, &pids)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = wait_for(|| fs::read_to_string(&pids).ok());
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for(|| (!alive(pid.trim())).then_some(()));
}

/// Looks until there is something to see; the test's own limit ends one that never is.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        match look() {
            Some(seen) => return seen,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn alive(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

#[test]
fn a_question_longer_than_a_pipe_does_not_block() {
    let long = "x".repeat(1 << 20);
    let case = format!(r#"{{ "name": "a", "in": "{long}", "expect": 1 }}"#);
    let cases = format!(r#"{{ "area": "peer-only", "cases": [{case}] }}"#);
    assert_eq!(report(&cases, BRIEF, "sleep 1000").0, Outcome::Failed);
}

#[test]
fn a_filter_that_hits_nothing_is_an_error() {
    let options = Options { area: Some("hardlin".into()), ..Options::default() };
    let error = run(&options, &mut Vec::new()).unwrap_err();
    assert!(matches!(&error, Error::Input(lines) if lines[0].contains("areas with cases: ")));
}
