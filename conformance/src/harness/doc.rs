//! The reference of a spec as Markdown, made from the data alone.

use crate::{error::Error, source};
use lembas_codegen::{
    acp::{Protocol, Sender},
    spec::{
        CaseFile, DEFAULTS, Decision, HARDLINE, Judged, MODES, Mode, Offered, Rule, Spec, Tool,
    },
};
use serde_json::Value;
use std::{
    io::{self, Write},
    path::Path,
};

/// Writes the reference of the spec in `dir`, or of the packed one, to `out`.
///
/// # Errors
/// The problems of the directory, a line each; or the reference could not be written.
pub fn doc(dir: Option<&Path>, out: &mut dyn Write) -> Result<(), Error> {
    let whole = source::whole(dir)?;
    let spec = &whole.spec;
    writeln!(out, "# Harness {}", spec.version)?;
    tools(out, spec)?;
    modes(out, spec)?;
    writeln!(out, "\n## Hardline\n\nAny hit refuses the call, in every mode.")?;
    rules(out, &json(spec, HARDLINE), &spec.hardline)?;
    defaults(out, spec)?;
    writeln!(out, "\n## Quirks\n\nWhat servers do and what is made of it.")?;
    rules(out, &json(spec, "quirks.json"), &spec.quirks)?;
    records(out, spec)?;
    methods(out, &whole.protocol)?;
    areas(out, &whole.cases)?;
    Ok(())
}

fn tools(out: &mut dyn Write, spec: &Spec) -> io::Result<()> {
    writeln!(out, "\n## Tools")?;
    spec.tools.iter().try_for_each(|tool| one_tool(out, tool))
}

fn one_tool(out: &mut dyn Write, tool: &Tool) -> io::Result<()> {
    writeln!(out, "\n### `{}`\n\n{}\n", tool.name, tool.description)?;
    let alone = if tool.exclusive { ", runs alone" } else { "" };
    let Tool { id, scope, .. } = tool;
    writeln!(
        out,
        "`tools/{id}.json`, {scope}, {}{alone}, {}.",
        tool.class.name(),
        offered(&tool.modes)
    )?;
    let former: Vec<&str> = tool.aliases.values().flatten().map(String::as_str).collect();
    if !former.is_empty() {
        writeln!(out, "Also called: {}.", code(&former))?;
    }
    let required = tool.parameters["required"].as_array();
    let properties = tool.parameters["properties"].as_object();
    if properties.is_some_and(|all| !all.is_empty()) {
        writeln!(out, "\n| argument | type | | also | |\n|---|---|---|---|---|")?;
    }
    for (name, schema) in properties.into_iter().flatten() {
        let needed = required.is_some_and(|all| all.iter().any(|each| each == name));
        let needed = if needed { "required" } else { "" };
        let aliases = tool.argument_aliases.iter().filter(|(_, to)| *to == name);
        let aliases: Vec<&str> = aliases.map(|(alias, _)| alias.as_str()).collect();
        let about = cell(schema["description"].as_str().unwrap_or_default());
        writeln!(out, "| `{name}` | {} | {needed} | {} | {about} |", kind(schema), code(&aliases))?;
    }
    Ok(())
}

fn offered(modes: &Offered) -> String {
    match modes {
        Offered::All(_) => "offered in every mode".into(),
        Offered::Some(modes) => {
            format!("offered in {}", code(&modes.iter().map(String::as_str).collect::<Vec<_>>()))
        }
    }
}

fn kind(schema: &Value) -> String {
    match (schema["enum"].as_array(), schema["type"].as_str()) {
        (Some(options), _) => options.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
        (None, Some("array")) => format!("list of {}", kind(&schema["items"])),
        (None, kind) => kind.unwrap_or("any").into(),
    }
}

fn modes(out: &mut dyn Write, spec: &Spec) -> io::Result<()> {
    writeln!(
        out,
        "\n## Modes\n\nStrictest first. The first row that holds decides; if none does, the rules' verdict stands."
    )?;
    let file = json(spec, MODES);
    sets(out, &file)?;
    spec.modes.iter().try_for_each(|mode| one_mode(out, &file, mode))
}

fn one_mode(out: &mut dyn Write, file: &Value, mode: &Mode) -> io::Result<()> {
    writeln!(out, "\n### {}\n\n{}\n", mode.id, mode.about)?;
    for row in &mode.decide {
        let when = condition(file, &row.pointer);
        writeln!(out, "- `{when}`: {}", decided(row.then, &row.say))?;
    }
    Ok(())
}

fn rules(out: &mut dyn Write, file: &Value, rules: &[Rule]) -> io::Result<()> {
    sets(out, file)?;
    writeln!(out, "\n| rule | when | then |\n|---|---|---|")?;
    for rule in rules {
        let Rule { id, about, action, say, pointer, .. } = rule;
        let action = action.as_ref().map(|action| format!("`{action}` ")).unwrap_or_default();
        let (when, then) = (condition(file, pointer), format!("{action}{say}"));
        writeln!(out, "| {id} | {about} `{}` | {} |", cell(&when), cell(&then))?;
    }
    Ok(())
}

fn defaults(out: &mut dyn Write, spec: &Spec) -> io::Result<()> {
    let file = json(spec, DEFAULTS);
    writeln!(
        out,
        "\n## Default rules\n\nPer pattern the last row wins, across patterns the strictest."
    )?;
    sets(out, &file)?;
    writeln!(out, "\n| rule | tool | when | then |\n|---|---|---|---|")?;
    for rule in &spec.defaults {
        let when = match &rule.judged {
            Judged::Pattern(pattern) => pattern.clone(),
            Judged::When { .. } => condition(&file, &rule.pointer),
        };
        let (id, tool, then) = (&rule.id, &rule.tool, decided(rule.then, &rule.say));
        writeln!(out, "| {id} | {tool} | `{}` | {} |", cell(&when), cell(&then))?;
    }
    Ok(())
}

fn records(out: &mut dyn Write, spec: &Spec) -> io::Result<()> {
    writeln!(out, "\n## Facts\n\nWhat conditions can ask.\n\n| record | fact | |\n|---|---|---|")?;
    for (record, facts) in &spec.records {
        for (name, fact) in facts {
            writeln!(out, "| {record} | `{name}` | {} |", cell(&fact.doc))?;
        }
    }
    Ok(())
}

fn methods(out: &mut dyn Write, protocol: &Protocol) -> io::Result<()> {
    writeln!(out, "\n## Protocol methods\n\n| method | | capability | |\n|---|---|---|---|")?;
    for method in &protocol.methods {
        let way = match (method.from, &method.result) {
            (Sender::Client, Some(_)) => "client asks agent",
            (Sender::Client, None) => "client tells agent",
            (Sender::Agent, Some(_)) => "agent asks client",
            (Sender::Agent, None) => "agent tells client",
        };
        let capability = method.capability.as_ref().map(|spot| code(&[&spot.name]));
        let (capability, about) = (capability.unwrap_or_default(), cell(&method.doc));
        writeln!(out, "| `{}` | {way} | {capability} | {about} |", method.name)?;
    }
    Ok(())
}

fn areas(out: &mut dyn Write, files: &[CaseFile]) -> io::Result<()> {
    writeln!(out, "\n## Conformance areas\n\n| area | cases | |\n|---|---|---|")?;
    for file in files {
        writeln!(out, "| `{}` | {} | {} |", file.area, file.cases.len(), cell(&file.about))?;
    }
    Ok(())
}

/// The named lists that the conditions of a file refer to.
fn sets(out: &mut dyn Write, file: &Value) -> io::Result<()> {
    let Some(sets) = file["sets"].as_object().filter(|sets| !sets.is_empty()) else {
        return Ok(());
    };
    writeln!(out)?;
    for (name, words) in sets {
        let words: Vec<&str> =
            words.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        writeln!(out, "- `@{name}`: {}", code(&words))?;
    }
    Ok(())
}

fn json(spec: &Spec, file: &str) -> Value {
    serde_json::from_str(spec.text(file).unwrap_or_default()).unwrap_or_default()
}

/// The condition at a rule's or row's pointer, as its file has it.
fn condition(file: &Value, pointer: &str) -> String {
    file.pointer(&format!("{pointer}/when")).map(Value::to_string).unwrap_or_default()
}

/// A decision and the sentence that goes with it, if it has one.
fn decided(decision: Decision, say: &str) -> String {
    let name = match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    if say.is_empty() { name.into() } else { format!("{name}: {say}") }
}

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Makes a text fit into a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
