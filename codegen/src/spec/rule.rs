//! Rule files: the hardline, the quirks and the default permission rules.

use super::Decision;
use crate::{
    reader::{Reader, Records},
    template,
    when::{Sets, When},
};
use serde::Deserialize;
use serde_json::Value;

/// Where the rules of the floor stand.
pub const HARDLINE: &str = "permission/hardline.json";
/// Where the default permission rules stand.
pub const DEFAULTS: &str = "permission/defaults.json";

/// A rule with an id, a condition over one record and examples that are run.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its id, unique in its file.
    pub id: String,
    /// The record its condition is about.
    pub about: String,
    /// The condition.
    pub when: When,
    /// What a person or the model is told when it hits.
    pub say: String,
    /// The action, for rules that have one: an object with one key.
    pub action: Option<Value>,
    /// Examples it must hit.
    pub hit: Vec<Value>,
    /// Examples it must not hit.
    pub miss: Vec<Value>,
    /// The file it stands in.
    pub file: String,
    /// Its JSON pointer there.
    pub pointer: String,
}

/// A default permission rule; the last that matches a pattern wins.
#[derive(Debug, Clone)]
pub struct DefaultRule {
    /// Its id, unique in the file.
    pub id: String,
    /// The rule name of the tools it is for: `bash`, `read`, `edit`, …
    pub tool: String,
    /// How it matches.
    pub judged: Judged,
    /// What it decides.
    pub then: Decision,
    /// The sentence of a verdict that it decides, a template of the step's `of`, `rule`, `from` and `then`; empty for
    /// the sentence that every rule has.
    pub say: String,
    /// Examples it must match.
    pub hit: Vec<Value>,
    /// Examples it must not match.
    pub miss: Vec<Value>,
    /// Its JSON pointer in `permission/defaults.json`.
    pub pointer: String,
}

/// How a default rule matches.
#[derive(Debug, Clone)]
pub enum Judged {
    /// By a wildcard pattern over the text of a command or path.
    Pattern(String),
    /// By a condition over a record.
    When {
        /// The record's name.
        about: String,
        /// The condition.
        when: When,
    },
}

#[derive(Deserialize)]
struct RuleFile {
    #[serde(default)]
    sets: Sets,
    rules: Vec<RawRule>,
}

#[derive(Deserialize)]
struct RawRule {
    id: String,
    #[serde(default)]
    about: String,
    when: Option<Value>,
    #[serde(default)]
    say: String,
    #[serde(rename = "do")]
    action: Option<Value>,
    tool: Option<String>,
    pattern: Option<String>,
    then: Option<Decision>,
    #[serde(default)]
    examples: Examples,
}

/// What a rule must hit and miss. With checks, the schema has seen to it that there is one of each.
#[derive(Deserialize, Default)]
pub(super) struct Examples {
    pub(super) hit: Vec<Value>,
    pub(super) miss: Vec<Value>,
}

/// Reads a file of rules with conditions.
pub(super) fn rules(reader: &mut Reader<'_>, name: &str, records: &Records) -> Vec<Rule> {
    let Some(file) = reader.typed::<RuleFile>(name, "rules") else { return Vec::new() };
    unique(reader, name, &file.rules);
    let mut rules = Vec::new();
    for (i, raw) in file.rules.into_iter().enumerate() {
        let pointer = format!("/rules/{i}");
        let Some(facts) = reader.facts(records, &raw.about, name, &format!("{pointer}/about"))
        else {
            continue;
        };
        let json = raw.when.unwrap_or_default();
        let Some(when) = reader.when(name, &format!("{pointer}/when"), &json, facts, &file.sets)
        else {
            continue;
        };
        if let Some(ids) = raw.action.as_ref().and_then(|action| action.get("call_ids")) {
            let pattern = ids.as_str().unwrap_or_default();
            reader.pattern(name, &format!("{pointer}/do/call_ids"), pattern);
        }
        rules.push(Rule {
            id: raw.id,
            about: raw.about,
            when,
            say: raw.say,
            action: raw.action,
            hit: raw.examples.hit,
            miss: raw.examples.miss,
            file: name.into(),
            pointer,
        });
    }
    rules
}

/// Reads `permission/defaults.json`.
pub(super) fn defaults(reader: &mut Reader<'_>, records: &Records) -> Vec<DefaultRule> {
    let Some(file) = reader.typed::<RuleFile>(DEFAULTS, "defaults") else { return Vec::new() };
    unique(reader, DEFAULTS, &file.rules);
    let mut rules = Vec::new();
    for (i, raw) in file.rules.into_iter().enumerate() {
        let pointer = format!("/rules/{i}");
        let (Some(tool), Some(then)) = (raw.tool, raw.then) else { continue };
        let judged = match (raw.pattern, raw.when) {
            (Some(pattern), _) => Judged::Pattern(pattern),
            (None, json) => {
                let about = if raw.about.is_empty() { "command".to_string() } else { raw.about };
                let at = format!("{pointer}/when");
                let Some(facts) = reader.facts(records, &about, DEFAULTS, &at) else { continue };
                let json = json.unwrap_or_default();
                let Some(when) = reader.when(DEFAULTS, &at, &json, facts, &file.sets) else {
                    continue;
                };
                Judged::When { about, when }
            }
        };
        sentence(reader, &raw.say, &pointer);
        let RawRule { id, say, examples: Examples { hit, miss }, .. } = raw;
        rules.push(DefaultRule { id, tool, judged, then, say, hit, miss, pointer });
    }
    rules
}

/// Checks what a default rule says: it may use what is known of the step it decides.
fn sentence(reader: &mut Reader<'_>, say: &str, pointer: &str) {
    const KNOWN: [&str; 4] = ["of", "rule", "from", "then"];
    if !reader.checks() {
        return;
    }
    let wrong = match template::uses(say) {
        Ok(uses) => {
            uses.into_iter().find(|each| !KNOWN.contains(&each.name.as_str())).map(|each| {
                format!("a sentence has no {{{{{}}}}}; there are: {}", each.name, KNOWN.join(", "))
            })
        }
        Err(fault) => Some(fault.message),
    };
    if let Some(message) = wrong {
        reader.problem(DEFAULTS, &format!("{pointer}/say"), message);
    }
}

fn unique(reader: &mut Reader<'_>, name: &str, rules: &[RawRule]) {
    if !reader.checks() {
        return;
    }
    for (i, rule) in rules.iter().enumerate() {
        if rules.iter().take(i).any(|other| other.id == rule.id) {
            let message = format!("a second rule called {:?}; ids are unique in a file", rule.id);
            reader.problem(name, &format!("/rules/{i}/id"), message);
        }
    }
}
