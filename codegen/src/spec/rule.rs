//! Rule files: the hardline, the quirks and the default permission rules.

use super::{Decision, Late, Rules};
use crate::{
    reader::{Reader, Records},
    template,
    when::{Sets, When},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::sync::Arc;

/// Where the rules of the floor stand.
pub const HARDLINE: &str = "permission/hardline.json";
/// Where the default permission rules stand.
pub const DEFAULTS: &str = "permission/defaults.json";

/// Where the quirks of servers stand.
pub const QUIRKS: &str = "quirks.json";

/// A rule with an id, a condition over one record and examples that are run.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its id, unique in its file.
    pub id: String,
    /// The record its condition is about.
    pub about: String,
    /// The condition.
    pub when: Late<When>,
    /// What a person or the model is told when it hits.
    pub say: String,
    /// The action, for rules that have one: an object with one key.
    pub action: Option<Value>,
    /// What it must hit and must not.
    pub examples: Late<Examples>,
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
    /// What it must match and must not.
    pub examples: Late<Examples>,
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
        when: Late<When>,
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
    when: Option<Box<RawValue>>,
    #[serde(default)]
    say: String,
    #[serde(rename = "do")]
    action: Option<Value>,
    tool: Option<String>,
    pattern: Option<String>,
    then: Option<Decision>,
    examples: Option<Box<RawValue>>,
}

/// What a rule must hit and miss. With checks, the schema has seen to it that there is one of each.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Examples {
    /// What it must hit.
    pub hit: Vec<Value>,
    /// What it must not hit.
    pub miss: Vec<Value>,
}

impl Examples {
    /// Returns those of a rule, read when they are asked for: only checks do.
    pub(super) fn late(json: Option<Box<RawValue>>) -> Late<Examples> {
        Late::new(move || Examples::read(json.as_deref()))
    }

    fn read(json: Option<&RawValue>) -> Examples {
        json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
    }
}

/// The examples of a file's rules: with the rules, or left out of what a run reads of the file.
enum Beside {
    With,
    LeftOut(Late<Vec<Examples>>),
}

impl Beside {
    fn of(reader: &Reader<'_>, name: &str) -> Beside {
        let Some((_, text)) = reader.brief(name) else { return Beside::With };
        Beside::LeftOut(Late::new(move || {
            let file = serde_json::from_str::<RuleFile>(text);
            let rules = file.map(|file| file.rules).unwrap_or_default();
            rules.iter().map(|raw| Examples::read(raw.examples.as_deref())).collect()
        }))
    }

    /// Returns those of the rule at position `i`.
    fn of_rule(&self, i: usize, json: Option<Box<RawValue>>) -> Late<Examples> {
        let Beside::LeftOut(all) = self else { return Examples::late(json) };
        let all = all.clone();
        Late::new(move || all.get(i).cloned().unwrap_or_default())
    }
}

/// Where a condition stands, and what it may use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) file: &'static str,
    pub(super) records: &'a Late<Records>,
    /// The record it is about.
    pub(super) about: &'a str,
    pub(super) sets: &'a Arc<Sets>,
}

/// Reads a condition; without checks, when it is first asked. `None` if it is wrong.
pub(super) fn when(
    reader: &mut Reader<'_>,
    pointer: &str,
    json: Option<&RawValue>,
    scope: Scope<'_>,
) -> Option<Late<When>> {
    let Scope { file, records, about, sets } = scope;
    let text = json.map_or("null", RawValue::get).to_string();
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if reader.checks() {
        let facts = records.get(about)?;
        return reader.when(file, pointer, &read(&text), facts, sets).map(Late::now);
    }
    let (records, sets, about) = (records.clone(), Arc::clone(sets), about.to_string());
    Some(Late::new(move || {
        let when = records.get(&about).map(|facts| When::read(&read(&text), facts, &sets, ""));
        when.and_then(Result::ok).unwrap_or_default()
    }))
}

/// Reads a file of rules with conditions.
pub(super) fn rules(
    reader: &mut Reader<'_>,
    name: &'static str,
    records: &Late<Records>,
) -> Vec<Rule> {
    let Some(file) = reader.typed::<RuleFile>(name, "rules") else { return Vec::new() };
    unique(reader, name, &file.rules);
    let (sets, examples) = (Arc::new(file.sets), Beside::of(reader, name));
    let mut rules = Vec::new();
    for (i, raw) in file.rules.into_iter().enumerate() {
        let pointer = format!("/rules/{i}");
        if reader.checks()
            && reader.facts(records, &raw.about, name, &format!("{pointer}/about")).is_none()
        {
            continue;
        }
        let scope = Scope { file: name, records, about: &raw.about, sets: &sets };
        let at = format!("{pointer}/when");
        let Some(when) = when(reader, &at, raw.when.as_deref(), scope) else { continue };
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
            examples: examples.of_rule(i, raw.examples),
            file: name.into(),
            pointer,
        });
    }
    rules
}

/// Reads `permission/defaults.json`.
pub(super) fn defaults(reader: &mut Reader<'_>, records: &Late<Records>) -> Rules<DefaultRule> {
    let Some(file) = reader.typed::<RuleFile>(DEFAULTS, "defaults") else {
        return Rules::default();
    };
    unique(reader, DEFAULTS, &file.rules);
    let (sets, beside) = (Arc::new(file.sets), Beside::of(reader, DEFAULTS));
    let mut rules = Vec::new();
    for (i, raw) in file.rules.into_iter().enumerate() {
        let pointer = format!("/rules/{i}");
        let (Some(tool), Some(then)) = (raw.tool, raw.then) else { continue };
        let judged = match (raw.pattern, raw.when) {
            (Some(pattern), _) => Judged::Pattern(pattern),
            (None, json) => {
                let about = if raw.about.is_empty() { "command".to_string() } else { raw.about };
                let at = format!("{pointer}/when");
                if reader.checks() && reader.facts(records, &about, DEFAULTS, &at).is_none() {
                    continue;
                }
                let scope = Scope { file: DEFAULTS, records, about: &about, sets: &sets };
                let Some(when) = when(reader, &at, json.as_deref(), scope) else { continue };
                Judged::When { about, when }
            }
        };
        sentence(reader, &raw.say, &pointer);
        let RawRule { id, say, examples, .. } = raw;
        let examples = beside.of_rule(i, examples);
        rules.push(DefaultRule { id, tool, judged, then, say, examples, pointer });
    }
    rules.into()
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
