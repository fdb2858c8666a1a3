//! The program's entry: one match on the verb, and what goes wrong before it is told and becomes an exit code.

mod app;
mod bus;
mod cli;
mod config;
mod connect;
mod embed;
mod engine;
mod examine;
mod models;
mod outputs;
mod permission;
mod piped;
mod project;
mod provider;
mod regular;
mod run;
mod shown;
mod stop;
mod supervisor;
mod table;
mod today;
mod tools;
mod trust;

use clap::Parser;
use cli::{Cli, Harness, Verb};
use lembas_conformance::{Error, Outcome, harness, serve};
use std::{
    env,
    ffi::OsStr,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};
use stop::Stop;

/// A verdict makes many small texts: this allocator takes a sixth off its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A supervisor is started for every command, and editors ask for the version: nothing that these do not need comes
    // first.
    let mut args = env::args_os().skip(1);
    match (args.next().as_deref().and_then(OsStr::to_str), args.next()) {
        (Some(supervisor::VERB), _) => {
            supervisor::run();
            return ExitCode::SUCCESS;
        }
        (Some("--version" | "-V"), None) => {
            // Whoever does not listen needs no version.
            let _ = writeln!(io::stdout(), concat!("lembas ", env!("CARGO_PKG_VERSION")));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    // One TLS provider for everything, chosen once; it can only be there already in a test of this binary.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads to the end is no error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(stop::USAGE));
        }
    };
    match cli.verb {
        Verb::Run(args) => stopped(run::run(args)),
        Verb::Trust { dir } => stopped(trust::trust(dir.as_deref())),
        Verb::Connect(args) => stopped(connect::connect(args)),
        Verb::Config { errand } => stopped(examine::examine(errand)),
        Verb::Embed(args) => stopped(embed::embed(args)),
        Verb::Models(args) => stopped(models::models(args)),
        Verb::Permission { errand } => stopped(permission::permission(errand)),
        Verb::Conformance(args) => ended(conformance(args)),
        Verb::Harness { errand } => ended(about_harness(errand)),
    }
}

fn stopped(result: Result<u8, Stop>) -> ExitCode {
    let code = result.unwrap_or_else(|stop| {
        for line in &stop.lines {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "{line}");
        }
        stop.code
    });
    ExitCode::from(code)
}

fn conformance(args: cli::Conformance) -> Result<Outcome, Error> {
    let mut out = io::stdout().lock();
    if args.serve {
        serve(args.harness.as_deref(), &mut io::stdin().lock(), &mut out)?;
        return Ok(Outcome::Passed);
    }
    lembas_conformance::run(&args.into(), &mut out)
}

fn about_harness(errand: Harness) -> Result<Outcome, Error> {
    let mut out = io::stdout().lock();
    match errand {
        Harness::Check { dir } => harness::check(dir.as_deref(), &mut out),
        Harness::Record { all, dir } => {
            lembas_conformance::run(&cli::recording(dir, all), &mut out)
        }
        Harness::Diff { old, new } => harness::diff(&old, &new, &mut out),
        Harness::Doc { dir } => harness::doc(dir.as_deref(), &mut out).map(|()| Outcome::Passed),
    }
}

fn ended(result: Result<Outcome, Error>) -> ExitCode {
    match result {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(stop::INTERNAL),
        // Whoever read the report has seen enough.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(if matches!(error, Error::Output(_)) {
                stop::INTERNAL
            } else {
                stop::USAGE
            })
        }
    }
}
