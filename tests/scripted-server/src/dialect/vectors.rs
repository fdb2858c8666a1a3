//! Requests for the vectors of texts: how each wire asks for them, and answers made from the texts. It sends nothing.

use super::rule::{filled, list, need, object, only, text};
use crate::http::Incoming;
use serde_json::{Value, json};

/// How vectors are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// OpenAI's `/v1/embeddings`.
    Openai,
    /// Gemini's batch of contents.
    Gemini,
    /// Ollama's `/api/embed`.
    Ollama,
}

impl Vectors {
    /// Tells whether a path (without its query) is where they are asked for.
    pub(crate) fn is_at(self, path: &str) -> bool {
        match self {
            Vectors::Openai => path == "/v1/embeddings",
            Vectors::Gemini => {
                path.starts_with("/v1beta/models/") && path.ends_with(":batchEmbedContents")
            }
            Vectors::Ollama => path == "/api/embed",
        }
    }

    /// Checks a request and returns its texts.
    ///
    /// # Errors
    /// The first rule it breaks, with the place.
    pub(crate) fn texts(self, request: &Incoming) -> Result<Vec<String>, String> {
        need(request.method == "POST", || format!("{} is asked with POST", request.route()))?;
        let body = object(request)?;
        let (name, most) = match self {
            Vectors::Openai => ("input", 2048),
            Vectors::Gemini => ("requests", 100),
            Vectors::Ollama => ("input", usize::MAX),
        };
        let known: &[&str] = match self {
            Vectors::Openai => &["model", "input", "dimensions", "encoding_format", "user"],
            Vectors::Gemini => &["requests"],
            Vectors::Ollama => {
                &["model", "input", "truncate", "options", "keep_alive", "dimensions"]
            }
        };
        only(&body, known, "body")?;
        if self != Vectors::Gemini {
            filled(&body, "model", "")?;
        }
        let entries = list(&body, name);
        need((1..=most).contains(&entries.len()), || {
            format!("{name}: {} is not between 1 and {most}", entries.len())
        })?;
        let text = |(at, entry)| self.text(request, entry, &format!("{name}[{at}]"));
        entries.iter().enumerate().map(text).collect()
    }

    /// Returns the text of an entry.
    fn text(self, request: &Incoming, entry: &Value, place: &str) -> Result<String, String> {
        let said = match self {
            Vectors::Openai | Vectors::Ollama => entry.as_str().unwrap_or_default(),
            Vectors::Gemini => {
                only(entry, &["model", "content", "taskType", "title"], place)?;
                let model = text(entry, "model");
                let path = format!("/v1beta/{model}:batchEmbedContents");
                need(request.route() == path, || {
                    format!("{place}.model: \"{model}\" is not the model of the path")
                })?;
                let part = entry.pointer("/content/parts/0");
                part.map_or("", |part| text(part, "text"))
            }
        };
        need(!said.is_empty(), || format!("{place}: is no text, or an empty one"))?;
        Ok(said.to_owned())
    }

    /// Returns the answer: of each text, how many bytes it has and how many of them are blanks.
    pub(crate) fn answer(self, texts: &[String]) -> Value {
        let vector = |text: &String| json!([text.len(), text.matches(' ').count()]);
        let vectors = texts.iter().map(vector);
        match self {
            Vectors::Openai => {
                let data = vectors.enumerate().map(|(index, vector)| {
                    json!({"object": "embedding", "index": index, "embedding": vector})
                });
                // Which text an entry is of stands in it; nothing says that they come in order.
                let data: Vec<Value> = data.rev().collect();
                let usage = json!({"prompt_tokens": texts.len(), "total_tokens": texts.len()});
                json!({"object": "list", "data": data, "usage": usage})
            }
            Vectors::Gemini => {
                let vectors = vectors.map(|vector| json!({ "values": vector }));
                json!({ "embeddings": vectors.collect::<Vec<_>>() })
            }
            Vectors::Ollama => json!({
                "embeddings": vectors.collect::<Vec<_>>(), "prompt_eval_count": texts.len(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts the texts of a request, or the rule it breaks.
    fn check(vectors: Vectors, path: &str, body: &Value, expected: Result<&[&str], &str>) {
        let request = Incoming {
            method: "POST".into(),
            path: path.into(),
            headers: vec![("Content-Type".into(), "application/json".into())],
            body: body.to_string().into_bytes(),
            ..Incoming::default()
        };
        match (vectors.texts(&request), expected) {
            (Ok(texts), Ok(expected)) => assert_eq!(texts, expected, "{body}"),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
            (found, _) => panic!("{body}: {found:?}"),
        }
    }

    #[test]
    fn what_a_request_asks_for() {
        use Vectors::{Gemini, Ollama, Openai};
        let at = "/v1beta/models/e:batchEmbedContents";
        let gemini = |model: &str, text: &str| json!({"requests": [{"model": model, "content": {"parts": [{"text": text}]}}]});
        let many = json!({"model": "e", "input": vec!["x"; 2049]});
        for (vectors, path, body, expected) in [
            (
                Openai,
                "/v1/embeddings",
                json!({"model": "e", "input": ["a", "b"]}),
                Ok(&["a", "b"][..]),
            ),
            (Ollama, "/api/embed", json!({"model": "e", "input": ["a"]}), Ok(&["a"])),
            (Gemini, at, gemini("models/e", "a"), Ok(&["a"])),
            (Openai, "/v1/embeddings", json!({"input": ["a"]}), Err("model: is no text")),
            (Openai, "/v1/embeddings", json!({"model": "e", "input": []}), Err("input: 0 is not")),
            (Openai, "/v1/embeddings", many, Err("input: 2049 is not")),
            (
                Openai,
                "/v1/embeddings",
                json!({"model": "e", "input": ["a", ""]}),
                Err("input[1]: is no text"),
            ),
            (
                Ollama,
                "/api/embed",
                json!({"model": "e", "input": ["a"], "stream": true}),
                Err("body.stream"),
            ),
            (Gemini, at, gemini("models/f", "a"), Err("\"models/f\" is not the model")),
            (Gemini, at, gemini("models/e", ""), Err("requests[0]: is no text")),
        ] {
            check(vectors, path, &body, expected);
        }
    }
}
