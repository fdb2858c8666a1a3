//! What is asked and how: the command line, standard input, configuration. What is wrong is told before any request.

use crate::process::{LIMIT, Ran};
use crate::support::{Home, LEMBAS, Session, check, messages};
use lembas_scripted_server::{Reply, Scenario, Server};
use serde_json::json;
use std::process::Stdio;

/// Asserts which prompt the model gets.
fn asks(argv: &[&str], input: Option<&str>, prompt: &str) {
    let (ran, requests) = check(Session {
        scenario: Scenario::new().reply(Reply::text("ok")),
        argv: &[&["run"], argv].concat(),
        input,
        ..Session::default()
    });
    assert_eq!(ran.stdout, "ok\n");
    assert_eq!(messages(&requests).last().unwrap()["content"], prompt);
}

#[test]
fn prompts() {
    asks(&["what", "is it?"], None, "what is it?");
    asks(&[], Some("from a pipe\n"), "from a pipe");
    asks(&["review this"], Some("diff\n"), "review this\n\ndiff");
    asks(&["-"], Some("from a pipe\n"), "from a pipe");
    asks(&["review this", "-"], Some("diff\n"), "review this\n\ndiff");
    asks(&["hello"], Some(""), "hello");
    asks(&["--", "--mode"], None, "--mode");
    asks(&["two\nlines"], None, "two\nlines");
}

#[test]
fn a_silent_pipe_is_not_waited_for() {
    let server = Server::start(Scenario::new().reply(Reply::text("ok"))).unwrap();
    let home = Home::new(&server, "");
    let spec = home.spec(&[("loop.json", "/run/stdin_wait_ms", json!(20))]);
    let running = home.start(LEMBAS, &["run", "--harness", &spec, "hello"], Stdio::piped());
    let ran = running.finish(LIMIT);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.late),
        (Some(0), "ok\n", None),
        "{}",
        ran.stderr
    );
}

/// Asserts that a run ends with exit code 2, each of these parts in one line of standard error, and without a request.
fn wrong(session: Session, lines: &[&str]) -> Ran {
    let argv = if session.argv.is_empty() { &["run", "--json", "hello"] } else { session.argv };
    let (ran, requests) = check(Session { argv, code: 2, ..session });
    assert_eq!((ran.stdout.as_str(), requests.len()), ("", 0), "{}", ran.stderr);
    for part in lines {
        let found = ran.stderr.lines().filter(|line| line.contains(part)).count();
        assert_eq!(found, 1, "{part:?} is in {found} lines of\n{}", ran.stderr);
    }
    ran
}

fn argv<'a>(argv: &'a [&'a str]) -> Session<'a> {
    Session { argv, ..Session::default() }
}

#[test]
fn command_lines() {
    wrong(argv(&["run"]), &["There is no prompt."]);
    wrong(argv(&["run", " "]), &["There is no prompt."]);
    wrong(argv(&["run", "-"]), &["There is no prompt."]);
    wrong(
        argv(&["run", "--mode", "audo", "x"]),
        &["no mode \"audo\"; there are: plan, manual, edit, auto"],
    );
    wrong(
        argv(&["run", "--model", "local/tset-model", "x"]),
        &["no model `tset-model`. Did you mean `test-model`?"],
    );
    wrong(
        argv(&["run", "--model", "lokal/test-model", "x"]),
        &["no connection `lokal`. Did you mean `local`?"],
    );
    wrong(
        argv(&["run", "--model", "test-model", "x"]),
        &["lacks its connection; write local/test-model"],
    );
    wrong(
        argv(&["run", "--modle", "x"]),
        &["unexpected argument '--modle'", "similar argument exists: '--mode"],
    );
    wrong(
        argv(&["run", "--replay", "no.replay", "x"]),
        &["no.replay:1: the recording cannot be read"],
    );
    wrong(
        argv(&["run", "--record", "no/such/r", "x"]),
        &["The recording no/such/r cannot be made"],
    );
    wrong(argv(&["run", "--harness", "no-such-dir", "x"]), &["no-such-dir"]);
    wrong(
        argv(&["run", "--model", "local/test-model", "--replay", "r", "x"]),
        &["'--model <MODEL>' cannot be used with '--replay <FILE>'"],
    );
}

#[test]
fn settings() {
    let config = |config| Session { config, ..Session::default() };
    wrong(config("mode: audo\n"), &["config.yaml:2:7: "]);
    wrong(config("steps: many\nmood: 1\n"), &["config.yaml:2:8: ", "config.yaml:3:1: "]);
    wrong(config("permission: { bash: { x: maybe } }\n"), &["config.yaml:2:26: "]);
    wrong(config("mode: [\n"), &["config.yaml:"]);
}

#[test]
fn connections() {
    let server = Server::start(Scenario::new()).unwrap();
    let check = |text: &str, lines: &[&str]| {
        let home = Home::new(&server, "");
        home.configure("connections.yaml", text);
        let ran = home.run(&["run", "--json", "hello"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.late),
            (Some(2), "", None),
            "{}",
            ran.stderr
        );
        for part in lines {
            let found = ran.stderr.matches(part).count();
            assert_eq!(found, 1, "{part:?} is there {found} times\n{}", ran.stderr);
        }
    };
    check(
        "connections: { local: { dialect: openai, base_url: \"http://h/v1\" } }\n",
        &["connections.yaml:1:34: "],
    );
    check(
        "connections:\n  local:\n    dialect: openai-chat\n",
        &["connections.yaml:2:3: `local` needs `base_url`"],
    );
    check("connections: [\n", &["connections.yaml:"]);
    check("", &["no connection to a model server yet", "base_url: http://127.0.0.1:8080/v1"]);
    let key = "connections: { local: { dialect: openai-chat, base_url: \"http://127.0.0.1:1\", key: \"{env:NO_SUCH}\" } }\n";
    check(key, &["the variable NO_SUCH is not set", "connections.yaml:1:84: "]);
    let command = "connections: { local: { dialect: openai-chat, base_url: \"http://127.0.0.1:1\", key_cmd: \"exit 3\" } }\n";
    check(command, &["key_cmd"]);
    assert!(server.requests().is_empty());
}

#[test]
fn input_that_is_no_text() {
    let ran = wrong(
        Session {
            program: Some("bash"),
            argv: &["-c", concat!("printf '\\xff\\xfe' | ", env!("CARGO_BIN_EXE_lembas"), " run")],
            ..Session::default()
        },
        &["Standard input cannot be read as text"],
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

/// Runs a shell line that closes an output of the program early, and asserts that it ends well and soon.
fn closed(line: &str) {
    let words = (0..2000).map(|number| format!("word {number} ")).collect::<String>();
    let scenario = Scenario::new()
        .reply(Reply { delay_ms: 100, ..Reply::call("read", json!({"path": "a.txt"})) })
        .reply(Reply::call("write", json!({"path": "b.txt", "content": "made\n"})))
        .reply(Reply::text(words.repeat(20)));
    check(Session {
        files: &[("a.txt", "alpha\n")],
        config: "mode: edit\n",
        scenario,
        program: Some("bash"),
        argv: &["-c", &line.replace("LEMBAS", LEMBAS)],
        files_after: Some(&[("a.txt", "alpha\n"), ("b.txt", "made\n")]),
        ..Session::default()
    });
}

#[test]
fn a_reader_that_goes_away_stops_nothing() {
    closed("LEMBAS run hello | true; exit ${PIPESTATUS[0]}");
    closed("LEMBAS run --json hello | head -c 9 >/dev/null; exit ${PIPESTATUS[0]}");
    closed("LEMBAS run hello 2> >(true) | true; exit ${PIPESTATUS[0]}");
    closed("LEMBAS run --json hello >&- 2>&-");
}

/// Runs a shell line that makes things and starts LEMBAS, and asserts that it ends, with this code, and says `part`.
fn not_waited_for(line: &str, code: i32, part: &str) {
    let server = Server::start(Scenario::new().reply(Reply::text("ok"))).unwrap();
    let line = line.replace("LEMBAS", LEMBAS).replace("STATE", "$LEMBAS_HOME/state");
    let ran = Home::new(&server, "").run_with("bash", &["-c", &line], None, LIMIT);
    assert_eq!((ran.code, ran.late), (Some(code), None), "{line}: {}", ran.stderr);
    assert!(ran.stderr.contains(part), "no {part:?} in\n{}", ran.stderr);
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    not_waited_for("mkfifo .git; LEMBAS run hello", 0, "");
    not_waited_for("mkdir .git; mkfifo .git/HEAD; LEMBAS run hello", 0, "");
    let left_out = "AGENTS.md was left out: it is not a regular file";
    not_waited_for("mkfifo AGENTS.md; LEMBAS trust; LEMBAS run hello", 0, left_out);
    let replay = "the recording cannot be read: it is not a regular file";
    not_waited_for("mkfifo r; LEMBAS run --replay r hello", 2, replay);
    not_waited_for("LEMBAS run --replay /dev/zero hello", 2, replay);
    let spec = "x.json: it is not a regular file";
    not_waited_for("mkdir h; mkfifo h/x.json; LEMBAS run --harness h hello", 2, spec);
    not_waited_for("LEMBAS run --harness /dev hello", 2, "");
    let trust = "trust.json: cannot be read: it is not a regular file";
    not_waited_for("mkdir STATE; mkfifo STATE/trust.json; LEMBAS run hello", 2, trust);
}

#[test]
fn a_model_without_tools_is_offered_none() {
    let server = Server::start(Scenario::new().reply(Reply::text("ok"))).unwrap();
    let home = Home::new(&server, "");
    let models = "[ { id: test-model, tools: false } ]";
    let url = server.url();
    home.configure(
        "connections.yaml",
        &format!("connections: {{ local: {{ dialect: openai-chat, base_url: \"{url}/v1\", models: {models} }} }}\n"),
    );
    let ran = home.run(&["run", "hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(server.requests()[0].json().get("tools").is_none());
}
