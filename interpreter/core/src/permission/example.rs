//! Asks a mode about the calls in the examples of its rows. What decides a real case decides here.

use super::hardline::{Plain, own};
use super::judge::Judge;
use super::{Call, Layer, Policy, Scope, World};
use crate::spec::{ModeRow, ModeSpec, Spec};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns whether a row decides the call in an example: a command line, or an object with the `tool` and what it is
/// called with, `path` or `command`. `class` stands for a tool that the spec does not have, `rules` for what a person
/// wrote, as in a case. `None` for an example that is neither.
pub fn row_example(spec: &Spec, mode: &ModeSpec, row: &ModeRow, example: &Value) -> Option<bool> {
    let text = |key: &str| example[key].as_str().map(String::from);
    let id = text("tool").or_else(|| example.is_string().then(|| "bash".into()))?;
    let tool = spec.tool(&id);
    let call = Call {
        class: text("class").or_else(|| Some(tool?.class.name().into()))?,
        rule: tool.map_or_else(|| id.clone(), |tool| tool.permission.rule.clone()),
        paths: text("path").map(PathBuf::from).into_iter().collect(),
        command: text("command").or_else(|| example.as_str().map(String::from)),
        tool: id,
        ..Call::default()
    };
    let rules = example.get("rules").map(|rules| Layer::read(Scope::Global, "example", rules));
    let layers: Vec<Layer> = rules.transpose().ok()?.into_iter().collect();
    let policy = Policy { mode: mode.id.clone(), layers, ..Policy::default() };
    let (home, cwd) = (Path::new("/home/dev"), Path::new("/home/dev/proj"));
    let own = own(home);
    let world = World { home, cwd, project: Some(cwd), own: &own, disk: &Plain };
    let mut judge = Judge::new(spec, &policy, world);
    judge.call(&call);
    Some(judge.row(&call).is_some_and(|(_, decides)| decides.pointer == row.pointer))
}
