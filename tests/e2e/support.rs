//! What every session needs: a home of its own, a run of the program, and `check`.
//! It knows the program only by its command line, files and exit code.

use crate::process::{LIMIT, Ran, Running};
use crate::rules;
use lembas_scripted_server::{Dialect, Request, Scenario, Server, Verdict};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The program.
pub(crate) const LEMBAS: &str = env!("CARGO_BIN_EXE_lembas");
/// The spec the program was built with.
pub(crate) const HARNESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/harness");

/// A machine to run the program on: a home, the program's own folder in it, and a project.
#[derive(Debug)]
pub(crate) struct Home {
    root: TempDir,
}

impl Home {
    /// Returns a home whose only connection is `local`, to this server, and whose model is its `test-model`.
    /// `config` are further lines of `config.yaml`.
    pub(crate) fn new(server: &Server, config: &str) -> Home {
        Home::at(&server.url(), "", config)
    }

    /// Returns such a home for any URL; `connection` are further lines of the connection, as `key: …`.
    pub(crate) fn at(url: &str, connection: &str, config: &str) -> Home {
        Home::speaking(Dialect::default(), url, connection, config)
    }

    /// Starts a server, and returns it with a home whose connection to it says these lines of its models.
    pub(crate) fn listing(scenario: Scenario, listed: &str) -> (Server, Home) {
        let dialect = scenario.dialect;
        let server = Server::start(scenario).unwrap();
        let home = Home::speaking(dialect, &server.url(), "", "");
        let (name, url, prefix) = (dialect.name(), server.url(), dialect.prefix());
        home.configure(
            "connections.yaml",
            &format!(
                "connections:\n  local:\n    dialect: {name}\n    base_url: {url}{prefix}\n{listed}"
            ),
        );
        (server, home)
    }

    /// Returns such a home whose connection speaks a dialect.
    pub(crate) fn speaking(dialect: Dialect, url: &str, connection: &str, config: &str) -> Home {
        let home = Home { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.project()).unwrap();
        let lines: String = connection.lines().map(|line| format!("    {line}\n")).collect();
        let (name, prefix) = (dialect.name(), dialect.prefix());
        home.configure(
            "connections.yaml",
            &format!(
                "connections:\n  local:\n    dialect: {name}\n    base_url: {url}{prefix}\n    \
                 models: [ {{ id: test-model, context: 32768 }} ]\n{lines}"
            ),
        );
        home.configure("config.yaml", &format!("model: local/test-model\n{config}"));
        home
    }

    /// Writes a file of the configuration, readable by its owner only.
    pub(crate) fn configure(&self, name: &str, text: &str) {
        let file = self.lembas().join("config").join(name);
        write(&file, text.as_bytes());
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Returns the project's directory, in which the program runs.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Returns the program's own folder, its `LEMBAS_HOME`.
    pub(crate) fn lembas(&self) -> PathBuf {
        self.root.path().join("home/.lembas")
    }

    /// Makes a copy of the spec with other values in it, by file, JSON pointer and value, and returns where it is.
    pub(crate) fn spec(&self, changes: &[(&str, &str, Value)]) -> String {
        let folder = self.root.path().join("harness");
        copy(Path::new(HARNESS), &folder);
        for (file, pointer, value) in changes {
            let file = folder.join(file);
            let mut json: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            *json.pointer_mut(pointer).unwrap() = value.clone();
            fs::write(file, json.to_string()).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    }

    /// Runs the program to its end in the project, with nothing on its input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(LEMBAS, arguments, None, LIMIT)
    }

    /// Runs a program to its end, or kills it with its children at the limit. `input` is piped in; without one the
    /// input is empty.
    pub(crate) fn run_with(
        &self,
        program: &str,
        arguments: &[&str],
        input: Option<&str>,
        limit: Duration,
    ) -> Ran {
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut running = self.start(program, arguments, stdin);
        if let Some(input) = input {
            running.input(input);
        }
        running.finish(limit)
    }

    /// Starts a program in the project. The environment is `PATH`, `HOME` and `LEMBAS_HOME`, nothing else.
    pub(crate) fn start(&self, program: &str, arguments: &[&str], input: Stdio) -> Running {
        let mut command = self.command(program, arguments);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::new(command.spawn().unwrap())
    }

    /// Starts a program as `start` does, with a person before it: it reads from a terminal, and its standard error goes there.
    pub(crate) fn start_at_terminal(&self, program: &str, arguments: &[&str]) -> Running {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).and_then(|()| unlockpt(&ours)).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let its = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut command = self.command(program, arguments);
        command.stdin(its.try_clone().unwrap()).stdout(Stdio::piped()).stderr(its);
        Running::at_terminal(command.spawn().unwrap(), ours.into())
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).env_clear().process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.root.path().join("home")).env("LEMBAS_HOME", self.lembas());
        command
    }
}

/// Writes a file and the folders it is in.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if from.is_dir() { copy(&from, &to) } else { fs::copy(&from, &to).map(drop).unwrap() }
    }
}

/// One run of the program from files and a script to what must be there afterwards.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    /// The project's files, by path and text.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// The project's files that are no text.
    pub(crate) bytes: &'a [(&'a str, &'a [u8])],
    /// Whether `lembas trust` ran in the project before.
    pub(crate) trusted: bool,
    /// Further lines of `config.yaml`, such as `mode: auto`.
    pub(crate) config: &'a str,
    /// Further lines of the connection, such as `key: …`.
    pub(crate) connection: &'a str,
    /// The server's URL instead of the scripted one's.
    pub(crate) url: Option<&'a str>,
    /// Values of the spec that differ, by file, JSON pointer and value; with any, a `--harness` is used.
    pub(crate) spec: &'a [(&'a str, &'a str, Value)],
    /// What the model says.
    pub(crate) scenario: Scenario,
    /// The arguments.
    pub(crate) argv: &'a [&'a str],
    /// What is piped in.
    pub(crate) input: Option<&'a str>,
    /// The program instead of `lembas`.
    pub(crate) program: Option<&'a str>,
    /// The exit code.
    pub(crate) code: i32,
    /// The project's files afterwards, all of them, by path and text; nothing: not looked at.
    pub(crate) files_after: Option<&'a [(&'a str, &'a str)]>,
    /// Event types that must come in this order, with any others between them.
    pub(crate) events: &'a [&'a str],
    /// Parts of the standard output.
    pub(crate) stdout: &'a [&'a str],
    /// Parts of the standard error.
    pub(crate) stderr: &'a [&'a str],
    /// What must be nowhere: neither in the output nor in a file of the project.
    pub(crate) absent: &'a [&'a str],
    /// A part of each tool result that the last request carries, all of them in order; nothing: not looked at.
    pub(crate) results: Option<&'a [&'a str]>,
}

/// Plays a session and asserts all that it expects, and what holds for all: every request was by the script and by the
/// dialect, the history only grew, events fit their schema, nothing panicked.
/// Returns the run and the requests, for what a session cannot say.
pub(crate) fn check(session: Session) -> (Ran, Vec<Request>) {
    let server = Server::start(session.scenario.clone()).unwrap();
    let url = session.url.map_or_else(|| server.url(), str::to_owned);
    let home = Home::speaking(session.scenario.dialect, &url, session.connection, session.config);
    for (path, text) in session.files {
        write(&home.project().join(path), text.as_bytes());
    }
    for (path, bytes) in session.bytes {
        write(&home.project().join(path), bytes);
    }
    if session.trusted {
        assert_eq!(home.run(&["trust"]).code, Some(0));
    }
    let spec = (!session.spec.is_empty()).then(|| home.spec(session.spec));
    let harness = spec.as_deref().map_or(vec![], |folder| vec!["--harness", folder]);
    let argv = [session.argv, &harness].concat();
    let ran = home.run_with(session.program.unwrap_or(LEMBAS), &argv, session.input, LIMIT);
    let shown = format!("argv: {argv:?}\nstdout:\n{}\nstderr:\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.late, None, "{shown}");
    server.verify().unwrap_or_else(|wrong| panic!("{wrong}\n{shown}"));
    assert_eq!(ran.code, Some(session.code), "{shown}");
    let requests = server.requests();
    rules::history_only_grows(&taken(&requests, &session.scenario));
    if session.argv.contains(&"--json") {
        rules::lines_are_events(&ran.stdout);
        rules::events_are_whole(&ran.events);
    }
    said(&session, &ran, &shown);
    left(&session, &home, &shown);
    if let Some(wanted) = session.results {
        given(wanted, &results(&requests), &shown);
    }
    (ran, requests)
}

/// Returns the requests that were not refused: what is refused is in nobody's cache, and may be mended.
fn taken(requests: &[Request], scenario: &Scenario) -> Vec<Request> {
    let refused = |request: &&Request| match &request.verdict {
        Verdict::Reply(index) => {
            scenario.replies[*index].status.is_some_and(|status| status >= 400)
        }
        _ => false,
    };
    requests.iter().filter(|request| !refused(request)).cloned().collect()
}

fn said(session: &Session, ran: &Ran, shown: &str) {
    for (parts, output, name) in
        [(session.stdout, &ran.stdout, "stdout"), (session.stderr, &ran.stderr, "stderr")]
    {
        for part in parts {
            assert!(output.contains(part), "no {part:?} on {name}\n{shown}");
        }
    }
    for part in session.absent.iter().chain(&["panicked at"]) {
        assert!(
            !ran.stdout.contains(part) && !ran.stderr.contains(part),
            "{part:?} was said\n{shown}"
        );
    }
    let types = ran.types();
    let mut left = types.iter();
    for wanted in session.events {
        assert!(
            left.any(|kind| kind == wanted),
            "no {wanted:?} in its place among {types:?}\n{shown}"
        );
    }
}

fn left(session: &Session, home: &Home, shown: &str) {
    let found = files(&home.project());
    for part in session.absent {
        for (path, text) in &found {
            assert!(!text.contains(part), "{part:?} is in {path}\n{shown}");
        }
    }
    if let Some(expected) = session.files_after {
        let mut expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        expected.sort();
        assert_eq!(found, expected, "{shown}");
    }
}

fn given(wanted: &[&str], results: &[String], shown: &str) {
    assert_eq!(results.len(), wanted.len(), "the results are {results:#?}\n{shown}");
    for (part, result) in wanted.iter().zip(results) {
        assert!(result.contains(part), "no {part:?} in the result {result:?}\n{shown}");
    }
}

/// Returns the texts of the tool results that the last request carries, in whatever dialect.
pub(crate) fn results(requests: &[Request]) -> Vec<String> {
    let body = requests.last().map(Request::json).unwrap_or_default();
    let list = ["messages", "input", "contents"].iter().find_map(|name| body[name].as_array());
    list.into_iter().flatten().flat_map(result).collect()
}

/// Returns the texts of the results in a message, an item or a content.
fn result(entry: &Value) -> Vec<String> {
    if entry["role"] == "tool" {
        return vec![told(&entry["content"])];
    }
    if entry["type"] == "function_call_output" {
        return vec![told(&entry["output"])];
    }
    let inner = |part: &Value| {
        let response = part["functionResponse"]["response"].as_object();
        let text = response.and_then(|fields| fields.values().next());
        let block = (part["type"] == "tool_result").then(|| &part["content"]);
        text.or(block).map(told)
    };
    let parts = [&entry["content"], &entry["parts"]].into_iter().filter_map(Value::as_array);
    parts.flatten().filter_map(inner).collect()
}

/// Returns the text of a content: it alone, or parts of it beside images.
fn told(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().map_or_else(|| parts.collect(), str::to_owned)
}

/// Returns the messages of the last request.
pub(crate) fn messages(requests: &[Request]) -> Vec<Value> {
    let body = requests.last().map(Request::json).unwrap_or_default();
    body["messages"].as_array().cloned().unwrap_or_default()
}

/// Returns all files below a folder, by path and text, in the order of their paths.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                // A link that leads nowhere is listed without a text.
                let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                found.push((name, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    found.sort();
    found
}
