//! A spec with everything in its directory read and checked, as a build and `--harness` need it.

use crate::{
    acp::{self, Protocol},
    files::Files,
    problem::Problem,
    spec::{CaseFile, Spec, cases},
};
use serde_json::Value;

/// Everything in a spec directory, checked.
#[derive(Debug, Clone)]
pub struct Whole {
    /// The spec proper.
    pub spec: Spec,
    /// The conformance cases, one file per area.
    pub cases: Vec<CaseFile>,
    /// `rules.schema.json`, which lists the actions a quirk can take.
    pub rules: Value,
    /// `acp.md`: the protocol.
    pub protocol: Protocol,
}

impl Whole {
    /// Reads everything in `files` and checks it against `schemas`.
    ///
    /// # Errors
    /// Every problem of every file at once, in the order of file and line.
    pub fn load(files: &Files, schemas: &Files) -> Result<Whole, Vec<Problem>> {
        let mut problems = Vec::new();
        let spec = take(Spec::load(files, Some(schemas)), &mut problems);
        let cases = take(cases(files, Some(schemas)), &mut problems);
        let text = schemas.text("rules.schema.json").unwrap_or_default();
        let rules = serde_json::from_str(text).map_err(|error| {
            vec![Problem::whole("../schema/rules.schema.json", error.to_string())]
        });
        let rules = take(rules, &mut problems);
        let protocol = match files.text(acp::FILE) {
            Some(text) => Protocol::read(text),
            None => Err(vec![Problem::whole(acp::FILE, "the file is missing")]),
        };
        let protocol = take(protocol, &mut problems);
        match (spec, cases, rules, protocol) {
            (Some(spec), Some(cases), Some(rules), Some(protocol)) => {
                Ok(Whole { spec, cases, rules, protocol })
            }
            _ => {
                problems.sort();
                Err(problems)
            }
        }
    }
}

fn take<T>(result: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|found| problems.extend(found)).ok()
}
