//! What a person allows, for a run or for good: it makes calls run, beats no deny, and can be taken back.

use crate::process::{LIMIT, Ran};
use crate::support::{Home, LEMBAS, Session, check, write};
use jsonschema::validator_for;
use lembas_scripted_server::{Reply, Scenario, Server};
use serde_json::{Value, json};
use std::fs;

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

/// Returns the session in which a model runs a command, in manual mode.
fn runs<'a>(command: &str, argv: &'a [&'a str]) -> Session<'a> {
    let scenario = Scenario::new().reply(bash(command)).reply(Reply::text("ok"));
    Session { scenario, argv, ..Session::default() }
}

/// Asserts that a command of the program ends with a code and says something.
fn says(home: &Home, arguments: &[&str], code: i32, parts: &[&str]) -> Ran {
    let ran = home.run(arguments);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments:?} does not say {part:?}: {said}");
    }
    ran
}

#[test]
fn what_is_allowed_for_a_run_runs_with_its_like() {
    let argv = ["run", "--json", "--allow", "touch a", "--allow", "mkdir d", "go"];
    check(Session {
        events: &["tool_start", "tool_end", "done"],
        files_after: Some(&[("b", "")]),
        ..runs("touch b", &argv)
    });
    let (ran, _) = check(Session {
        events: &["approval", "tool_denied", "done"],
        files_after: Some(&[]),
        ..runs("touch b && unlink b", &argv)
    });
    let approval = ran.all("approval")[0];
    assert_eq!(approval["reason"], "No rule allows: unlink b");
    assert_eq!(approval["trace"][0]["from"], "--allow", "{approval}");
}

#[test]
fn a_written_deny_beats_what_is_allowed() {
    let argv = ["run", "--json", "--allow", "touch a", "go"];
    let config = "permission: { bash: { \"touch .env*\": deny } }\n";
    check(Session {
        config,
        events: &["tool_denied", "done"],
        files_after: Some(&[]),
        ..runs("env touch .env.local", &argv)
    });
}

#[test]
fn what_cannot_be_allowed_is_refused_before_anything_starts() {
    let refused = |line: &str, why: &str| {
        let server = Server::start(Scenario::new()).unwrap();
        let home = Home::new(&server, "permission: { bash: { \"git push *\": deny } }\n");
        let run = says(&home, &["run", "--allow", line, "go"], 2, &["allows nothing: ", why]);
        assert_eq!(run.stdout, "");
        says(&home, &["permission", "allow", line], 2, &["Nothing was stored for ", why]);
        assert!(!home.lembas().join("state/approvals.json").exists());
    };
    refused("echo a | sh", "It runs a text as commands: sh. That is asked about each time.");
    refused("make > b", "It writes to a file: make. That is asked about each time.");
    refused("git push", "says deny to: git push. An approval does not change that.");
    refused("sudo reboot", "It would shut the machine down. An approval does not change that.");
}

#[test]
fn what_is_allowed_for_good_counts_in_every_process_until_it_is_taken_back() {
    let turn = |scenario: Scenario| scenario.reply(bash("touch b")).reply(Reply::text("ok"));
    let server = Server::start((0..3).fold(Scenario::new(), |scenario, _| turn(scenario))).unwrap();
    let home = Home::new(&server, "");
    let kinds = || {
        let ran = home.run(&["run", "--json", "go"]);
        ran.types()
            .into_iter()
            .filter(|kind| ["approval", "tool_start", "tool_end", "tool_denied"].contains(kind))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(), ["approval", "tool_denied"]);
    says(&home, &["permission", "allow", "touch a"], 0, &["bash touch *"]);
    assert_eq!(kinds(), ["tool_start", "tool_end"]);
    says(&home, &["permission", "allow", "touch c"], 0, &["runs unasked already"]);
    says(&home, &["permission", "revoke", "touch"], 2, &["Did you mean `touch *`?"]);
    says(&home, &["permission", "revoke", "2"], 2, &["they go from 1 to 1"]);
    says(&home, &["permission", "revoke", "1"], 0, &["asked about again: bash touch *"]);
    assert_eq!(kinds(), ["approval", "tool_denied"]);
    says(&home, &["permission", "revoke", "--all"], 2, &["Nothing is allowed in "]);
    server.verify().unwrap();
}

#[test]
fn an_approval_counts_in_its_project_only() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "");
    for directory in [".git", "part", "inner/.git"] {
        fs::create_dir_all(home.project().join(directory)).unwrap();
    }
    says(&home, &["permission", "allow", "touch a"], 0, &[]);
    let decision = |directory: &str| {
        let line = format!("cd {directory} && \"$0\" permission explain --json 'touch x'");
        let ran = home.run_with("sh", &["-c", &line, LEMBAS], None, LIMIT);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["decision"].as_str().unwrap().to_owned()
    };
    assert_eq!(["part", "inner", "."].map(decision), ["allow", "ask", "allow"]);
}

#[test]
fn a_model_does_not_approve_itself() {
    let file = "../home/.lembas/state/approvals.json";
    for reply in [
        Reply::call("write", json!({"path": file, "content": "{}"})),
        bash("mkdir -p ~/.lembas/state && echo '{}' > ~/.lembas/state/approvals.json"),
        bash("ln -s /tmp ~/.lembas/state"),
        Reply::call("read", json!({"path": "../home/.lembas/config/connections.yaml"})),
        bash("cat ~/.lembas/config/connections.yaml"),
    ] {
        check(Session {
            scenario: Scenario::new().reply(reply).reply(Reply::text("ok")),
            argv: &["run", "--json", "--mode", "auto", "go"],
            events: &["approval", "tool_denied", "done"],
            stdout: &["the program"],
            ..Session::default()
        });
    }
}

#[test]
fn a_trace_says_which_line_asks() {
    let (ran, _) = check(Session {
        config: "permission:\n  bash:\n    \"touch *\": ask\n",
        ..runs("touch a", &["run", "--json", "--mode", "auto", "go"])
    });
    let step = &ran.all("approval")[0]["trace"][0];
    assert_eq!((&step["rule"], &step["line"]), (&json!("touch *"), &json!(4)));
    assert!(step["from"].as_str().unwrap().ends_with("config/config.yaml"), "{step}");
}

#[test]
fn the_list_says_what_counts_and_where_it_stands() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(
        &server,
        "permission:\n  bash:\n    \"make *\": allow\nhardline_disable: [power]\n",
    );
    write(
        &home.project().join(".agent/config.yaml"),
        b"permission:\n  bash: { \"make x\": deny }\n",
    );
    says(&home, &["permission", "allow", "touch a"], 0, &[]);
    let untrusted = [
        "switched off  harness/permission/hardline.json:",
        "harness/permission/defaults.json:",
        "allow  make *  ~/.lembas/config/config.yaml:4",
        ".agent/config.yaml does not count: the project is not trusted.",
        "1  bash  touch *  ~/.lembas/state/approvals.json:4  ",
        " for: touch a",
    ];
    let ran = says(&home, &["permission", "list"], 0, &untrusted);
    assert!(!ran.stdout.contains("make x"), "{}", ran.stdout);
    says(&home, &["trust"], 0, &[]);
    says(&home, &["permission", "list"], 0, &["deny  make x  ", ".agent/config.yaml:2"]);
    let ran = says(&home, &["permission", "list", "--json"], 0, &[]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    let schema = include_str!("../../schema/permissions.schema.json");
    let schema = validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&list).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(list["project_rules"]["rules"][0]["rule"], "make x");
}

#[test]
fn a_directory_that_is_no_project_says_so_in_the_list() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "");
    let program =
        |line: &str| home.run_with("sh", &["-c", &format!("cd && {line}"), LEMBAS], None, LIMIT);
    let ran = program("\"$0\" permission list");
    assert!(ran.stdout.contains("is too wide to be a project"), "{}", ran.stdout);
    let ran = program("\"$0\" permission allow 'touch a'");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("It was not stored: "), "{}", ran.stderr);
}

#[test]
fn a_damaged_list_of_approvals_stops_the_program() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "");
    write(
        &home.lembas().join("state/approvals.json"),
        b"{\n  \"projects\": {},\n  \"all\": true\n}\n",
    );
    let told = ["approvals.json:3:7: is damaged (unknown field `all`"];
    says(&home, &["run", "go"], 2, &told);
    says(&home, &["permission", "list"], 2, &told);
    says(&home, &["permission", "explain", "ls"], 2, &told);
    says(&home, &["permission", "revoke", "--all"], 2, &told);
}

#[test]
fn no_connection_is_needed_and_an_idle_rule_is_told() {
    let server = Server::start(Scenario::new()).unwrap();
    let home = Home::new(&server, "permission: { bsh: deny }\n");
    home.configure("connections.yaml", "connections: [\n");
    let ran = says(&home, &["permission", "explain", "ls"], 0, &["Did you mean `bash`?"]);
    assert!(!ran.stderr.contains("connections.yaml"), "{}", ran.stderr);
    says(&home, &["permission", "explain", "--mode", "turbo", "ls"], 2, &["There is no mode"]);
    says(&home, &["permission", "explain", "--tool", "bsh", "ls"], 2, &["Did you mean `bash`?"]);
}
