//! `split`: the simple commands of a line: `{"command"}` to `{"commands", "unseen"}`. A command has `words`, and where
//! there are any `assigns`, `redirects` and `unknown`, the words that are not known before the line runs.

use lembas_core::shell::{self, Command, Line, Word};
use lembas_core::spec::Spec;
use serde_json::{Map, Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let line = input["command"].as_str().ok_or("\"command\" is missing")?;
    let line = shell::read(line, &spec.limits.shell);
    let commands: Vec<Value> = line.commands.iter().map(|each| command(&line, each)).collect();
    Ok(json!({ "commands": commands, "unseen": line.unseen }))
}

fn command(line: &Line, command: &Command) -> Value {
    let texts = |words: &mut dyn Iterator<Item = &Word>| -> Vec<String> {
        words.map(|word| word.text.to_string()).collect()
    };
    let mut shown = Map::new();
    shown.insert("words".into(), json!(texts(&mut command.words.iter())));
    let assigns = command.assignments.iter();
    let assigns: Vec<String> =
        assigns.map(|each| format!("{}={}", each.name, each.value.text)).collect();
    let redirects = command.redirects.iter().map(|redirect| {
        let document = redirect.document.and_then(|index| line.documents.get(index));
        let target = document.map_or(redirect.target.text.as_str(), |document| &document.text);
        json!({ "kind": redirect.kind, "fd": redirect.fd, "target": target })
    });
    let redirects: Vec<Value> = redirects.collect();
    let unknown = texts(&mut command.words.iter().filter(|word| !word.is_known()));
    let more =
        [("assigns", json!(assigns)), ("redirects", json!(redirects)), ("unknown", json!(unknown))];
    for (key, value) in more {
        if value.as_array().is_some_and(|list| !list.is_empty()) {
            shown.insert(key.into(), value);
        }
    }
    Value::Object(shown)
}
