//! `embed`: the request for the vectors of texts and what its answer holds: `{"dialect", "model", "texts", "answer"?}` to
//! `{"path", "body", "vectors"?, "tokens"?}`, or what is wrong as `{"error"}`.

use lembas_core::embed;
use lembas_core::spec::Spec;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    dialect: String,
    model: String,
    texts: Vec<String>,
    #[serde(default)]
    answer: Option<Value>,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let name = &question.dialect;
    let dialect = spec.dialect(name).ok_or_else(|| format!("there is no dialect {name:?}"))?;
    Ok(asked(dialect, &question).unwrap_or_else(|error| json!({ "error": error })))
}

fn asked(dialect: &lembas_core::spec::Dialect, question: &Question) -> Result<Value, String> {
    let mut out = json!(embed::request(dialect, &question.model, &question.texts)?);
    if let Some(answer) = &question.answer {
        let read = embed::read(dialect, answer, question.texts.len())?;
        out["vectors"] = json!(read.vectors);
        if let Some(tokens) = read.tokens {
            out["tokens"] = json!(tokens);
        }
    }
    Ok(out)
}
