//! `lembas permission list`: everything in force in the working directory, in the order it counts.

use super::finder::{Finder, Place};
use crate::{app::Setting, config::paths::CONFIG_FILE, shown, stop::Stop, table::table};
use lembas_core::{
    permission::{Layer, Scope},
    spec::{Decision, Judged},
};
use serde::Serialize;
use std::path::PathBuf;

/// What is in force, as `--json` gives it.
#[derive(Serialize)]
struct Listing<'a> {
    directory: &'a PathBuf,
    project: &'a PathBuf,
    mode: &'a str,
    floor: Vec<FloorRow>,
    defaults: Vec<RuleRow>,
    global: Vec<RuleRow>,
    project_rules: ProjectRules,
    approvals: Vec<ApprovalRow>,
}

#[derive(Serialize)]
struct FloorRow {
    id: String,
    say: String,
    disabled: bool,
    file: String,
    line: Option<u32>,
}

#[derive(Serialize)]
struct RuleRow {
    tool: String,
    /// The id of a rule of the spec, the pattern of a written one.
    rule: String,
    /// The pattern of a rule of the spec that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    then: Decision,
    file: String,
    line: Option<u32>,
}

#[derive(Serialize)]
struct ProjectRules {
    file: PathBuf,
    exists: bool,
    trusted: bool,
    rules: Vec<RuleRow>,
}

#[derive(Serialize)]
struct ApprovalRow {
    number: usize,
    tool: String,
    pattern: String,
    date: String,
    said_to: String,
    file: String,
    line: Option<u32>,
}

/// Returns the list as text or as a JSON object.
pub(super) fn list(setting: &Setting<'_>, harness: &str, json: bool) -> Result<String, Stop> {
    let finder = Finder { setting, harness };
    let listing = listing(finder);
    if json {
        return super::json(&listing);
    }
    Ok(text(finder, &listing))
}

fn listing(finder: Finder<'_>) -> Listing<'_> {
    let setting = finder.setting;
    let policy = setting.policy();
    let of = |scope: Scope| {
        let layers = policy.layers.iter().filter(move |layer| layer.scope == scope);
        layers.flat_map(rows).collect::<Vec<_>>()
    };
    let file = setting.project.config_dir().join(CONFIG_FILE);
    Listing {
        directory: &setting.cwd,
        project: &setting.project.root,
        mode: &setting.mode,
        floor: floor(finder),
        defaults: defaults(finder),
        global: of(Scope::Global),
        project_rules: ProjectRules {
            exists: file.exists(),
            file,
            trusted: setting.trusted.is_some(),
            rules: of(Scope::Project),
        },
        approvals: approvals(setting, of(Scope::Session)),
    }
}

fn floor(finder: Finder<'_>) -> Vec<FloorRow> {
    let config = &finder.setting.loaded.config;
    let rules = finder.setting.spec.hardline.iter().chain(&config.hardline_extra);
    let row = |rule: &lembas_core::spec::Rule| {
        let Place { file, line } = finder.floor(rule);
        let disabled = config.hardline_disable.contains(&rule.id);
        FloorRow { id: rule.id.clone(), say: rule.say.clone(), disabled, file, line }
    };
    rules.map(row).collect()
}

fn defaults(finder: Finder<'_>) -> Vec<RuleRow> {
    let row = |rule: &lembas_core::spec::DefaultRule| {
        let Place { file, line } = finder.default(rule);
        let pattern = match &rule.judged {
            Judged::Pattern(pattern) => Some(pattern.clone()),
            Judged::When { .. } => None,
        };
        let (tool, rule, then) = (rule.tool.clone(), rule.id.clone(), rule.then);
        RuleRow { tool, rule, pattern, then, file, line }
    };
    finder.setting.spec.defaults.iter().map(row).collect()
}

fn rows(layer: &Layer) -> impl Iterator<Item = RuleRow> {
    layer.rules.iter().map(|rule| RuleRow {
        tool: rule.tool.clone(),
        rule: rule.pattern.clone(),
        pattern: None,
        then: rule.then,
        file: layer.source.clone(),
        line: rule.line,
    })
}

fn approvals(setting: &Setting<'_>, rows: Vec<RuleRow>) -> Vec<ApprovalRow> {
    let numbered = setting.approved.iter().zip(rows).enumerate();
    let row = |(index, (each, row)): (usize, (&crate::config::approvals::Approved, RuleRow))| {
        ApprovalRow {
            number: index + 1,
            tool: row.tool,
            pattern: row.rule,
            date: each.entry.date.clone(),
            said_to: each.entry.said_to.clone(),
            file: row.file,
            line: row.line,
        }
    };
    numbered.map(row).collect()
}

fn text(finder: Finder<'_>, listing: &Listing<'_>) -> String {
    let directory = finder.file(listing.directory);
    let mut text = format!("{}, mode {}\n", shown::line(&directory), listing.mode);
    let mut part = |heading: &str, body: String| {
        let body = if body.is_empty() { "  none\n".to_string() } else { body };
        text.push_str(&format!("\n{heading}\n{body}"));
    };
    part("The floor: refused in every mode, whatever is written or approved", {
        let row = |row: &FloorRow| {
            let place = finder.shown(&Place { file: row.file.clone(), line: row.line });
            let state = if row.disabled { "switched off" } else { "" };
            vec![row.id.clone(), state.into(), place, row.say.clone()]
        };
        table(2, &listing.floor.iter().map(row).collect::<Vec<_>>())
    });
    part("The defaults: where no rule was written", grouped(finder, &listing.defaults));
    part("Your rules: the last that fits counts", grouped(finder, &listing.global));
    let own = &listing.project_rules;
    part(
        "The project's rules: they can only be stricter than yours",
        match &finder.setting.project.refused {
            Some(refused) => format!("  {}\n", shown::line(refused)),
            None if own.exists && !own.trusted => format!(
                "  {} does not count: the project is not trusted. `lembas trust` lets it count.\n",
                shown::line(&finder.file(&own.file))
            ),
            None => grouped(finder, &own.rules),
        },
    );
    part("Approved in this project: asked about no more, but never against a deny", {
        let row = |row: &ApprovalRow| {
            let place = finder.shown(&Place { file: row.file.clone(), line: row.line });
            let given = format!("{} for: {}", row.date, row.said_to);
            vec![row.number.to_string(), row.tool.clone(), row.pattern.clone(), place, given]
        };
        table(2, &listing.approvals.iter().map(row).collect::<Vec<_>>())
    });
    text
}

/// Returns rules below the name they stand under, in the order of the first of each.
fn grouped(finder: Finder<'_>, rules: &[RuleRow]) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for rule in rules {
        if !tools.contains(&rule.tool.as_str()) {
            tools.push(&rule.tool);
        }
    }
    let mut rows = Vec::new();
    for tool in tools {
        for (index, rule) in rules.iter().filter(|rule| rule.tool == tool).enumerate() {
            let name = if index == 0 { tool } else { "" };
            let place = finder.shown(&Place { file: rule.file.clone(), line: rule.line });
            let pattern = rule.pattern.as_ref().map(|pattern| format!(" ({pattern})"));
            let what = format!("{}{}", rule.rule, pattern.unwrap_or_default());
            rows.push(vec![name.into(), rule.then.name().into(), what, place]);
        }
    }
    table(2, &rows)
}
