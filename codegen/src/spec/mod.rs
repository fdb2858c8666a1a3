//! The spec as typed values: one submodule per kind of file. Loading is the same for a directory and for the
//! texts packed into the binary; only the checks differ.

mod case;
mod dialect;
mod entries;
mod late;
mod limits;
mod matcher;
mod mode;
mod model;
mod named;
mod program;
pub mod prompt;
mod rule;
mod rules;
mod server;
mod shell;
mod tool;

pub use case::{Case, CaseFile, cases};
pub use dialect::{
    Budget, CacheMark, CallPiece, CarriedPieces, Dialect, Embeddings, ErrorKeys, FrameRole, Http,
    ItemPlaces, ItemRole, PartKeys, PieceRole, ProgressPlaces, ReplyPlaces, RequestNames, Roles,
    SchemaForm, StandIn, UsagePlaces, UsualOutput,
};
pub use entries::Entries;
pub use late::Late;
pub use limits::{
    BashLimits, Budgets, DiscoveryLimits, EditLimits, EmbedLimits, GrepLimits, ImageLimits, Limits,
    ListLimits, PathLimits, ProjectFiles, ReadLimits, RepairLimits, Retry, RunLimits, SchemaLimits,
    SeenLimits, ServerLimits, StreamLimits, ToolLimits,
};
pub use matcher::{Fold, Matcher};
pub use mode::{MODES, Mode, ModeRow};
pub use named::{Index, Name, Named};
pub use program::{
    Action as FileAction, Effect, Given, Language, Operands, Program, Script, Which,
};
pub use prompt::Prompts;
pub use rule::{DEFAULTS, DefaultRule, Examples, HARDLINE, Judged, QUIRKS, Rule};
pub use rules::{Grouped, Rules};
pub use server::{ModelPlace, ModelPlaces, Server, ServerAsk, Speaks};
pub use shell::{
    Arity, Folding, Input, Keyed, Options, Outline, Runs, Says, ShellLimits, WRAPPERS, Wrapper,
    Wrappers,
};
pub use tool::{Class, Offered, Permission, Tool};

use crate::{
    files::Files,
    place::{Place, Places},
    problem::Problem,
    reader::{Reader, Records},
};
use serde::{Deserialize, Serialize};

/// What a rule or mode says about a call, least strict first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Decision {
    /// Returns its name, as rules write it.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }
}

/// Everything in `harness/` but the protocol document and the conformance cases.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// `VERSION`, such as `1.1.0`.
    pub version: String,
    /// `facts.json`: what rules can ask.
    pub records: Late<Records>,
    /// `loop.json`: every number the loop and the tools are held to.
    pub limits: Limits,
    /// `permission/hardline.json`: the floor.
    pub hardline: Late<Rules<Rule>>,
    /// `quirks.json`: behaviour of real servers.
    pub quirks: Late<Vec<Rule>>,
    /// `permission/modes.json`, strictest first.
    pub modes: Vec<Mode>,
    /// The id of the mode a session starts in when nothing else is said.
    pub default_mode: String,
    /// `permission/defaults.json`, in file order.
    pub defaults: Late<Rules<DefaultRule>>,
    /// `prompts/`: every text, and the order they are put in.
    pub prompts: Late<Prompts>,
    /// `permission/arity.json`: what "always" stores.
    pub arity: Late<Arity>,
    /// `permission/wrappers.json`: how programs read their arguments.
    pub wrappers: Late<Wrappers>,
    /// `tools/*.json`, by id.
    pub tools: Vec<Tool>,
    /// `dialects/*.json`, by id.
    pub dialects: Vec<Dialect>,
    /// `servers.json`: the kinds of model server, those asked first in front.
    pub servers: Late<Vec<Server>>,
    files: Files,
}

/// Reads a part: at once where what is read is checked, otherwise when it is first asked for.
fn part<T: Send + 'static>(
    reader: &mut Reader<'_>,
    records: &Late<Records>,
    read: fn(&mut Reader<'_>, &Late<Records>) -> T,
) -> Late<T> {
    if reader.checks() {
        return Late::now(read(reader, records));
    }
    let (files, records) = (reader.files.clone(), records.clone());
    Late::new(move || read(&mut Reader::new(&files, None), &records))
}

impl Spec {
    /// Reads a spec. `schemas` holds `<kind>.schema.json` for every kind of file; `None` trusts the files, as
    /// those packed at build are: most of them are then read when they are first asked for.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of file and line.
    pub fn load(files: &Files, schemas: Option<&Files>) -> Result<Spec, Vec<Problem>> {
        let mut reader = Reader::new(files, schemas);
        let spec = Spec::read(&mut reader);
        let mut problems = reader.problems;
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(spec) } else { Err(problems) }
    }

    fn read(reader: &mut Reader<'_>) -> Spec {
        let version = reader.files.text("VERSION").unwrap_or_default().trim().to_string();
        if version.is_empty() {
            reader.problems.push(Problem::whole(
                "VERSION",
                "the file is missing or empty; it holds the spec's version",
            ));
        }
        let records = part(reader, &Late::default(), |reader, _| {
            reader.typed("facts.json", "facts").unwrap_or_default()
        });
        let tools = tool::tools(reader);
        if reader.checks() {
            prompt::descriptions(reader, &tools, &records);
            model::check(reader);
        }
        let (modes, default_mode) = mode::modes(reader, &records);
        let defaults = part(reader, &records, rule::defaults);
        if reader.checks() {
            tool::references(reader, &tools, &modes, &defaults);
        }
        let dialects = dialect::dialects(reader);
        let servers = part(reader, &records, |reader, _| server::servers(reader));
        Spec {
            limits: reader.typed("loop.json", "loop").unwrap_or_default(),
            hardline: part(reader, &records, |reader, records| {
                rule::rules(reader, HARDLINE, records).into()
            }),
            quirks: part(reader, &records, |reader, records| rule::rules(reader, QUIRKS, records)),
            modes,
            default_mode,
            defaults,
            arity: part(reader, &records, |reader, _| {
                reader.typed("permission/arity.json", "arity").unwrap_or_default()
            }),
            wrappers: part(reader, &records, |reader, _| shell::wrappers(reader)),
            prompts: part(reader, &records, |reader, records| prompt::prompts(reader, records)),
            tools,
            dialects,
            servers,
            files: reader.files.clone(),
            version,
            records,
        }
    }

    /// Returns what reads the parts that every call is judged by, for a thread that has nothing else to do: whoever judges
    /// first would wait for it. Programs and the conditions of single tools are left to the calls that ask for them.
    pub fn judging(&self) -> impl FnOnce() + Send + 'static {
        let (wrappers, hardline) = (self.wrappers.clone(), self.hardline.clone());
        let (defaults, arity) = (self.defaults.clone(), self.arity.clone());
        move || {
            let (_, _): (&Wrappers, &Arity) = (&wrappers, &arity);
            let _: &Rules<DefaultRule> = &defaults;
            hardline.prepare();
        }
    }

    /// Returns the text of a file of the spec.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.text(name)
    }

    /// Returns where a part of a JSON file of the spec stands. Slow: it scans the file.
    pub fn place(&self, file: &str, pointer: &str) -> Place {
        Places::of(self.text(file).unwrap_or_default()).get(pointer)
    }

    /// Returns the tool with this id.
    pub fn tool(&self, id: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.id == id)
    }

    /// Returns the dialect with this id.
    pub fn dialect(&self, id: &str) -> Option<&Dialect> {
        self.dialects.iter().find(|dialect| dialect.id == id)
    }

    /// Returns the mode with this id.
    pub fn mode(&self, id: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.id == id)
    }
}
