//! `connections.yaml`: the model servers a person uses, each of them usable or broken for a reason.
//! One broken connection never takes another with it, and no key is ever shown.

use super::{
    check::{Finding, check},
    fill::{Filler, fill_all},
    model::Model,
    place::escape,
    problem::{Level, Problem, hint},
    secret::Secret,
    yaml::{self, Document},
};
use lembas_core::{quirk, spec::Spec};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::HashSet,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// What a name of a connection is; a model's reference begins with it.
pub(crate) const NAME: &str = "has no `/`, no blanks and no braces, and is not empty";

/// Returns whether a connection can be called this.
pub(crate) fn is_name(name: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '{' | '}') || c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.contains(odd)
}

/// All connections, in the order they are written.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    file: PathBuf,
    /// Those that can be used.
    pub(crate) ok: Vec<Connection>,
    /// Those that cannot: name and reason, which begins with the place in the file.
    pub(crate) broken: Vec<(String, String)>,
}

/// A server that can be spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// Its name in the file.
    pub(crate) name: String,
    /// The id of a dialect of the spec.
    pub(crate) dialect: String,
    /// Its address, an http or https URL without a slash at the end.
    pub(crate) base_url: String,
    /// Where its key comes from.
    pub(crate) credential: Credential,
    /// Headers sent with every request.
    pub(crate) headers: Vec<(String, Secret)>,
    /// The models it lists; with none, any id may be asked for.
    pub(crate) models: Vec<Model>,
    /// How long connecting to it may take, if the file says so.
    pub(crate) connect: Option<Duration>,
    /// How long it may be silent, if the file says so.
    pub(crate) idle: Option<Duration>,
    /// A file with the certificate of the authority that vouches for it, beside those of the system.
    pub(crate) authority: Option<PathBuf>,
    /// Whether nobody needs to vouch for it; only ever for a server on this machine.
    pub(crate) insecure: bool,
    /// Whether it wants earlier reasoning sent back.
    pub(crate) sends_reasoning: bool,
    /// Fields that go into every request for a reply as they are.
    pub(crate) extra: Map<String, Value>,
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// The server needs none.
    None,
    /// The key itself.
    Key(Secret),
    /// A shell command that prints it.
    Command(String),
}

/// A connection as it is written, after filling.
#[derive(Deserialize)]
struct Written {
    dialect: String,
    base_url: String,
    key: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    models: Vec<Model>,
    #[serde(default)]
    timeout: Timeout,
    #[serde(default)]
    tls: Tls,
    #[serde(default)]
    sends_reasoning: bool,
    #[serde(default)]
    extra: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct Timeout {
    connect_s: Option<u64>,
    idle_s: Option<u64>,
}

#[derive(Default, Deserialize)]
struct Tls {
    ca: Option<String>,
    #[serde(default)]
    insecure: bool,
}

/// What a connection is read with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// The schema of the file.
    pub(crate) schema: &'a Value,
    /// The ids of the dialects the spec has.
    pub(crate) dialects: &'a [&'a str],
    /// The spec, for the ways in which models write calls.
    pub(crate) spec: &'a Spec,
    /// Where placeholders are looked up.
    pub(crate) filler: Filler<'a>,
}

impl Connections {
    /// Reads `file`. A missing file is no problem; problems are in the order of the file.
    pub(crate) fn load(file: &Path, with: Reading<'_>) -> (Self, Vec<Problem>) {
        let mut all = Self { file: file.into(), ..Self::default() };
        let problems = match yaml::read(file) {
            Ok(Some(document)) => all.read(document, with),
            Ok(None) => Vec::new(),
            Err(problems) => problems,
        };
        (all, problems)
    }

    fn read(&mut self, mut document: Document, with: Reading<'_>) -> Vec<Problem> {
        let mut findings = check(&mut document, with.schema);
        let mut problems = Vec::from_iter(readable_by_others(&document.file));
        if let Value::Object(connections) = document.value["connections"].take() {
            for (name, value) in connections {
                let pointer = format!("/connections/{}", escape(&name));
                let mut wrong = demote(&mut findings, &pointer);
                if wrong.is_empty() {
                    match read(&document, &pointer, &name, value, with) {
                        Ok(connection) => {
                            self.ok.push(connection);
                            continue;
                        }
                        Err(issues) => {
                            wrong = issues.iter().map(|issue| issue.problem.to_string()).collect();
                            problems.extend(
                                issues
                                    .into_iter()
                                    .filter(|issue| !issue.elsewhere)
                                    .map(|issue| issue.problem),
                            );
                        }
                    }
                }
                self.broken.push((name, wrong.join(" ")));
            }
        }
        problems.extend(findings.into_iter().map(|finding| finding.problem));
        problems.sort_by_key(|problem| problem.place);
        problems
    }

    /// Returns the file they are written in, which may not exist.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether there is none, not even a broken one.
    pub(crate) fn is_empty(&self) -> bool {
        self.ok.is_empty() && self.broken.is_empty()
    }

    /// Returns every name, broken ones too.
    pub(crate) fn names(&self) -> Vec<&str> {
        let broken = self.broken.iter().map(|(name, _)| name.as_str());
        self.ok.iter().map(|connection| connection.name.as_str()).chain(broken).collect()
    }

    /// Says that there is no connection called `name`, and which there are.
    pub(crate) fn unknown(&self, name: &str) -> String {
        format!("There is no connection `{name}`.{}", hint(name, &self.names()))
    }

    /// Returns the connection called `name`; the error says why it cannot be used.
    pub(crate) fn get(&self, name: &str) -> Result<Option<&Connection>, String> {
        match self.broken.iter().find(|(broken, _)| broken == name) {
            Some((_, reason)) => Err(format!("The connection {name} cannot be used: {reason}")),
            None => Ok(self.ok.iter().find(|connection| connection.name == name)),
        }
    }
}

impl Connection {
    /// Returns what must not be seen of it: its key (`key`, if a command printed it) and its headers' values.
    pub(crate) fn secrets(&self, key: Option<&Secret>) -> Vec<Secret> {
        let own = match &self.credential {
            Credential::Key(key) => Some(key),
            Credential::None | Credential::Command(_) => None,
        };
        own.into_iter()
            .chain(key)
            .chain(self.headers.iter().map(|(_, value)| value))
            .cloned()
            .collect()
    }
}

/// Something wrong with one connection.
struct Issue {
    problem: Problem,
    /// Whether the cause is outside the file: a variable or another file.
    elsewhere: bool,
}

/// Makes the errors about what is at `pointer` warnings, and returns them as text.
fn demote(findings: &mut [Finding], pointer: &str) -> Vec<String> {
    let below = format!("{pointer}/");
    let is_ours = |finding: &&mut Finding| {
        finding.problem.level == Level::Error
            && (finding.pointer == pointer || finding.pointer.starts_with(&below))
    };
    let ours = findings.iter_mut().filter(is_ours);
    ours.map(|finding| {
        finding.problem.level = Level::Warning;
        finding.problem.to_string()
    })
    .collect()
}

/// Reads one connection that has the right form.
fn read(
    document: &Document,
    at: &str,
    name: &str,
    mut value: Value,
    with: Reading<'_>,
) -> Result<Connection, Vec<Issue>> {
    let mut reader = Reader { document, at, issues: Vec::new() };
    reader.name(name);
    let command = value.as_object_mut().and_then(|map| map.shift_remove("key_cmd"));
    let raw_url = value["base_url"].clone();
    for (pointer, message) in fill_all(&mut value, "", &with.filler) {
        let last = pointer.rsplit('/').next().unwrap_or_default();
        reader.value(&pointer, format!("`{last}` cannot be filled: {message}"), true);
    }
    if !reader.issues.is_empty() {
        return Err(reader.issues);
    }
    let is_filled = raw_url != value["base_url"];
    let Ok(written) = serde_json::from_value::<Written>(value) else {
        reader.value("", "cannot be read; compare it with the schema".into(), false);
        return Err(reader.issues);
    };
    if !with.dialects.contains(&written.dialect.as_str()) {
        reader.value(
            "/dialect",
            format!(
                "`dialect` names none that is known here.{}",
                hint(&written.dialect, with.dialects)
            ),
            false,
        );
    }
    if let Err(why) = check_url(&written.base_url) {
        reader.value("/base_url", format!("`base_url` {why}"), is_filled);
    }
    let authority = reader.tls(&written, is_filled, &with.filler);
    let credential = reader.credential(written.key, command.as_ref().and_then(Value::as_str));
    let headers = reader.headers(written.headers);
    reader.models(&written.models, with.spec);
    if !reader.issues.is_empty() {
        return Err(reader.issues);
    }
    Ok(Connection {
        name: name.into(),
        dialect: written.dialect,
        base_url: written.base_url.trim_end_matches('/').into(),
        credential,
        headers,
        models: written.models,
        connect: written.timeout.connect_s.map(Duration::from_secs),
        idle: written.timeout.idle_s.map(Duration::from_secs),
        authority,
        insecure: written.tls.insecure,
        sends_reasoning: written.sends_reasoning,
        extra: written.extra,
    })
}

/// Collects what is wrong with one connection; `at` is its pointer.
struct Reader<'a> {
    document: &'a Document,
    at: &'a str,
    issues: Vec<Issue>,
}

impl Reader<'_> {
    fn value(&mut self, pointer: &str, message: String, elsewhere: bool) {
        let problem = self.document.at_value(&format!("{}{pointer}", self.at), message).warning();
        self.issues.push(Issue { problem, elsewhere });
    }

    fn key(&mut self, pointer: &str, message: String) {
        let problem = self.document.at_key(&format!("{}{pointer}", self.at), message).warning();
        self.issues.push(Issue { problem, elsewhere: false });
    }

    fn credential(&mut self, key: Option<String>, command: Option<&str>) -> Credential {
        match (key, command) {
            (Some(_), Some(_)) => {
                self.key("/key_cmd", "`key` and `key_cmd` are both here; keep one".into());
                Credential::None
            }
            (Some(key), None) => {
                if HeaderValue::from_str(&key).is_err() {
                    self.value(
                        "/key",
                        "`key` holds a character that no key has, such as a line break".into(),
                        true,
                    );
                }
                Credential::Key(Secret::new(key))
            }
            (None, Some(command)) => Credential::Command(command.into()),
            (None, None) => Credential::None,
        }
    }

    fn headers(&mut self, written: Map<String, Value>) -> Vec<(String, Secret)> {
        let mut headers = Vec::new();
        for (name, value) in written {
            let pointer = format!("/headers/{}", escape(&name));
            let value = value.as_str().unwrap_or_default();
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                self.key(
                    &pointer,
                    format!("`{name}` cannot be a header's name; use letters, digits and `-`"),
                );
            }
            if HeaderValue::from_str(value).is_err() {
                self.value(&pointer, format!("the header `{name}` holds a character that cannot be sent, such as a line break"), true);
            }
            headers.push((name, Secret::new(value.into())));
        }
        headers
    }

    fn name(&mut self, name: &str) {
        if !is_name(name) {
            self.key("", format!("a connection's name {NAME}"));
        }
    }

    /// Returns where the certificate is; a file that is not there is a problem now, not when a server is called.
    fn tls(&mut self, written: &Written, is_filled: bool, filler: &Filler<'_>) -> Option<PathBuf> {
        if written.tls.insecure && !is_loopback(&written.base_url) {
            let message = "`insecure` is only for a server on this machine (localhost, 127.0.0.1, [::1]); for another one give \
                           its authority's certificate as `ca`";
            self.value("/tls/insecure", message.into(), is_filled);
        }
        let path = filler.path(written.tls.ca.as_deref()?);
        let there = path.and_then(|path| match path.is_file() {
            true => Ok(path),
            false => Err(format!("there is no file {}", path.display())),
        });
        there.map_err(|why| self.value("/tls/ca", format!("`ca`: {why}"), true)).ok()
    }

    fn models(&mut self, models: &[Model], spec: &Spec) {
        let mut seen = HashSet::new();
        for (index, model) in models.iter().enumerate() {
            for (at, way) in model.text_calls.iter().flatten().enumerate() {
                self.way(&format!("/models/{index}/text_calls/{at}"), way, spec);
            }
            if !seen.insert(&model.id) {
                self.value(
                    &format!("/models/{index}"),
                    format!("the model `{}` is listed twice; keep one", model.id),
                    false,
                );
            }
        }
    }

    fn way(&mut self, pointer: &str, way: &str, spec: &Spec) {
        let ways: Vec<&str> = quirk::ways(&spec.quirks).map(|rule| rule.id.as_str()).collect();
        if !ways.contains(&way) {
            let message =
                format!("`text_calls` names no way of writing calls.{}", hint(way, &ways));
            self.value(pointer, message, false);
        }
    }
}

/// Whether an address is one of this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Says what is wrong with an address, never what it is: it may hold a password.
pub(crate) fn check_url(url: &str) -> Result<(), String> {
    let url =
        Url::parse(url).map_err(|error| format!("is not an http or https address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with http:// or https://".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user or password; use `key` or `headers`".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end with the path; what follows a `?` or `#` cannot be kept".into());
    }
    Ok(())
}

/// Warns about a file with keys that other users of the machine can read.
fn readable_by_others(file: &Path) -> Option<Problem> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    let message = "can be read by other users of this machine; run `chmod 600` on it";
    (mode & 0o077 != 0).then(|| Problem::file(file, message).warning())
}
