//! Judges what a call would do: floor, rules, files, mode, in this order. It asks the disk only through [`Disk`] and
//! runs nothing; what it cannot see, it asks about.

mod always;
mod arguments;
mod directories;
mod documents;
mod example;
mod facts;
mod folded;
mod globs;
mod hardline;
mod judge;
mod names;
mod offers;
mod paths;
mod plain;
mod program;
mod real;
mod rules;
mod said;
mod say;
mod script;
mod unwrap;
mod view;
mod wildcard;

pub use always::{Prefix, always, prefix};
pub use example::row_example;
pub use hardline::{example, hardline};
pub use judge::{explain, judge};
pub use paths::{World, normal};
pub use plain::plain_texts;
pub use real::{Disk, real};
pub use rules::{Layer, LayerRule, Scope, default_of};
pub use say::{about, each_time};
pub use view::{CommandView, Explanation, FileView, Overruled, RedirectView};

use crate::spec::{Decision, Rule};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a person, a project and the session say.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The mode's id.
    pub mode: String,
    /// Written rules and approvals, outermost first.
    pub layers: Vec<Layer>,
    /// Rules a person added to the floor.
    pub hardline_extra: Vec<Rule>,
    /// Ids of floor rules a person switched off.
    pub hardline_disable: Vec<String>,
}

/// A call that is about to happen.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The tool's id.
    pub tool: String,
    /// What the tool does: read, write, run, net or ask.
    pub class: String,
    /// The name its rules go by.
    pub rule: String,
    /// The paths its arguments name, as they are written there.
    pub paths: Vec<PathBuf>,
    /// The command line it runs.
    pub command: Option<String>,
    /// Where the command starts, if that is not the world's directory.
    pub directory: Option<PathBuf>,
    /// What patterns are matched against where that is neither path nor command: an address, a name.
    pub subject: Option<String>,
}

/// What "always" stores: a person has allowed this, and need not be asked about it again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The rule name it is for: `bash`, `edit`, `read`, `external_directory`, …
    pub tool: String,
    /// A wildcard pattern over a command, a path or another subject of that tool.
    pub pattern: String,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether it runs.
    pub decision: Decision,
    /// One sentence of why, for the person and the model.
    pub say: String,
    /// What was looked at, in order.
    pub trace: Vec<Step>,
    /// What "always" would store; empty where it is not offered.
    pub always: Vec<Approval>,
    /// The directory and the paths that the call's arguments name, in this order, and where each of them was judged.
    pub paths: Vec<NamedPath>,
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedPath {
    /// The path, made absolute.
    pub named: PathBuf,
    /// Where it really is; `None` if that cannot be known.
    pub real: Option<PathBuf>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Step {
    /// The simple command or path.
    pub of: String,
    /// What this step says.
    pub then: Decision,
    /// The rule's id or pattern, or the reason where no rule speaks.
    pub rule: String,
    /// The file or layer the rule is from; empty where no rule speaks.
    pub from: String,
    /// The line of that file a written rule stands in, counted from one, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[cfg(test)]
mod tests;
