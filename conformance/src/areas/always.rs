//! `always`: what "always" would store: of a line of which everything is asked about, `{"command"}` to a list of patterns;
//! of a call as `permission` takes it, `{"tool", …}` to a list of `tool pattern`. Null where it is not offered.

use lembas_core::permission::{self, Approval};
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    if !input["tool"].is_null() {
        let stored = super::permission::approvals(spec, input, &[])?;
        let told = stored.iter().map(|each| format!("{} {}", each.tool, each.pattern));
        return Ok(json!((!stored.is_empty()).then(|| told.collect::<Vec<_>>())));
    }
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    let approved = permission::always(spec, line);
    let patterns = |list: Vec<Approval>| list.into_iter().map(|each| each.pattern);
    Ok(json!(approved.map(|list| patterns(list).collect::<Vec<_>>())))
}
