//! `lembas config check`: reads the configuration that holds in the working directory, and says everything that is wrong with it.
//! It changes nothing and asks no server.

use crate::{
    app::{self, Setting},
    stop::{self, Stop},
};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

/// What to do about the configuration.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Errand {
    /// Say everything that is wrong with the configuration that holds here; exits 2 if something cannot be used
    Check {
        /// Use the spec in this directory instead of the one in the program
        #[arg(long, value_name = "DIR")]
        harness: Option<PathBuf>,
    },
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// Settings with an error in them: every problem of them.
pub(crate) fn examine(errand: Errand) -> Result<u8, Stop> {
    let Errand::Check { harness } = errand;
    let spec = Arc::new(app::spec(harness.as_deref())?);
    let setting = Setting::open(&spec, None)?;
    let loaded = &setting.loaded;
    let mut lines: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    // A connection that lacks something outside its file has no line in it.
    let told = |why: &str| lines.iter().any(|line| why.contains(line.as_str()));
    let broken = loaded.connections.broken.iter().filter(|(_, why)| !told(why));
    let broken: Vec<String> = broken.map(|(_, why)| why.clone()).collect();
    lines.extend(broken);
    let usable = !loaded.has_error() && loaded.connections.broken.is_empty();
    if lines.is_empty() {
        let count = loaded.connections.ok.len();
        lines.push(format!("Nothing is wrong; connections: {count}, mode: {}.", setting.mode));
    }
    for line in &lines {
        // The work is done; whether anybody reads it changes nothing.
        let _ = writeln!(io::stdout(), "{line}");
    }
    Ok(if usable { 0 } else { stop::USAGE })
}
