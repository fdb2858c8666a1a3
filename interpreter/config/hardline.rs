//! The person's own hardline rules: `hardline_extra` of the global settings, read against the facts of the spec.
//! Their examples are handed on; whoever can turn a command into facts runs them.

use super::problem::hint;
use lembas_core::spec::{Examples, Late, Rule, Spec, When};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A rule of `hardline_extra` as it is written.
#[derive(Deserialize)]
struct WrittenRule {
    id: String,
    about: String,
    when: Value,
    say: String,
    #[serde(default)]
    examples: Examples,
}

/// Reads the person's hardline rules; what is wrong is added as (pointer, sentence).
pub(super) fn hardline_rules(
    file: &str,
    written: Option<Value>,
    spec: &Spec,
    wrong: &mut Vec<(String, String)>,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    let Some(written) = written else { return rules };
    let Ok(written) = Vec::<WrittenRule>::deserialize(written) else {
        wrong.push(("/hardline_extra".into(), "cannot be read; compare it with the schema".into()));
        return rules;
    };
    for (index, raw) in written.into_iter().enumerate() {
        let pointer = format!("/hardline_extra/{index}");
        let Some(facts) = spec.records.get(&raw.about) else {
            let known: Vec<&str> = spec.records.keys().map(String::as_str).collect();
            let message = format!("no rule is about `{}`.{}", raw.about, hint(&raw.about, &known));
            wrong.push((format!("{pointer}/about"), message));
            continue;
        };
        let at = format!("{pointer}/when");
        let when = When::read(&raw.when, facts, &BTreeMap::new(), &at).and_then(|when| {
            when.check().map_err(|message| (at, message))?;
            Ok(when)
        });
        match when {
            Err(problem) => wrong.push(problem),
            Ok(when) => rules.push(Rule {
                id: raw.id,
                about: raw.about,
                when: Late::now(when),
                say: raw.say,
                action: None,
                examples: Late::now(raw.examples),
                file: file.into(),
                pointer,
            }),
        }
    }
    rules
}
