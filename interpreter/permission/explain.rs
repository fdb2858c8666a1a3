//! `lembas permission explain`: how a call is read, which rules spoke, what comes of it and how to change that.

use super::{
    WhatArgs,
    advice::advice,
    finder::{Finder, Place},
    text,
};
use crate::{app::Setting, stop::Stop};
use lembas_core::{
    permission::{self, Approval, CommandView, Explanation, FileView, Step},
    spec::{Decision, ModeRow},
};
use serde::Serialize;
use std::path::PathBuf;

/// What is told of a call, as `--json` gives it.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub(super) tool: &'a str,
    /// The command line or path.
    pub(super) what: &'a str,
    pub(super) mode: &'a str,
    pub(super) directory: &'a PathBuf,
    pub(super) project: &'a PathBuf,
    pub(super) commands: Vec<CommandView>,
    pub(super) files: Vec<FileView>,
    /// Why the line as a whole could not be read.
    pub(super) unseen: Vec<&'static str>,
    pub(super) rules: Vec<Matched>,
    pub(super) decision: Decision,
    /// One sentence of why.
    pub(super) say: String,
    pub(super) always: Vec<Approval>,
    /// How to change it.
    pub(super) change: String,
}

/// A rule that matched, or a reason where none speaks.
#[derive(Serialize)]
pub(super) struct Matched {
    /// What it says, to what, and where it stands.
    #[serde(flatten)]
    pub(super) step: Step,
    /// The rule that counts instead of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overruled_by: Option<String>,
}

/// Returns what is told as text or as a JSON object.
pub(super) fn explain(
    setting: &Setting<'_>,
    harness: &str,
    what: &WhatArgs,
    json: bool,
) -> Result<String, Stop> {
    let finder = Finder { setting, harness };
    let call = setting.call(&what.tool, &what.what).map_err(Stop::usage)?;
    let (policy, place) = (setting.policy(), setting.place());
    let explanation = permission::explain(setting.spec, &policy, place.world(), &call);
    let report = report(finder, what, explanation);
    if json { super::json(&report) } else { Ok(text::text(finder, &report)) }
}

fn report<'a>(finder: Finder<'a>, what: &'a WhatArgs, explained: Explanation) -> Report<'a> {
    let setting = finder.setting;
    let row = explained.row.as_ref().and_then(|pointer| {
        let rows = setting.spec.mode(&setting.mode).into_iter().flat_map(|mode| &mode.decide);
        rows.into_iter().find(|row| row.pointer == *pointer)
    });
    let change = advice(finder, what, &explained, row);
    let Explanation { verdict, commands, files, unseen, overruled, .. } = explained;
    let counts = verdict.trace.into_iter().map(|step| (step, None));
    let overruled = overruled.into_iter().map(|each| (each.step, Some(each.by)));
    let matched = |(step, overruled_by)| Matched { step: placed(finder, step, row), overruled_by };
    Report {
        tool: &what.tool,
        what: &what.what,
        mode: &setting.mode,
        directory: &setting.cwd,
        project: &setting.project.root,
        commands,
        files,
        unseen,
        rules: counts.chain(overruled).map(matched).collect(),
        decision: verdict.decision,
        say: verdict.say,
        always: verdict.always,
        change,
    }
}

/// Returns a step with the line its rule stands on.
fn placed(finder: Finder<'_>, step: Step, row: Option<&ModeRow>) -> Step {
    let line = finder.step(&step, row).and_then(|Place { line, .. }| line);
    Step { line, ..step }
}
