//! A started program: its output while it comes, signals to it, and what is left when it is over.
//! Nothing waits longer than a limit, and whatever is late is killed with its whole group.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a run may take before it is killed. No good run comes near it, on the slowest machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
/// How long output may stay open after the program has ended, at most.
const DRAIN: Duration = Duration::from_secs(5);

/// A program that may still run. Its input, if it has one, stays open until it is written to or the program is over.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    input: Option<ChildStdin>,
    /// The other side of the terminal it asks at, if it has one.
    terminal: Option<File>,
    stdout: Output,
    stderr: Output,
}

impl Running {
    /// Takes over a child whose output is piped.
    pub(crate) fn new(mut child: Child) -> Running {
        let (input, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Running {
            child,
            input,
            terminal: None,
            stdout: Output::of(stdout.unwrap()),
            stderr: Output::of(stderr.unwrap()),
        }
    }

    /// Takes over a child whose output is piped, and which reads and complains at a terminal of which this is the other side.
    pub(crate) fn at_terminal(mut child: Child, terminal: File) -> Running {
        let stdout = Output::of(child.stdout.take().unwrap());
        let stderr = Output::of(terminal.try_clone().unwrap());
        Running { child, input: None, terminal: Some(terminal), stdout, stderr }
    }

    /// Waits until the program asks this at its terminal, and answers with a line.
    pub(crate) fn answer(&mut self, question: &str, line: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.stderr.text().ends_with(question) {
            assert!(self.stderr.more(deadline), "not asked {question:?}: {:?}", self.stderr.text());
        }
        self.terminal.as_ref().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Writes all of the input and closes it.
    pub(crate) fn input(&mut self, text: &str) {
        let (text, pipe) = (text.to_owned(), self.input.take());
        // A program may end without reading its input; that is for the session to judge.
        thread::spawn(move || pipe.map(|mut pipe| pipe.write_all(text.as_bytes())));
    }

    /// Waits until the standard output holds a text.
    pub(crate) fn wait_for(&mut self, part: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.stdout.text().contains(part) {
            assert!(self.stdout.more(deadline), "no {part:?} came: {:?}", self.stdout.text());
        }
    }

    /// Sends a signal to the program alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the program and for the end of its output, and kills its whole group if either is late.
    pub(crate) fn finish(mut self, limit: Duration) -> Ran {
        let group = Pid::from_child(&self.child);
        let deadline = Instant::now() + limit;
        let mut late = None;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if late.is_none() && Instant::now() > deadline {
                late = Some("it was killed at the limit");
                kill_process_group(group, Signal::KILL).unwrap();
            }
            thread::sleep(Duration::from_millis(1));
        };
        let drain = limit.min(DRAIN);
        for output in [&mut self.stdout, &mut self.stderr] {
            if !output.rest(drain) {
                late = late.or(Some("something it started held its output open"));
                // There may be nobody left in the group, only someone who left it.
                let _ = kill_process_group(group, Signal::KILL);
                output.rest(drain);
            }
        }
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        let events = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(Value::is_object)
            .collect();
        Ran { code: status.code(), stdout, stderr, events, late }
    }
}

/// What a program writes, piece by piece.
#[derive(Debug)]
struct Output {
    pieces: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Output {
    fn of(mut pipe: impl Read + Send + 'static) -> Output {
        let (pass, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = vec![0; 64 * 1024];
            // What was read before an error is shown; nobody waits for it any more when the send fails.
            while let Ok(count @ 1..) = pipe.read(&mut piece) {
                if pass.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Output { pieces, bytes: Vec::new() }
    }

    /// Takes the next piece; tells whether there was one in time.
    fn more(&mut self, deadline: Instant) -> bool {
        let piece = self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        piece.map(|piece| self.bytes.extend(piece)).is_ok()
    }

    /// Takes what comes until it is closed; tells whether it was in time.
    fn rest(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.bytes.extend(piece),
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; nothing if a signal ended it.
    pub(crate) code: Option<i32>,
    /// All of its standard output.
    pub(crate) stdout: String,
    /// All of its standard error.
    pub(crate) stderr: String,
    /// The JSON objects among the lines of the standard output.
    pub(crate) events: Vec<Value>,
    /// Why it was killed, if it was.
    pub(crate) late: Option<&'static str>,
}

impl Ran {
    /// Returns the types of the events in order.
    pub(crate) fn types(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event.get("type")?.as_str()).collect()
    }

    /// Returns the events of a type in order.
    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }
}
