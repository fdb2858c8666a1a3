//! A person who interrupts: the run ends soon, nothing it started stays, and what had come is printed.

use crate::process::{LIMIT, Ran};
use crate::support::{Home, LEMBAS};
use lembas_scripted_server::{Reply, Scenario, Server, Step};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Silence that no test waits out.
const LONG: u64 = 600_000;

/// When a run is interrupted.
enum When<'a> {
    /// Once its events hold this.
    Said(&'a str),
    /// Once the project has this file.
    Made(&'a str),
}

/// Starts a run in auto mode against these replies and sends it signals, with a short moment between them.
fn interrupted(replies: Vec<Reply>, connection: &str, when: When, signals: &[Signal]) -> Ran {
    let server = Server::start(Scenario { replies, ..Scenario::new() }).unwrap();
    let home = Home::at(&server.url(), connection, "");
    let mut running = home.start(LEMBAS, &["run", "--json", "--mode", "auto", "go"], Stdio::null());
    match when {
        When::Said(part) => running.wait_for(part),
        When::Made(name) => soon(|| home.project().join(name).exists()),
    }
    for (number, signal) in signals.iter().enumerate() {
        if number > 0 {
            std::thread::sleep(Duration::from_millis(100));
        }
        running.signal(*signal);
    }
    let ran = running.finish(LIMIT);
    assert_eq!((ran.code, ran.late), (Some(130), None), "{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// Waits until something holds, or for the limit.
fn soon(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that no process has this among its arguments, or soon has not.
fn nothing_runs(marker: &str) {
    let runs = || {
        let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let folder = entry.ok()?.path();
            // A process that has ended and was not waited for yet has no arguments any more.
            let line = fs::read(folder.join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(marker).then_some(line)
        });
        found.collect::<Vec<_>>()
    };
    soon(|| runs().is_empty());
    assert_eq!(runs(), Vec::<String>::new());
}

#[test]
fn while_the_reply_streams() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let reply = Reply::steps([Step::Text("half of it".into()), Step::DelayMs(LONG)]);
        let ran = interrupted(vec![reply], "", When::Said("half of it"), &[signal]);
        let done = ran.all("done")[0];
        assert_eq!((&done["reason"], &done["answer"]), (&json!("cancelled"), &json!("half of it")));
    }
}

#[test]
fn what_had_come_is_printed() {
    let reply = Reply::steps([Step::Text("half of it".into()), Step::DelayMs(LONG)]);
    let server = Server::start(Scenario::new().reply(reply)).unwrap();
    let home = Home::new(&server, "");
    let running = home.start(LEMBAS, &["run", "go"], Stdio::null());
    assert!(server.wait_until(LIMIT, |requests| !requests.is_empty()));
    // The text is on its way; nothing tells from outside that it has arrived.
    std::thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    let ran = running.finish(LIMIT);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.late), (Some(130), "half of it\n", None));
}

#[test]
fn before_the_reply() {
    let reply = Reply { delay_ms: LONG, ..Reply::text("never") };
    let ran = interrupted(vec![reply], "", When::Said("\"step\""), &[Signal::INT]);
    assert_eq!(ran.all("done")[0]["reason"], "cancelled");
}

#[test]
fn while_it_waits_to_try_again() {
    let headers = [("retry-after".to_owned(), "60".to_owned())].into();
    let reply = Reply { headers, ..Reply::body(429, json!({"error": {"message": "slow down"}})) };
    let ran = interrupted(vec![reply], "", When::Said("\"step\""), &[Signal::INT]);
    assert_eq!(ran.all("done")[0]["reason"], "cancelled");
}

/// Returns a time to sleep, long and like no other's, by which a process is found.
fn marked(number: u32) -> String {
    format!("300.{number:02}{:08}", std::process::id())
}

/// Returns a call of two commands that sleep for so long.
fn sleeps(before: &str, time: &str) -> Vec<Reply> {
    let command = format!("{before} touch begun; sleep {time} & sleep {time}; echo after");
    vec![Reply::call("bash", json!({ "command": command }))]
}

#[test]
fn while_a_command_runs() {
    let ran = interrupted(sleeps("", &marked(1)), "", When::Made("begun"), &[Signal::INT]);
    let end = ran.all("tool_end")[0];
    assert!(end["output"].as_str().unwrap().contains("[stopped by the user]"), "{end}");
    assert_eq!(ran.all("done")[0]["reason"], "cancelled");
    nothing_runs(&marked(1));
}

#[test]
fn a_second_time() {
    let stubborn = sleeps("trap '' TERM INT HUP;", &marked(2));
    let ran = interrupted(stubborn, "", When::Made("begun"), &[Signal::INT, Signal::INT]);
    // The moment that a command gets after the first signal is not waited out: the call has no end.
    assert!(ran.all("tool_end").is_empty(), "{}", ran.stdout);
    nothing_runs(&marked(2));
}

#[test]
fn while_a_key_is_fetched() {
    let connection = format!("key_cmd: touch begun; exec sleep {}", marked(3));
    interrupted(vec![], &connection, When::Made("begun"), &[Signal::INT]);
    nothing_runs(&marked(3));
}

/// Commands that leave processes where a signal to a group does not reach them; `N` is how long they sleep.
const LEAVING: [&str; 3] = [
    "sleep N & touch begun; sleep N; true",
    "setsid sleep N & (setsid sh -c 'sleep N; true' &); touch begun; sleep N; true",
    "trap '' TERM HUP INT; sleep N & touch begun; sleep N; true",
];

#[test]
fn killed() {
    for (number, line) in LEAVING.iter().enumerate() {
        let marker = marked(40 + u32::try_from(number).unwrap());
        let reply = Reply::call("bash", json!({ "command": line.replace('N', &marker) }));
        let server = Server::start(Scenario::new().reply(reply)).unwrap();
        let home = Home::new(&server, "");
        let running = home.start(LEMBAS, &["run", "--json", "--mode", "auto", "go"], Stdio::null());
        soon(|| home.project().join("begun").exists());
        running.signal(Signal::KILL);
        let ran = running.finish(LIMIT);
        assert_eq!((ran.code, ran.late), (None, None), "{}", ran.stderr);
        nothing_runs(&marker);
    }
}

#[test]
fn jobs_end_with_a_hangup() {
    for (number, line) in LEAVING.iter().enumerate() {
        let marker = marked(50 + u32::try_from(number).unwrap());
        let line = line.replace('N', &marker);
        let replies = vec![
            Reply::call("bash", json!({ "command": line, "background": true })),
            Reply::steps([Step::Text("half".into()), Step::DelayMs(LONG)]),
        ];
        interrupted(replies, "", When::Said("half"), &[Signal::HUP]);
        nothing_runs(&marker);
    }
}
