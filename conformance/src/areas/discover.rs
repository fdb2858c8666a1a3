//! `discover`: what answers at an address say about the server there and its models: `{"url" and "named"?, or "dialect" and "base_url", "answers":
//! {"<path>": {"status"?, "body"}}}` to what was found, and the paths that were asked for. A path that has no answer is a 404.

use lembas_core::discover::Discovery;
use lembas_core::spec::Spec;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    named: Option<String>,
    #[serde(default)]
    dialect: String,
    #[serde(default)]
    base_url: String,
    answers: Map<String, Value>,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let mut discovery = match &question.url {
        Some(url) => Discovery::anywhere(spec, url, question.named.as_deref()),
        None => Discovery::of(spec, &question.dialect, &question.base_url),
    };
    let mut asked = Vec::new();
    while let Some(request) = discovery.next() {
        let model = request.send.as_ref().map(|send| format!(" {send}"));
        let path = format!("{}{}", request.url, model.unwrap_or_default());
        let known = question.answers.get(&path);
        let status = known.map_or(404, |known| known["status"].as_u64().unwrap_or(200));
        let body = known.map_or(Value::Null, |known| known["body"].clone());
        discovery.take(u16::try_from(status).unwrap_or(500), &body);
        asked.push(path);
    }
    Ok(json!({ "found": discovery.found(), "asked": asked }))
}
