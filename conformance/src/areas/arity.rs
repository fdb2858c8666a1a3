//! `arity`: which words say what a command does: `{"words"}` to `{"words"}`, `"exact"` or `"never"`.

use lembas_core::permission::{self, Prefix};
use lembas_core::shell::Word;
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let words = input["words"].as_array().ok_or("\"words\" is missing")?;
    let words: Vec<Word> = words.iter().filter_map(Value::as_str).map(Word::of).collect();
    Ok(match permission::prefix(spec, &words) {
        Prefix::Words(words) => json!({ "words": words }),
        Prefix::Exact => json!("exact"),
        Prefix::Never => json!("never"),
    })
}
