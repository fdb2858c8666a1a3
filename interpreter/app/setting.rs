//! What holds in the working directory before a model is asked anything: configuration, project, rules, approvals.

use crate::{
    config::{
        approvals::{Approvals, Approved},
        load::{Loaded, Sources, load},
        paths::Paths,
        problem::{Level, hint},
        settings::Known,
        trust::{Project, Trust, Trusted},
    },
    engine::{Named, Place},
    stop::Stop,
};
use lembas_core::{
    patch,
    permission::{self, Approval, Call, Policy, judge},
    spec::{Decision, Permission, Spec, ToolSpec},
};
use serde_json::{Map, Value};
use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The configuration in force, and where.
pub(crate) struct Setting<'s> {
    /// The spec.
    pub(crate) spec: &'s Arc<Spec>,
    /// The settings and connections, and what is wrong with them.
    pub(crate) loaded: Loaded,
    /// Where they are kept.
    pub(crate) paths: Paths,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// Its project.
    pub(crate) project: Project,
    /// The proof that the project's own configuration counts.
    pub(crate) trusted: Option<Trusted>,
    /// The mode's id.
    pub(crate) mode: String,
    /// What was allowed for good in the project.
    pub(crate) approved: Vec<Approved>,
}

impl<'s> Setting<'s> {
    /// Reads what holds in the working directory; `mode` stands over the configured one.
    ///
    /// # Errors
    /// Settings with an error in them, a damaged list, a mode that does not exist. What is wrong with the connections
    /// stays in `loaded`: not everybody needs one.
    pub(crate) fn open(spec: &'s Arc<Spec>, mode: Option<&str>) -> Result<Setting<'s>, Stop> {
        let var = |name: &str| env::var_os(name);
        let paths = Paths::find(&var).map_err(Stop::usage)?;
        let cwd = env::current_dir().map_err(|error| {
            Stop::usage(format!("The working directory cannot be used: {error}."))
        })?;
        let project = Project::find(&cwd, paths.home.as_deref()).map_err(Stop::usage)?;
        let damaged = |problem| Stop::problems([problem]);
        let trusted = Trust::new(&paths).is_trusted(&project).map_err(damaged)?;
        let approved = Approvals::new(&paths).of(&project).map_err(damaged)?;
        let known = Ids::of(spec);
        let (known, project_files) = (known.known(), trusted.as_ref());
        let loaded = load(Sources { paths: &paths, project: project_files, env: &var, known });
        let connections = paths.connections_file();
        let stops = |file: &Path, level: Level| level == Level::Error && file != connections;
        if loaded.problems.iter().any(|problem| stops(&problem.file, problem.level)) {
            return Err(Stop::problems(&loaded.problems));
        }
        let mode = mode.or(loaded.config.mode.as_deref()).unwrap_or(&spec.default_mode);
        if spec.mode(mode).is_none() {
            let modes: Vec<&str> = spec.modes.iter().map(|mode| mode.id.as_str()).collect();
            let modes = modes.join(", ");
            return Err(Stop::usage(format!("There is no mode {mode:?}; there are: {modes}.")));
        }
        let mode = mode.to_string();
        Ok(Setting { spec, loaded, paths, cwd, project, trusted, mode, approved })
    }

    /// Returns the mode and the rules in force.
    pub(crate) fn policy(&self) -> Policy {
        let config = &self.loaded.config;
        let mut layers = config.permission.clone();
        layers.push(Approvals::new(&self.paths).layer(&self.approved));
        Policy {
            mode: self.mode.clone(),
            layers,
            hardline_extra: config.hardline_extra.clone(),
            hardline_disable: config.hardline_disable.clone(),
        }
    }

    /// Returns where calls are judged.
    pub(crate) fn place(&self) -> Place {
        Place {
            home: self.paths.home.clone().unwrap_or_else(|| PathBuf::from("/")),
            cwd: self.cwd.clone(),
            stands: self.cwd.clone(),
            project: self.project.root.clone(),
            own: vec![self.paths.config.clone(), self.paths.state.clone()],
        }
    }

    /// Returns the call of a tool with this command line or path.
    ///
    /// # Errors
    /// A sentence: there is no such tool, or it takes neither.
    pub(crate) fn call(&self, tool: &str, what: &str) -> Result<Call, String> {
        let argument = |tool: &ToolSpec| {
            let Permission { command, paths, .. } = &tool.permission;
            command.as_ref().or(paths.first()).cloned()
        };
        let known = self.spec.tools.iter().filter_map(|tool| Some((tool, argument(tool)?)));
        let known: Vec<(&ToolSpec, String)> = known.collect();
        match known.iter().find(|(each, _)| each.id == tool) {
            Some((tool, name)) => {
                let args = Map::from_iter([(name.clone(), Value::from(what))]);
                let named = Named::of(tool, &args)
                    .map_err(|refused| patch::refused(self.spec, &refused))?;
                Ok(self.place().call(tool, &args, &named))
            }
            None => {
                let ids: Vec<&str> = known.iter().map(|(tool, _)| tool.id.as_str()).collect();
                Err(format!("No tool {tool:?} takes a command or a path.{}", hint(tool, &ids)))
            }
        }
    }

    /// Returns what has to be stored so that a call and its like run unasked; nothing where they do already.
    ///
    /// # Errors
    /// A sentence: it is refused whatever a person says, or each time has to be asked about.
    pub(crate) fn approval(&self, call: &Call) -> Result<Vec<Approval>, String> {
        // A mode that refuses or allows on its own says nothing about approvals.
        let policy = Policy { mode: self.spec.default_mode.clone(), ..self.policy() };
        let verdict = judge(self.spec, &policy, self.place().world(), call);
        let refused = |why: &str, so: &str| Err(format!("{}. {so}", why.trim_end_matches('.')));
        match verdict.decision {
            Decision::Allow => Ok(Vec::new()),
            Decision::Ask if verdict.always.is_empty() => {
                let why = permission::each_time(self.spec, &verdict);
                refused(&why, "That is asked about each time.")
            }
            Decision::Ask => Ok(verdict.always),
            Decision::Deny => refused(&verdict.say, "An approval does not change that."),
        }
    }
}

/// The names of the spec that a configuration may use.
struct Ids<'s> {
    spec: &'s Spec,
    dialects: Vec<&'s str>,
    personalities: Vec<&'s str>,
}

impl<'s> Ids<'s> {
    fn of(spec: &'s Spec) -> Ids<'s> {
        let personality = |path: &'s String| path.strip_prefix("personality/")?.strip_suffix(".md");
        Ids {
            spec,
            dialects: spec.dialects.iter().map(|dialect| dialect.id.as_str()).collect(),
            personalities: spec.prompts.texts.keys().filter_map(personality).collect(),
        }
    }

    fn known(&self) -> Known<'_> {
        Known { spec: self.spec, dialects: &self.dialects, personalities: &self.personalities }
    }
}
