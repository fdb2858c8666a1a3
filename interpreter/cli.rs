//! The command line: verbs and their options, nothing of what they do.

use crate::{
    connect::ConnectArgs, embed::EmbedArgs, examine, models::ModelsArgs, permission::Errand,
    run::RunArgs,
};
use clap::{Args, Parser, Subcommand};
use lembas_conformance::{Options, Record};
use std::{path::PathBuf, time::Duration};

/// A coding agent for the terminal whose behaviour is data that is executed.
#[derive(Debug, Parser)]
#[command(name = "lembas", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do; `main` has one arm for each.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Answer one prompt with the tools, without a person
    Run(RunArgs),
    /// Let a project's own configuration and instructions count
    Trust {
        /// A directory of the project; the working directory if left out
        dir: Option<PathBuf>,
    },
    /// Add a connection to a model server
    Connect(ConnectArgs),
    /// Check the configuration
    Config {
        #[command(subcommand)]
        errand: examine::Errand,
    },
    /// Turn texts into vectors
    Embed(EmbedArgs),
    /// List the models there are, with what is known of them
    Models(ModelsArgs),
    /// Show, explain and change what may run
    Permission {
        #[command(subcommand)]
        errand: Errand,
    },
    /// Ask the spec's cases here, or here and in another implementation, and compare the answers
    Conformance(Conformance),
    /// Check, record, compare or print a spec
    Harness {
        #[command(subcommand)]
        errand: Harness,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// Only cases of this area
    #[arg(long)]
    area: Option<String>,
    /// Only cases whose name contains this
    #[arg(long)]
    name: Option<String>,
    /// Use this spec directory instead of the spec in the program
    #[arg(long, value_name = "DIR")]
    pub(crate) harness: Option<PathBuf>,
    /// Ask the cases of these files instead of the spec's
    #[arg(long, value_name = "FILE", num_args = 1..)]
    cases: Vec<PathBuf>,
    /// Ask the implementation that this command starts, too
    #[arg(long, value_name = "CMD", conflicts_with = "record")]
    peer: Option<String>,
    /// Seconds a peer has for each answer
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// Answer questions from standard input, a JSON line each, as a peer
    #[arg(long, conflicts_with_all = ["area", "name", "cases", "peer", "json", "record"])]
    pub(crate) serve: bool,
    /// Report a JSON object a line
    #[arg(long)]
    json: bool,
    /// Write the answers of cases that expect nothing yet into their files
    #[arg(long)]
    record: bool,
    /// With --record: rewrite expectations that our answer no longer meets, too
    #[arg(long, requires = "record")]
    all: bool,
}

impl From<Conformance> for Options {
    fn from(args: Conformance) -> Options {
        Options {
            area: args.area,
            name: args.name,
            harness: args.harness,
            cases: args.cases,
            peer: args.peer,
            timeout: args.timeout,
            json: args.json,
            record: args.record.then(|| which(args.all)),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Harness {
    /// Check a spec directory, or the spec in the program
    Check {
        /// The directory
        dir: Option<PathBuf>,
    },
    /// Write the answers of cases that expect nothing yet into their files
    Record {
        /// Rewrite expectations that our answer no longer meets, too
        #[arg(long)]
        all: bool,
        /// The spec directory
        #[arg(default_value = "harness")]
        dir: PathBuf,
    },
    /// Tell what changes from one spec directory to another; exits 1 if anything does
    Diff {
        /// The one before
        old: PathBuf,
        /// The one after
        new: PathBuf,
    },
    /// Print the reference of a spec directory, or of the spec in the program, as Markdown
    Doc {
        /// The directory
        dir: Option<PathBuf>,
    },
}

/// Returns the run that records into `dir`.
pub(crate) fn recording(dir: PathBuf, all: bool) -> Options {
    Options { harness: Some(dir), record: Some(which(all)), ..Options::default() }
}

fn which(all: bool) -> Record {
    if all { Record::All } else { Record::Missing }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_string())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("it must be more than 0".into()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
