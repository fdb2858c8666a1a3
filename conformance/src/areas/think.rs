//! `think`: text in pieces, and the answer and the reasoning it holds.

use lembas_core::spec::Spec;
use lembas_core::think::{Piece, Splitter};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Question {
    /// The pieces in the order they come.
    pieces: Vec<String>,
    /// Whether the prompt already opened a tag.
    #[serde(default)]
    opens_in_think: bool,
    /// The dialect whose tags count; the chat dialect's when absent.
    #[serde(default)]
    dialect: Option<String>,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let id = question.dialect.as_deref().unwrap_or("openai-chat");
    let dialect = spec.dialect(id).ok_or_else(|| format!("no dialect {id:?}"))?;
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut keep = |piece: Piece<'_>| match piece {
        Piece::Text(piece) => text.push_str(piece),
        Piece::Reasoning(piece) => reasoning.push_str(piece),
    };
    let mut splitter = Splitter::new(&dialect.think_tags, question.opens_in_think);
    question.pieces.iter().for_each(|piece| splitter.push(piece, &mut keep));
    splitter.end(&mut keep);
    Ok(json!({ "text": text, "reasoning": reasoning }))
}
