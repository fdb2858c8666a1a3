//! Where a run's spec and cases come from: the texts packed into the binary, a directory, or single files.

use crate::error::Error;
use lembas_core::{
    check,
    spec::{self, CaseFile, Files, Problem, Spec, Whole, cases},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A spec and the cases to ask.
#[derive(Debug)]
pub(crate) struct Source {
    /// The spec answers are given by.
    pub spec: Spec,
    /// The files of cases.
    pub suites: Vec<Suite>,
}

/// A file of cases.
#[derive(Debug)]
pub(crate) struct Suite {
    /// Its area and cases.
    pub file: CaseFile,
    /// Where it can be written, and its text; `None` for one packed into the binary.
    pub on_disk: Option<(PathBuf, String)>,
}

impl Source {
    /// Reads and checks what a run is about: with `files`, their cases; without, those of the spec.
    pub(crate) fn load(harness: Option<&Path>, files: &[PathBuf]) -> Result<Source, Error> {
        let (spec, suites) = match harness {
            Some(dir) => in_directory(dir)?,
            None => packed()?,
        };
        if files.is_empty() {
            return Ok(Source { spec, suites });
        }
        let mut suites = Vec::new();
        let mut wrong = Vec::new();
        for path in files {
            match single(path) {
                Ok(suite) => suites.push(suite),
                Err(lines) => wrong.extend(lines),
            }
        }
        if wrong.is_empty() { Ok(Source { spec, suites }) } else { Err(Error::Input(wrong)) }
    }
}

/// Returns the packed spec without its cases, which nothing was asked about.
pub(crate) fn packed_spec() -> Result<Spec, Error> {
    spec::packed().map_err(|problems| Error::problems(Path::new("harness"), &problems))
}

fn packed() -> Result<(Spec, Vec<Suite>), Error> {
    let files = spec::files();
    let cases =
        cases(&files, None).map_err(|found| Error::problems(Path::new("harness"), &found))?;
    let suite = |file| Suite { file, on_disk: None };
    Ok((packed_spec()?, cases.into_iter().map(suite).collect()))
}

fn in_directory(dir: &Path) -> Result<(Spec, Vec<Suite>), Error> {
    let (files, whole) = directory(dir)?;
    let suite = |file: CaseFile| {
        let name = format!("conformance/{}.json", file.area);
        let text = files.text(&name).unwrap_or_default().to_string();
        Suite { file, on_disk: Some((dir.join(name), text)) }
    };
    Ok((whole.spec, whole.cases.into_iter().map(suite).collect()))
}

/// Reads a spec directory, checks all of it and runs the examples of its rules.
pub(crate) fn directory(dir: &Path) -> Result<(Files, Whole), Error> {
    let files = Files::read(dir).map_err(|error| Error::input(error.to_string()))?;
    let whole = check::whole(&files).map_err(|problems| Error::problems(dir, &problems))?;
    Ok((files, whole))
}

/// Returns everything in `dir`, or in the texts packed into the binary, checked.
pub(crate) fn whole(dir: Option<&Path>) -> Result<Whole, Error> {
    match dir {
        Some(dir) => Ok(directory(dir)?.1),
        None => check::whole(&spec::files())
            .map_err(|problems| Error::problems(Path::new("harness"), &problems)),
    }
}

/// Reads a file of cases that belongs to no spec. Its area stands inside, so it may have any name.
fn single(path: &Path) -> Result<Suite, Vec<String>> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| vec![format!("{shown}: {error}")])?;
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    let plain = |area: &&str| area.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let stem = json["area"].as_str().filter(plain).unwrap_or("cases");
    let mut files = Files::default();
    files.set(&format!("conformance/{stem}.json"), text.clone());
    let located = |each: Problem| match each.file.starts_with("../schema") {
        true => each.to_string(),
        false => format!("{shown}:{}:{}: {}", each.line, each.column, each.message),
    };
    let found = cases(&files, Some(&spec::schemas()))
        .map_err(|found| found.into_iter().map(located).collect::<Vec<_>>())?;
    let none = || vec![format!("{shown}: no cases in it")];
    let file = found.into_iter().next().ok_or_else(none)?;
    Ok(Suite { file, on_disk: Some((path.to_path_buf(), text)) })
}
