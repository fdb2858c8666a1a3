//! `tools/<id>.json`: what a tool is called, what the model is told of it and what its arguments mean.

use super::{DefaultRule, Matcher, Mode, mode, rule};
use crate::{reader::Reader, template};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tool of the spec.
#[derive(Debug, Clone, Deserialize)]
pub struct Tool {
    /// Its id: the file's stem, the handler's file and the variant of `Tool`.
    #[serde(skip)]
    pub id: String,
    /// What the model calls it.
    pub name: String,
    /// Who implements it: `shared` or `cli`.
    pub scope: String,
    /// What it does to the world.
    pub class: Class,
    /// In which modes it is offered.
    pub modes: Offered,
    /// How a call is drawn.
    pub block: String,
    /// Whether it runs alone.
    #[serde(default)]
    pub exclusive: bool,
    /// Whether the same call may come again and again.
    #[serde(default)]
    pub repeats: bool,
    /// What the model is told, a template.
    pub description: String,
    /// The variables the description may use.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Former names, by the program that used them.
    #[serde(default)]
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Names models give arguments, to the argument's own name; `list/name` is one in the objects of a list.
    #[serde(default)]
    pub argument_aliases: BTreeMap<String, String>,
    /// How a call is judged.
    pub permission: Permission,
    /// The JSON Schema of the arguments.
    pub parameters: Value,
    /// The sentences of its results by key, each a template.
    #[serde(default)]
    pub says: BTreeMap<String, String>,
    /// The ordered ways the edit tool finds its place; no other tool has any.
    #[serde(default)]
    pub matchers: Vec<Matcher>,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It only looks.
    Read,
    /// It changes files.
    Write,
    /// It runs a program.
    Run,
    /// It talks to another machine.
    Net,
    /// It asks the person.
    Ask,
}

impl Class {
    /// Returns the class as rules write it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Read => "read",
            Class::Write => "write",
            Class::Run => "run",
            Class::Net => "net",
            Class::Ask => "ask",
        }
    }
}

/// In which modes a tool is offered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Offered {
    /// Only these.
    Some(Vec<String>),
    /// The word `all`.
    All(String),
}

impl Offered {
    /// Returns whether the tool is offered in `mode`.
    pub fn offers(&self, mode: &str) -> bool {
        match self {
            Offered::All(_) => true,
            Offered::Some(modes) => modes.iter().any(|each| each == mode),
        }
    }
}

/// Which arguments become the facts that a call is judged by.
#[derive(Debug, Clone, Deserialize)]
pub struct Permission {
    /// The name its rules stand under: `read`, `edit`, `bash`, …
    pub rule: String,
    /// Arguments that are paths.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The argument that is a patch; the paths it names are judged.
    #[serde(default)]
    pub patch: Option<String>,
    /// The argument that is a command line.
    #[serde(default)]
    pub command: Option<String>,
    /// The argument that says why, shown to the person.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The argument that is the directory a command starts in.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Reads every tool file, in order of id.
pub(super) fn tools(reader: &mut Reader<'_>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for id in reader.files.stems("tools", "json") {
        let file = format!("tools/{id}.json");
        let Some(tool) = reader.typed::<Tool>(&file, "tool") else { continue };
        if reader.checks() {
            let text = reader.files.text(&file).unwrap_or_default();
            let json: Value = serde_json::from_str(text).unwrap_or_default();
            let judged = judged(&json["permission"]);
            check(reader, &file, &tool, &tools);
            if !judged && matches!(tool.class, Class::Read | Class::Write) {
                let message = format!(
                    "a tool of class {:?} names the arguments it is judged by, as \"paths\", \"patch\" or \"command\"; \"paths\": [] if it touches nothing",
                    tool.class.name()
                );
                reader.problem(&file, "/permission", message);
            }
        }
        tools.push(Tool { id, ..tool });
    }
    if reader.checks() {
        aliases(reader, &tools);
    }
    tools
}

/// Returns whether a `permission` says, even with an empty list, which arguments are judged.
fn judged(permission: &Value) -> bool {
    ["paths", "patch", "command"].iter().any(|key| permission.get(key).is_some())
}

/// Notes every alias that leads to another tool too.
fn aliases(reader: &mut Reader<'_>, tools: &[Tool]) {
    for (at, tool) in tools.iter().enumerate() {
        for (program, names) in &tool.aliases {
            for (i, alias) in names.iter().enumerate() {
                let called = tools.iter().find(|other| other.id != tool.id && other.name == *alias);
                let mut before = tools.iter().take(at);
                let taken =
                    before.find(|other| other.aliases.values().flatten().any(|each| each == alias));
                let message = match (called, taken) {
                    (Some(other), _) => format!("tools/{}.json is called {alias:?}", other.id),
                    (None, Some(other)) => {
                        format!("tools/{}.json has the alias {alias:?} already", other.id)
                    }
                    (None, None) => continue,
                };
                let pointer = format!("/aliases/{program}/{i}");
                reader.problem(&format!("tools/{}.json", tool.id), &pointer, message);
            }
        }
    }
}

/// Checks what tools name in other files: modes, and rules that judge them. A file that is wrong itself is not
/// compared with, or every tool would complain.
pub(super) fn references(
    reader: &mut Reader<'_>,
    tools: &[Tool],
    modes: &[Mode],
    rules: &[DefaultRule],
) {
    if !reader.checks() {
        return;
    }
    let wrong = |file: &str| reader.problems.iter().any(|each| each.file == file);
    let facts_right = !wrong("facts.json");
    let modes_right = facts_right && !wrong(mode::MODES);
    let rules_right = facts_right && !wrong(rule::DEFAULTS);
    for tool in tools {
        let file = format!("tools/{}.json", tool.id);
        let named: &[String] = match &tool.modes {
            Offered::Some(named) if modes_right => named,
            _ => &[],
        };
        for (i, name) in named.iter().enumerate() {
            if modes.iter().all(|mode| mode.id != *name) {
                let known = list(modes.iter().map(|mode| &mode.id));
                let message = format!("there is no mode {name:?}; there are: {known}");
                reader.problem(&file, &format!("/modes/{i}"), message);
            }
        }
        let name = &tool.permission.rule;
        if rules_right && rules.iter().all(|rule| rule.tool != *name) {
            let known = list(rules.iter().map(|rule| &rule.tool));
            let message =
                format!("{} has no rule for {name:?}; it has rules for: {known}", rule::DEFAULTS);
            reader.problem(&file, "/permission/rule", message);
        }
    }
}

/// Returns names in their order, each once.
fn list<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&name.as_str()) {
            once.push(name);
        }
    }
    once.join(", ")
}

/// Returns whether an alias leads from a name that is no argument to one that is, where it stands.
fn leads(tool: &Tool, (alias, name): (&String, &String)) -> bool {
    let arguments = &tool.parameters["properties"];
    let (arguments, alias) = match alias.split_once('/') {
        Some((list, alias)) => (&arguments[list]["items"]["properties"], alias),
        None => (arguments, alias.as_str()),
    };
    arguments.get(name).is_some() && arguments.get(alias).is_none()
}

fn check(reader: &mut Reader<'_>, file: &str, tool: &Tool, before: &[Tool]) {
    if let Some(other) = before.iter().find(|other| other.name == tool.name) {
        let message = format!("tools/{}.json is called {:?} already", other.id, tool.name);
        reader.problem(file, "/name", message);
    }
    let arguments = tool.parameters["properties"].as_object();
    let known = |name: &String| arguments.is_some_and(|all| all.contains_key(name));
    let list =
        arguments.into_iter().flatten().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(", ");
    let permission = &tool.permission;
    let named =
        [&permission.patch, &permission.command, &permission.purpose, &permission.directory];
    let used = permission.paths.iter().chain(named.into_iter().flatten());
    for name in used.filter(|name| !known(name)) {
        reader.problem(file, "/permission", format!("no argument {name:?}; there are: {list}"));
    }
    for (alias, name) in tool.argument_aliases.iter().filter(|each| !leads(tool, *each)) {
        let message = format!(
            "an alias leads from a name that is no argument to one that is; {alias:?} to {name:?} does not; arguments: {list}"
        );
        reader.problem(file, &format!("/argument_aliases/{alias}"), message);
    }
    for (key, sentence) in &tool.says {
        if let Err(fault) = template::uses(sentence) {
            reader.problem(file, &format!("/says/{key}"), fault.message);
        }
    }
}
