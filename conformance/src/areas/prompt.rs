//! `prompt`: which sections a prompt has, what a text says with these values, and how the template language behaves.

use lembas_core::prompt;
use lembas_core::spec::{PromptFacts, Spec};
use serde_json::{Map, Value, json};

/// Answers with `sections` (names in order), `text`, `family` or `error`, by what the case asks.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let values = &input["values"];
    if let Some(model) = input["model"].as_str() {
        return Ok(json!({ "family": prompt::family(spec, model) }));
    }
    if let Some(source) = input["template"].as_str() {
        return Ok(said(prompt::fill("template", source, values)));
    }
    if let Some(path) = input["text"].as_str() {
        return Ok(said(prompt::text_at(spec, path, values)));
    }
    let facts = facts(&input["facts"])?;
    if let Some(name) = input["note"].as_str() {
        return Ok(said(prompt::note(spec, name, &facts)));
    }
    let sections = prompt::assemble(spec, &facts).map_err(|error| error.to_string())?;
    match input["section"].as_str() {
        Some(name) => {
            let section = sections.into_iter().find(|section| section.name == name);
            Ok(json!({ "text": section.map(|section| section.text) }))
        }
        None => {
            let names: Vec<String> = sections.into_iter().map(|section| section.name).collect();
            Ok(json!({ "sections": names }))
        }
    }
}

fn said(text: Result<String, prompt::PromptError>) -> Value {
    text.map_or_else(|_| json!({ "error": true }), |text| json!({ "text": text }))
}

/// Returns the facts of a case; what it does not give is empty or false.
fn facts(given: &Value) -> Result<PromptFacts, String> {
    let empty = serde_json::to_value(PromptFacts::default()).map_err(|error| error.to_string())?;
    let Value::Object(mut all) = empty else { return Err("facts are an object".into()) };
    for (name, value) in given.as_object().unwrap_or(&Map::new()) {
        if all.insert(name.clone(), value.clone()).is_none() {
            return Err(format!("no prompt fact {name:?}"));
        }
    }
    serde_json::from_value(Value::Object(all)).map_err(|error| error.to_string())
}
