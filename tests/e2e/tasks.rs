//! Whole tasks: several calls, what they leave behind, and what the model and the reader of the events are told.

use crate::process::Ran;
use crate::support::{HARNESS, Session, check, messages, results};
use lembas_scripted_server::{Reply, Scenario, Step};
use serde_json::{Value, json};
use std::fs;

/// Returns the fixed words at the start and at the end of a text of the spec.
fn words(text: &str) -> (String, String) {
    let text = fs::read_to_string(format!("{HARNESS}/prompts/{text}")).unwrap();
    let start = text.split(['{', '\n']).next().unwrap().to_owned();
    (start, text.trim_end().rsplit('}').next().unwrap().to_owned())
}

/// Asserts that a text is the one of the spec, whatever was filled in.
fn is_text(said: &Value, text: &str) {
    let (said, (start, end)) = (said.as_str().unwrap(), words(text));
    assert!(said.starts_with(&start) && said.ends_with(&end), "{said} is not {text}");
}

fn call(name: &str, arguments: Value) -> Reply {
    Reply::call(name, arguments)
}

/// Asserts what was told of the call that was denied before it was.
fn was_asked_about(ran: &Ran, denied: &Value) {
    let approval = ran.all("approval")[0];
    let told = [
        ("reason", "No rule allows: make test"),
        ("title", "make test"),
        ("purpose", "run the tests"),
        ("name", "bash"),
    ];
    told.iter().for_each(|(key, value)| assert_eq!(approval[key], *value));
    assert_eq!((&approval["id"], &approval["trace"]), (&denied["id"], &denied["trace"]));
    assert_eq!(approval["always"], json!([{"tool": "bash", "pattern": "make test *"}]));
}

#[test]
fn five_calls_one_of_them_refused() {
    let scenario = Scenario::new()
        .reply(call("grep", json!({"pattern": "fn add"})))
        .reply(call("read", json!({"path": "src/lib.rs"})))
        .reply(call("edit", json!({"path": "src/lib.rs", "old": "a - b", "new": "a + b"})))
        .reply(call("bash", json!({"command": "cat src/lib.rs"})))
        .reply(call("bash", json!({"command": "make test", "purpose": "run the tests"})))
        .reply(Reply::text("Mended; `make test` was refused."));
    let (ran, requests) = check(Session {
        files: &[("src/lib.rs", "fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n")],
        scenario,
        argv: &["run", "--json", "--mode", "edit", "mend add"],
        files_after: Some(&[("src/lib.rs", "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n")]),
        events: &[
            "model",
            "mode",
            "prompt",
            "step",
            "tool_start",
            "tool_end",
            "step",
            "tool_start",
            "tool_end",
            "step",
            "tool_start",
            "tool_end",
            "step",
            "tool_start",
            "tool_end",
            "step",
            "approval",
            "tool_denied",
            "step",
            "text",
            "done",
        ],
        results: Some(&[
            "src/lib.rs\n1:fn add",
            "2\t    a - b",
            "Edited src/lib.rs, line 2.",
            "    a + b",
            "Refused: this call needs an approval",
        ]),
        ..Session::default()
    });
    let denied = ran.all("tool_denied")[0];
    is_text(&denied["reason"], "blocks/refused-unattended.md");
    assert_eq!(denied["title"], "make test");
    assert!(!denied["trace"].as_array().unwrap().is_empty(), "{denied}");
    was_asked_about(&ran, denied);
    assert_eq!(results(&requests)[4], denied["reason"].as_str().unwrap());
    let done = ran.all("done")[0];
    assert_eq!(
        (&done["reason"], &done["answer"], &done["steps"]),
        (&json!("answered"), &json!("Mended; `make test` was refused."), &json!(6))
    );
    assert_eq!(ran.all("model")[0]["ref"], "local/test-model");
    assert_eq!(ran.all("mode")[0]["mode"], "edit");
    // The block of tools and the growing messages were compared between six requests, not between none.
    let tools = requests.iter().map(|each| each.json()["tools"].as_array().map_or(0, Vec::len));
    let all = fs::read_dir(format!("{HARNESS}/tools")).unwrap().count();
    assert_eq!(tools.collect::<Vec<_>>(), [all; 6]);
}

#[test]
fn text_for_a_person() {
    let (ran, _) = check(Session {
        scenario: Scenario::new()
            .reply(Reply::steps([
                Step::Text("I look first.".into()),
                Step::call("read", json!({"path": "a.txt"})),
                Step::call("bash", json!({"command": "make test"})),
            ]))
            .reply(Reply::text("The answer\nhas two lines.")),
        argv: &["run", "what", "is", "it?"],
        stderr: &[
            "I look first.",
            "> read a.txt",
            "! read: There is no file a.txt.",
            "x make test: Refused",
        ],
        ..Session::default()
    });
    assert_eq!(ran.stdout, "The answer\nhas two lines.\n");
}

#[test]
fn four_reads_side_by_side_keep_their_order() {
    let names = ["d", "b", "c", "a"];
    let reads = names.map(|name| Step::call("read", json!({ "path": name })));
    check(Session {
        files: &[("a", "one\n"), ("b", "two\n"), ("c", "three\n"), ("d", "four\n")],
        scenario: Scenario::new().reply(Reply::steps(reads)).reply(Reply::text("read")),
        argv: &["run", "--json", "read them"],
        events: &["tool_end", "tool_end", "tool_end", "tool_end", "step"],
        results: Some(&["1\tfour", "1\ttwo", "1\tthree", "1\tone"]),
        ..Session::default()
    });
}

#[test]
fn two_edits_of_one_file_in_one_reply() {
    let edit =
        |old: &str, new: &str| Step::call("edit", json!({"path": "a", "old": old, "new": new}));
    check(Session {
        files: &[("a", "one\ntwo\n")],
        config: "mode: edit\n",
        scenario: Scenario::new()
            .reply(Reply::steps([edit("one", "1"), edit("two", "2")]))
            .reply(Reply::text("done")),
        argv: &["run", "--json", "number them"],
        files_after: Some(&[("a", "1\n2\n")]),
        results: Some(&["Edited a, line 1.", "Edited a, line 2."]),
        ..Session::default()
    });
}

/// Asserts what the model is told of one call, made with these files there.
fn told(bytes: &[(&str, &[u8])], name: &str, arguments: Value, part: &str) {
    check(Session {
        bytes,
        scenario: Scenario::new().reply(call(name, arguments)).reply(Reply::text("so it is")),
        argv: &["run", "--json", "look"],
        events: &["tool_start", "tool_end", "done"],
        results: Some(&[part]),
        ..Session::default()
    });
}

#[test]
fn files_that_cannot_be_read_as_text() {
    told(
        &[("lib.rs", b"x")],
        "read",
        json!({"path": "lib.rz"}),
        "There is no file lib.rz. Did you mean lib.rs?",
    );
    told(&[("d/a", b"x")], "read", json!({"path": "d"}), "d is a directory. It holds:\na");
    told(
        &[("a", b"\x7fELF\0\0\x01")],
        "read",
        json!({"path": "a"}),
        "a is a binary file (7 bytes)",
    );
    told(&[("a", b"caf\xe9\n")], "read", json!({"path": "a"}), "a is not UTF-8");
    told(
        &[("a", b"x\n")],
        "read",
        json!({"path": "a", "offset": 9}),
        "a has 1 line; there is no line 9",
    );
    told(&[("a", b"x\n")], "bash", json!({"command": "cat b"}), "[exit code 1]");
}

/// Asserts that one call is refused with a text of the spec and that nothing was changed.
fn refused(mode: &str, name: &str, arguments: Value, text: &str) {
    let (ran, requests) = check(Session {
        files: &[("a", "old\n")],
        scenario: Scenario::new().reply(call(name, arguments)).reply(Reply::text("it was refused")),
        argv: &["run", "--json", "--mode", mode, "try"],
        files_after: Some(&[("a", "old\n")]),
        events: &["tool_denied", "step", "done"],
        ..Session::default()
    });
    let denied = ran.all("tool_denied")[0];
    is_text(&denied["reason"], text);
    assert!(!denied["trace"].as_array().unwrap().is_empty(), "{denied}");
    is_text(&messages(&requests).last().unwrap()["content"], text);
}

#[test]
fn refusals() {
    refused("auto", "bash", json!({"command": "rm -rf /"}), "blocks/refused-hardline.md");
    refused(
        "auto",
        "bash",
        json!({"command": "FOO=1 sudo env rm -fr \"/\""}),
        "blocks/refused-hardline.md",
    );
    refused("plan", "write", json!({"path": "a", "content": "new\n"}), "blocks/refused-mode.md");
    refused("plan", "bash", json!({"command": "touch a"}), "blocks/refused-mode.md");
    refused(
        "manual",
        "write",
        json!({"path": "a", "content": "new\n"}),
        "blocks/refused-unattended.md",
    );
}

#[test]
fn a_written_rule_refuses_in_every_mode() {
    let (ran, _) = check(Session {
        config: "permission:\n  bash:\n    \"touch *\": deny\n",
        scenario: Scenario::new()
            .reply(call("bash", json!({"command": "env touch a"})))
            .reply(Reply::text("it was refused")),
        argv: &["run", "--json", "--mode", "auto", "try"],
        files_after: Some(&[]),
        ..Session::default()
    });
    is_text(&ran.all("tool_denied")[0]["reason"], "blocks/refused-rule.md");
}

#[test]
fn instructions_count_only_in_a_trusted_project() {
    for trusted in [false, true] {
        let (_, requests) = check(Session {
            files: &[("AGENTS.md", "Always whistle.\n")],
            trusted,
            scenario: Scenario::new().reply(Reply::text("ok")),
            argv: &["run", "hello"],
            stdout: &["ok\n"],
            ..Session::default()
        });
        let system = messages(&requests)[0]["content"].to_string();
        assert_eq!(system.contains("Always whistle."), trusted, "{system}");
    }
}

#[test]
fn a_link_made_in_the_same_reply_opens_no_way_out() {
    check(Session {
        files: &[("a.txt", "a\n")],
        config: "permission: { edit: { \"**/outside/**\": deny } }\n",
        scenario: Scenario::new()
            .reply(Reply::steps([
                Step::call("bash", json!({"command": "ln -s ../outside d"})),
                Step::call("write", json!({"path": "d/x", "content": "x"})),
            ]))
            .reply(Reply::text("ok")),
        argv: &["run", "--json", "--mode", "auto", "go"],
        events: &["tool_start", "tool_end", "tool_denied", "done"],
        stdout: &["outside"],
        ..Session::default()
    });
}

#[test]
fn what_was_judged_is_what_is_written() {
    let swaps = [
        "rm a.txt; ln -s ../outside/a.txt a.txt",
        "rm a.txt; ln -s ../outside/none.txt a.txt",
        "rm src/a.txt; rmdir src; ln -s ../outside src",
    ];
    for (swap, path) in swaps.into_iter().zip(["a.txt", "a.txt", "src/a.txt"]) {
        let swap = format!("mkdir ../outside; echo kept > ../outside/a.txt; {swap}");
        let (ran, _) = check(Session {
            files: &[("a.txt", "a\n"), ("src/a.txt", "a\n")],
            scenario: Scenario::new()
                .reply(Reply::steps([
                    Step::call("bash", json!({"command": swap})),
                    Step::call("write", json!({"path": path, "content": "written"})),
                    Step::call("bash", json!({"command": "tail -n 9 ../outside/*"})),
                ]))
                .reply(Reply::text("ok")),
            argv: &["run", "--json", "--mode", "auto", "go"],
            events: &["tool_start", "tool_end", "tool_denied", "tool_start", "tool_end", "done"],
            stdout: &["\"output\":\"kept\""],
            ..Session::default()
        });
        is_text(&ran.all("tool_denied")[0]["reason"], "blocks/call-moved.md");
    }
}

#[test]
fn a_search_keeps_what_a_rule_denies() {
    let (ran, _) = check(Session {
        files: &[(".env", "TOKEN=hunter2\n"), ("a.txt", "TOKEN is read\n")],
        scenario: Scenario::new()
            .reply(call("grep", json!({"pattern": "TOKEN"})))
            .reply(Reply::text("ok")),
        argv: &["run", "--json", "--mode", "auto", "go"],
        config: "permission: { read: { \"*.env\": deny } }\n",
        stdout: &["TOKEN is read"],
        ..Session::default()
    });
    assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
}

#[test]
fn a_key_goes_no_further_than_its_server() {
    let (ran, requests) = check(Session {
        files: &[("key.txt", "sk-secret-12345\n")],
        connection: "key: sk-secret-12345",
        scenario: Scenario::new()
            .reply(call("read", json!({"path": "key.txt"})))
            .reply(Reply::text("ok")),
        argv: &["run", "--json", "--mode", "auto", "go"],
        stdout: &["[redacted]"],
        ..Session::default()
    });
    let told =
        requests.iter().any(|request| String::from_utf8_lossy(&request.body).contains("sk-secret"));
    assert!(!told && !ran.stdout.contains("sk-secret"), "{}", ran.stdout);
}

#[test]
fn nothing_a_model_says_steers_the_terminal() {
    check(Session {
        files: &[("a.txt", "a\n")],
        scenario: Scenario::new()
            .reply(call("read", json!({"path": "no\u{1b}[2Jsuch\nfile"})))
            .reply(Reply::text("ok")),
        argv: &["run", "--mode", "auto", "go"],
        stdout: &["ok"],
        stderr: &["> read no\\u{1b}[2Jsuch\n"],
        absent: &["\u{1b}"],
        ..Session::default()
    });
}
