//! Reads one YAML file into a JSON value that remembers where its parts stand.
//! Whatever is in the file, the answer is a value or sentences; nothing is filled in or checked here.

use super::{
    place::{Places, escape},
    problem::{Place, Problem},
};
use crate::regular;
use serde_json::{Map, Value};
use std::{
    cell::OnceCell,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// The most bytes a configuration file may have. Aliases may multiply a text a hundredfold, so
/// this also bounds the memory a hostile project can ask for.
const MAX_BYTES: u64 = 256 * 1024;

/// Below this every whole number is exact as a float, so that `4.0` can be read as 4.
const EXACT: f64 = 9_007_199_254_740_992.0;

const BAD_MERGE: &str =
    "a merge key `<<` takes a mapping or a list of mappings, not a single value or a tag";

/// A file that was read: always a mapping, empty when the file says nothing.
#[derive(Debug)]
pub(crate) struct Document {
    /// The file, as it is named in problems.
    pub(crate) file: PathBuf,
    /// What it says; always an object.
    pub(crate) value: Value,
    text: String,
    places: OnceCell<Places>,
}

impl Document {
    /// Returns its text, without a byte order mark.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns where the value at `pointer` begins.
    pub(crate) fn place(&self, pointer: &str) -> Place {
        self.places().value(pointer)
    }

    /// Returns an error about the value at `pointer`.
    pub(crate) fn at_value(&self, pointer: &str, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.place(pointer), message)
    }

    /// Returns an error about the key at the end of `pointer`.
    pub(crate) fn at_key(&self, pointer: &str, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.key_place(pointer), message)
    }

    /// Returns where the key at the end of `pointer` stands.
    pub(crate) fn key_place(&self, pointer: &str) -> Place {
        self.places().key(pointer)
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::of(&self.text))
    }
}

/// Reads `file`; `None` when there is no such file.
pub(crate) fn read(file: &Path) -> Result<Option<Document>, Vec<Problem>> {
    match bytes(file) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => parse(file, bytes).map(Some),
        Err(message) => Err(vec![Problem::file(file, message)]),
    }
}

/// Reads the bytes of a regular file of bounded size; the error is a sentence about the file.
fn bytes(file: &Path) -> Result<Option<Vec<u8>>, String> {
    let error = match regular::bytes(file, MAX_BYTES) {
        Ok(bytes) => return Ok(Some(bytes)),
        Err(error) => error,
    };
    Err(match error.kind() {
        ErrorKind::NotFound if fs::symlink_metadata(file).is_err() => return Ok(None),
        ErrorKind::NotFound => {
            "is a link to a file that does not exist; remove it or put the file there".into()
        }
        ErrorKind::InvalidInput => {
            "is not a regular file; a file with YAML text is needed here".into()
        }
        ErrorKind::FileTooLarge => format!(
            "is larger than {} KiB; a configuration file is read only up to there",
            MAX_BYTES / 1024
        ),
        _ => format!("cannot be read: {error}"),
    })
}

/// Reads `bytes` as the content of `file`.
pub(crate) fn parse(file: &Path, bytes: Vec<u8>) -> Result<Document, Vec<Problem>> {
    let text = text(file, bytes).map_err(|problem| vec![problem])?;
    let mut yaml: serde_yaml::Value =
        serde_yaml::from_str(&text).map_err(|error| unreadable(file, &text, &error))?;
    yaml.apply_merge().map_err(|_| vec![Problem::file(file, BAD_MERGE)])?;
    let mut wrong = Vec::new();
    let value = json(yaml, &mut String::new(), &mut wrong);
    let mut document = Document {
        file: file.into(),
        value: Value::Object(Map::new()),
        text,
        places: OnceCell::new(),
    };
    match value {
        Value::Object(map) => {
            document.value = map.into_iter().filter(|(_, value)| !value.is_null()).collect();
        }
        Value::Null => {}
        _ => wrong.push((String::new(), "the file must be a mapping of `key: value` lines".into())),
    }
    if wrong.is_empty() {
        return Ok(document);
    }
    Err(wrong.into_iter().map(|(pointer, message)| document.at_value(&pointer, message)).collect())
}

/// Returns the text without its byte order mark.
fn text(file: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..good).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column =
            1 + String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count();
        Problem::at(
            file,
            Place { line, column },
            "this byte is not UTF-8; save the file with UTF-8 encoding",
        )
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    })
}

/// Says why a text is no YAML: keys that stand twice first, because the parser tells only of one, and not where.
fn unreadable(file: &Path, text: &str, error: &serde_yaml::Error) -> Vec<Problem> {
    let repeated = Places::of(text).repeated;
    if !repeated.is_empty() {
        let problem = |(pointer, first, again): (String, Place, Place)| {
            let name = pointer
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .replace("~1", "/")
                .replace("~0", "~");
            Problem::at(
                file,
                again,
                format!("`{name}` is here twice: it is already on line {}; keep one", first.line),
            )
        };
        return repeated.into_iter().map(problem).collect();
    }
    let Some(location) = error.location() else {
        return vec![Problem::file(file, reason(&error.to_string()))];
    };
    let place = Place { line: location.line(), column: location.column() };
    let line = text.lines().nth(place.line.saturating_sub(1)).unwrap_or_default();
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let message = if indent.contains('\t') {
        "a tab is used to indent; YAML wants spaces".to_string()
    } else {
        reason(&error.to_string())
    };
    vec![Problem::at(file, place, message)]
}

/// Returns the parser's reason in our words where there are any, without the place it repeats.
fn reason(message: &str) -> String {
    let names_anchor = message.contains("alias") || message.contains("anchor");
    let message = message.split(" at line ").next().unwrap_or(message);
    if message.contains("repetition limit") {
        return "its aliases expand to more than is read; write the values out".into();
    }
    if message.contains("more than one document") {
        return "it holds more than one YAML document; remove the `---` between them".into();
    }
    if message.contains("invalid type") || message.contains("invalid value") {
        return "a number here is too large to be read; if it is a text, put quotes around it"
            .into();
    }
    if names_anchor {
        return format!(
            "is not YAML: {message}; a key or value that starts with `*` or `&` must be quoted"
        );
    }
    format!("is not YAML: {message}")
}

/// Turns YAML into JSON; what JSON cannot hold is told as (pointer, message).
fn json(yaml: serde_yaml::Value, pointer: &mut String, wrong: &mut Vec<(String, String)>) -> Value {
    match yaml {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(value) => Value::Bool(value),
        serde_yaml::Value::String(value) => Value::String(value),
        serde_yaml::Value::Number(number) if !number.is_finite() => {
            wrong.push((
                pointer.clone(),
                "a number must be finite here; leave the key out for no limit".into(),
            ));
            Value::Null
        }
        serde_yaml::Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => {
                Value::from(value as i64)
            }
            _ => serde_json::to_value(&number).unwrap_or_default(),
        },
        serde_yaml::Value::Sequence(items) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                within(pointer, &index.to_string(), |pointer| json(item, pointer, wrong))
            })
            .collect(),
        serde_yaml::Value::Mapping(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                match key {
                    serde_yaml::Value::String(key) => {
                        let value = within(pointer, &key, |pointer| json(value, pointer, wrong));
                        map.insert(key, value);
                    }
                    _ => wrong.push((
                        pointer.clone(),
                        "every key here must be text; put quotes around it".into(),
                    )),
                }
            }
            Value::Object(map)
        }
        serde_yaml::Value::Tagged(_) => {
            wrong.push((
                pointer.clone(),
                "a tag (`!…`) means nothing here; put quotes around a text that begins so".into(),
            ));
            Value::Null
        }
    }
}

/// Runs `inner` with `name` added to the pointer.
fn within<T>(pointer: &mut String, name: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&escape(name));
    let result = inner(pointer);
    pointer.truncate(length);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> usize {
        match parse(Path::new("f"), bytes.to_vec()) {
            Ok(document) => document.at_key("/a/b", "x").place.map_or(0, |place| place.line),
            Err(problems) => problems.len(),
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(read(&bytes) > 0);
        }

        #[test]
        fn any_yaml_like_text_is_answered(parts in prop::collection::vec("[ab]: |- |\\? |\\[|\\]|\\{|\\}|, |\n|\n  |\t|\"|'|&a |\\*a|!x |<<: |\\||>|#|---\n|\r\n|1|~|é", 0..40)) {
            prop_assert!(read(parts.concat().as_bytes()) > 0);
        }
    }
}
