//! The program: its line, its log and its refusals.

use crate::client::{Client, body};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, net::SocketAddr};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-server"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running program, killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn serves_and_logs() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, log) = (folder.path().join("a.json"), folder.path().join("log.jsonl"));
    fs::write(&scenario, json!({"replies": [{"steps": [{"text": "hello"}]}]}).to_string()).unwrap();
    let mut running = Running(
        program(&["--scenario", text(&scenario), "--port", "0", "--log", text(&log)])
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(running.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address: SocketAddr =
        line.trim_end().strip_prefix("listening on http://").unwrap().parse().unwrap();
    let mut client = Client::to(address);
    assert!(client.ask(&body("hi")).text().contains("hello"));
    client.send(b"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Length: 1\r\n\r\n\xff");
    assert_eq!(client.answer().status, 400);
    assert_eq!(client.ask(&body("hi")).status, 500);
    drop(client);
    let lines = wait_for_lines(&log, 3);
    assert_eq!(
        (&lines[0]["request"], &lines[0]["reply"], &lines[0]["end"]),
        (&json!(0), &json!(0), &json!("complete"))
    );
    assert_eq!(lines[0]["body"], body("hi").to_string());
    assert_eq!(
        (&lines[0]["method"], &lines[0]["path"]),
        (&json!("POST"), &json!("/v1/chat/completions"))
    );
    assert!(
        lines[0]["unix_us"].is_u64() && lines[0]["at_us"].as_u64() <= lines[0]["end_us"].as_u64()
    );
    assert_eq!(
        (&lines[1]["headers"]["Authorization"], &lines[1]["body_b64"]),
        (&json!("***"), &json!("/w=="))
    );
    assert!(lines[1]["violation"].as_str().unwrap().starts_with("content-type"));
    assert!(lines[2]["unexpected"].as_str().unwrap().contains("no reply left"));
}

/// Waits for the log to have so many lines: the last is written after its answer has arrived.
fn wait_for_lines(log: &Path, count: usize) -> Vec<Value> {
    loop {
        let text = fs::read_to_string(log).unwrap();
        if text.matches('\n').count() >= count {
            return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        std::thread::yield_now();
    }
}

#[test]
fn refuses_what_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.json");
    fs::write(&bad, "{\"replies\": [{}]}").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&[], "usage:"),
        (&["--scenario"], "usage:"),
        (&["--what", "x"], "usage:"),
        (&["--scenario", "/no/such/file"], "/no/such/file:"),
        (&["--port", "many", "--scenario", text(&bad)], "\"many\" is no port"),
        (&["--scenario", text(&bad)], "replies[0] needs either steps or a body"),
    ];
    for (arguments, part) in cases {
        let output = program(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.contains(part)),
            (Some(2), true),
            "{arguments:?}: {said}"
        );
    }
}
