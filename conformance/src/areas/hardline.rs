//! Which rule of the floor a command line breaks: `{"command"}` to `{"rule": id or null}`.

use lembas_core::spec::{CommandFacts, Spec};
use serde_json::{Value, json};

/// Answers a case. Until core reads shell, a line is one command of plain words.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    let (flags, operands) = words.iter().skip(1).partition::<Vec<_>, _>(|w| w.starts_with('-'));
    let facts = CommandFacts {
        program: words.first().cloned().unwrap_or_default(),
        flags: flags.iter().flat_map(|flag| flag.chars().skip(1)).map(String::from).collect(),
        operands: operands.into_iter().cloned().collect(),
        words,
    };
    let rule = spec.hardline.iter().find(|rule| rule.when.holds(&facts));
    Ok(json!({ "rule": rule.map(|rule| &rule.id) }))
}
