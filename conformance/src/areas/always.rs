//! `always`: what "always" would store for a command line: `{"command"}` to a list of patterns, or null where it is
//! not offered.

use lembas_core::permission;
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    Ok(json!(permission::always(spec, line)))
}
