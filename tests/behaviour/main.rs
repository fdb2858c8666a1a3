//! Behaviour cases: what needs a disk, a shell or a server. Each runs the built program in a home and a directory of its
//! own, against a scripted model, and is one named trial.
//!
//! `LEMBAS_CASES=FILE[:FILE…]` runs the cases of these files instead of `tests/behaviour/*.json`. A case that asks for
//! what the program, or this runner, does not have yet is ignored as "not built"; asked for all the same, it fails.
//! The cases of `wrong/` expect what does not happen, so that a runner that sees nothing is seen.

mod adapter;
mod case;
mod expect;
mod place;
mod play;
mod processes;
mod session;
mod text;
mod tree;

use case::Case;
use libtest_mimic::{Arguments, Trial};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut trials = Vec::new();
    for file in files()? {
        let cases = case::read(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        trials.extend(cases.into_iter().map(trial));
    }
    if env::var_os(OTHERS).is_none() {
        let wrong = folder().join("wrong/cases.json");
        let cases = case::read(&wrong).map_err(|why| format!("{}: {why}", wrong.display()))?;
        trials.extend(cases.into_iter().map(must_fail));
    }
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}

/// The variable that names other files of cases.
const OTHERS: &str = "LEMBAS_CASES";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviour")
}

/// The files that are asked for, or our own.
fn files() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if let Some(list) = env::var_os(OTHERS) {
        return Ok(env::split_paths(&list).collect());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn trial(case: Case) -> Trial {
    let name = case.id.clone();
    match adapter::missing(&case) {
        None => Trial::test(name, move || Ok(check(&case)?)),
        Some(missing) => {
            let kind = format!("not built: {missing}");
            let why = kind.clone();
            Trial::test(name, move || Err(why.into())).with_kind(kind).with_ignored_flag(true)
        }
    }
}

fn must_fail(case: Case) -> Trial {
    let name = format!("wrong: {}", case.id);
    Trial::test(name, move || match check(&case) {
        Ok(()) => Err("the case expects what does not happen, and passed".into()),
        Err(said) if said.contains(&case.why) => Ok(()),
        Err(said) => Err(format!("it should fail for another reason: {said}").into()),
    })
}

fn check(case: &Case) -> Result<(), String> {
    let place = place::Place::new(&case.id)?;
    let case = case.filled(&place);
    let checked = play::play(&case, &place).and_then(|played| {
        let checked = expect::whole(&case.expect, &played, &place);
        checked.map_err(|why| format!("{why}\n{}", played.shown()))
    });
    processes::kill(&place.base);
    checked.map_err(|why| format!("{}\n{why}", case.title))
}
