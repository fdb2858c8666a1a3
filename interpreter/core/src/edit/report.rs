//! What the model is told about an edit, in the words of the spec.

use super::{Difference, Edited, Edits, Near, Reason, Refused};
use crate::say::say;
use crate::spec::{EditSay, MultieditSay};
use lembas_codegen::spec::Tool;
use serde_json::{Value, json};

/// Returns the sentence about an edit that was made in the file shown as `path`.
pub fn changed(tool: &Tool, path: &str, edited: &Edited) -> String {
    let note = matcher_note(tool, &edited.matcher);
    let lines = part_values(&edited.lines);
    let values = json!({"path": path, "lines": lines, "count": edited.count, "matcher": edited.matcher, "note": note});
    say(&tool.says, EditSay::Changed.name(), &values)
}

/// Returns the sentences about several edits that were made in the file shown as `path`, or that all stood there
/// already. `edit` and `multiedit` are the tools whose words are used.
pub fn edits_made(edit: &Tool, multiedit: &Tool, path: &str, edits: &Edits) -> String {
    let note = |(index, each): (usize, &Result<Edited, Refused>)| {
        let note = match each {
            Ok(edited) => matcher_note(edit, &edited.matcher).to_owned(),
            Err(refused) => {
                let values = json!({"places": refused.places});
                say(&multiedit.says, MultieditSay::Already.name(), &values)
            }
        };
        let values = json!({"edit": index + 1, "note": note});
        (!note.is_empty()).then(|| say(&multiedit.says, MultieditSay::Note.name(), &values))
    };
    let key = match edits.each.iter().any(Result::is_ok) {
        true if edits.lines.is_empty() => MultieditSay::Undone,
        true => MultieditSay::Changed,
        false => MultieditSay::AlreadyApplied,
    };
    let lines = part_values(&edits.lines);
    let values = json!({"path": path, "edits": edits.each.len(), "lines": lines});
    let told = std::iter::once(say(&multiedit.says, key.name(), &values));
    let notes =
        edits.each.iter().enumerate().filter_map(note).filter(|_| key == MultieditSay::Changed);
    told.chain(notes).collect::<Vec<_>>().join("\n")
}

/// Returns the sentences about the edit, counted from 0, because of which none was made.
pub fn edits_refused(
    edit: &Tool,
    multiedit: &Tool,
    path: &str,
    index: usize,
    edits: usize,
    why: &Refused,
) -> String {
    let why = refused(edit, path, why);
    let values = json!({"edit": index + 1, "edits": edits, "why": why});
    say(&multiedit.says, MultieditSay::Refused.name(), &values)
}

fn matcher_note<'t>(tool: &'t Tool, id: &str) -> &'t str {
    tool.matchers.iter().find(|matcher| matcher.id == id).map_or("", |matcher| &matcher.note)
}

/// Returns the sentences about an edit that was refused: why, what the file has instead, and what to do.
pub fn refused(tool: &Tool, path: &str, refused: &Refused) -> String {
    let near = refused.near.as_ref().map(|near| near_values(tool, near));
    let values = json!({
        "path": path, "places": refused.places, "more": refused.more, "near": near, "matcher": refused.matcher,
    });
    say(&tool.says, reason(refused.reason).name(), &values)
}

/// Returns ranges of lines as sentences name them.
pub(crate) fn part_values(lines: &[(usize, usize)]) -> Value {
    lines.iter().map(|(first, last)| json!({"first": first, "last": last})).collect()
}

/// Returns the region most like what was looked for as sentences name it, with the words `tool` has for the difference.
pub(crate) fn near_values(tool: &Tool, near: &Near) -> Value {
    let why = say(&tool.says, difference(near.difference).name(), &json!({}));
    json!({
        "line": near.line,
        "diff": near.diff,
        "differs": near.differs,
        "why": why,
        "found": near.found.as_ref().map(|line| Value::from(line.as_str()).to_string()),
        "given": Value::from(near.given.as_str()).to_string(),
    })
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
