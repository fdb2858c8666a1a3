//! `prompts/index.json` and the texts it lists: which there are, what they may say, and the order they are put in.
//! Everything about a text is checked here; core only renders.

use super::Tool;
use crate::{
    place::escape,
    problem::Problem,
    reader::{Reader, Records},
    template,
    when::{FactTypes, Kind, Sets, When},
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The index file, inside the spec.
const INDEX: &str = "prompts/index.json";
/// The record of `facts.json` whose facts are the variables of a prompt.
const RECORD: &str = "prompt";

/// The prompt texts of a spec and how they are put together.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// Every text by its path under `prompts/`.
    pub texts: BTreeMap<String, Text>,
    /// Which models get a text of their own; the first row that holds decides.
    pub families: Vec<Family>,
    /// The sections of the system prompt, from top to bottom.
    pub order: Vec<Entry>,
    /// The sections of each note that is appended in a session.
    pub notes: BTreeMap<String, Vec<Entry>>,
}

/// A prompt text.
#[derive(Debug, Clone)]
pub struct Text {
    /// What the file holds, a template.
    pub source: String,
    /// The variables it uses.
    pub variables: Vec<String>,
}

/// A row of the families: models that share a text.
#[derive(Debug, Clone)]
pub struct Family {
    /// Its id, the stem of its text.
    pub id: String,
    /// A condition over the fact `model`.
    pub when: When,
}

/// A section of the system prompt or of a note.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What a trace and a case call it.
    pub name: String,
    /// A template for the line above it, or empty.
    pub heading: String,
    /// What it says.
    pub body: Body,
    /// When it is there.
    pub when: When,
}

/// What a section says.
#[derive(Debug, Clone)]
pub enum Body {
    /// The text with this path, in which `{name}` stands for a variable's value.
    Text(String),
    /// The value of this variable, as it is.
    Variable(String),
}

#[derive(Deserialize)]
struct Index {
    texts: BTreeMap<String, Row>,
    families: Vec<RawFamily>,
    order: Vec<RawEntry>,
    notes: BTreeMap<String, Vec<RawEntry>>,
}

#[derive(Deserialize)]
struct Row {
    variables: Vec<String>,
}

#[derive(Deserialize)]
struct RawFamily {
    id: String,
    when: Value,
}

#[derive(Deserialize)]
struct RawEntry {
    name: String,
    #[serde(default)]
    heading: String,
    text: Option<String>,
    variable: Option<String>,
    when: Option<Value>,
}

/// Splits a path such as `modes/{mode}.md` around its variable; `None` for a path without one.
pub fn placeholder(path: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = path.split_once('{')?;
    let (variable, after) = rest.split_once('}')?;
    Some((before, variable, after))
}

/// Reads the index and its texts; with checks, every use of every variable is looked at.
pub(super) fn prompts(reader: &mut Reader<'_>, records: &Records) -> Prompts {
    let Some(index) = reader.typed::<Index>(INDEX, "prompts") else { return Prompts::default() };
    let Some(facts) = reader.facts(records, RECORD, INDEX, "") else { return Prompts::default() };
    let texts = texts(reader, index.texts);
    let mut families = Vec::new();
    for (i, raw) in index.families.into_iter().enumerate() {
        let at = format!("/families/{i}/when");
        let when = reader.when(INDEX, &at, &raw.when, facts, &Sets::new());
        families.extend(when.map(|when| Family { id: raw.id, when }));
    }
    let order = entries(reader, "/order", index.order, facts);
    let mut notes = BTreeMap::new();
    for (name, raw) in index.notes {
        let entries = entries(reader, &format!("/notes/{name}"), raw, facts);
        notes.insert(name, entries);
    }
    let prompts = Prompts { texts, families, order, notes };
    if reader.checks() {
        check(reader, &prompts, facts);
    }
    prompts
}

fn texts(reader: &mut Reader<'_>, rows: BTreeMap<String, Row>) -> BTreeMap<String, Text> {
    let mut texts = BTreeMap::new();
    for (path, row) in rows {
        match reader.files.text(&format!("prompts/{path}")) {
            Some(source) => {
                texts.insert(path, Text { source: source.into(), variables: row.variables });
            }
            None => reader.problem(
                INDEX,
                &format!("/texts/{}", escape(&path)),
                format!("prompts/{path} is missing"),
            ),
        }
    }
    texts
}

fn entries(
    reader: &mut Reader<'_>,
    pointer: &str,
    raw: Vec<RawEntry>,
    facts: &FactTypes,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (i, raw) in raw.into_iter().enumerate() {
        let body = match (raw.text, raw.variable) {
            (Some(path), _) => Body::Text(path),
            (None, variable) => Body::Variable(variable.unwrap_or_default()),
        };
        let when = match &raw.when {
            Some(json) => {
                reader.when(INDEX, &format!("{pointer}/{i}/when"), json, facts, &Sets::new())
            }
            None => Some(When::All(Vec::new())),
        };
        entries.extend(when.map(|when| Entry { name: raw.name, heading: raw.heading, body, when }));
    }
    entries
}

fn check(reader: &mut Reader<'_>, prompts: &Prompts, facts: &FactTypes) {
    unlisted(reader, prompts);
    for (path, text) in &prompts.texts {
        let wrong = check_uses(&format!("prompts/{path}"), &text.source, &text.variables, INDEX);
        reader.problems.extend(wrong.problems);
        for name in wrong.unused {
            let at = text.variables.iter().position(|each| *each == name).unwrap_or_default();
            let pointer = format!("/texts/{}/variables/{at}", escape(path));
            reader.problem(INDEX, &pointer, format!("prompts/{path} does not use {{{{{name}}}}}"));
        }
    }
    let notes = prompts.notes.iter().map(|(name, list)| (format!("/notes/{name}"), list));
    for (pointer, list) in notes.chain([("/order".to_string(), &prompts.order)]) {
        for (i, entry) in list.iter().enumerate() {
            let at = format!("{pointer}/{i}");
            if list.iter().take(i).any(|other| other.name == entry.name) {
                let message = format!("a second section called {:?}", entry.name);
                reader.problem(INDEX, &format!("{at}/name"), message);
            }
            heading(reader, &format!("{at}/heading"), &entry.heading, facts);
            body(reader, &at, &entry.body, prompts, facts);
        }
    }
}

/// Notes every file below `prompts/` that the index does not list.
fn unlisted(reader: &mut Reader<'_>, prompts: &Prompts) {
    let files = reader.files;
    for (name, _) in files.all() {
        let Some(path) = name.strip_prefix("prompts/") else { continue };
        if name != INDEX && !prompts.texts.contains_key(path) {
            reader.problems.push(Problem::whole(name, format!("{INDEX} does not list this text")));
        }
    }
}

fn heading(reader: &mut Reader<'_>, pointer: &str, text: &str, facts: &FactTypes) {
    match template::uses(text) {
        Ok(uses) => {
            for each in uses.iter().filter(|each| !facts.contains_key(&each.name)) {
                reader.problem(INDEX, pointer, unknown(&each.name, facts));
            }
        }
        Err(fault) => reader.problem(INDEX, pointer, fault.message),
    }
}

fn body(reader: &mut Reader<'_>, at: &str, body: &Body, prompts: &Prompts, facts: &FactTypes) {
    let (pointer, variable) = match body {
        Body::Variable(name) => (format!("{at}/variable"), Some(name.as_str())),
        Body::Text(path) => (format!("{at}/text"), placeholder(path).map(|(_, name, _)| name)),
    };
    if let Some(name) = variable {
        match facts.get(name).map(|fact| fact.kind) {
            Some(Kind::String) => {}
            Some(_) => reader.problem(INDEX, &pointer, format!("{name:?} is no string")),
            None => reader.problem(INDEX, &pointer, unknown(name, facts)),
        }
    }
    let Body::Text(path) = body else { return };
    let mut any = false;
    for (name, text) in prompts.texts.iter().filter(|(name, _)| fits(path, name)) {
        any = true;
        for variable in text.variables.iter().filter(|name| !facts.contains_key(*name)) {
            let message = format!("prompts/{name}: {}", unknown(variable, facts));
            reader.problem(INDEX, &pointer, message);
        }
    }
    if !any {
        reader.problem(INDEX, &pointer, format!("no text {path:?} under texts"));
    }
}

/// Returns whether `name` is the path, or one that its variable can lead to.
fn fits(path: &str, name: &str) -> bool {
    let Some((before, _, after)) = placeholder(path) else { return path == name };
    let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    middle.is_some_and(|middle| !middle.contains('/'))
}

fn unknown(name: &str, facts: &FactTypes) -> String {
    let known: Vec<&str> = facts.keys().map(String::as_str).collect();
    format!(
        "no fact {name:?} in the record {RECORD:?} of facts.json; there are: {}",
        known.join(", ")
    )
}

/// What [`check_uses`] found.
struct Wrong {
    /// Mistakes in the text, with their places in it.
    problems: Vec<Problem>,
    /// Declared names the text does not use.
    unused: Vec<String>,
}

/// Compares the variables a text uses with those that `declarer` declares for it.
fn check_uses(file: &str, source: &str, declared: &[String], declarer: &str) -> Wrong {
    let located = |offset, message| {
        let (line, column) = line_and_column(source, offset);
        Problem { file: file.into(), line, column, message }
    };
    let uses = match template::uses(source) {
        Ok(uses) => uses,
        Err(fault) => {
            let problems = vec![located(fault.offset, fault.message)];
            return Wrong { problems, unused: Vec::new() };
        }
    };
    let undeclared = uses.iter().filter(|each| !declared.contains(&each.name));
    let problems = undeclared
        .map(|each| {
            let list = if declared.is_empty() { "none".into() } else { declared.join(", ") };
            let message = format!(
                "the text uses {{{{{}}}}}, which {declarer} does not declare; declared: {list}",
                each.name
            );
            located(each.offset, message)
        })
        .collect();
    let used = |name: &String| uses.iter().any(|each| each.name == *name);
    let unused = declared.iter().filter(|name| !used(name)).cloned().collect();
    Wrong { problems, unused }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    (line, column)
}

/// Checks the descriptions of tools: they use what the tool declares, and declare only facts of a prompt.
pub(super) fn descriptions(reader: &mut Reader<'_>, tools: &[Tool], records: &Records) {
    if !reader.checks() {
        return;
    }
    for tool in tools {
        let file = format!("tools/{}.json", tool.id);
        let wrong = check_uses(&file, &tool.description, &tool.variables, "the tool");
        for problem in wrong.problems {
            reader.problem(&file, "/description", problem.message);
        }
        for name in wrong.unused {
            let message = format!("the description does not use {{{{{name}}}}}");
            reader.problem(&file, "/variables", message);
        }
        let Some(facts) = records.get(RECORD) else { continue };
        for name in tool.variables.iter().filter(|name| !facts.contains_key(*name)) {
            reader.problem(&file, "/variables", unknown(name, facts));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use serde_json::json;

    const SCHEMA: &str = include_str!("../../../schema/prompts.schema.json");

    fn base() -> Value {
        json!({
            "texts": {
                "modes/plan.md": { "shared": true, "variables": ["plan_path"], "fragment": "mode.plan" },
                "blocks/steer.md": { "shared": false, "variables": ["text"] }
            },
            "families": [{ "id": "open", "when": { "model": { "contains": "qwen" } } }],
            "order": [
                { "name": "mode", "heading": "## In {{ mode }}", "text": "modes/{mode}.md" },
                { "name": "said", "variable": "said", "when": { "mode": "plan" } }
            ],
            "notes": { "mode": [{ "name": "mode", "text": "modes/plan.md" }] }
        })
    }

    /// Reads the base index after `change`, with the given text of `modes/plan.md`, and returns what is wrong.
    fn problems(plan: &str, change: &dyn Fn(&mut Value)) -> Vec<String> {
        let mut index = base();
        change(&mut index);
        let mut files = Files::packed(&[("prompts/blocks/steer.md", "[now]\n{{ text }}\n")]);
        files.set(INDEX, serde_json::to_string_pretty(&index).unwrap());
        files.set("prompts/modes/plan.md", plan.into());
        let schemas = Files::packed(&[("prompts.schema.json", SCHEMA)]);
        let string = || json!({ "type": "string", "doc": "" });
        let records = serde_json::from_value(json!({ "prompt": {
            "model": string(), "mode": string(), "plan_path": string(), "said": string(),
            "tools": { "type": "strings", "doc": "" } } }))
        .unwrap();
        let mut reader = Reader::new(&files, Some(&schemas));
        prompts(&mut reader, &records);
        reader.problems.iter().map(ToString::to_string).collect()
    }

    const PLAN: &str = "Plans go to `{{ plan_path }}`.\n";

    fn check(plan: &str, change: &dyn Fn(&mut Value), expect: &str) {
        let found = problems(plan, change);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].contains(expect), "{}\nshould say: {expect}", found[0]);
    }

    #[test]
    fn a_right_index_has_no_problems() {
        assert_eq!(problems(PLAN, &|_| {}), Vec::<String>::new());
    }

    #[test]
    fn texts_are_checked_against_their_variables() {
        let keep: &dyn Fn(&mut Value) = &|_| {};
        check(
            "{{ plan_path }}\n\nto {{ plan_pth }}",
            keep,
            "prompts/modes/plan.md:3:7: the text uses {{plan_pth}}, which prompts/index.json does not declare; declared: plan_path",
        );
        check(
            "No variable.",
            keep,
            "prompts/index.json:6:9: prompts/modes/plan.md does not use {{plan_path}}",
        );
        check("é {{ plan_path", keep, "prompts/modes/plan.md:1:7: unexpected end of input");
        check(
            "{{ plan_path | upper }}",
            keep,
            "prompts/modes/plan.md:1:16: a text has no filter \"upper\"",
        );
    }

    #[test]
    fn the_index_and_the_files_are_the_same_set() {
        let set = |at: &'static str, value: Value| {
            move |index: &mut Value| {
                let (parent, key) = at.rsplit_once('/').unwrap();
                index.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = value.clone();
            }
        };
        let row = json!({ "shared": false, "variables": [] });
        check(PLAN, &set("/texts/blocks~1run.md", row), "prompts/blocks/run.md is missing");
        check(
            PLAN,
            &|index| {
                index["texts"].as_object_mut().unwrap().remove("blocks/steer.md");
            },
            "prompts/blocks/steer.md:1:1: prompts/index.json does not list this text",
        );
        check(
            PLAN,
            &set("/order/0/text", json!("family/{mode}.md")),
            "no text \"family/{mode}.md\" under texts",
        );
        check(PLAN, &set("/order/0/text", json!("modes/{tools}.md")), "\"tools\" is no string");
        check(
            PLAN,
            &set("/order/0/heading", json!("## {{ instance }}")),
            "no fact \"instance\" in the record",
        );
        check(PLAN, &set("/order/0/heading", json!("## {{ mode")), "unexpected end of input");
        check(PLAN, &set("/order/1/variable", json!("sed")), "no fact \"sed\" in the record");
        check(PLAN, &set("/order/1/name", json!("mode")), "a second section called \"mode\"");
        check(PLAN, &set("/order/1/text", json!("modes/plan.md")), "oneOf");
        check(PLAN, &set("/families/0/when", json!({ "modell": "x" })), "no fact \"modell\"");
        check(
            PLAN,
            &set("/notes/mode/0/text", json!("blocks/steer.md")),
            "prompts/blocks/steer.md: no fact \"text\" in the record",
        );
    }

    /// Returns what is wrong with the description of a tool that declares `variables`.
    fn description(description: &str, variables: &[&str]) -> Vec<String> {
        let tool = json!({ "name": "read", "scope": "cli", "class": "read", "modes": "all", "block": "file",
            "description": description, "variables": variables, "permission": { "rule": "read", "paths": [] },
            "parameters": { "type": "object", "properties": {} } });
        let mut files = Files::default();
        files.set("tools/read.json", tool.to_string());
        let schemas = Files::packed(&[("tool.schema.json", "{}")]);
        let records = json!({ "prompt": { "vision": { "type": "bool", "doc": "" } } });
        let mut reader = Reader::new(&files, Some(&schemas));
        let tools = super::super::tool::tools(&mut reader);
        descriptions(&mut reader, &tools, &serde_json::from_value(records).unwrap());
        reader.problems.into_iter().map(|each| each.message).collect()
    }

    #[test]
    fn descriptions_use_what_the_tool_declares() {
        let vision = "Shows a file.{% if vision %} Images too.{% endif %}";
        assert_eq!(description(vision, &["vision"]), Vec::<String>::new());
        let undeclared =
            "the text uses {{vision}}, which the tool does not declare; declared: none";
        assert_eq!(description(vision, &[]), [undeclared]);
        assert_eq!(
            description("Shows a file.", &["vision"]),
            ["the description does not use {{vision}}"]
        );
        assert!(description("{{ size }}", &["size"])[0].starts_with("no fact \"size\""));
    }
}
