//! `lembas permission`: what may run here and by whose word, and how a person changes it. It runs nothing and needs
//! no model.

mod advice;
mod approvals;
mod explain;
mod finder;
mod list;
mod text;

use crate::{
    app::{self, Setting},
    stop::Stop,
};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

/// What to do about permissions.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Errand {
    /// List what is in force in the working directory, in the order it counts
    List {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        spec: SpecArgs,
    },
    /// Tell what would become of a command line or a call, and why; nothing is run
    Explain {
        #[command(flatten)]
        what: WhatArgs,
        /// Judge in this mode instead of the configured one
        #[arg(long)]
        mode: Option<String>,
        /// Print a JSON object, as schema/explain.schema.json describes it
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        spec: SpecArgs,
    },
    /// Allow a command line and its like in this project for good
    Allow {
        #[command(flatten)]
        what: WhatArgs,
        #[command(flatten)]
        spec: SpecArgs,
    },
    /// Take back what was allowed in this project for good
    Revoke {
        /// The number in the list, or the exact pattern
        #[arg(value_name = "NUMBER|PATTERN", required_unless_present = "all")]
        which: Option<String>,
        /// Everything that was allowed in this project
        #[arg(long, conflicts_with = "which")]
        all: bool,
    },
}

/// What a person asks about.
#[derive(Debug, clap::Args)]
pub(crate) struct WhatArgs {
    /// The command line, or with --tool the path
    #[arg(value_name = "LINE|PATH")]
    what: String,
    /// The tool that would be called: bash, read, edit, …
    #[arg(long, default_value = "bash", hide_default_value = true)]
    tool: String,
}

/// The spec to judge by.
#[derive(Debug, clap::Args)]
pub(crate) struct SpecArgs {
    /// Use the spec in this directory instead of the one in the program
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// A configuration with an error in it, or what cannot be allowed or taken back.
pub(crate) fn permission(errand: Errand) -> Result<u8, Stop> {
    let said = match errand {
        Errand::Revoke { which, all: _ } => approvals::revoke(which.as_deref())?,
        Errand::List { json, spec } => {
            with(&spec, None, |setting, harness| list::list(setting, harness, json))?
        }
        Errand::Explain { what, mode, json, spec } => {
            with(&spec, mode.as_deref(), |setting, harness| {
                explain::explain(setting, harness, &what, json)
            })?
        }
        Errand::Allow { what, spec } => {
            with(&spec, None, |setting, _| approvals::allow(setting, &what))?
        }
    };
    // The work is done; whether anybody reads it changes nothing.
    let _ = io::stdout().write_all(said.as_bytes());
    Ok(0)
}

/// Returns an object as JSON text.
fn json(object: &impl serde::Serialize) -> Result<String, Stop> {
    let text = serde_json::to_string_pretty(object);
    text.map(|text| text + "\n").map_err(|error| Stop::internal(error.to_string()))
}

/// Does something with what holds in the working directory. `then` also gets how the spec's directory is called.
fn with(
    args: &SpecArgs,
    mode: Option<&str>,
    then: impl FnOnce(&Setting<'_>, &str) -> Result<String, Stop>,
) -> Result<String, Stop> {
    let spec = Arc::new(app::spec(args.harness.as_deref())?);
    let setting = Setting::open(&spec, mode)?;
    let connections = setting.paths.connections_file();
    for problem in setting.loaded.problems.iter().filter(|problem| problem.file != connections) {
        // Without standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "lembas: {problem}");
    }
    let harness = args.harness.as_ref().map_or("harness".into(), |dir| dir.display().to_string());
    then(&setting, harness.trim_end_matches('/'))
}
