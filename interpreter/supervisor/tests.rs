//! Commands under supervision: how they end, what they leave, and that nothing stays.

use super::*;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

/// Plays the supervisor when this list of tests was started as one.
#[test]
fn supervise() {
    if std::env::args().any(|argument| argument == VERB) {
        run();
        std::process::exit(0);
    }
}

/// A command under supervision with its reports.
struct Started {
    supervised: Supervised,
    output: pipe::Receiver,
    line: Vec<u8>,
}

impl Started {
    async fn new(line: &str) -> Started {
        let argv = ["bash", "-c", line].map(str::to_owned).to_vec();
        let request = Request { argv, startup: None, grace_ms: 300, orphan_ms: 300 };
        let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
        let (supervised, output) = start(&request, Path::new("/"), path).await.unwrap();
        Started { supervised, output, line: Vec::new() }
    }

    async fn report(&mut self) -> Option<Report> {
        self.supervised.report(&mut self.line).await
    }

    async fn output(&mut self) -> String {
        let mut text = String::new();
        self.output.read_to_string(&mut text).await.unwrap();
        text
    }

    fn id(&self) -> i32 {
        self.supervised.id().unwrap()
    }
}

fn ended(code: Option<i32>, signal: Option<i32>, left: bool) -> Option<Report> {
    Some(Report::Ended { code, signal, left, note: None })
}

/// Waits until no process has this among its arguments.
fn nothing_runs(marker: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let runs = || tree::below(1).into_iter().any(|pid| tree::command(pid).contains(marker));
    while runs() {
        assert!(Instant::now() < deadline, "{marker} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn a_command_ends() {
    for (line, output, report) in [
        ("echo a; echo b >&2; exit 7", "a\nb\n", ended(Some(7), None, false)),
        ("kill -9 $$", "", ended(None, Some(9), false)),
        ("cat; cat 2>/dev/null < /dev/tty || echo none", "none\n", ended(Some(0), None, false)),
        ("kill -INT 0; echo after", "", ended(None, Some(2), false)),
        ("sleep 0.01 & wait; echo x", "x\n", ended(Some(0), None, false)),
    ] {
        let mut started = Started::new(line).await;
        assert_eq!(
            (started.report().await, started.output().await.as_str()),
            (report, output),
            "{line}"
        );
        assert_eq!(started.report().await, None, "{line}");
        started.supervised.end().await;
    }
}

#[tokio::test]
async fn what_is_left_is_kept_and_ends_when_told() {
    for (number, line) in [
        "sleep N &",
        "setsid sleep N & sleep 0.05",
        "trap '' TERM; (sleep N; sleep N) & sleep 0.05",
        "(setsid sh -c 'sleep N; sleep N' &)",
    ]
    .into_iter()
    .enumerate()
    {
        let marker = format!("4801.{number}{:08}", std::process::id());
        let line = format!("{} >/dev/null 2>&1", line.replace('N', &marker));
        let mut started = Started::new(&line).await;
        assert_eq!(started.report().await, ended(Some(0), None, true), "{line}");
        assert!(!tree::below(started.id()).is_empty(), "{line}");
        started.supervised.tell(Order::End);
        assert_eq!(started.report().await, None, "{line}");
        nothing_runs(&marker);
    }
}

#[tokio::test]
async fn an_end_that_was_told_says_how_the_command_ended() {
    let mut started = Started::new("sleep 4802; true").await;
    started.supervised.tell(Order::End);
    // Which of the two processes ends first is not known.
    let report = started.report().await;
    assert!(
        matches!(report, Some(Report::Ended { code: None, signal: Some(15), .. })),
        "{report:?}"
    );
    let mut started = Started::new("trap '' TERM; echo on; while :; do sleep 0.01; done").await;
    assert_eq!(started.output.read(&mut [0; 9]).await.unwrap(), 3);
    started.supervised.tell(Order::End);
    let report = started.report().await;
    assert!(
        matches!(report, Some(Report::Ended { code: None, signal: Some(9), .. })),
        "{report:?}"
    );
}

#[tokio::test]
async fn a_supervisor_that_is_let_go_of_ends_all() {
    let marker = format!("4803.{:08}", std::process::id());
    let started =
        Started::new(&format!("trap '' HUP TERM; setsid sleep {marker} & sleep {marker}; :")).await;
    drop(started);
    nothing_runs(&marker);
}

#[tokio::test]
async fn a_supervisor_that_is_killed_reports_no_more() {
    let marker = format!("4804.{:08}", std::process::id());
    let mut started = Started::new(&format!("sleep {marker}; :")).await;
    let id = started.id();
    while tree::session(id).len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    assert_eq!(started.report().await, None);
    for pid in tree::session(id) {
        let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
    }
    nothing_runs(&marker);
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let request = Request { argv: vec!["/no/such/program".into()], ..Request::default() };
    let (mut supervised, _output) = start(&request, Path::new("/"), []).await.unwrap();
    let report = supervised.report(&mut Vec::new()).await;
    assert!(matches!(report, Some(Report::Failed { error }) if error.contains("os error 2")));
}

#[tokio::test]
async fn a_note_is_passed_on() {
    let argv = ["bash", "-c", "cd /usr; echo $BASH_ENV; exit 3"].map(str::to_owned).to_vec();
    let startup = Some("unset BASH_ENV; trap 'pwd -P >&{}' EXIT".to_owned());
    let request = Request { argv, startup, grace_ms: 300, orphan_ms: 300 };
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    let (mut supervised, mut output) = start(&request, Path::new("/"), path).await.unwrap();
    let report = supervised.report(&mut Vec::new()).await;
    let note = Some("/usr".to_owned());
    assert_eq!(report, Some(Report::Ended { code: Some(3), signal: None, left: false, note }));
    let mut text = String::new();
    output.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "\n");
}
