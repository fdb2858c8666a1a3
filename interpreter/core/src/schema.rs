//! A quick check of a value against the part of JSON Schema that the spec and the configuration use. It explains nothing.

use serde_json::Value;

/// Keywords that say nothing about a value.
const NOTES: [&str; 5] = ["$schema", "title", "description", "examples", "default"];

/// Returns whether `value` certainly fits `schema`. "No" means only that a validator must be asked: one is not made for
/// a value in order, because that alone costs more than everything else a call does.
pub fn fits(schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return false };
    let known = &schema["properties"];
    keywords.iter().all(|(keyword, rule)| match (keyword.as_str(), value) {
        (note, _) if NOTES.contains(&note) || note.starts_with("x-") => true,
        ("type", _) => rule == type_name(value) || (rule == "number" && value.is_number()),
        ("enum", _) => rule.as_array().is_some_and(|options| options.contains(value)),
        ("anyOf", _) => {
            rule.as_array().is_some_and(|schemas| schemas.iter().any(|schema| fits(schema, value)))
        }
        ("properties", Value::Object(map)) => {
            map.iter().all(|(key, value)| rule.get(key).is_none_or(|schema| fits(schema, value)))
        }
        ("additionalProperties", Value::Object(map)) => {
            map.iter().all(|(key, value)| known.get(key).is_some() || fits(rule, value))
        }
        ("required", Value::Object(map)) => rule.as_array().is_some_and(|names| {
            names.iter().all(|name| name.as_str().is_some_and(|name| map.contains_key(name)))
        }),
        ("items", Value::Array(items)) => items.iter().all(|item| fits(rule, item)),
        ("minimum", Value::Number(number)) => number.as_u64() >= rule.as_u64() && rule.is_u64(),
        ("maximum", Value::Number(number)) => number.is_u64() && number.as_u64() <= rule.as_u64(),
        ("minItems", Value::Array(items)) => rule == 1 && !items.is_empty(),
        ("minLength", Value::String(text)) => rule == 1 && !text.is_empty(),
        _ => false,
    })
}

/// Returns the name JSON Schema has for the type of `value`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the shortest value of a schema.
    fn plainest(schema: &Value) -> Value {
        match schema["type"].as_str() {
            Some("object") => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let names = required.iter().filter_map(Value::as_str);
                let plain = |name: &str| (name.to_string(), plainest(&schema["properties"][name]));
                Value::Object(names.map(plain).collect())
            }
            Some("array") => json!([plainest(&schema["items"])]),
            Some("string") => json!("x"),
            _ => json!(1),
        }
    }

    #[test]
    fn every_tool_takes_its_plainest_call_without_a_validator() {
        for tool in crate::spec::packed().unwrap().tools {
            let arguments = plainest(&tool.parameters);
            assert!(fits(&tool.parameters, &arguments), "{}: {arguments}", tool.id);
        }
    }

    #[test]
    fn what_does_not_fit() {
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": { "a": { "type": "integer", "minimum": 1 }, "b": { "enum": ["x"] } } });
        assert!(fits(&schema, &json!({ "a": 1, "b": "x" })));
        for wrong in [
            json!({}),
            json!({ "a": 0 }),
            json!({ "a": "1" }),
            json!({ "a": 1, "c": 1 }),
            json!({ "a": 1, "b": "y" }),
            json!([]),
        ] {
            assert!(!fits(&schema, &wrong), "{wrong}");
        }
    }
}
