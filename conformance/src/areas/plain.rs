//! `plain`: every spelling a command line comes down to: `{"command"}` to a list of texts, nested lines included.

use lembas_core::permission;
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    Ok(json!(permission::plain_texts(spec, line)))
}
