//! Checks a value against a JSON Schema and says what would have been right.

use crate::place::escape;
use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// A compiled schema together with its text, so that a message can name what is allowed.
#[derive(Debug)]
pub struct Schema {
    json: Value,
    validator: Validator,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// A value that is no schema, in the validator's words.
    pub fn new(json: Value) -> Result<Schema, String> {
        let validator = jsonschema::validator_for(&json).map_err(|error| error.to_string())?;
        Ok(Schema { json, validator })
    }

    /// Returns everything wrong with `value`: the JSON pointer of the part, and a sentence.
    pub fn problems(&self, value: &Value) -> Vec<(String, String)> {
        self.validator.iter_errors(value).flat_map(|error| self.explain(&error)).collect()
    }

    fn explain(&self, error: &ValidationError<'_>) -> Vec<(String, String)> {
        let at = error.instance_path().as_str().to_string();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known = self.known_keys(error.schema_path().as_str());
                let say = |key: &String| {
                    let message = format!("no key {key:?} here; there are: {known}");
                    (format!("{at}/{}", escape(key)), message)
                };
                unexpected.iter().map(say).collect()
            }
            ValidationErrorKind::Enum { options } => {
                let options: Vec<String> =
                    options.as_array().into_iter().flatten().map(Value::to_string).collect();
                let got = error.instance().to_string();
                vec![(at, format!("{} is none of: {}", short(&got), options.join(", ")))]
            }
            ValidationErrorKind::Required { property } => {
                let place = if at.is_empty() { "here".to_string() } else { format!("in {at}") };
                vec![(at, format!("{property} is missing {place}"))]
            }
            _ => vec![(at, short(&error.to_string()))],
        }
    }

    /// The property names beside the `additionalProperties` keyword at `schema_path`.
    fn known_keys(&self, schema_path: &str) -> String {
        let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let keys = self.json.pointer(parent).and_then(|schema| schema["properties"].as_object());
        let keys: Vec<&str> = keys.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        keys.join(", ")
    }
}

/// Cuts a message that quotes a large value.
fn short(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_name_what_is_allowed() {
        let schema = Schema::new(
            json!({ "type": "object", "additionalProperties": false, "required": ["b"],
            "properties": { "a": { "enum": ["x", "y"] }, "b": { "type": "integer" } } }),
        )
        .unwrap();
        let problems = schema.problems(&json!({ "a": "z", "c": 1 }));
        let texts: Vec<&str> = problems.iter().map(|(_, text)| text.as_str()).collect();
        assert!(texts.contains(&"no key \"c\" here; there are: a, b"), "{texts:?}");
        assert!(texts.contains(&"\"z\" is none of: \"x\", \"y\""), "{texts:?}");
        assert!(texts.contains(&"\"b\" is missing here"), "{texts:?}");
    }
}
