//! `conformance/<area>.json`: questions and the answers every implementation gives.

use crate::{files::Files, problem::Problem, reader::Reader};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A file of cases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseFile {
    /// The area that answers them.
    pub area: String,
    /// What the area asks, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One question and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Its name, unique in the area.
    pub name: String,
    /// The question.
    #[serde(rename = "in")]
    pub input: Value,
    /// The answer, or `{"one_of": [...]}`; absent in a case that waits to be recorded.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
    /// Other keys: notes that the runner keeps and ignores.
    #[serde(flatten)]
    pub notes: Map<String, Value>,
}

/// An expectation of `null` is one; only a key that is not there is none.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Reads all case files of a spec; with `schemas`, checks them.
///
/// # Errors
/// Everything that is wrong, in the order of file and line.
pub fn cases(files: &Files, schemas: Option<&Files>) -> Result<Vec<CaseFile>, Vec<Problem>> {
    let mut reader = Reader::new(files, schemas);
    let mut all = Vec::new();
    for stem in files.stems("conformance", "json") {
        let name = format!("conformance/{stem}.json");
        let Some(file) = reader.typed::<CaseFile>(&name, "conformance") else { continue };
        check(&mut reader, &name, &stem, &file);
        all.push(file);
    }
    if reader.problems.is_empty() { Ok(all) } else { Err(reader.problems) }
}

fn check(reader: &mut Reader<'_>, name: &str, stem: &str, file: &CaseFile) {
    if !reader.checks() {
        return;
    }
    if file.area != stem {
        reader.problem(
            name,
            "/area",
            format!("the area of this file is {stem:?}, as its name says"),
        );
    }
    let mut seen = std::collections::HashSet::new();
    for (i, case) in file.cases.iter().enumerate() {
        if !seen.insert(&case.name) {
            let message =
                format!("a second case called {:?}; names are unique in an area", case.name);
            reader.problem(name, &format!("/cases/{i}/name"), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_an_expectation() {
        let read = |text: &str| serde_json::from_str::<Case>(text).unwrap().expect;
        assert_eq!(read(r#"{ "name": "a", "in": 1, "expect": null }"#), Some(Value::Null));
        assert_eq!(read(r#"{ "name": "a", "in": 1 }"#), None);
    }
}
