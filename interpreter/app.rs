//! Wiring: the spec, the configuration, the project and the model become an engine. It talks to no person.

mod embed;
mod model;
mod offers;
mod setting;

pub(crate) use embed::embedder;
pub(crate) use offers::{ask, ask_with, reach};
pub(crate) use setting::Setting;

use crate::{
    bus::{Bus, BusEvent},
    engine::{Asker, Engine, Gate, Preparer},
    outputs::Outputs,
    project::{self, Looked},
    provider::{Provider, Recorder, Recording, Wire},
    stop::Stop,
    today::today,
    tools::Toolbox,
};
use lembas_core::{
    check,
    dialect::Spoken,
    message::{Message, Role},
    permission::Layer,
    prompt,
    repair::Repairs,
    spec::{self, Files, Limits, PromptFacts, Spec, Tool, ToolSpec},
    stream::Context,
};
use serde_json::json;
use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// What a front end asks for.
pub(crate) struct Options {
    /// The mode, instead of the configured one.
    pub(crate) mode: Option<String>,
    /// The model's ref, instead of the configured one.
    pub(crate) model: Option<String>,
    /// Command lines that a person allows in this session, with their like.
    pub(crate) allow: Vec<String>,
    /// The file replies are recorded in.
    pub(crate) record: Option<PathBuf>,
    /// The recording that answers instead of a server.
    pub(crate) replay: Option<PathBuf>,
    /// Whether a person can answer.
    pub(crate) interactive: bool,
}

/// The tool that runs the command lines of `allow`.
const RUNS: &str = "bash";

/// Everything that is known before the first request.
pub(crate) struct Session<'s> {
    spec: &'s Arc<Spec>,
    options: Options,
    setting: Setting<'s>,
    allowed: Layer,
    instructions: serde_json::Value,
    /// Sentences for the person about what was left out.
    pub(crate) warnings: Vec<String>,
}

/// The model that answers, and what it can do.
struct Chosen<'s> {
    provider: Provider<'s>,
    reference: String,
    vision: bool,
    tools: bool,
    /// The family its prompt is chosen by, where the configuration names one.
    family: Option<String>,
}

/// Returns what runs the work of a verb, on this thread.
///
/// # Errors
/// The system refused it what it needs.
pub(crate) fn runtime() -> Result<Runtime, Stop> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| {
        Stop::internal(format!("The program could not start its runtime: {error}."))
    })
}

/// Returns the packed spec, or the one in `dir`, fully checked.
///
/// # Errors
/// Everything that is wrong with the directory, one located line each.
pub(crate) fn spec(dir: Option<&Path>) -> Result<Spec, Stop> {
    let Some(dir) = dir else {
        return spec::packed()
            .map_err(|problems| Stop { code: crate::stop::INTERNAL, ..Stop::problems(problems) });
    };
    let located = |problems: Vec<spec::Problem>| {
        Stop::problems(problems.into_iter().map(|problem| format!("{}/{problem}", dir.display())))
    };
    let files = Files::read(dir).map_err(|error| Stop::usage(error.to_string()))?;
    check::whole(&files).map(|whole| whole.spec).map_err(located)
}

impl<'s> Session<'s> {
    /// Reads the configuration for the working directory.
    ///
    /// # Errors
    /// Configuration with an error in it, a mode that does not exist, a line that cannot be allowed.
    pub(crate) fn open(spec: &'s Arc<Spec>, options: Options) -> Result<Session<'s>, Stop> {
        let setting = Setting::open(spec, options.mode.as_deref())?;
        if setting.loaded.has_error() {
            return Err(Stop::problems(&setting.loaded.problems));
        }
        let problems = setting.loaded.problems.iter().map(ToString::to_string);
        let mut warnings: Vec<String> = problems.chain(setting.project.refused.clone()).collect();
        let instructions = instructions(&setting, &mut warnings);
        let allowed = allowed(&setting, &options.allow).map_err(Stop::usage)?;
        Ok(Session { spec, options, setting, allowed, instructions, warnings })
    }

    /// Makes the engine and tells the bus what it works with.
    ///
    /// # Errors
    /// No usable connection, a recording that cannot be read or made, a key that cannot be had.
    pub(crate) async fn engine(
        &mut self,
        bus: &'s Bus,
        asker: &'s dyn Asker,
        cancel: CancellationToken,
    ) -> Result<Engine<'s, Toolbox>, Stop> {
        let limits = self.limits();
        let Chosen { provider, reference, vision, tools, family } = self.provider(&limits).await?;
        let mode = self.setting.mode.clone();
        let offered: Vec<&ToolSpec> = self
            .spec
            .tools
            .iter()
            .filter(|tool| tools && Tool::named(&tool.id).is_some() && tool.modes.offers(&mode))
            .collect();
        let facts = self.facts(&provider.model, &mode, &offered);
        let family = family.map_or_else(|| facts.family.clone(), Into::into);
        let facts = PromptFacts { vision, family, ..facts };
        let sections = prompt::assemble(self.spec, &facts)
            .map_err(|error| Stop::internal(error.to_string()))?;
        let definitions = prompt::tool_definitions(self.spec, &facts)
            .map_err(|error| Stop::internal(error.to_string()))?;
        let gate = self.gate();
        bus.emit(&BusEvent::Model { r#ref: reference, connection: provider.connection.clone() });
        bus.emit(&BusEvent::Mode { mode });
        let system = Message::text(Role::System, prompt::joined(&sections));
        Ok(Engine {
            spec: self.spec,
            limits,
            provider: Provider {
                context: Context {
                    tools: definitions.iter().map(|tool| tool.name.as_str().into()).collect(),
                    ..provider.context
                },
                ..provider
            },
            toolbox: Toolbox::new(
                Arc::clone(self.spec),
                self.setting.project.root.clone(),
                self.setting.cwd.clone(),
                gate.readable(self.spec),
                Outputs::new(&self.setting.paths.state, self.spec.limits.tools.bash.files),
                vision,
            ),
            gate,
            asker,
            preparer: Preparer::new(self.spec, offered),
            bus,
            definitions,
            messages: vec![system],
            cancel,
        })
    }

    fn limits(&self) -> Limits {
        let mut limits = self.spec.limits.clone();
        let config = &self.setting.loaded.config;
        if let Some(steps) = config.steps {
            limits.steps = u32::try_from(steps).unwrap_or(u32::MAX);
        }
        limits.budgets.wall_s = config.budget.wall_s.or(limits.budgets.wall_s);
        limits.budgets.written_tokens =
            config.budget.output_tokens.or(limits.budgets.written_tokens);
        limits
    }

    async fn provider(&mut self, limits: &Limits) -> Result<Chosen<'s>, Stop> {
        let mut chosen = match self.options.replay.take() {
            Some(file) => self.replayed(&file)?,
            None => self.connected(limits).await?,
        };
        if let Some(file) = &self.options.record {
            let Provider { dialect, context, secrets, .. } = &chosen.provider;
            let made = Recorder::create(file, &dialect.file.id, context, secrets.clone());
            let made = made.map_err(|error| {
                Stop::usage(format!("The recording {} cannot be made: {error}.", file.display()))
            })?;
            chosen.provider.recorder = Some(made);
        }
        Ok(chosen)
    }

    fn replayed(&self, file: &Path) -> Result<Chosen<'s>, Stop> {
        let recording = Recording::read(file).map_err(Stop::problems)?;
        let dialect = Spoken::named(self.spec, &recording.dialect).ok_or_else(|| {
            Stop::usage(format!(
                "{}:1: this program speaks no dialect {:?}",
                file.display(),
                recording.dialect
            ))
        })?;
        let model = recording.model.clone();
        let provider = Provider {
            spec: self.spec,
            dialect,
            connection: "replay".into(),
            host: String::new(),
            model: model.clone(),
            max_output: None,
            effort: None,
            vision: false,
            window: self.spec.limits.discovery.window,
            sends_reasoning: false,
            extra: serde_json::Map::new(),
            context: Context {
                model: model.clone(),
                text_calls: recording.text_calls.clone(),
                ..Context::default()
            },
            found: None,
            repairs: Repairs::default(),
            learned: None,
            wire: Wire::Replay(recording),
            recorder: None,
            secrets: Vec::new(),
        };
        let reference = format!("replay/{model}");
        Ok(Chosen { provider, reference, vision: false, tools: true, family: None })
    }

    fn facts(&self, model: &str, mode: &str, offered: &[&ToolSpec]) -> PromptFacts {
        let config = &self.setting.loaded.config;
        let custom = config.personality_custom.clone().unwrap_or_default();
        let personality = if custom.is_empty() {
            config.personality.clone().unwrap_or_default()
        } else {
            "custom".into()
        };
        PromptFacts {
            model: model.to_lowercase().into(),
            family: prompt::family(self.spec, model).unwrap_or_default().into(),
            tools: offered.iter().map(|tool| tool.name.as_str().into()).collect(),
            cwd: self.setting.cwd.to_string_lossy().into(),
            project: self.setting.project.root.to_string_lossy().into(),
            platform: format!("{} {}, bash", env::consts::OS, env::consts::ARCH).into(),
            date: today().into(),
            git: project::head(&self.setting.project.root).into(),
            mode: mode.into(),
            plan_path: self.spec.limits.project.plans.as_str().into(),
            interactive: self.options.interactive,
            custom_instructions: config.instructions.as_deref().unwrap_or_default().into(),
            personality: personality.into(),
            personality_custom: custom.into(),
            instructions: self.instructions.clone(),
            ..PromptFacts::default()
        }
    }

    fn gate(&self) -> Gate<'s> {
        let mut policy = self.setting.policy();
        policy.layers.push(self.allowed.clone());
        Gate { spec: self.spec, policy, place: self.setting.place() }
    }
}

/// Returns what the lines a person allows for the session are stored as.
fn allowed(setting: &Setting<'_>, lines: &[String]) -> Result<Layer, String> {
    let mut approvals = Vec::new();
    for line in lines {
        let call = setting.call(RUNS, line)?;
        approvals.extend(
            setting
                .approval(&call)
                .map_err(|why| format!("--allow {line:?} allows nothing: {why}"))?,
        );
    }
    Ok(Layer { source: "--allow".into(), ..Layer::approved(&approvals) })
}

/// The project's instructions for agents, if it is trusted.
fn instructions(setting: &Setting<'_>, warnings: &mut Vec<String>) -> serde_json::Value {
    let limits = &setting.spec.limits.project;
    let looked = Looked { names: &limits.instructions, max_bytes: limits.instructions_max_bytes };
    let root = &setting.project.root;
    let found = setting.trusted.as_ref().map(|_| project::instructions(root, &looked));
    let found = found.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|warning| {
        warnings.push(warning);
        Vec::new()
    });
    found.iter().map(|each| json!({ "path": each.path, "text": each.text })).collect()
}
