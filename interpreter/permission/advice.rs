//! One line on how a person changes what becomes of a call.

use super::{WhatArgs, finder::Finder};
use lembas_core::{
    permission::{Approval, Explanation, Step},
    spec::{Decision, ModeRow},
};
use std::collections::BTreeMap;

/// Returns how to change a verdict; `row` is the row of the mode that decided.
pub(super) fn advice(
    finder: Finder<'_>,
    what: &WhatArgs,
    explained: &Explanation,
    row: Option<&ModeRow>,
) -> String {
    let verdict = &explained.verdict;
    let step = verdict.trace.iter().find(|step| step.then == verdict.decision);
    match verdict.decision {
        _ if row.is_some() => by_mode(finder, what, explained),
        Decision::Deny => step.map_or(String::new(), |step| denied(finder, step)),
        Decision::Ask if verdict.always.is_empty() => match step {
            Some(step) if !step.from.is_empty() && !finder.is_of_spec(step) => {
                written(finder, step)
            }
            _ => "Nothing can be allowed for good here: it is asked about each time.".into(),
        },
        Decision::Ask => {
            let tool = tool(what);
            format!(
                "lembas permission allow{tool} {}, or {}",
                quoted(&what.what),
                rule(finder, &verdict.always, Decision::Allow)
            )
        }
        Decision::Allow => {
            step.map_or(String::new(), |step| allowed(finder, what, explained, step))
        }
    }
}

fn tool(what: &WhatArgs) -> String {
    if what.tool == "bash" { String::new() } else { format!(" --tool {}", what.tool) }
}

/// A word as a shell takes it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn config(finder: Finder<'_>) -> String {
    finder.file(&finder.setting.paths.config_file())
}

/// The rules to write for some approvals.
fn rule(finder: Finder<'_>, approvals: &[Approval], then: Decision) -> String {
    let mut by_tool: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Approval { tool, pattern } in approvals {
        let rule = format!("{}: {}", serde_json::Value::from(pattern.as_str()), then.name());
        by_tool.entry(tool).or_default().push(rule);
    }
    let rules = by_tool.iter().map(|(tool, rules)| format!("{tool}: {{ {} }}", rules.join(", ")));
    let rules = rules.collect::<Vec<_>>().join(", ");
    format!("write `permission: {{ {rules} }}` into {}", config(finder))
}

/// The rule that would ask about a call and its like.
fn asking(finder: Finder<'_>, what: &WhatArgs, explained: &Explanation) -> String {
    let first = explained.commands.first().and_then(|command| command.words.first());
    let pattern = first.map_or(what.what.clone(), |program| format!("{program} *"));
    let tool = finder.setting.spec.tool(&what.tool).map(|tool| tool.permission.rule.clone());
    let approval = Approval { tool: tool.unwrap_or_default(), pattern };
    rule(finder, &[approval], Decision::Ask)
}

fn by_mode(finder: Finder<'_>, what: &WhatArgs, explained: &Explanation) -> String {
    let (mode, spec) = (&finder.setting.mode, finder.setting.spec);
    match explained.verdict.decision {
        Decision::Allow => {
            format!("to be asked in every mode, {}", asking(finder, what, explained))
        }
        Decision::Ask | Decision::Deny => {
            let others = spec.modes.iter().map(|mode| mode.id.as_str()).filter(|id| id != mode);
            let others = others.collect::<Vec<_>>().join(", ");
            format!("Mode {mode} decides this. Others are: {others}.")
        }
    }
}

fn written(finder: Finder<'_>, step: &Step) -> String {
    match finder.step(step, None) {
        Some(place) => format!("The rule is in {}.", finder.shown(&place)),
        None => String::new(),
    }
}

fn denied(finder: Finder<'_>, step: &Step) -> String {
    if finder.is_of_spec(step) {
        let (rule, config) = (&step.rule, config(finder));
        return format!(
            "Only `hardline_disable: [{rule}]` in {config} lets this and its like run."
        );
    }
    written(finder, step)
}

fn allowed(finder: Finder<'_>, what: &WhatArgs, explained: &Explanation, step: &Step) -> String {
    let is_approved = finder
        .setting
        .approved
        .iter()
        .any(|each| each.entry.pattern == step.rule && step.line == Some(each.line));
    if is_approved {
        return format!("lembas permission revoke {}", quoted(&step.rule));
    }
    match finder.is_of_spec(step) {
        true => format!("to be asked, {}", asking(finder, what, explained)),
        false => written(finder, step),
    }
}
