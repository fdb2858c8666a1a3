//! Where calls are judged, and what a call of a tool means there.

use super::call::{Named, Paths, Target};
use crate::project::{RealDisk, located};
use lembas_core::{
    permission::{Call, NamedPath, World, real},
    spec::{Spec, ToolSpec},
};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Where the session works.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The person's home directory.
    pub(crate) home: PathBuf,
    /// The directory the session works in.
    pub(crate) cwd: PathBuf,
    /// Where the next command starts that names no directory.
    pub(crate) stands: PathBuf,
    /// The project's root.
    pub(crate) project: PathBuf,
    /// The program's own configuration and state.
    pub(crate) own: Vec<PathBuf>,
}

impl Place {
    /// Returns it as core wants it, on the disk of this machine.
    pub(crate) fn world(&self) -> World<'_> {
        let Place { home, cwd, project, own, .. } = self;
        World { home, cwd, project: Some(project), own, disk: &RealDisk }
    }

    /// Returns what a tool with these arguments, which name this, would do.
    pub(crate) fn call(&self, tool: &ToolSpec, args: &Map<String, Value>, named: &Named) -> Call {
        let permission = &tool.permission;
        let text = |name: &Option<String>| args.get(name.as_ref()?).and_then(Value::as_str);
        Call {
            tool: tool.id.clone(),
            class: tool.class.name().into(),
            rule: permission.rule.clone(),
            paths: named.paths.iter().map(|given| self.located(given)).collect(),
            command: text(&permission.command).map(String::from),
            directory: self.directory(tool, args),
            subject: None,
        }
    }

    /// Returns the paths that a tool's arguments name, with where each was judged to be.
    pub(crate) fn paths(
        &self,
        spec: &Spec,
        tool: &ToolSpec,
        args: &Map<String, Value>,
        named: &Named,
        judged: &[NamedPath],
    ) -> Paths {
        let target = |NamedPath { named, real }: NamedPath| Some(Target { named, real: real? });
        let mut judged = judged.iter().cloned();
        let here = match self.directory(tool, args) {
            Some(_) => judged.next(),
            None => {
                let real = real(&self.cwd, &RealDisk, &spec.limits.paths);
                Some(NamedPath { named: self.cwd.clone(), real })
            }
        };
        let named = named.paths.iter().cloned().zip(judged);
        Paths {
            here: here.and_then(target),
            named: named.filter_map(|(given, path)| Some((given, target(path)?))).collect(),
        }
    }

    /// Returns the directory a command starts in, where that is not the session's.
    fn directory(&self, tool: &ToolSpec, args: &Map<String, Value>) -> Option<PathBuf> {
        let given = args.get(tool.permission.directory.as_ref()?).and_then(Value::as_str);
        let carried = (self.stands != self.cwd).then(|| self.stands.clone());
        given.map(|given| self.located(given)).or(carried)
    }

    fn located(&self, given: &str) -> PathBuf {
        located(&self.project, &self.cwd, given)
    }
}
