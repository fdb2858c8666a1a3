//! Another implementation that answers over JSON lines. It may hang, die or write anything; the run goes on.

use crate::{
    lines::{LONGEST, Line, Lines},
    reply::Reply,
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json};
use std::{
    io::{self, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

/// How often a peer is started before it is given up.
const STARTS: u32 = 4;
/// How many lines of a peer wait here before it has to.
const WAITING: usize = 4;

/// A peer, started when it is first asked.
#[derive(Debug)]
pub(crate) struct Peer {
    command: String,
    timeout: Duration,
    starts: u32,
    /// Whether it answers `{"op":"spec"}`; assumed until it does not.
    knows_op: bool,
    live: Option<Live>,
    /// What went wrong last.
    lost: String,
    about: About,
}

/// What a peer says about itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Its name.
    pub name: Option<String>,
    /// The version of its spec.
    pub version: Option<String>,
    /// The areas it answers; `None` if it does not say.
    pub areas: Option<Vec<String>>,
}

impl Peer {
    /// Returns a peer that `sh -c command` starts and that has `timeout` for each answer.
    pub(crate) fn new(command: &str, timeout: Duration) -> Peer {
        Peer {
            command: command.into(),
            timeout,
            starts: 0,
            knows_op: true,
            live: None,
            lost: String::new(),
            about: About::default(),
        }
    }

    /// Returns what the peer says about itself, starting it.
    pub(crate) fn about(&mut self) -> &About {
        self.start();
        &self.about
    }

    /// Asks a question. Whatever goes wrong is the reply.
    pub(crate) fn ask(&mut self, area: &str, input: &Value) -> Reply {
        if self.about.areas.as_ref().is_some_and(|areas| !areas.iter().any(|each| each == area)) {
            return Reply::Pending("the peer has no such area".into());
        }
        self.start();
        let Some(live) = &mut self.live else {
            let why = format!("given up after {STARTS} starts; the last time, {}", self.lost);
            return Reply::Error(why);
        };
        match live.exchange(&json!({ "area": area, "in": input }), self.timeout) {
            Ok(json) => Reply::from_json(&json).unwrap_or_else(|| self.unusable(&json.to_string())),
            Err(Trouble::NotJson(line)) => self.unusable(&line),
            Err(trouble) => self.lose(&trouble),
        }
    }

    fn start(&mut self) {
        while self.live.is_none() && self.starts < STARTS {
            self.starts += 1;
            match Live::start(&self.command) {
                Ok(live) => self.live = Some(live),
                Err(error) => self.lost = format!("it could not be started: {error}"),
            }
            if self.knows_op && self.live.is_some() {
                self.ask_about(true);
            }
        }
    }

    /// Asks the peer about itself and reads up to the answer, past anything it wrote before. `fresh`: nothing was
    /// asked before, so that any reply is the answer of one that does not know the question.
    fn ask_about(&mut self, fresh: bool) {
        let Some(live) = &mut self.live else { return };
        let end = Instant::now() + self.timeout;
        let mut next = live.exchange(&json!({ "op": "spec" }), self.timeout);
        loop {
            match next {
                Ok(json) if json["areas"].is_array() => return self.about = About::read(&json),
                Ok(json) if fresh && Reply::from_json(&json).is_some() => {
                    return self.knows_op = false;
                }
                Ok(_) | Err(Trouble::NotJson(_)) => next = live.next(end),
                Err(trouble) => {
                    self.knows_op = false;
                    self.lose(&trouble);
                    return;
                }
            }
        }
    }

    /// A line that is no reply: whether the true one still follows is unknown, so the peer is brought back to a
    /// known point, or started anew.
    fn unusable(&mut self, line: &str) -> Reply {
        if self.knows_op {
            self.ask_about(false);
        } else {
            self.live = None;
        }
        self.lost = Trouble::NotJson(line.into()).told(self.timeout, None);
        Reply::Error(self.lost.clone())
    }

    fn lose(&mut self, trouble: &Trouble) -> Reply {
        let ended = matches!(trouble, Trouble::Ended);
        let status = self.live.take().and_then(|mut live| {
            if ended {
                live.settle();
            }
            live.end()
        });
        self.lost = trouble.told(self.timeout, status);
        Reply::Error(self.lost.clone())
    }
}

impl About {
    fn read(json: &Value) -> About {
        let text = |key: &str| json[key].as_str().map(String::from);
        let area = |area: &Value| area.as_str().map(String::from);
        let areas = json["areas"].as_array();
        About {
            name: text("name"),
            version: text("version"),
            areas: areas.map(|areas| areas.iter().filter_map(area).collect()),
        }
    }
}

fn shortened(line: &str) -> String {
    const MOST: usize = 120;
    let mut text: String = line.chars().take(MOST).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}

/// Why there is no reply.
#[derive(Debug)]
enum Trouble {
    Silent,
    Ended,
    TooLong,
    NotJson(String),
}

impl Trouble {
    fn told(&self, timeout: Duration, status: Option<ExitStatus>) -> String {
        match (self, status) {
            (Trouble::Silent, _) => format!("no reply within {timeout:?}"),
            (Trouble::TooLong, _) => format!("it wrote a line of more than {LONGEST} bytes"),
            (Trouble::NotJson(line), _) => {
                format!("it wrote a line that is no reply: {}", shortened(line))
            }
            (Trouble::Ended, Some(status)) => format!("it ended ({status})"),
            (Trouble::Ended, None) => "it ended".into(),
        }
    }
}

/// A running peer: a process group, a thread that writes to it and one that reads from it.
#[derive(Debug)]
struct Live {
    child: Child,
    guard: Option<Child>,
    ended: bool,
    to: Sender<String>,
    from: Receiver<Line>,
}

impl Live {
    fn start(command: &str) -> io::Result<Live> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (to, questions) = channel();
        let (answers, from) = sync_channel(WAITING);
        let pipes = (child.stdin.take(), child.stdout.take());
        let guard = guard(child.id()).ok();
        let live = Live { child, guard, ended: false, to, from };
        if let (Some(stdin), Some(stdout)) = pipes {
            // A peer that does not read would block a write for ever, one that does not write a read.
            thread::spawn(move || write(stdin, &questions));
            thread::spawn(move || read(stdout, &answers));
        }
        Ok(live)
    }

    fn exchange(&mut self, question: &Value, timeout: Duration) -> Result<Value, Trouble> {
        // The writer is gone only if the peer is, which the reader tells.
        let _ = self.to.send(question.to_string());
        self.next(Instant::now() + timeout)
    }

    fn next(&mut self, end: Instant) -> Result<Value, Trouble> {
        let left = end.saturating_duration_since(Instant::now());
        match self.from.recv_timeout(left) {
            Ok(Line::Text(line)) => match serde_json::from_str(&line) {
                Ok(json) => Ok(json),
                Err(_) => Err(Trouble::NotJson(line)),
            },
            Ok(Line::TooLong) => Err(Trouble::TooLong),
            Err(RecvTimeoutError::Timeout) => Err(Trouble::Silent),
            Err(RecvTimeoutError::Disconnected) => Err(Trouble::Ended),
        }
    }

    /// Gives a peer that has closed its output a moment to end by itself, so that its status can be told.
    fn settle(&self) {
        const MOMENTS: u32 = 20;
        let Some(pid) = self.pid() else { return };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        for _ in 0..MOMENTS {
            if !matches!(waitid(WaitId::Pid(pid), look), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the whole group. Until the child is waited for, its id cannot be anybody else's.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        if let Some(guard) = &mut self.guard {
            // Before the group's number can be anybody else's.
            let _ = guard.kill();
            let _ = guard.wait();
        }
        if let Some(group) = self.pid() {
            // It fails only if nobody of the group is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.child.wait().ok()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts what ends the group when this program is killed: its input ends with us, whatever ends us.
fn guard(group: u32) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", "read -r _; kill -s KILL -- -\"$0\"", &group.to_string()])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn write(mut to: ChildStdin, questions: &Receiver<String>) {
    for mut question in questions {
        question.push('\n');
        if to.write_all(question.as_bytes()).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn read(from: ChildStdout, answers: &SyncSender<Line>) {
    let mut lines = Lines::new(BufReader::new(from), LONGEST);
    while let Ok(Some(line)) = lines.next() {
        if answers.send(line).is_err() {
            return;
        }
    }
}
