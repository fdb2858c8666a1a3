//! Layers of written rules and the defaults below them: which rule speaks last about a command or a path.

use super::{Approval, wildcard};
use crate::spec::{CommandFacts, DEFAULTS, Decision, DefaultRule, Judged, Record, Spec};
use serde_json::Value;

/// Where a layer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The person's own configuration.
    Global,
    /// A trusted project's configuration: it may tighten a global rule, never loosen it.
    Project,
    /// What a person approved, in this session or for good: it never beats a deny.
    Session,
}

/// Rules of one source, in the order they are written.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Where it comes from.
    pub scope: Scope,
    /// The file, or another name a person knows it by.
    pub source: String,
    /// The rules.
    pub rules: Vec<LayerRule>,
}

/// A written rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerRule {
    /// The rule name of the tools it is for: `bash`, `read`, `edit`, `external_directory`, …; `*` for all.
    pub tool: String,
    /// A wildcard pattern over a command or path.
    pub pattern: String,
    /// What it says.
    pub then: Decision,
    /// The line of the layer's file it stands in, counted from one, where it is known.
    pub line: Option<u32>,
}

impl Layer {
    /// Reads `{"bash": {"*": "ask", "git push *": "deny"}, "read": "allow"}`; the order of keys counts.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn read(scope: Scope, source: &str, json: &Value) -> Result<Layer, String> {
        let tools = json.as_object().ok_or_else(|| {
            format!("{source}: permission rules are a mapping from tool to rules")
        })?;
        let mut rules = Vec::new();
        for (tool, patterns) in tools {
            let mut add = |pattern: &str, then: &Value| {
                let then = serde_json::from_value(then.clone()).map_err(|_| {
                    format!("{source}: {tool}: {pattern}: {then} is no decision; write allow, ask or deny")
                })?;
                let (tool, pattern) = (tool.clone(), pattern.to_string());
                rules.push(LayerRule { tool, pattern, then, line: None });
                Ok::<(), String>(())
            };
            match patterns {
                Value::Object(patterns) => {
                    patterns.iter().try_for_each(|(pattern, then)| add(pattern, then))?
                }
                then => add("*", then)?,
            }
        }
        Ok(Layer { scope, source: source.to_string(), rules })
    }

    /// Returns a layer of what was approved.
    pub fn approved(approvals: &[Approval]) -> Layer {
        let allow = |Approval { tool, pattern }: &Approval| LayerRule {
            tool: tool.clone(),
            pattern: pattern.clone(),
            then: Decision::Allow,
            line: None,
        };
        Layer {
            scope: Scope::Session,
            source: "session".into(),
            rules: approvals.iter().map(allow).collect(),
        }
    }
}

/// The rule that spoke last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit<'r> {
    pub(super) then: Decision,
    /// The id of a default rule, or the pattern of a written one.
    pub(super) rule: &'r str,
    pub(super) source: &'r str,
    /// The line of that file, where it is known.
    pub(super) line: Option<u32>,
    /// A person or project wrote it.
    pub(super) written: bool,
    /// A person approved it in the session.
    pub(super) approved: bool,
    /// Rules that matched too, in the order they count.
    pub(super) over: Vec<Hit<'r>>,
}

/// What a rule is looked up for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The rule name.
    pub(super) tool: &'a str,
    /// The texts a pattern may match.
    pub(super) texts: &'a [String],
    /// The record conditions are over, and its name.
    pub(super) about: &'a str,
    pub(super) record: &'a dyn Record,
    /// Default rules with a condition may allow it.
    pub(super) plain: bool,
    /// What was approved in the session counts.
    pub(super) approvals: bool,
}

impl<'r> Hit<'r> {
    fn of_default(rule: &'r DefaultRule) -> Hit<'r> {
        Hit {
            then: rule.then,
            rule: &rule.id,
            source: DEFAULTS,
            line: None,
            written: false,
            approved: false,
            over: Vec::new(),
        }
    }

    /// Returns this one, which counts although the other matched too.
    fn over(mut self, mut other: Hit<'r>) -> Hit<'r> {
        self.over.append(&mut other.over);
        self.over.push(other);
        self
    }
}

/// Returns the rule that decides, if any does.
pub(super) fn lookup<'r>(spec: &'r Spec, layers: &'r [Layer], asked: Asked<'_>) -> Option<Hit<'r>> {
    if layers.iter().all(|layer| layer.rules.is_empty()) {
        return default(spec, asked);
    }
    let global = match (default(spec, asked), written(layers, Scope::Global, asked)) {
        (Some(default), Some(global)) => Some(global.over(default)),
        (default, global) => global.or(default),
    };
    let hit = match (global, written(layers, Scope::Project, asked)) {
        (Some(global), Some(project)) if global.written && global.then >= project.then => {
            Some(global.over(project))
        }
        (Some(global), Some(project)) => Some(project.over(global)),
        (global, project) => project.or(global),
    };
    match (hit, written(layers, Scope::Session, asked).filter(|_| asked.approvals)) {
        (Some(hit), Some(approved)) if hit.then == Decision::Deny => Some(hit.over(approved)),
        (Some(hit), Some(approved)) => Some(approved.over(hit)),
        (hit, approved) => approved.or(hit),
    }
}

/// Returns whether anything was approved in the session.
pub(super) fn has_approvals(layers: &[Layer]) -> bool {
    layers.iter().any(|layer| layer.scope == Scope::Session)
}

/// Returns what was approved in the session for a tool.
fn approvals<'l>(layers: &'l [Layer], tool: &'l str) -> impl Iterator<Item = &'l LayerRule> {
    let session = layers.iter().filter(|layer| layer.scope == Scope::Session);
    session.flat_map(|layer| &layer.rules).filter(move |rule| rule.tool == tool)
}

/// Returns whether a text was approved in the session.
pub(super) fn approves(layers: &[Layer], tool: &str, text: &str) -> bool {
    approvals(layers, tool).any(|rule| wildcard::matches(&rule.pattern, text))
}

/// Returns whether just this pattern was approved in the session.
pub(super) fn approves_exactly(layers: &[Layer], tool: &str, pattern: &str) -> bool {
    approvals(layers, tool).any(|rule| rule.pattern == pattern)
}

/// Returns the last that matches of the rules written in a scope.
fn written<'r>(layers: &'r [Layer], scope: Scope, asked: Asked<'_>) -> Option<Hit<'r>> {
    let rules = layers
        .iter()
        .filter(|layer| layer.scope == scope)
        .flat_map(|layer| layer.rules.iter().map(move |rule| (layer, rule)));
    let matching = rules.filter(|(_, rule)| {
        (rule.tool == asked.tool || rule.tool == "*") && fits(&rule.pattern, asked.texts)
    });
    let hits = matching.map(|(layer, rule)| Hit {
        then: rule.then,
        rule: &rule.pattern,
        source: &layer.source,
        line: rule.line,
        written: true,
        approved: scope == Scope::Session,
        over: Vec::new(),
    });
    hits.reduce(|earlier, later| later.over(earlier))
}

/// Returns whether a pattern matches one of some texts. The others of a path are its end, below a tilde or without one:
/// what a star in front may be before them, it may be before all of the path.
fn fits(pattern: &str, texts: &[String]) -> bool {
    let whole = || pattern.starts_with('*') && !pattern.bytes().any(|sign| b"~?".contains(&sign));
    let count = if texts.len() > 1 && whole() { 1 } else { texts.len() };
    texts.iter().take(count).any(|text| wildcard::matches(pattern, text))
}

/// Returns whether a written rule of that name denies anything.
pub(super) fn denies(layers: &[Layer], tool: &str) -> bool {
    let rules = layers.iter().flat_map(|layer| &layer.rules);
    let mut about = rules.filter(|rule| rule.tool == tool || rule.tool == "*");
    about.any(|rule| rule.then == Decision::Deny)
}

fn default<'r>(spec: &'r Spec, asked: Asked<'_>) -> Option<Hit<'r>> {
    let matching =
        spec.defaults.about(asked.tool, asked.record).filter(|rule| match &rule.judged {
            Judged::Pattern(pattern) => fits(pattern, asked.texts),
            Judged::When { about, when } => {
                rule.then == Decision::Allow
                    && asked.plain
                    && about == asked.about
                    && when.holds(asked.record)
            }
        });
    matching.map(Hit::of_default).reduce(|earlier, later| later.over(earlier))
}

/// Returns whether anything but conditions may speak about a tool's texts: patterns, by default or written.
pub(super) fn matches_texts(spec: &Spec, layers: &[Layer], tool: &str) -> bool {
    let pattern = |rule: &DefaultRule| matches!(rule.judged, Judged::Pattern(_));
    let written = |rule: &LayerRule| rule.tool == tool || rule.tool == "*";
    layers.iter().flat_map(|layer| &layer.rules).any(written) || spec.defaults.of(tool).any(pattern)
}

/// Returns the id of the default rule whose pattern decides about a text, if one does.
pub fn default_of(spec: &Spec, tool: &str, text: &str) -> Option<String> {
    let texts = [text.to_string()];
    let record = &Value::Null;
    let asked = Asked { tool, texts: &texts, about: "", record, plain: false, approvals: false };
    default(spec, asked).map(|hit| hit.rule.to_string())
}

/// Returns the default rule with a condition that speaks against what `record` says, whatever allowed it.
pub(super) fn guard<'r>(
    spec: &'r Spec,
    tool: &str,
    about: &str,
    record: &dyn Record,
) -> Option<Hit<'r>> {
    let guards = spec.defaults.about(tool, record).filter(|rule| rule.then != Decision::Allow);
    let mut hits = guards.filter(|rule| matches!(&rule.judged, Judged::When { about: of, when } if of == about && when.holds(record)));
    hits.next_back().map(Hit::of_default)
}

/// Returns whether a written pattern names every risky word of a command, so that its author meant them.
pub(super) fn names_risks(pattern: &str, facts: &CommandFacts) -> bool {
    let words: Vec<String> = pattern.split(' ').map(|word| word.replace('\\', "")).collect();
    !facts.risks.is_empty() && facts.risks.iter().all(|risk| words.iter().any(|word| word == risk))
}
