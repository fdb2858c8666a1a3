//! `lembas permission allow` and `revoke`: what is allowed in a project for good, and taken back.

use super::WhatArgs;
use crate::{
    app::Setting,
    config::{
        approvals::{Approvals, Approved, Which},
        paths::Paths,
        problem::hint,
        trust::Project,
    },
    shown::line,
    stop::Stop,
    today::today,
};
use std::{env, path::Path};

/// Stores what "always" would store for a line or path, and returns what it was.
pub(super) fn allow(setting: &Setting<'_>, what: &WhatArgs) -> Result<String, Stop> {
    let WhatArgs { what, tool } = what;
    let call = setting.call(tool, what).map_err(Stop::usage)?;
    let refused = |why: String| Stop::usage(format!("Nothing was stored for {what:?}: {why}"));
    let approvals = setting.approval(&call).map_err(refused)?;
    if approvals.is_empty() {
        return Ok(format!("{} runs unasked already; nothing was stored.\n", line(what)));
    }
    let date = today();
    let kept = Approvals::new(&setting.paths);
    kept.add(&setting.project, &approvals, &date, what).map_err(Stop::usage)?;
    let root = setting.project.root.display().to_string();
    let root = line(&root);
    let told = approvals.iter().map(|each| {
        format!(
            "In {root} this is not asked about any more: {} {}\n",
            each.tool,
            line(&each.pattern)
        )
    });
    Ok(told.collect())
}

/// Takes an approval back, by its number or pattern, or with `None` all of them. Returns what it was.
pub(super) fn revoke(which: Option<&str>) -> Result<String, Stop> {
    let paths = Paths::find(&|name| env::var_os(name)).map_err(Stop::usage)?;
    let project = Project::find(Path::new("."), paths.home.as_deref()).map_err(Stop::usage)?;
    let kept = Approvals::new(&paths);
    let damaged = |problem| Stop::problems([problem]);
    let approved = kept.of(&project).map_err(damaged)?;
    let root = project.root.display().to_string();
    let root = line(&root);
    if approved.is_empty() {
        return Err(Stop::usage(format!("Nothing is allowed in {root} for good.")));
    }
    let gone = kept.remove(&project, named(which, &approved)).map_err(damaged)?;
    if gone.is_empty() {
        return Err(unknown(which.unwrap_or_default(), &approved));
    }
    let told = gone.iter().map(|entry| {
        format!("In {root} this is asked about again: {} {}\n", entry.tool, line(&entry.pattern))
    });
    Ok(told.collect())
}

/// Returns what a person means: a pattern that is there, else a number.
fn named<'w>(which: Option<&'w str>, approved: &[Approved]) -> Which<'w> {
    let Some(which) = which else { return Which::All };
    let is_pattern = approved.iter().any(|each| each.entry.pattern == which);
    match which.parse() {
        Ok(number) if !is_pattern => Which::Number(number),
        _ => Which::Pattern(which),
    }
}

fn unknown(which: &str, approved: &[Approved]) -> Stop {
    if which.parse::<usize>().is_ok() {
        let most = approved.len();
        return Stop::usage(format!(
            "There is no approval {which} here; they go from 1 to {most}."
        ));
    }
    let patterns: Vec<&str> = approved.iter().map(|each| each.entry.pattern.as_str()).collect();
    let hint = line(&hint(which, &patterns)).into_owned();
    Stop::usage(format!("No approval here has the pattern {which:?}.{hint}"))
}
