//! `tool`: what a model is told of a tool, and what a call of it comes down to: `{"offered": id}` to
//! `{"name", "description"}`, `{"name", "arguments"}` to `{"tool": id or null, "arguments"}`.

use lembas_core::{
    call, prompt,
    spec::{PromptFacts, Spec},
};
use serde_json::{Map, Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    match (input["offered"].as_str(), input["name"].as_str()) {
        (Some(id), _) => offered(spec, id),
        (None, Some(name)) => Ok(meant(spec, name, input["arguments"].as_object())),
        (None, None) => Err("a case has \"offered\" or \"name\"".into()),
    }
}

fn offered(spec: &Spec, id: &str) -> Result<Value, String> {
    let Some(tool) = spec.tool(id) else { return Ok(Value::Null) };
    let facts = PromptFacts { tools: vec![tool.name.as_str().into()], ..PromptFacts::default() };
    let told = prompt::tool_definitions(spec, &facts).map_err(|error| error.to_string())?;
    let told =
        told.first().map(|tool| json!({ "name": tool.name, "description": tool.description }));
    Ok(told.unwrap_or_default())
}

fn meant(spec: &Spec, name: &str, given: Option<&Map<String, Value>>) -> Value {
    let given = given.cloned().unwrap_or_default();
    match call::named(spec, name) {
        Some(tool) => json!({ "tool": tool.id, "arguments": call::arguments(tool, given) }),
        None => json!({ "tool": null, "arguments": given }),
    }
}
