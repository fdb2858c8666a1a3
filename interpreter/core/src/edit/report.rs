//! What the model is told about an edit, in the words of the spec.

use super::{Difference, Edited, Reason, Refused};
use crate::say::say;
use crate::spec::EditSay;
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
    say(&tool.says, EditSay::Changed.name(), &values)
}

/// Returns the sentences about an edit that was refused: why, what the file has instead, and what to do.
pub fn refused(tool: &Tool, path: &str, refused: &Refused) -> String {
    let near = refused.near.as_ref().map(|near| {
        let why = say(&tool.says, difference(near.difference).name(), &json!({}));
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
    say(&tool.says, reason(refused.reason).name(), &values)
}

fn reason(reason: Reason) -> EditSay {
    match reason {
        Reason::Blank => EditSay::Blank,
        Reason::Same => EditSay::Same,
        Reason::Ambiguous => EditSay::Ambiguous,
        Reason::NotFound => EditSay::NotFound,
        Reason::AlreadyApplied => EditSay::AlreadyApplied,
        Reason::Drift => EditSay::Drift,
        Reason::Encoding => EditSay::Encoding,
        Reason::Binary => EditSay::Binary,
        Reason::TooLarge => EditSay::TooLarge,
    }
}

fn difference(difference: Difference) -> EditSay {
    match difference {
        Difference::LineNumber => EditSay::DifferenceLineNumber,
        Difference::Tabs => EditSay::DifferenceTabs,
        Difference::Indentation => EditSay::DifferenceIndentation,
        Difference::TrailingBlanks => EditSay::DifferenceTrailingBlanks,
        Difference::Blanks => EditSay::DifferenceBlanks,
        Difference::Alike => EditSay::DifferenceAlike,
        Difference::Escapes => EditSay::DifferenceEscapes,
        Difference::Case => EditSay::DifferenceCase,
        Difference::Text => EditSay::DifferenceText,
        Difference::End => EditSay::DifferenceEnd,
        Difference::None => EditSay::DifferenceNone,
    }
}
