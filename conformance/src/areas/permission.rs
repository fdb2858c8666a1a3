//! `permission`: what becomes of a call: `{"tool", "command" or "path" or "patch", "mode", "home", "cwd", "project", "rules"?,
//! "setup"?}` to allow, ask or deny. `rules` are layers of written rules, outermost first; a layer with `"scope":
//! "project"` is the project's, one with `"always"` holds what was approved: lines of which everything was asked about,
//! and calls such as `{"tool", "path"}`. `setup` names links that exist. A tool that the spec does not have is told by its
//! `class`; `subject` is what its patterns are matched against.

use lembas_core::patch::{self, Patch};
use lembas_core::permission::{
    self, Approval, Call, Disk, Layer, Policy, Scope, Verdict, World, always, normal,
};
use lembas_core::spec::Spec;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    Ok(json!(judged(spec, input, layers(spec, input)?)?.decision))
}

fn judged(spec: &Spec, input: &Value, layers: Vec<Layer>) -> Result<Verdict, String> {
    let setting = Setting::of(input);
    let mode = input["mode"].as_str().unwrap_or("manual").to_string();
    let policy = Policy { mode, layers, ..Policy::default() };
    Ok(permission::judge(spec, &policy, setting.world(), &call(spec, input)?))
}

/// Returns what "always" stores of a call, judged by these rules.
pub(super) fn approvals(
    spec: &Spec,
    input: &Value,
    layers: &[Layer],
) -> Result<Vec<Approval>, String> {
    Ok(judged(spec, input, layers.to_vec())?.always)
}

/// Returns what "always" stores of each of these: lines of which everything is asked about, and calls.
fn approved(
    spec: &Spec,
    input: &Value,
    given: &[Value],
    layers: &[Layer],
) -> Result<Vec<Approval>, String> {
    let of = |each: &Value| match each.as_str() {
        Some(line) => Ok(always(spec, line).unwrap_or_default()),
        None => {
            let mut call = input.clone();
            for key in ["tool", "path", "command"] {
                call[key] = each[key].clone();
            }
            approvals(spec, &call, layers)
        }
    };
    let found: Result<Vec<_>, String> = given.iter().map(of).collect();
    Ok(found?.concat())
}

fn layers(spec: &Spec, input: &Value) -> Result<Vec<Layer>, String> {
    let mut layers = Vec::new();
    for (index, layer) in input["rules"].as_array().into_iter().flatten().enumerate() {
        if let Some(given) = layer["always"].as_array() {
            layers.push(Layer::approved(&approved(spec, input, given, &layers)?));
            continue;
        }
        let scope = if layer["scope"] == "project" { Scope::Project } else { Scope::Global };
        let mut rules = layer.clone();
        rules.as_object_mut().and_then(|rules| rules.shift_remove("scope"));
        layers.push(Layer::read(scope, &format!("layer {}", index + 1), &rules)?);
    }
    Ok(layers)
}

/// Returns the call of a case.
pub(super) fn call(spec: &Spec, input: &Value) -> Result<Call, String> {
    let id = input["tool"].as_str().unwrap_or("bash");
    let tool = spec.tool(id);
    let class = input["class"].as_str().or(tool.map(|tool| tool.class.name()));
    let class = class.ok_or_else(|| format!("the spec has no tool {id:?}"))?;
    let patch = input["patch"].as_str().and_then(|text| patch::read(text).ok());
    let patched = patch.as_ref().map(Patch::paths).unwrap_or_default();
    Ok(Call {
        tool: id.to_string(),
        class: class.to_string(),
        rule: tool.map_or(id, |tool| &tool.permission.rule).to_string(),
        paths: input["path"].as_str().into_iter().chain(patched).map(PathBuf::from).collect(),
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

/// A disk on which only the links of a case exist, and the directories they are in.
struct Links(Vec<(PathBuf, PathBuf)>);

impl Disk for Links {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.0.iter().find(|(from, _)| from == path).map(|(_, to)| to.clone())
    }

    fn names(&self, directory: &Path, most: usize) -> Option<Vec<String>> {
        let inside = self.0.iter().filter_map(|(from, _)| from.strip_prefix(directory).ok());
        let names = inside.filter_map(|path| path.iter().next());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into()).collect();
        names.sort_unstable();
        names.dedup();
        Some(names).filter(|names| names.len() <= most)
    }
}
