//! Calls that do not fit: each becomes a result that says what is wrong, and the work goes on.

use crate::support::{Session, check};
use lembas_scripted_server::{Call, Reply, Scenario, Step};
use serde_json::{Value, json};

/// Asserts what the model is told of a call, and that an answer follows. `arguments` may be text that is no JSON.
fn check_call(name: &str, arguments: Value, events: &[&str], part: &str) -> String {
    let (_, requests) = check(Session {
        files: &[("a.txt", "alpha\nbeta\n")],
        scenario: Scenario::new()
            .reply(Reply::call(name, arguments))
            .reply(Reply::text("understood")),
        argv: &["run", "--json", "--mode", "auto", "go"],
        files_after: Some(&[("a.txt", "alpha\nbeta\n")]),
        events,
        results: Some(&[part]),
        ..Session::default()
    });
    crate::support::results(&requests).remove(0)
}

/// Asserts that a call does not run, and why.
fn does_not_run(name: &str, arguments: Value, why: &str) -> String {
    check_call(name, arguments, &["tool_denied", "step", "text", "done"], why)
}

#[test]
fn arguments_that_do_not_fit() {
    does_not_run("read", json!("{\"path\": "), "arguments are not JSON");
    does_not_run("read", json!("[1]"), "arguments are JSON but no object");
    does_not_run("read", json!({"path": "a.txt", "mood": 1}), "'mood'");
    does_not_run("read", json!({"path": "a.txt", "offset": "two"}), "offset: ");
    does_not_run("read", json!({"path": 7}), "path: ");
    does_not_run("read", json!({}), "\"path\"");
    does_not_run("read", json!({"path": "a.txt", "offset": 0}), "offset: ");
    does_not_run("bash", json!({"command": ""}), "command: ");
    does_not_run("apply_patch", json!({"patch": "change a.txt"}), "This is no patch");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\nalpha\n*** End Patch\n";
    does_not_run("apply_patch", json!({"patch": patch}), "Line 4 of the patch: `alpha`");
    let both = does_not_run("edit", json!({"path": "a.txt", "old": 1}), "old: ");
    assert!(both.contains("\"new\""), "{both}");
}

#[test]
fn tools_that_are_not_there() {
    let said =
        does_not_run("teleport", json!({}), "There is no tool named \"teleport\". The tools are: ");
    for tool in [
        "apply_patch",
        "bash",
        "bash_output",
        "bash_list",
        "bash_kill",
        "edit",
        "glob",
        "grep",
        "list",
        "multiedit",
        "read",
        "write",
    ] {
        assert!(said.contains(tool), "{said}");
    }
}

#[test]
fn former_names_still_work() {
    let runs = |name: &str, arguments: Value, part: &str| {
        check_call(name, arguments, &["tool_start", "tool_end", "text", "done"], part)
    };
    runs("read_file", json!({"file_path": "a.txt"}), "1\talpha");
    runs("view", json!({"filename": "a.txt", "start_line": 2}), "2\tbeta");
    runs("run_shell_command", json!({"cmd": "echo hi", "description": "greets"}), "hi");
    runs("grep_search", json!({"query": "bet", "include": "*.txt"}), "beta");
    // Given twice, which of the two is meant is not guessed.
    does_not_run(
        "read",
        json!({"file_path": "b.txt", "path": "a.txt"}),
        "'file_path' was unexpected",
    );
}

#[test]
fn a_wrong_value_is_not_sent_back() {
    let content = json!({"text": "x".repeat(100_000)});
    let said = does_not_run("write", json!({"path": "b.txt", "content": content}), "content: ");
    assert!(said.len() < 500, "{said}");
}

#[test]
fn what_fits_runs_beside_what_does_not() {
    check(Session {
        files: &[("a.txt", "alpha\n")],
        scenario: Scenario::new()
            .reply(Reply::steps([
                Step::call("read", json!({"path": "a.txt"})),
                Step::call("read", json!("{")),
                Step::call("read", json!({"path": "b.txt"})),
            ]))
            .reply(Reply::text("understood")),
        argv: &["run", "--json", "go"],
        results: Some(&["1\talpha", "not JSON", "There is no file b.txt"]),
        ..Session::default()
    });
}

#[test]
fn names_and_ids_no_server_would_take_back() {
    let call = |name: &str, id: Option<&str>| {
        let arguments = json!({"path": "a.txt"});
        Step::Call(Call { name: name.into(), arguments, id: id.map(str::to_owned) })
    };
    let goes_on = |steps: Vec<Step>, results: &[&str]| {
        check(Session {
            files: &[("a.txt", "alpha\n")],
            scenario: Scenario::new().reply(Reply::steps(steps)).reply(Reply::text("understood")),
            argv: &["run", "--json", "go"],
            results: Some(results),
            ..Session::default()
        });
    };
    goes_on(
        vec![call("read", Some("same")), call("list", Some("same"))],
        &["1\talpha", "a.txt is a file"],
    );
    goes_on(vec![call("read", Some(""))], &["1\talpha"]);
    goes_on(vec![call("no such tool!", None)], &["There is no tool named"]);
    goes_on(vec![call(&"long".repeat(40), None)], &["There is no tool named"]);
    goes_on(vec![call("", None)], &["There is no tool named"]);
}
