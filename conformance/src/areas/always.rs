//! `always`: what "always" would store for a command line: `{"command"}` to a list of patterns, or null where it is
//! not offered.

use lembas_core::permission::{self, Approval};
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    let approved = permission::always(spec, line);
    let patterns = |list: Vec<Approval>| list.into_iter().map(|each| each.pattern);
    Ok(json!(approved.map(|list| patterns(list).collect::<Vec<_>>())))
}
