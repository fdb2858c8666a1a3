//! What the model is told about an edit, in the words of the spec.

use super::{Edited, Refused};
use crate::say::say;
use lembas_codegen::spec::Tool;
use serde_json::{Value, json};

/// Returns the sentence about an edit that was made in the file shown as `path`.
pub fn changed(tool: &Tool, path: &str, edited: &Edited) -> String {
    let note = tool
        .matchers
        .iter()
        .find(|matcher| matcher.id == edited.matcher)
        .map(|matcher| &matcher.note);
    let lines: Vec<_> =
        edited.lines.iter().map(|(first, last)| json!({"first": first, "last": last})).collect();
    let values = json!({"path": path, "lines": lines, "count": edited.count, "matcher": edited.matcher, "note": note});
    say(&tool.says, "changed", &values)
}

/// Returns the sentences about an edit that was refused: why, what the file has instead, and what to do.
pub fn refused(tool: &Tool, path: &str, refused: &Refused) -> String {
    let reason = word(&refused.reason);
    let near = refused.near.as_ref().map(|near| {
        let why = say(&tool.says, &format!("difference_{}", word(&near.difference)), &json!({}));
        json!({
            "line": near.line,
            "lines": near.lines,
            "differs": near.differs,
            "why": why,
            "found": near.found.as_ref().map(|line| Value::from(line.as_str()).to_string()),
            "given": Value::from(near.given.as_str()).to_string(),
        })
    });
    let values = json!({
        "path": path, "places": refused.places, "more": refused.more, "near": near, "matcher": refused.matcher,
    });
    say(&tool.says, &reason, &values)
}

/// Returns the word the spec uses for a value of a plain enum.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
