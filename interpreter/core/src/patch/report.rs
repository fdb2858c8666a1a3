//! What the model is told about a patch, in the words of the spec.

use super::{Landed, Landing, Plan, Reason, Refused, Verb};
use crate::edit::{near_values, part_values};
use crate::say::say;
use crate::spec::{ApplyPatchSay, Spec};
use lembas_codegen::spec::Matcher;
use serde_json::{Value, json};

/// The tool that has the matchers and the sentences about a region that is nearly what was looked for.
const EDIT: &str = "edit";

/// Returns the sentences about a patch that was applied, one a file.
pub fn applied(spec: &Spec, plan: &Plan) -> String {
    let matchers = spec.tool(EDIT).map(|tool| tool.matchers.as_slice()).unwrap_or_default();
    let told = plan.landed.iter().map(|landed| changed(spec, landed, matchers));
    told.collect::<Vec<_>>().join("\n")
}

fn changed(spec: &Spec, landed: &Landed, matchers: &[Matcher]) -> String {
    let hunks: Vec<_> = landed.hunks.iter().map(|hunk| landing(hunk, matchers)).collect();
    let at = told(spec, ApplyPatchSay::At, &json!({ "hunks": hunks }));
    let values = json!({
        "path": landed.path, "to": landed.to, "lines": landed.lines, "at": at, "executable": landed.executable,
    });
    let key = match landed.verb {
        Verb::Added => ApplyPatchSay::Added,
        Verb::Deleted => ApplyPatchSay::Deleted,
        Verb::Updated => ApplyPatchSay::Updated,
        Verb::Moved => ApplyPatchSay::Moved,
        Verb::Copied => ApplyPatchSay::Copied,
    };
    told(spec, key, &values)
}

fn landing(landing: &Landing, matchers: &[Matcher]) -> Value {
    let id = landing.matcher.as_deref();
    let note = matchers
        .iter()
        .find(|matcher| Some(matcher.id.as_str()) == id)
        .map(|matcher| &matcher.note);
    json!({ "lines": part_values(&landing.lines), "matcher": id, "note": note })
}

/// Returns the sentences about a patch that was refused: where it fails, what the file has instead, and what to do.
pub fn refused(spec: &Spec, refused: &Refused) -> String {
    let near =
        refused.near.as_ref().zip(spec.tool(EDIT)).map(|(near, tool)| near_values(tool, near));
    let values = json!({
        "path": refused.path, "hunk": refused.hunk, "hunks": refused.hunks, "line": refused.line, "text": refused.text,
        "places": refused.places, "more": refused.more, "near": near,
    });
    let place = told(spec, ApplyPatchSay::Place, &values);
    let why = told(spec, key(refused.reason), &values);
    told(spec, ApplyPatchSay::Refused, &json!({ "place": place, "why": why }))
}

fn told(spec: &Spec, key: ApplyPatchSay, values: &Value) -> String {
    let tool = spec.tool("apply_patch");
    tool.map(|tool| say(&tool.says, key.name(), values)).unwrap_or_else(|| key.name().to_owned())
}

fn key(reason: Reason) -> ApplyPatchSay {
    match reason {
        Reason::NoPatch => ApplyPatchSay::NoPatch,
        Reason::BadLine => ApplyPatchSay::BadLine,
        Reason::BadAdd => ApplyPatchSay::BadAdd,
        Reason::NoChange => ApplyPatchSay::NoChange,
        Reason::BadPath => ApplyPatchSay::BadPath,
        Reason::Binary => ApplyPatchSay::Binary,
        Reason::Special => ApplyPatchSay::Special,
        Reason::Missing => ApplyPatchSay::Missing,
        Reason::Exists => ApplyPatchSay::Exists,
        Reason::Taken => ApplyPatchSay::Taken,
        Reason::Directory => ApplyPatchSay::Directory,
        Reason::Encoding => ApplyPatchSay::Encoding,
        Reason::TooLarge => ApplyPatchSay::TooLarge,
        Reason::NotFound => ApplyPatchSay::NotFound,
        Reason::Ambiguous => ApplyPatchSay::Ambiguous,
        Reason::Overlap => ApplyPatchSay::Overlap,
        Reason::NotUnder => ApplyPatchSay::NotUnder,
        Reason::NotEnd => ApplyPatchSay::NotEnd,
        Reason::NoAnchor => ApplyPatchSay::NoAnchor,
        Reason::AnchorAmbiguous => ApplyPatchSay::AnchorAmbiguous,
        Reason::Unanchored => ApplyPatchSay::Unanchored,
        Reason::AlreadyApplied => ApplyPatchSay::AlreadyApplied,
        Reason::AllApplied => ApplyPatchSay::AllApplied,
        Reason::NotEmptied => ApplyPatchSay::NotEmptied,
        Reason::Same => ApplyPatchSay::Same,
        Reason::Drift => ApplyPatchSay::Drift,
        Reason::Stale => ApplyPatchSay::Stale,
        Reason::Moved => ApplyPatchSay::LeadsElsewhere,
        Reason::Failed => ApplyPatchSay::Failed,
    }
}
