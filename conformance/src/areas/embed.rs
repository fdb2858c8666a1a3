//! `embed`: the request for the vectors of texts and what its answer holds: `{"dialect", "model", "texts", "status"?, "headers"?,
//! "answer"?}` to `{"requests", "vectors"?, "tokens"?}`, what went wrong as `{"requests", "failure"}`, or `{"error"}` where
//! there is nothing to ask. An answer that is a text stands for these bytes, and answers the last request.

use lembas_core::{
    embed,
    spec::{Dialect, Spec},
    stream::Answer,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    dialect: String,
    model: String,
    texts: Vec<String>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    answer: Option<Value>,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let name = &question.dialect;
    let dialect = spec.dialect(name).ok_or_else(|| format!("there is no dialect {name:?}"))?;
    Ok(asked(spec, dialect, &question).unwrap_or_else(|error| json!({ "error": error })))
}

fn asked(spec: &Spec, dialect: &Dialect, question: &Question) -> Result<Value, String> {
    let pieces: Vec<&[String]> = embed::pieces(dialect, &question.texts)?.collect();
    let requests = pieces.iter().map(|texts| embed::request(dialect, &question.model, texts));
    let mut out = json!({ "requests": requests.collect::<Result<Vec<_>, _>>()? });
    if let Some(answer) = &question.answer {
        let body = answer.as_str().map_or_else(|| answer.to_string(), String::from);
        let answer = Answer {
            status: question.status.unwrap_or(200),
            headers: &Value::Object(question.headers.clone()),
            body: body.as_bytes(),
        };
        let texts = pieces.last().map_or(0, |texts| texts.len());
        match embed::answered(spec, dialect, &answer, texts) {
            Ok(found) => {
                out["vectors"] = json!(found.vectors);
                if let Some(tokens) = found.tokens {
                    out["tokens"] = json!(tokens);
                }
            }
            Err(failure) => out["failure"] = json!(failure),
        }
    }
    Ok(out)
}
