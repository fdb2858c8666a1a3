//! Runs the program against a server that says what comes next when it is asked.

use crate::case::Case;
use crate::place::Place;
use crate::play::{Played, Seen};
use crate::processes;
use crate::tree::Tree;
use lembas_scripted_server::{Reply, Scenario, Server};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a run may take before it is killed.
const LIMIT: Duration = Duration::from_secs(120);
/// How long its output may stay open after its end.
const DRAIN: Duration = Duration::from_secs(3);

/// How the program is called.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// Its arguments.
    pub(crate) arguments: Vec<&'a str>,
    /// Whether its input is a pipe on which nothing comes; otherwise it is empty.
    pub(crate) input_open: bool,
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; nothing if a signal ended it.
    pub(crate) code: Option<i32>,
    /// All of its output.
    pub(crate) stdout: String,
    /// All of its error output.
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) took: Duration,
    /// The most memory it had when it last asked the server, in KiB.
    pub(crate) peak_kb: u64,
}

impl Ended {
    /// Returns whether something panicked.
    pub(crate) fn panicked(&self) -> bool {
        self.stderr.contains("panicked at")
    }
}

/// Runs the program; `author` is given the body of each of its requests, and the project as it is then.
///
/// # Errors
/// What could not be started, or that it did not end.
pub(crate) fn run(
    run: Run<'_>,
    case: &Case,
    place: &Place,
    mut author: impl FnMut(&Value, Instant) -> Option<Reply> + Send + 'static,
) -> Result<Ended, String> {
    let (pid, peak) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)));
    let (asks, seen) = (Arc::clone(&pid), Arc::clone(&peak));
    let scenario = Scenario { validate: true, ..Scenario::new() };
    let server = Server::start_authored(scenario, move |body| {
        let now = Instant::now();
        let had = processes::peak_kb(asks.load(Ordering::Relaxed)).unwrap_or(0);
        seen.fetch_max(had, Ordering::Relaxed);
        author(body, now)
    });
    let server = server.map_err(|error| error.to_string())?;
    configure(place, &server.url())?;
    let started = Instant::now();
    let mut child = start(&run, case, place)?;
    pid.store(child.id(), Ordering::Relaxed);
    let input = child.stdin.take();
    let (code, took, [stdout, stderr]) = wait(child, started, place)?;
    drop(input);
    Ok(Ended { code, stdout, stderr, took, peak_kb: peak.load(Ordering::Relaxed) })
}

/// Tells the program where its model is, and that nobody needs to be asked.
fn configure(place: &Place, url: &str) -> Result<(), String> {
    let connections = format!(
        "connections:\n  local:\n    dialect: openai-chat\n    base_url: {url}/v1\n    \
         models: [ {{ id: test-model, context: 262144 }} ]\n"
    );
    place.configure("connections.yaml", &connections)?;
    place.configure("config.yaml", "model: local/test-model\nmode: auto\n")
}

fn start(run: &Run<'_>, case: &Case, place: &Place) -> Result<Child, String> {
    let program = env!("CARGO_BIN_EXE_lembas");
    let mut command = match case.setup.get("umask").and_then(Value::as_str) {
        None => Command::new(program),
        Some(mask) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "umask \"$0\"; exec \"$@\"", mask, program]);
            shell
        }
    };
    command.args(&run.arguments).current_dir(place.working(case)).env_clear().process_group(0);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", &place.home).env("LEMBAS_HOME", place.own());
    let variables = case.setup.get("env").and_then(Value::as_object).into_iter().flatten();
    command.envs(variables.filter_map(|(name, value)| Some((name, value.as_str()?))));
    command.stdin(if run.input_open { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| format!("{program}: {error}"))
}

type Waited = (Option<i32>, Duration, [String; 2]);

/// Waits for the program and for the end of its output, which something it started may hold open.
fn wait(mut child: Child, started: Instant, place: &Place) -> Result<Waited, String> {
    let output = [collect(child.stdout.take()), collect(child.stderr.take())];
    while started.elapsed() < LIMIT {
        let Some(status) = child.try_wait().map_err(|error| error.to_string())? else {
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let took = started.elapsed();
        let deadline = Instant::now() + DRAIN;
        while !output.iter().all(thread::JoinHandle::is_finished) {
            if Instant::now() > deadline {
                processes::kill(&place.base);
            }
            thread::sleep(Duration::from_millis(2));
        }
        let texts = output.map(|bytes| bytes.join().unwrap_or_default());
        let texts = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        return Ok((status.code(), took, texts));
    }
    // It may have ended just now.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
    Err(format!("it did not end in {LIMIT:?}"))
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is shown.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

/// What a session does next, and what was seen so far.
struct Script {
    left: VecDeque<Value>,
    seen: Vec<Seen>,
    /// When the last call was handed out.
    called: Option<Instant>,
    project: Arc<dyn Fn() -> Tree + Send + Sync>,
    user: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    job: Option<String>,
}

impl Script {
    /// Takes in what the last call gave, does what a person does now, and returns the next call.
    fn next(&mut self, body: &Value, now: Instant) -> Reply {
        if let Some(called) = self.called.take() {
            let result = last_result(body);
            self.job = self.job.take().or_else(|| job(result.as_deref()?));
            if let Some(last) = self.seen.last_mut() {
                last.took = now.duration_since(called);
                last.result = result;
                last.tree = (self.project)();
            }
        }
        while let Some(step) = self.left.pop_front() {
            if let Some(line) = step.get("user").and_then(Value::as_str) {
                let ok = if (self.user)(line) { None } else { Some(false) };
                self.seen.push(Seen { ok, tree: (self.project)(), ..Seen::default() });
                continue;
            }
            let tool = step.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
            let args = self.named(step.get("args").cloned().unwrap_or_else(|| json!({})));
            let reply = Reply::call(&tool, args);
            self.seen.push(Seen { tool: Some(tool), ..Seen::default() });
            self.called = Some(Instant::now());
            return reply;
        }
        Reply::text("done")
    }

    /// Returns the arguments with the first job's id where the case says `$job1`.
    fn named(&self, mut args: Value) -> Value {
        let values = args.as_object_mut().into_iter().flat_map(Map::values_mut);
        for value in values.filter(|value| **value == "$job1") {
            *value = self.job.clone().unwrap_or_default().into();
        }
        args
    }
}

/// Plays calls, and what a person does between them, as one run. A last call of another tool shows that it goes on.
///
/// # Errors
/// As for `run`.
pub(crate) fn play(
    steps: &[&Value],
    case: &Case,
    place: &Place,
    played: &mut Played,
) -> Result<(), String> {
    let mut left: VecDeque<Value> = steps.iter().map(|step| (*step).clone()).collect();
    left.push_back(json!({"tool": "list", "args": {"path": "."}}));
    let (root, working) = (place.root.clone(), place.working(case));
    let script = Arc::new(Mutex::new(Script {
        left,
        seen: Vec::new(),
        called: None,
        // A project that cannot be read has no files, which no expectation takes for good.
        project: Arc::new(move || crate::tree::of(&root).unwrap_or_default()),
        user: Arc::new(move |line| {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", line]).current_dir(&working).stdin(Stdio::null());
            shell.status().is_ok_and(|status| status.success())
        }),
        job: None,
    }));
    let author = Arc::clone(&script);
    let arguments = vec!["run", "--json", "work"];
    let ended = run(Run { arguments, input_open: false }, case, place, move |body, now| {
        Some(author.lock().unwrap_or_else(PoisonError::into_inner).next(body, now))
    })?;
    let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ends = ends(&ended.stdout);
    for seen in script.seen.iter_mut().filter(|seen| seen.tool.is_some()) {
        seen.ok = Some(ends.pop_front().unwrap_or(false));
    }
    let mut seen = std::mem::take(&mut script.seen);
    let last = seen.pop();
    if seen.len() < steps.len() {
        return Err(format!("it ended early:\n{}{}", ended.stdout, ended.stderr));
    }
    played.alive &= last.is_some_and(|last| last.ok == Some(true)) && ended.code == Some(0);
    played.alive &= !ended.panicked();
    played.peak_kb = played.peak_kb.max(ended.peak_kb);
    played.steps.extend(seen);
    Ok(())
}

/// Returns of every call, in order, whether it was done.
fn ends(events: &str) -> VecDeque<bool> {
    let events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let end = |event: Value| match event.get("type")?.as_str()? {
        "tool_end" => Some(event.get("is_error") == Some(&Value::Bool(false))),
        "tool_denied" => Some(false),
        _ => None,
    };
    events.filter_map(end).collect()
}

/// Returns the last result that a request carries.
fn last_result(body: &Value) -> Option<String> {
    let messages = body.get("messages")?.as_array()?;
    let last = messages.iter().rev().find(|message| message["role"] == "tool")?;
    last.get("content")?.as_str().map(String::from)
}

/// Returns the id of the job that a result tells of.
fn job(result: &str) -> Option<String> {
    let said = Regex::new(r"\b(job[0-9]+)\b").ok()?;
    said.captures(result).map(|found| found[1].to_owned())
}
