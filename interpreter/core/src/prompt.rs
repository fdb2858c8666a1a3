//! Puts the spec's prompt texts together. Which texts, in which order and under which condition is data; nothing a model
//! reads is written here.
//!
//! INVARIANT: the system prompt is a function of what is known when a session starts. What changes later becomes a note.

use crate::spec::prompt::{Body, Entry, placeholder};
use crate::spec::{Fact, PromptFacts, PromptText, Record, Spec};
use lembas_codegen::template;
use minijinja::{Environment, Value, value::Serde};
use serde::Serialize;
use std::fmt;

/// A section of the system prompt or of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its name in `prompts/index.json`.
    pub name: String,
    /// Its heading, if it has one, and its text; never blank.
    pub text: String,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// What the model calls it.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: serde_json::Value,
}

/// Why a text could not be made: a defect of the spec or of the values handed in, with the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptError(String);

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PromptError {}

impl From<minijinja::Error> for PromptError {
    fn from(error: minijinja::Error) -> PromptError {
        PromptError(error.to_string())
    }
}

/// Returns the sections of the system prompt, from top to bottom.
///
/// # Errors
/// A text that uses a value that is not there, with its file and line.
pub fn assemble(spec: &Spec, facts: &PromptFacts) -> Result<Vec<Section>, PromptError> {
    sections(spec, &spec.prompts.order, facts)
}

/// Returns the note called `name` for the facts as they are now, to be appended to the conversation.
///
/// # Errors
/// A name the spec has no note for, or a text that uses a value that is not there.
pub fn note(spec: &Spec, name: &str, facts: &PromptFacts) -> Result<String, PromptError> {
    let entries = spec.prompts.notes.get(name).ok_or_else(|| {
        PromptError(format!("prompts/index.json has no note {name:?}; add it under notes"))
    })?;
    sections(spec, entries, facts).map(|sections| joined(&sections))
}

/// Returns sections as one text, a blank line between them.
pub fn joined(sections: &[Section]) -> String {
    sections.iter().map(|each| each.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Returns one text with its variables filled from `values`, an object or struct that has each of them.
///
/// # Errors
/// A text the spec does not have, or one that uses a value that is not there.
pub fn text(spec: &Spec, which: PromptText, values: impl Serialize) -> Result<String, PromptError> {
    text_at(spec, &format!("{}.md", which.name()), values)
}

/// Returns the text at `path` below `prompts/`, as [`text`] does; for paths that come from data.
///
/// # Errors
/// As for [`text`].
pub fn text_at(spec: &Spec, path: &str, values: impl Serialize) -> Result<String, PromptError> {
    let text = spec.prompts.texts.get(path);
    let text = text.ok_or_else(|| PromptError(format!("the spec has no prompts/{path}")))?;
    fill(path, &text.source, values)
}

/// Returns the template `source` with its variables filled; `name` is what an error calls it.
///
/// # Errors
/// Wrong syntax, or a value that is not there.
pub fn fill(name: &str, source: &str, values: impl Serialize) -> Result<String, PromptError> {
    render(&template::environment()?, name, source, &Value::from(Serde(values)))
}

/// Returns the family whose text the model gets, by the model's id.
pub fn family<'s>(spec: &'s Spec, model: &str) -> Option<&'s str> {
    let facts = PromptFacts { model: model.to_lowercase().into(), ..PromptFacts::default() };
    let found = spec.prompts.families.iter().find(|family| family.when.holds(&facts));
    found.map(|family| family.id.as_str())
}

/// Returns the tools that `facts` names as offered, in the spec's order, as a model is told of them.
///
/// # Errors
/// A description that uses a value that is not there.
pub fn tool_definitions(
    spec: &Spec,
    facts: &PromptFacts,
) -> Result<Vec<ToolDefinition>, PromptError> {
    let environment = template::environment()?;
    let values = Value::from(Serde(facts));
    let offered =
        spec.tools.iter().filter(|tool| facts.tools.iter().any(|name| *name == tool.name));
    offered
        .map(|tool| {
            let description = render(&environment, &tool.name, &tool.description, &values)?;
            let parameters = tool.parameters.clone();
            Ok(ToolDefinition { name: tool.name.clone(), description, parameters })
        })
        .collect()
}

fn sections(
    spec: &Spec,
    entries: &[Entry],
    facts: &PromptFacts,
) -> Result<Vec<Section>, PromptError> {
    let environment = template::environment()?;
    let values = Value::from(Serde(facts));
    let mut sections = Vec::new();
    for entry in entries.iter().filter(|entry| entry.when.holds(facts)) {
        let body = body(spec, &environment, &entry.body, facts, &values)?;
        if body.is_empty() {
            continue;
        }
        let text = if entry.heading.is_empty() {
            body
        } else {
            let heading = render(&environment, &entry.name, &entry.heading, &values)?;
            format!("{heading}\n\n{body}")
        };
        sections.push(Section { name: entry.name.clone(), text });
    }
    Ok(sections)
}

/// Returns what an entry says, without blanks around it; empty when its text does not exist.
fn body(
    spec: &Spec,
    environment: &Environment<'static>,
    body: &Body,
    facts: &PromptFacts,
    values: &Value,
) -> Result<String, PromptError> {
    match body {
        Body::Variable(name) => Ok(word(facts, name).trim().to_string()),
        Body::Text(path) => {
            let path = placeholder(path).map_or_else(
                || path.clone(),
                |(before, name, after)| format!("{before}{}{after}", word(facts, name)),
            );
            let text = spec.prompts.texts.get(&path);
            text.map_or(Ok(String::new()), |text| render(environment, &path, &text.source, values))
        }
    }
}

fn word<'f>(facts: &'f PromptFacts, name: &str) -> &'f str {
    match facts.fact(name) {
        Fact::Text(text) => text,
        _ => "",
    }
}

fn render(
    environment: &Environment<'static>,
    name: &str,
    source: &str,
    values: &Value,
) -> Result<String, PromptError> {
    let text = environment.render_named_str(name, source, values.clone())?;
    Ok(text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Mode, Tool, packed};
    use serde_json::json;

    fn facts(mode: &str) -> PromptFacts {
        PromptFacts {
            family: "open".into(),
            tools: ["ask_user", "plan_submit", "read"].map(Into::into).to_vec(),
            cwd: "/home/sam/shire/api".into(),
            project: "/home/sam/shire".into(),
            platform: "linux x86_64, bash".into(),
            date: "2026-01-31".into(),
            git: "branch main, 2 files changed".into(),
            mode: mode.into(),
            plan_path: ".agent/plans".into(),
            interactive: true,
            ..PromptFacts::default()
        }
    }

    #[test]
    fn a_default_session_has_a_small_prompt() {
        let spec = packed().unwrap();
        for mode in Mode::ALL {
            let text = joined(&assemble(&spec, &facts(mode.name())).unwrap());
            assert!(text.len() <= 4608, "{}: {} bytes", mode.name(), text.len());
        }
    }

    #[test]
    fn every_mode_and_family_has_a_text() {
        let spec = packed().unwrap();
        let modes = Mode::ALL.iter().map(|mode| format!("modes/{}.md", mode.name()));
        let families = spec.prompts.families.iter().map(|each| format!("family/{}.md", each.id));
        for path in modes.chain(families) {
            assert!(spec.prompts.texts.contains_key(&path), "{path}");
        }
    }

    #[test]
    fn only_offered_tools_are_defined() {
        let spec = packed().unwrap();
        let names = |facts: &PromptFacts| -> Vec<String> {
            tool_definitions(&spec, facts).unwrap().into_iter().map(|each| each.name).collect()
        };
        assert_eq!(names(&facts("edit")), [Tool::Read.name()]);
        assert!(names(&PromptFacts::default()).is_empty());
    }

    #[test]
    fn a_missing_value_is_an_error_that_names_the_file() {
        let spec = packed().unwrap();
        let error = text(&spec, PromptText::BlocksSteer, json!({})).unwrap_err().to_string();
        assert!(error.contains("blocks/steer.md:3"), "{error}");
        let error = note(&spec, "weather", &facts("edit")).unwrap_err().to_string();
        assert!(error.contains("no note \"weather\""), "{error}");
    }

    #[test]
    fn every_text_renders_with_its_declared_variables() {
        let spec = packed().unwrap();
        for which in PromptText::ALL {
            let declared = &spec.prompts.texts[&format!("{}.md", which.name())].variables;
            let values: serde_json::Map<_, _> = declared
                .iter()
                .map(|name| match name.as_str() {
                    "tools" | "skills" | "servers" | "instructions" => (name.clone(), json!([])),
                    _ => (name.clone(), json!("x")),
                })
                .collect();
            let rendered = text(&spec, *which, &values).unwrap();
            assert!(rendered.len() > 1, "{}", which.name());
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_values_stay_as_they_are(value in "[ -~é{}%#\n]{0,60}") {
            let spec = packed().unwrap();
            let facts = PromptFacts {
                instructions: json!([{ "path": "AGENTS.md", "text": value }]),
                custom_instructions: value.as_str().into(),
                ..facts("edit")
            };
            let text = joined(&assemble(&spec, &facts).unwrap());
            let inserted = format!("\n{}\n</instructions>", value.trim());
            proptest::prop_assert!(text.contains(&inserted));
            proptest::prop_assert!(text.ends_with(value.trim()));
        }
    }
}
