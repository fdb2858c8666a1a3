//! `patch-report`: the text a model is told of an edit (`{text, old, new, all?}`), of several (`{text, edits}`) or of a
//! patch (`{files, patch}`).

use super::{edit, patching};
use lembas_core::patch;
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    if input["patch"].is_null() {
        return edit::told(spec, input).map(|text| json!(text));
    }
    Ok(json!(match patching::outcome(spec, input)? {
        Ok(plan) => patch::applied(spec, &plan),
        Err(refused) => patch::refused(spec, &refused),
    }))
}
