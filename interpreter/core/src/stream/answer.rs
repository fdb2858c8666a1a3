//! What an answer that is no stream says when it is an error. What the error means is for the quirks to say.

use super::common::fails;
use super::failure::{self, Around};
use super::json::elements;
use super::places::Places;
use crate::event::Failure;
use crate::spec::{Dialect, ReplyPlaces, Spec};
use serde_json::Value;

/// How many characters are shown of what was not asked for.
const SHOWN: usize = 200;

/// An answer that is no stream, as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The headers by lower-case name, an object.
    pub headers: &'a Value,
    /// The body.
    pub body: &'a [u8],
}

/// Returns what the error in an answer means and whether to ask again, if its status or its body says that it is one. One
/// that came with a good status counts as what its own code says, or else as the server's.
pub fn error_in(spec: &Spec, dialect: &Dialect, answer: &Answer<'_>) -> Option<Failure> {
    let is_good = (200..300).contains(&answer.status);
    if is_good && !holds_error(&dialect.reply, answer.body) {
        return None;
    }
    let limits = spec.limits.stream;
    let (json, words) = failure::body(answer.body, &dialect.reply);
    let status = if is_good { words.status().unwrap_or(500) } else { answer.status };
    let (dialect, headers) = (dialect.id.as_str(), answer.headers);
    let around = Around { dialect, status, headers, roomy: false, limits };
    let empty = answer.body.trim_ascii().is_empty();
    Some(failure::judge(&spec.quirks, around, empty, json, words))
}

/// Returns whether an error stands in a body, or in an entry of the list it is, where the dialect's errors do.
fn holds_error(reply: &ReplyPlaces, body: &[u8]) -> bool {
    let mut places = Places::default();
    let error = places.group(&reply.error);
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let entries = elements(text).unwrap_or_else(|_| vec![text]);
    let mut found = entries.into_iter().filter_map(|json| places.read(json).ok());
    found.any(|found| fails(&found, error))
}

/// Says what a server sent in place of what was asked for, as far as it is shown.
pub(crate) fn sent_instead(what: &str, body: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
    format!("the server sent no {what} but: {start}")
}
