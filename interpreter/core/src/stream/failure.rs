//! Reads the words of an error, in whatever shape a server puts them, and asks the quirks what they mean. It knows no server.

use super::sse::Frames;
use super::wait;
use crate::event::Failure;
use crate::quirk;
use crate::spec::{Action, ErrorKeys, ReplyPlaces, Rule, StatusFacts, StreamLimits};
use serde_json::Value;

/// How deep errors are looked for inside each other.
const DEEPEST: usize = 12;

/// An error's words, taken out of its body.
#[derive(Debug, Default)]
pub(super) struct Words {
    texts: Vec<String>,
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

impl Words {
    /// Takes the words out of a body or frame: first where the dialect's errors sit, then anywhere.
    pub(super) fn of(body: &Value, reply: &ReplyPlaces) -> Words {
        let mut words = Words::default();
        let inner = reply.error.iter().filter_map(|pointer| body.pointer(pointer));
        inner.chain([body]).for_each(|each| words.read(each, &reply.error_keys, DEEPEST));
        words
    }

    /// Returns the code when it is an HTTP status of an error.
    pub(super) fn status(&self) -> Option<u16> {
        self.code.as_deref()?.parse().ok().filter(|code| (400..600).contains(code))
    }

    /// Inner words count before outer ones: a gateway wraps the error of the server behind it.
    fn read(&mut self, value: &Value, keys: &ErrorKeys, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        match value {
            Value::String(text) => match opened(text) {
                Some(inner) => self.read(&inner, keys, deeper),
                None => self.text(told(text, keys)),
            },
            Value::Array(list) => {
                list.iter().take(8).for_each(|each| self.read(each, keys, deeper))
            }
            Value::Object(object) => {
                keys.text
                    .iter()
                    .filter_map(|key| object.get(key))
                    .for_each(|each| self.read(each, keys, deeper));
                let first = |names: &[String]| {
                    names.iter().filter_map(|key| object.get(key)).find_map(plain)
                };
                self.kind = self.kind.take().or_else(|| first(&keys.kind));
                self.code = self.code.take().or_else(|| first(&keys.code));
                self.param = self.param.take().or_else(|| first(&keys.param));
                if let Some(sentence) = self.param.take_if(|param| param.contains(' ')) {
                    self.text(&sentence);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() && self.texts.iter().all(|other| other != text) {
            self.texts.push(text.into());
        }
    }
}

/// What a text says before it repeats what the server was sent.
fn told<'t>(text: &'t str, keys: &ErrorKeys) -> &'t str {
    let ends = keys.echo.iter().filter_map(|echo| text.find(echo.as_str()));
    ends.min().and_then(|end| text.get(..end)).unwrap_or(text)
}

/// A word or number; of a path, its last step.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(path) => path.iter().rev().find_map(|step| step.as_str().map(String::from)),
        _ => None,
    }
}

/// The JSON inside a text, when the text is JSON.
fn opened(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// What an error came with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// The dialect's id.
    pub(super) dialect: &'a str,
    /// The HTTP status it counts as.
    pub(super) status: u16,
    /// The headers by lower-case name, an object.
    pub(super) headers: &'a Value,
    /// Whether the prompt is known to be well below the window.
    pub(super) roomy: bool,
    /// How much of the words is looked at and shown.
    pub(super) limits: StreamLimits,
}

/// Reads the body of an HTTP error: JSON, an event stream with the error in its first frames, or text.
pub(super) fn body(bytes: &[u8], reply: &ReplyPlaces) -> (Value, Words) {
    let text = String::from_utf8_lossy(bytes);
    let json = serde_json::from_str(text.trim_start_matches('\u{feff}').trim())
        .ok()
        .or_else(|| framed(bytes));
    match json {
        Some(json) => {
            let words = Words::of(&json, reply);
            (json, words)
        }
        None => {
            let mut words = Words::default();
            words.text(page_title(&text).unwrap_or(&text));
            (Value::Null, words)
        }
    }
}

fn framed(bytes: &[u8]) -> Option<Value> {
    let (mut frames, mut found) = (Frames::new(bytes.len()), None);
    let mut keep = |data: &[u8]| {
        found = found
            .take()
            .or_else(|| serde_json::from_slice::<Value>(data).ok().filter(Value::is_object))
    };
    frames.push(bytes, &mut |frame| keep(frame.data));
    frames.end(&mut |frame| keep(frame.data));
    found
}

/// The title of an HTML page, empty when it has none.
fn page_title(text: &str) -> Option<&str> {
    let start = text.trim_start();
    let page = start.starts_with('<');
    page.then(|| {
        start
            .split_once("<title>")
            .and_then(|(_, rest)| rest.split_once("</title>"))
            .map_or("", |(title, _)| title)
    })
}

/// Says what an error means and whether to try again.
pub(super) fn judge(
    rules: &[Rule],
    around: Around<'_>,
    empty: bool,
    body: Value,
    words: Words,
) -> Failure {
    let written = words.texts.iter().flat_map(|text| text.split_whitespace());
    let written = short(&written.collect::<Vec<_>>().join(" "), around.limits.quirk_chars);
    let facts = StatusFacts {
        dialect: around.dialect.into(),
        status: around.status.into(),
        // Names are read in their own case at the same bytes, so only ASCII may change.
        text: written.to_ascii_lowercase().into(),
        r#type: words.kind.unwrap_or_default().to_lowercase().into(),
        code: words.code.unwrap_or_default().to_lowercase().into(),
        param: words.param.unwrap_or_default().into(),
        empty,
        roomy: around.roomy,
        body,
        headers: around.headers.clone(),
    };
    let (mut failure, mut retry, mut waits) = (None, None, wait::Wait::default());
    for (rule, action) in quirk::hits(rules, "status", &facts) {
        match action {
            Action::Fail(fail) if failure.is_none() => {
                failure = quirk::failure(rule, fail, &facts, &written)
            }
            Action::Retry(word) => retry = retry.or(Some(word)),
            Action::Wait(unit) => waits.read(&unit, &quirk::groups(&rule.when, &facts, "")),
            _ => {}
        }
    }
    let mut failure = failure.unwrap_or_else(|| Failure::new("bad_response", "no", ""));
    failure.retry = retry.unwrap_or(failure.retry);
    failure.after_ms = waits.after_ms.filter(|_| failure.retry == "wait");
    failure.resets_at_ms = waits.resets_at_ms;
    failure.resets_in_ms = waits.resets_in_ms;
    failure.param = failure.param.or_else(|| {
        (failure.kind == "param_refused" && !facts.param.is_empty())
            .then(|| facts.param.to_string())
    });
    failure.status = Some(around.status);
    failure.message =
        short(words.texts.first().map_or("", |text| text.trim()), around.limits.shown_chars);
    failure
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.into(),
    }
}
