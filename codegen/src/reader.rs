//! Reads the files of a spec into typed values, keeping every problem with its place.

use crate::{
    files::Files,
    place::Places,
    problem::Problem,
    schema::Schema,
    when::{FactTypes, Pattern, Sets, When},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Facts by record name, as `facts.json` declares them.
pub type Records = BTreeMap<String, FactTypes>;

/// A JSON file of the spec.
#[derive(Debug)]
pub struct JsonFile {
    /// Its name inside the spec.
    pub name: String,
    /// Its value.
    pub json: Value,
}

/// Reads files and collects what is wrong with them.
pub struct Reader<'a> {
    /// The files of the spec.
    pub files: &'a Files,
    /// The schemas, named `<kind>.schema.json`; `None` skips every check that a build has made already.
    schemas: Option<&'a Files>,
    compiled: HashMap<String, Option<Schema>>,
    places: HashMap<String, Places>,
    /// What is wrong so far.
    pub problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Returns a reader of `files` that checks against `schemas`, or checks nothing.
    pub fn new(files: &'a Files, schemas: Option<&'a Files>) -> Reader<'a> {
        Reader {
            files,
            schemas,
            compiled: HashMap::new(),
            places: HashMap::new(),
            problems: Vec::new(),
        }
    }

    /// Returns whether this reader checks what it reads.
    pub fn checks(&self) -> bool {
        self.schemas.is_some()
    }

    /// Notes a problem with the part of a JSON file at `pointer`.
    pub fn problem(&mut self, file: &str, pointer: &str, message: impl Into<String>) {
        let (line, column) = self.places(file).get(pointer);
        self.problems.push(Problem { file: file.into(), line, column, message: message.into() });
    }

    fn places(&mut self, file: &str) -> &Places {
        let files = self.files;
        self.places
            .entry(file.to_string())
            .or_insert_with(|| Places::of(files.text(file).unwrap_or_default()))
    }

    /// Reads a JSON file and checks it against the schema called `schema`.
    pub fn json(&mut self, name: &str, schema: &str) -> Option<JsonFile> {
        let Some(text) = self.files.text(name) else {
            self.problems.push(Problem::whole(name, "the file is missing"));
            return None;
        };
        match serde_json::from_str::<Value>(text) {
            Ok(json) => {
                let before = self.problems.len();
                if self.checks() {
                    self.check(name, &json, schema);
                }
                (self.problems.len() == before).then(|| JsonFile { name: name.into(), json })
            }
            Err(error) => {
                self.problems.push(Problem {
                    file: name.into(),
                    line: error.line(),
                    // At the end of the text it counts from 0.
                    column: error.column().max(1),
                    message: format!("not JSON: {error}"),
                });
                None
            }
        }
    }

    fn check(&mut self, name: &str, json: &Value, schema: &str) {
        let twice = std::mem::take(&mut self.places_mut(name).twice);
        for (pointer, (line, column)) in twice {
            let message = format!("{pointer} stands here a second time");
            self.problems.push(Problem { file: name.into(), line, column, message });
        }
        for (pointer, message) in self.schema_problems(schema, json) {
            self.problem(name, &pointer, message);
        }
    }

    fn places_mut(&mut self, file: &str) -> &mut Places {
        self.places(file);
        self.places.entry(file.to_string()).or_default()
    }

    fn schema_problems(&mut self, name: &str, json: &Value) -> Vec<(String, String)> {
        let file = format!("{name}.schema.json");
        let schemas = self.schemas;
        let mut broken = None;
        let schema = self.compiled.entry(file.clone()).or_insert_with(|| {
            let text = schemas.and_then(|schemas| schemas.text(&file)).unwrap_or("null");
            let read = serde_json::from_str(text).map_err(|error| error.to_string());
            read.and_then(Schema::new).map_err(|error| broken = Some(error)).ok()
        });
        let found = schema.as_ref().map(|schema| schema.problems(json)).unwrap_or_default();
        if let Some(error) = broken {
            let message = format!("the schema cannot be used: {error}");
            self.problems.push(Problem::whole(&format!("../schema/{file}"), message));
        }
        found
    }

    /// Returns a file as a run reads it, and as it is, if it is of a packed spec that has it in brief; with checks, `None`.
    pub fn brief(&self, name: &str) -> Option<(&'static str, &'static str)> {
        self.files.brief(name).filter(|_| !self.checks())
    }

    /// Reads a JSON file into a `T` that the schema describes.
    pub fn typed<T: DeserializeOwned>(&mut self, name: &str, schema: &str) -> Option<T> {
        if !self.checks() {
            // Twice as fast as by way of a value, and every start of the program pays for it. What does not fit is
            // read again below, to say why.
            let brief = self.brief(name).map(|(brief, _)| brief);
            let direct = brief.or_else(|| self.files.text(name)).map(serde_json::from_str);
            if let Some(Ok(value)) = direct {
                return Some(value);
            }
        }
        let file = self.json(name, schema)?;
        self.shaped(name, "", file.json)
    }

    /// Reads a value of a file that its schema has accepted into a `T`.
    pub fn shaped<T: DeserializeOwned>(
        &mut self,
        file: &str,
        pointer: &str,
        json: Value,
    ) -> Option<T> {
        match serde_json::from_value(json) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(file, pointer, error.to_string());
                None
            }
        }
    }

    /// Reads a condition of a file; with checks, its patterns are compiled too.
    pub fn when(
        &mut self,
        file: &str,
        pointer: &str,
        json: &Value,
        facts: &FactTypes,
        sets: &Sets,
    ) -> Option<When> {
        let read = When::read(json, facts, sets, pointer).and_then(|when| {
            let checked = if self.checks() { when.check() } else { Ok(()) };
            checked.map(|()| when).map_err(|message| (pointer.to_string(), message))
        });
        match read {
            Ok(when) => Some(when),
            Err((pointer, message)) => {
                self.problem(file, &pointer, message);
                None
            }
        }
    }

    /// With checks, notes a pattern that is not of the portable subset or does not compile.
    pub fn pattern(&mut self, file: &str, pointer: &str, text: &str) {
        let wrong = || Pattern::new(text).and_then(|pattern| pattern.check()).err();
        if let Some(message) = self.checks().then(wrong).flatten() {
            self.problem(file, pointer, message);
        }
    }

    /// Returns the facts of `record`, or notes that `facts.json` has none.
    pub fn facts<'r>(
        &mut self,
        records: &'r Records,
        record: &str,
        file: &str,
        pointer: &str,
    ) -> Option<&'r FactTypes> {
        if let Some(facts) = records.get(record) {
            return Some(facts);
        }
        if self.problems.iter().any(|problem| problem.file == "facts.json") {
            // Every rule would complain about what is wrong there.
            return None;
        }
        let known: Vec<&str> = records.keys().map(String::as_str).collect();
        self.problem(
            file,
            pointer,
            format!("facts.json has no record {record:?}; there are: {}", known.join(", ")),
        );
        None
    }
}
