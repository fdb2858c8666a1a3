//! What the server was asked: kept for assertions, written to the log. It decides nothing.

use crate::http::{Incoming, header};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Headers whose values do not go into the log.
const SECRET: [&str; 4] = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];

/// A request the server got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method; empty if what came was no HTTP.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, names as they were written.
    pub headers: Vec<(String, String)>,
    /// The content, byte for byte (only the framing of a chunked one is taken off).
    pub body: Vec<u8>,
    /// When all of it was there, from the start of the server.
    pub received_at: Duration,
    /// What the server made of it.
    pub verdict: Verdict,
    /// How the answer ended; nothing while it is being sent.
    pub end: Option<End>,
}

impl Request {
    /// Returns the first header of a name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the body read as JSON, null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What the server made of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It got this reply of the scenario, counted from 0.
    Reply(usize),
    /// It got the list of models.
    Models,
    /// It got vectors made from its texts.
    Vectors,
    /// It got 404, because nothing is there.
    NotFound,
    /// It broke this rule of the dialect or of HTTP.
    Violation(String),
    /// The scenario had nothing for it, for this reason.
    Unexpected(String),
}

/// How an answer ended, and when, from the start of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// How.
    pub how: How,
    /// When.
    pub at: Duration,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// All of it was sent.
    Complete,
    /// The scenario ended the connection in the middle.
    Cut,
    /// The client closed the connection before the end.
    HungUp,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            How::Complete => "complete",
            How::Cut => "cut",
            How::HungUp => "hung_up",
        }
    }
}

/// Keeps the requests, in the order they came.
#[derive(Debug)]
pub(crate) struct Record {
    started: Instant,
    requests: Mutex<Vec<Request>>,
    changed: Condvar,
    log: Option<File>,
    keep_bodies: bool,
}

impl Record {
    /// Returns an empty record. Without `keep_bodies` a body is dropped once its request is answered and logged.
    pub(crate) fn new(log: Option<File>, keep_bodies: bool) -> Record {
        let (requests, changed) = (Mutex::default(), Condvar::new());
        Record { started: Instant::now(), requests, changed, log, keep_bodies }
    }

    /// Adds a request and returns its place.
    pub(crate) fn begin(&self, incoming: Incoming, verdict: Verdict) -> usize {
        let Incoming { method, path, headers, body, .. } = incoming;
        let received_at = self.started.elapsed();
        let mut requests = self.lock();
        requests.push(Request { method, path, headers, body, received_at, verdict, end: None });
        self.changed.notify_all();
        requests.len() - 1
    }

    /// Notes how the answer to a request ended, and logs it.
    pub(crate) fn end(&self, place: usize, how: How) {
        let at = self.started.elapsed();
        let mut requests = self.lock();
        let Some(request) = requests.get_mut(place) else { return };
        request.end = Some(End { how, at });
        if let Some(mut log) = self.log.as_ref() {
            let line = line(
                place,
                request,
                SystemTime::now() - (self.started.elapsed() - request.received_at),
            );
            // A full disk must not change what the server answers.
            let _ = log.write_all(format!("{line}\n").as_bytes());
        }
        if !self.keep_bodies {
            request.body = Vec::new();
        }
        self.changed.notify_all();
    }

    /// Returns a copy of all requests.
    pub(crate) fn all(&self) -> Vec<Request> {
        self.lock().clone()
    }

    /// Waits until the requests are as wanted, or for as long as `limit`, and tells which.
    pub(crate) fn wait_until(
        &self,
        limit: Duration,
        mut wanted: impl FnMut(&[Request]) -> bool,
    ) -> bool {
        let waited =
            self.changed.wait_timeout_while(self.lock(), limit, |requests| !wanted(requests));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the line of the log about a request.
fn line(place: usize, request: &Request, received: SystemTime) -> Value {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let unix = received.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let shown = |(name, value): &(String, String)| {
        let secret = SECRET.iter().any(|known| known.eq_ignore_ascii_case(name));
        (name.clone(), Value::from(if secret { "***" } else { value }))
    };
    let mut line = json!({
        "request": place, "unix_us": micros(unix), "at_us": micros(request.received_at),
        "method": request.method, "path": request.path,
        "headers": request.headers.iter().map(shown).collect::<Map<_, _>>(),
    });
    let mut put = |key: &str, value: Value| {
        line.as_object_mut().map(|line| line.insert(key.to_owned(), value))
    };
    match std::str::from_utf8(&request.body) {
        Ok(text) => put("body", text.into()),
        Err(_) => put("body_b64", BASE64_STANDARD.encode(&request.body).into()),
    };
    match &request.verdict {
        Verdict::Reply(index) => put("reply", (*index).into()),
        Verdict::Models => put("reply", "models".into()),
        Verdict::Vectors => put("reply", "vectors".into()),
        Verdict::NotFound => put("reply", "not_found".into()),
        Verdict::Violation(why) => put("violation", why.as_str().into()),
        Verdict::Unexpected(why) => put("unexpected", why.as_str().into()),
    };
    if let Some(end) = request.end {
        put("end", end.how.word().into());
        put("end_us", micros(end.at).into());
    }
    line
}
