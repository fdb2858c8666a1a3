//! `config.yaml`, global and of a trusted project: checked, filled and merged into one `Config`.
//! A file with an error is left out whole; a project cannot set what is the person's alone.

use super::{
    check::check,
    fill::{Filler, fill_all},
    hardline::hardline_rules,
    place::escape,
    problem::{Level, Problem, hint},
    yaml::{self, Document},
};
use lembas_core::{
    permission::{Layer, Scope},
    spec::{Rule, Spec},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The settings in force. What is `None` was not set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    /// The model's reference, `<connection>/<model>`.
    pub(crate) model: Option<String>,
    /// The model that turns texts into vectors: its reference, or the id it is served under.
    pub(crate) embedding: Option<String>,
    /// The id of a mode of the spec.
    pub(crate) mode: Option<String>,
    /// The reasoning effort: a level or `off`.
    pub(crate) effort: Option<String>,
    /// The permission rules with their lines, a layer a file: global first, then the project's.
    #[serde(skip)]
    pub(crate) permission: Vec<Layer>,
    /// The person's own hardline rules; each names its file and where in it.
    #[serde(skip)]
    pub(crate) hardline_extra: Vec<Rule>,
    /// Ids of built-in hardline rules that are switched off.
    pub(crate) hardline_disable: Vec<String>,
    /// The person's own instructions.
    pub(crate) instructions: Option<String>,
    /// The id of a personality preset of the spec.
    pub(crate) personality: Option<String>,
    /// A personality in the person's own words, instead of a preset.
    pub(crate) personality_custom: Option<String>,
    /// The most rounds of tool calls in one turn.
    pub(crate) steps: Option<u64>,
    /// What one turn may cost.
    pub(crate) budget: Budget,
}

/// What one turn may cost; `None` is without a limit.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Budget {
    /// Seconds from the prompt.
    pub(crate) wall_s: Option<u64>,
    /// Tokens the model writes.
    pub(crate) output_tokens: Option<u64>,
}

/// What settings are read with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// The schema of the files.
    pub(crate) schema: &'a Value,
    /// The names the spec has.
    pub(crate) known: Known<'a>,
    /// Where placeholders are looked up; its base is the directory of the file.
    pub(crate) filler: Filler<'a>,
    /// Whether the file is a project's.
    pub(crate) is_project: bool,
}

/// What a configuration may name.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The spec: its modes, its hardline rules and the facts that rules ask.
    pub(crate) spec: &'a Spec,
    /// Ids of dialects.
    pub(crate) dialects: &'a [&'a str],
    /// Ids of personality presets.
    pub(crate) personalities: &'a [&'a str],
}

/// The parts of `config.yaml` that are taken as they are written: their texts are patterns, not values to fill.
const VERBATIM: [&str; 3] = ["permission", "hardline_extra", "hardline_disable"];

/// Settings being put together from one file after the other.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    values: Value,
    permission: Vec<Layer>,
    hardline_extra: Vec<Rule>,
}

impl Merging {
    /// Lays `file` over what was read before. A missing file changes nothing, and neither does one with an error.
    pub(crate) fn add(&mut self, file: &Path, with: Reading<'_>) -> Vec<Problem> {
        let mut document = match yaml::read(file) {
            Ok(Some(document)) => document,
            Ok(None) => return Vec::new(),
            Err(problems) => return problems,
        };
        let mut problems =
            if with.is_project { drop_global_only(&mut document, with.schema) } else { Vec::new() };
        problems
            .extend(check(&mut document, with.schema).into_iter().map(|finding| finding.problem));
        if problems.iter().all(|problem| problem.level == Level::Warning) {
            problems.extend(self.take(&mut document, with));
        }
        problems.sort_by_key(|problem| problem.place);
        problems
    }

    /// Takes in a document that has the right form, unless its values are wrong.
    fn take(&mut self, document: &mut Document, with: Reading<'_>) -> Vec<Problem> {
        let Value::Object(raw) = document.value.take() else { return Vec::new() };
        let mut values = raw.clone();
        let filled = values.iter_mut().filter(|(key, _)| !VERBATIM.contains(&key.as_str()));
        let unfilled: Vec<_> = filled
            .flat_map(|(key, value)| fill_all(value, &format!("/{key}"), &with.filler))
            .collect();
        let mut wrong = unfilled;
        if wrong.is_empty() {
            wrong = wrong_names(&raw, &values, with.known);
        }
        let file = document.file.display().to_string();
        let extra = values.shift_remove("hardline_extra");
        let extra = hardline_rules(&file, extra, with.known.spec, &mut wrong);
        if !wrong.is_empty() {
            let problem =
                |(pointer, message): (String, String)| document.at_value(&pointer, message);
            return wrong.into_iter().map(problem).collect();
        }
        self.hardline_extra.extend(extra);
        let mut warnings = idle_rules(document, &raw, with.known.spec);
        if with.is_project {
            warnings.extend(self.drop_looser_mode(document, &mut values, with.known.spec));
        }
        if let Some(rules) = values.shift_remove("permission") {
            let scope = if with.is_project { Scope::Project } else { Scope::Global };
            match layer(document, scope, &rules) {
                Ok(layer) => self.permission.push(layer),
                Err(problem) => warnings.push(problem),
            }
        }
        merge(&mut self.values, Value::Object(values));
        warnings
    }

    /// Takes a project's mode out that is looser than the person's own. Modes stand strictest first.
    fn drop_looser_mode(
        &self,
        document: &Document,
        values: &mut Map<String, Value>,
        spec: &Spec,
    ) -> Option<Problem> {
        let own = self.values.get("mode").and_then(Value::as_str).unwrap_or(&spec.default_mode);
        let rank = |id: &str| spec.modes.iter().position(|mode| mode.id == id);
        let wanted = values.get("mode").and_then(Value::as_str)?;
        if rank(wanted) <= rank(own) {
            return None;
        }
        values.shift_remove("mode");
        let message = format!(
            "a project's mode may only be stricter than your own, which is {own}, so it is left out"
        );
        Some(document.at_value("/mode", message).warning())
    }

    /// Returns the settings.
    pub(crate) fn finish(self) -> Result<Config, serde_json::Error> {
        let values = if self.values.is_null() { json!({}) } else { self.values };
        let config = Config::deserialize(values)?;
        Ok(Config { permission: self.permission, hardline_extra: self.hardline_extra, ..config })
    }
}

/// Takes a project's keys out that are the person's alone, whatever their form, with a warning each.
fn drop_global_only(document: &mut Document, schema: &Value) -> Vec<Problem> {
    let names = schema["x-global-only"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut problems = Vec::new();
    for name in names {
        let dropped = document.value.as_object_mut().and_then(|map| map.shift_remove(name));
        if dropped.is_some() {
            let message = format!(
                "`{name}` counts only in the global configuration; a project cannot set it, so it is left out"
            );
            problems.push(document.at_key(&format!("/{name}"), message).warning());
        }
    }
    problems
}

/// Warns about permission rules under a name that no tool's rules stand under.
fn idle_rules(document: &Document, raw: &Map<String, Value>, spec: &Spec) -> Vec<Problem> {
    let tools = spec.tools.iter().map(|tool| tool.permission.rule.as_str());
    let mut known: Vec<&str> = tools
        .chain(spec.defaults.iter().map(|rule| rule.tool.as_str()))
        .chain(["external_directory"])
        .collect();
    known.sort_unstable();
    known.dedup();
    let names = raw.get("permission").and_then(Value::as_object).into_iter().flatten();
    let idle = names.map(|(name, _)| name).filter(|name| {
        // `*` is for all tools.
        *name != "*" && !known.contains(&name.as_str())
    });
    idle.map(|name| {
        let tool = spec.tools.iter().find(|tool| tool.name == *name);
        let hint = match tool {
            Some(tool) => format!(" Its rules stand under `{}`.", tool.permission.rule),
            None => hint(name, &known),
        };
        let message = format!("no tool's rules are called `{name}`; its rules do nothing.{hint}");
        document.at_key(&format!("/permission/{}", escape(name)), message).warning()
    })
    .collect()
}

/// Returns (pointer, sentence) for every name the spec does not have. Names are shown as written, not as filled.
fn wrong_names(
    raw: &Map<String, Value>,
    filled: &Map<String, Value>,
    known: Known<'_>,
) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    let mut one_of = |pointer: String,
                      what: &str,
                      raw: Option<&Value>,
                      filled: Option<&Value>,
                      known: &[&str]| {
        let (Some(raw), Some(filled)) =
            (raw.and_then(Value::as_str), filled.and_then(Value::as_str))
        else {
            return;
        };
        if !known.contains(&filled) {
            wrong.push((pointer, format!("there is no {what} `{raw}`.{}", hint(raw, known))));
        }
    };
    let modes: Vec<&str> = known.spec.modes.iter().map(|mode| mode.id.as_str()).collect();
    let hardline: Vec<&str> = known.spec.hardline.iter().map(|rule| rule.id.as_str()).collect();
    one_of("/mode".into(), "mode", raw.get("mode"), filled.get("mode"), &modes);
    one_of(
        "/personality".into(),
        "personality",
        raw.get("personality"),
        filled.get("personality"),
        known.personalities,
    );
    let disabled = raw.get("hardline_disable").and_then(Value::as_array).into_iter().flatten();
    for (index, id) in disabled.enumerate() {
        one_of(
            format!("/hardline_disable/{index}"),
            "hardline rule",
            Some(id),
            Some(id),
            &hardline,
        );
    }
    let model = filled.get("model").and_then(Value::as_str);
    if model.is_some_and(|model| !model.contains('/')) {
        wrong.push(("/model".into(), "`model` must be written <connection>/<model>".into()));
    }
    wrong
}

/// Returns the permission rules of a file, each with its line.
fn layer(document: &Document, scope: Scope, rules: &Value) -> Result<Layer, Problem> {
    let mut layer = Layer::read(scope, &document.file.display().to_string(), rules)
        .map_err(|why| document.at_value("/permission", why))?;
    for rule in &mut layer.rules {
        let tool = format!("/permission/{}", escape(&rule.tool));
        // A single verdict for a tool is read as its pattern `*`.
        let is_single = rules.get(&rule.tool).is_some_and(Value::is_string);
        let pointer = if is_single { tool } else { format!("{tool}/{}", escape(&rule.pattern)) };
        rule.line = u32::try_from(document.key_place(&pointer).line).ok();
    }
    Ok(layer)
}

/// Lays `over` over `base`: objects key by key, everything else replaced.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(&key) {
                    Some(old) => merge(old, value),
                    None => {
                        base.insert(key, value);
                    }
                }
            }
        }
        (base, over) => *base = over,
    }
}
