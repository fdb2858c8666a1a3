//! The program's entry: one match on the verb, and the only place that knows exit codes.

mod cli;
#[expect(dead_code, reason = "wired by the run front end")]
mod config;
#[cfg_attr(not(test), expect(dead_code, reason = "wired by the engine"))]
mod tools;

use clap::Parser;
use cli::{Cli, Harness, Verb};
use lembas_conformance::{Error, Outcome, harness, run, serve};
use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

/// Something was found that is not as it should be.
const FAILED: u8 = 1;
/// The call, or a file it names, is wrong.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads to the end is no error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    match cli.verb {
        Verb::Conformance(args) => ended(conformance(args)),
        Verb::Harness { errand } => ended(about_harness(errand)),
    }
}

fn conformance(args: cli::Conformance) -> Result<Outcome, Error> {
    let mut out = io::stdout().lock();
    if args.serve {
        serve(args.harness.as_deref(), &mut io::stdin().lock(), &mut out)?;
        return Ok(Outcome::Passed);
    }
    run(&args.into(), &mut out)
}

fn about_harness(errand: Harness) -> Result<Outcome, Error> {
    let mut out = io::stdout().lock();
    match errand {
        Harness::Check { dir } => harness::check(dir.as_deref(), &mut out),
        Harness::Record { all, dir } => run(&cli::recording(dir, all), &mut out),
        Harness::Diff { old, new } => harness::diff(&old, &new, &mut out),
        Harness::Doc { dir } => harness::doc(dir.as_deref(), &mut out).map(|()| Outcome::Passed),
    }
}

fn ended(result: Result<Outcome, Error>) -> ExitCode {
    match result {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(FAILED),
        // Whoever read the report has seen enough.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(if matches!(error, Error::Output(_)) { FAILED } else { USAGE })
        }
    }
}
