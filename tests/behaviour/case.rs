//! The case file: what is set up, what is called and what must hold then. It reads and fills in; it runs nothing.

use crate::place::Place;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// One case. Further keys are notes.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Case {
    /// Its name.
    pub(crate) id: String,
    /// What it is about, in a sentence.
    pub(crate) title: String,
    /// What is there before.
    pub(crate) setup: Map<String, Value>,
    /// `{tool, args}`, `{op, …}` or `{steps: […]}`.
    pub(crate) call: Value,
    /// What must hold; all of it.
    pub(crate) expect: Map<String, Value>,
    /// Why it is there; in a case that must fail, a part of what is said then.
    #[serde(default)]
    pub(crate) why: String,
}

/// Reads a file of cases.
///
/// # Errors
/// What the system or the reader of JSON said, or which name stands twice.
pub(crate) fn read(file: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let cases: Vec<Case> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    for (index, case) in cases.iter().enumerate() {
        if cases.iter().take(index).any(|earlier| earlier.id == case.id) {
            return Err(format!("there are two cases {}", case.id));
        }
    }
    Ok(cases)
}

impl Case {
    /// Returns what is done, step by step.
    pub(crate) fn steps(&self) -> Vec<&Value> {
        match self.call.get("steps").and_then(Value::as_array) {
            Some(steps) => steps.iter().collect(),
            None => vec![&self.call],
        }
    }

    /// Returns the case with the names of its place filled in and repeated texts written out.
    pub(crate) fn filled(&self, place: &Place) -> Case {
        let map = |map: &Map<String, Value>| match filled(&Value::Object(map.clone()), place) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Case {
            setup: map(&self.setup),
            call: filled(&self.call, place),
            expect: map(&self.expect),
            ..self.clone()
        }
    }
}

fn filled(value: &Value, place: &Place) -> Value {
    match value {
        Value::String(text) => place.fill(text).into(),
        Value::Array(list) => list.iter().map(|each| filled(each, place)).collect(),
        Value::Object(map) => match repeated(map) {
            Some(text) => place.fill(&text).into(),
            None => map.iter().map(|(key, each)| (place.fill(key), filled(each, place))).collect(),
        },
        _ => value.clone(),
    }
}

/// Returns the text of a `{repeat, times, before, after}`.
fn repeated(map: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    let piece = map.get("repeat")?.as_str()?;
    let times = usize::try_from(map.get("times")?.as_u64()?).ok()?;
    Some([text("before"), &piece.repeat(times), text("after")].concat())
}
