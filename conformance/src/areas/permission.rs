//! `permission`: what becomes of a call: `{"tool", "command" or "path", "mode", "home", "cwd", "project", "rules"?,
//! "setup"?}` to allow, ask or deny. `rules` are layers of written rules, outermost first; a layer with `"scope":
//! "project"` is the project's, one with `"always"` holds lines that were approved. `setup` names links that exist. A tool
//! that the spec does not have is told by its `class`; `subject` is what its patterns are matched against.

use lembas_core::permission::{self, Call, Disk, Layer, Policy, Scope, World, always, normal};
use lembas_core::spec::Spec;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let setting = Setting::of(input);
    let mode = input["mode"].as_str().unwrap_or("manual").to_string();
    let policy = Policy { mode, layers: layers(spec, &input["rules"])?, ..Policy::default() };
    let verdict = permission::judge(spec, &policy, setting.world(), &call(spec, input)?);
    Ok(json!(verdict.decision))
}

fn layers(spec: &Spec, rules: &Value) -> Result<Vec<Layer>, String> {
    let read = |(index, layer): (usize, &Value)| {
        if let Some(lines) = layer["always"].as_array() {
            let lines = lines.iter().filter_map(Value::as_str);
            let approvals: Vec<_> = lines.filter_map(|line| always(spec, line)).flatten().collect();
            return Ok(Layer::approved(&approvals));
        }
        let scope = if layer["scope"] == "project" { Scope::Project } else { Scope::Global };
        let mut rules = layer.clone();
        rules.as_object_mut().and_then(|rules| rules.shift_remove("scope"));
        Layer::read(scope, &format!("layer {}", index + 1), &rules)
    };
    rules.as_array().into_iter().flatten().enumerate().map(read).collect()
}

/// Returns the call of a case.
pub(super) fn call(spec: &Spec, input: &Value) -> Result<Call, String> {
    let id = input["tool"].as_str().unwrap_or("bash");
    let tool = spec.tool(id);
    let class = input["class"].as_str().or(tool.map(|tool| tool.class.name()));
    let class = class.ok_or_else(|| format!("the spec has no tool {id:?}"))?;
    Ok(Call {
        tool: id.to_string(),
        class: class.to_string(),
        rule: tool.map_or(id, |tool| &tool.permission.rule).to_string(),
        paths: input["path"].as_str().map(PathBuf::from).into_iter().collect(),
        command: input["command"].as_str().map(String::from),
        subject: input["subject"].as_str().map(String::from),
        ..Call::default()
    })
}

/// What surrounds a case.
pub(super) struct Setting {
    home: PathBuf,
    own: [PathBuf; 2],
    cwd: PathBuf,
    project: PathBuf,
    links: Links,
}

impl Setting {
    /// Reads what a case says; where it says nothing it is the home directory `/home/dev` and a project in it.
    pub(super) fn of(input: &Value) -> Setting {
        let path =
            |key: &str, otherwise: PathBuf| input[key].as_str().map_or(otherwise, PathBuf::from);
        let home = path("home", "/home/dev".into());
        let project = path("project", home.join("proj"));
        let links = input["setup"].as_array().into_iter().flatten().filter_map(|link| {
            Some((normal(&project.join(link["symlink"].as_str()?)), link["to"].as_str()?.into()))
        });
        Setting {
            links: Links(links.collect()),
            own: [home.join(".config/lembas"), home.join(".local/state/lembas")],
            cwd: path("cwd", project.clone()),
            home,
            project,
        }
    }

    /// Returns it as core wants it.
    pub(super) fn world(&self) -> World<'_> {
        World {
            home: &self.home,
            cwd: &self.cwd,
            project: Some(&self.project),
            own: &self.own,
            disk: &self.links,
        }
    }
}

/// A disk on which only the links of a case exist.
struct Links(Vec<(PathBuf, PathBuf)>);

impl Disk for Links {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.0.iter().find(|(from, _)| from == path).map(|(_, to)| to.clone())
    }
}
