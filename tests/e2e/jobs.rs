//! Commands of a session: what is told while they run, what goes on after them, and where the next one starts.

use crate::process::LIMIT;
use crate::support::{Home, LEMBAS, Session, check};
use lembas_scripted_server::{Reply, Scenario, Server};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

fn bash(arguments: Value) -> Reply {
    Reply::call("bash", arguments)
}

#[test]
fn output_is_told_while_it_comes() {
    let line = "echo one; until [ -e go ]; do sleep 0.02; done; echo two";
    let scenario = Scenario::new().reply(bash(json!({"command": line}))).reply(Reply::text("ok"));
    let server = Server::start(scenario).unwrap();
    let home = Home::new(&server, "");
    let mut running = home.start(LEMBAS, &["run", "--json", "--mode", "auto", "go"], Stdio::null());
    running.wait_for("\"tool_output\"");
    fs::write(home.project().join("go"), "").unwrap();
    let ran = running.finish(LIMIT);
    let (told, end) = (ran.all("tool_output")[0], ran.all("tool_end")[0]);
    assert_eq!((&told["id"], &told["text"]), (&end["id"], &json!("one\n")));
    assert_eq!((end["output"].as_str(), ran.code), (Some("one\ntwo"), Some(0)));
}

#[test]
fn a_job_from_its_start_to_its_end() {
    let job = |tool: &str| Reply::call(tool, json!({"job": "job1"}));
    let until = json!({"job": "job1", "until": "ready"});
    let (ran, _) = check(Session {
        scenario: Scenario::new()
            .reply(bash(
                json!({"command": "sleep 0.3; echo ready; sleep 4731", "background": true}),
            ))
            .reply(Reply::call("bash_output", until))
            .reply(Reply::call("bash_list", json!({})))
            .reply(job("bash_kill"))
            .reply(job("bash_output"))
            .reply(Reply::text("done")),
        argv: &["run", "--json", "--mode", "auto", "serve"],
        results: Some(&[
            "[runs as the job `job1`;",
            "ready\n[job1: running for ",
            "job1: running for ",
            "job1 was ended.",
            "[job1: ended by signal 15; no new output; cursor 6]",
        ]),
        ..Session::default()
    });
    assert_eq!(ran.all("tool_denied").len(), 0);
}

#[test]
fn jobs_may_be_looked_at_in_every_mode() {
    for mode in ["plan", "manual", "edit", "auto"] {
        check(Session {
            scenario: Scenario::new()
                .reply(bash(json!({"command": "sleep 4732", "background": true})))
                .reply(Reply::call("bash_kill", json!({"job": "job1"})))
                .reply(Reply::text("done")),
            argv: &["run", "--mode", mode, "wait"],
            results: Some(&["[runs as the job `job1`;", "job1 was ended."]),
            ..Session::default()
        });
    }
}

#[test]
fn where_a_command_ends_the_next_one_is_judged_and_starts() {
    check(Session {
        files: &[("sub/a.txt", "in sub\n"), ("a.txt", "in the project\n")],
        config: "permission: { read: { \"sub/b.txt\": deny } }\n",
        scenario: Scenario::new()
            .reply(bash(json!({"command": "cd sub && ls"})))
            .reply(bash(json!({"command": "cat a.txt"})))
            .reply(bash(json!({"command": "cat b.txt"})))
            .reply(bash(json!({"command": "cat a.txt", "workdir": "."})))
            .reply(Reply::call("read", json!({"path": "a.txt"})))
            .reply(Reply::text("done")),
        argv: &["run", "look"],
        results: Some(&[
            "a.txt\n[the next command starts in sub]",
            "in sub",
            "sub/b.txt",
            "in the project",
            "1\tin the project",
        ]),
        ..Session::default()
    });
}

#[test]
fn a_long_output_may_be_read_unasked() {
    for mode in ["plan", "manual", "auto"] {
        check(Session {
            scenario: Scenario::new()
                .reply(bash(json!({"command": "seq 1 20000"})))
                .reply(bash(json!({"command": "sed -n 12345p ~/.lembas/state/output/*/1.txt"})))
                .reply(Reply::text("done")),
            argv: &["run", "--mode", mode, "look"],
            results: Some(&["all of the output is in ", "12345"]),
            ..Session::default()
        });
    }
}

#[test]
fn a_job_may_be_looked_at_again_and_again() {
    let mut scenario =
        Scenario::new().reply(bash(json!({"command": "sleep 4733", "background": true})));
    let look = || Reply::call("bash_output", json!({"job": "job1", "wait_ms": 0}));
    scenario.replies.extend((0..8).map(|_| look()));
    let (ran, _) = check(Session {
        scenario: scenario.reply(Reply::text("done")),
        argv: &["run", "--json", "--mode", "auto", "look"],
        ..Session::default()
    });
    assert_eq!((ran.all("tool_denied").len(), ran.all("tool_end").len()), (0, 9));
}
