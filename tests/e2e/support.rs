//! What every session needs: a home of its own, a run of the program, and `check`.
//! It knows the program only by its command line, files and exit code.

use lembas_scripted_server::{Request, Scenario, Server};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a run may take before it is killed. No good run comes near it, on the slowest machine.
const LIMIT: Duration = Duration::from_secs(30);
/// How long output may stay open after the program has ended, at most.
const DRAIN: Duration = Duration::from_secs(5);

/// A machine to run the program on: a home, the program's own folder in it, and a project.
#[derive(Debug)]
pub(crate) struct Home {
    root: TempDir,
}

impl Home {
    /// Returns a home whose only connection is `local`, to this server, and whose model is its `test-model`.
    /// `config` are further lines of `config.yaml`.
    pub(crate) fn new(server: &Server, config: &str) -> Home {
        let home = Home { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.project()).unwrap();
        let connections = format!(
            "connections:\n  local:\n    dialect: openai-chat\n    base_url: {}/v1\n    \
             models: [ {{ id: test-model, context: 32768 }} ]\n",
            server.url()
        );
        write(&home.lembas().join("config/connections.yaml"), &connections);
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(home.lembas().join("config/connections.yaml"), private).unwrap();
        write(
            &home.lembas().join("config/config.yaml"),
            &format!("model: local/test-model\n{config}"),
        );
        home
    }

    /// Returns the project's directory, in which the program runs.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Returns the program's own folder, its `LEMBAS_HOME`.
    pub(crate) fn lembas(&self) -> PathBuf {
        self.root.path().join("home/.lembas")
    }

    /// Runs the program to its end in the project, with nothing on its input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(env!("CARGO_BIN_EXE_lembas"), arguments, None, LIMIT)
    }

    /// Runs a program to its end, or kills it with its children at the limit. `input` is piped in; without one the
    /// input is empty. The environment is `PATH`, `HOME` and `LEMBAS_HOME`, nothing else.
    pub(crate) fn run_with(
        &self,
        program: &str,
        arguments: &[&str],
        input: Option<&str>,
        limit: Duration,
    ) -> Ran {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).env_clear().process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.root.path().join("home")).env("LEMBAS_HOME", self.lembas());
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        if let (Some(input), Some(mut pipe)) = (input.map(str::to_owned), child.stdin.take()) {
            // A program may end without reading its input; that is for the session to judge.
            thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
        }
        finish(child, limit)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Waits for a child and for the end of its output, and kills its whole group if either is late.
fn finish(mut child: Child, limit: Duration) -> Ran {
    let (stdout, stderr) =
        (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
    let group = Pid::from_child(&child);
    let started = Instant::now();
    let mut late = None;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if late.is_none() && started.elapsed() > limit {
            late = Some("it was killed at the limit");
            kill_process_group(group, Signal::KILL).unwrap();
        }
        thread::sleep(Duration::from_millis(1));
    };
    let drain = limit.min(DRAIN);
    let mut rest = |output: &Receiver<Vec<u8>>| {
        let bytes = output.recv_timeout(drain).unwrap_or_else(|_| {
            late = late.or(Some("something it started held its output open"));
            // There may be nobody left in the group, only someone who left it.
            let _ = kill_process_group(group, Signal::KILL);
            output.recv_timeout(drain).unwrap_or_default()
        });
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr) = (rest(&stdout), rest(&stderr));
    let events = stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(Value::is_object)
        .collect();
    Ran { code: status.code(), stdout, stderr, events, late }
}

fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (done, output) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is shown; nobody waits for it any more when the send fails.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = done.send(bytes);
    });
    output
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
}

/// One run of the program from files and a script to what must be there afterwards.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    /// The project's files, by path and text.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// Further lines of `config.yaml`, such as `mode: auto`.
    pub(crate) config: &'a str,
    /// What the model says.
    pub(crate) scenario: Scenario,
    /// The arguments.
    pub(crate) argv: &'a [&'a str],
    /// What is piped in.
    pub(crate) input: Option<&'a str>,
    /// The program instead of `lembas`; only this file's own tests need one.
    pub(crate) program: Option<&'a str>,
    /// The exit code.
    pub(crate) code: i32,
    /// The project's files afterwards, all of them, by path and text; nothing: not looked at.
    pub(crate) files_after: Option<&'a [(&'a str, &'a str)]>,
    /// Event types that must come in this order, with any others between them.
    pub(crate) events: &'a [&'a str],
    /// Parts of the standard output.
    pub(crate) stdout: &'a [&'a str],
}

/// Plays a session and asserts all that it expects, and that every request was by the script and by the rules.
/// Returns the run and the requests, for what a session cannot say.
pub(crate) fn check(session: Session) -> (Ran, Vec<Request>) {
    let server = Server::start(session.scenario).unwrap();
    let home = Home::new(&server, session.config);
    for (path, text) in session.files {
        write(&home.project().join(path), text);
    }
    let program = session.program.unwrap_or(env!("CARGO_BIN_EXE_lembas"));
    let ran = home.run_with(program, session.argv, session.input, LIMIT);
    let shown =
        format!("argv: {:?}\nstdout:\n{}\nstderr:\n{}", session.argv, ran.stdout, ran.stderr);
    assert_eq!(ran.late, None, "{shown}");
    server.verify().unwrap_or_else(|wrong| panic!("{wrong}\n{shown}"));
    assert_eq!(ran.code, Some(session.code), "{shown}");
    for part in session.stdout {
        assert!(ran.stdout.contains(part), "no {part:?} on stdout\n{shown}");
    }
    let types = ran.types();
    let mut left = types.iter();
    for wanted in session.events {
        assert!(
            left.any(|kind| kind == wanted),
            "no {wanted:?} in its place among {types:?}\n{shown}"
        );
    }
    if let Some(expected) = session.files_after {
        let mut expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        expected.sort();
        assert_eq!(files(&home.project()), expected, "{shown}");
    }
    (ran, server.requests())
}

/// Returns all files below a folder, by path and text, in the order of their paths.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.push((name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
            }
        }
    }
    found.sort();
    found
}
