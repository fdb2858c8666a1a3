//! `lembas embed`: texts to vectors, for scripts. It prints what the model's server answers and keeps nothing.

use crate::{
    app::{self, Setting, embedder},
    piped,
    stop::{self, Stop},
};
use lembas_core::embed::Vectors;
use serde::Serialize;
use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

/// Turns texts into vectors, one for each, in their order.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbedArgs {
    /// The texts; the lines of standard input if left out
    text: Vec<String>,
    /// The model, as <connection>/<model>, instead of the configured `embedding`
    #[arg(short, long, value_name = "REF")]
    model: Option<String>,
    /// Print one JSON object: the model, the tokens and all vectors
    #[arg(long)]
    json: bool,
    /// Use the spec in this directory instead of the one in the program
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Listing<'a> {
    model: &'a str,
    #[serde(flatten)]
    vectors: &'a Vectors,
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// No texts, no model that is meant, or a server that does not answer with vectors.
pub(crate) fn embed(args: EmbedArgs) -> Result<u8, Stop> {
    let texts = texts(args.text).map_err(Stop::usage)?;
    let spec = Arc::new(app::spec(args.harness.as_deref())?);
    let setting = Setting::open(&spec, None)?;
    let (reference, vectors) = app::runtime()?.block_on(async {
        let embedder = embedder(&setting, args.model.as_deref()).await?;
        let mut tell = |text: &str| drop(writeln!(io::stderr(), "lembas: {text}"));
        let vectors = embedder
            .vectors(&texts, &mut tell)
            .await
            .map_err(|failure| Stop { code: stop::PROVIDER, ..Stop::usage(failure.message) })?;
        Ok::<_, Stop>((embedder.reference(), vectors))
    })?;
    print(&reference, &vectors, args.json)?;
    Ok(0)
}

/// Returns the texts of the command line, or the lines of standard input.
fn texts(given: Vec<String>) -> Result<Vec<String>, String> {
    let texts = match given.is_empty() {
        false => given,
        true if io::stdin().is_terminal() => Vec::new(),
        true => piped::text()?.lines().map(String::from).collect(),
    };
    if texts.is_empty() {
        return Err("There is no text. Write it after `lembas embed`, or pipe lines in.".into());
    }
    match texts.iter().position(|text| text.trim().is_empty()) {
        Some(at) => Err(format!("Text {} is empty; there is no vector of nothing.", at + 1)),
        None => Ok(texts),
    }
}

fn print(reference: &str, vectors: &Vectors, json: bool) -> Result<(), Stop> {
    let text = if json {
        serde_json::to_string(&Listing { model: reference, vectors }).map(|text| text + "\n")
    } else {
        let lines = vectors.vectors.iter().map(serde_json::to_string);
        lines.map(|line| line.map(|line| line + "\n")).collect()
    };
    let text = text.map_err(|error| Stop::internal(error.to_string()))?;
    // The work is done; whether anybody reads it changes nothing.
    let _ = io::stdout().write_all(text.as_bytes());
    Ok(())
}
