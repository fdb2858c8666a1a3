//! Checks a document against its JSON Schema and says in sentences what would be right.
//! It never shows a value, and takes out what the schema does not know.

use super::{
    place::escape,
    problem::{Level, Problem, hint},
    yaml::Document,
};
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind as Kind};
use lembas_core::schema::{fits, type_name};
use serde_json::Value;

/// A problem and the JSON pointer it is about.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The key or value.
    pub(crate) pointer: String,
    /// What is wrong with it.
    pub(crate) problem: Problem,
}

/// Checks `document` and removes its unknown keys, each of which is a warning. Everything else is an error.
pub(crate) fn check(document: &mut Document, schema: &Value) -> Vec<Finding> {
    if fits(schema, &document.value) {
        return Vec::new();
    }
    let validator = match jsonschema::options().with_draft(Draft::Draft202012).build(schema) {
        Ok(validator) => validator,
        Err(error) => return vec![finding(document, "", format!("cannot be checked: {error}"))],
    };
    let errors: Vec<_> = validator
        .iter_errors(&document.value)
        .map(|error| findings(document, schema, &error))
        .collect();
    let mut findings: Vec<Finding> = errors.into_iter().flatten().collect();
    findings.sort_by_key(|finding| finding.problem.place);
    for finding in findings.iter().filter(|finding| finding.problem.level == Level::Warning) {
        remove(&mut document.value, &finding.pointer);
    }
    findings
}

fn finding(document: &Document, pointer: &str, message: String) -> Finding {
    Finding { pointer: pointer.into(), problem: document.at_value(pointer, message) }
}

fn findings(document: &Document, schema: &Value, error: &ValidationError<'_>) -> Vec<Finding> {
    let pointer = error.instance_path().as_str();
    let keyword = error.schema_path().as_str();
    let node = schema
        .pointer(keyword.rsplit_once('/').map_or("", |(node, _)| node))
        .unwrap_or(&Value::Null);
    match error.kind() {
        Kind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(|name| unknown(document, node, pointer, name)).collect()
        }
        Kind::AnyOf { context } if context.iter().flatten().any(|inner| deeper(inner, pointer)) => {
            let inner = context.iter().flatten().filter(|inner| deeper(inner, pointer));
            inner.flat_map(|inner| findings(document, schema, inner)).collect()
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let message =
                format!("{} needs `{name}`. {}", subject(pointer), description(node, name));
            vec![Finding {
                pointer: pointer.into(),
                problem: document.at_key(pointer, message.trim_end()),
            }]
        }
        kind => {
            let must = must(kind, node, error.instance());
            let rule = node["description"].as_str().unwrap_or_default();
            vec![finding(
                document,
                pointer,
                format!("{} {must}. {rule}", subject(pointer)).trim_end().into(),
            )]
        }
    }
}

/// Whether `error` is about something inside the value at `pointer`.
fn deeper(error: &ValidationError<'_>, pointer: &str) -> bool {
    error.instance_path().as_str().len() > pointer.len()
}

fn unknown(document: &Document, node: &Value, parent: &str, name: &str) -> Finding {
    let known: Vec<&str> =
        node["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let pointer = format!("{parent}/{}", escape(name));
    let message = format!("`{name}` is not a key here and does nothing.{}", hint(name, &known));
    let problem = document.at_key(&pointer, message).warning();
    Finding { pointer, problem }
}

fn description<'a>(node: &'a Value, property: &str) -> &'a str {
    node["properties"][property]["description"].as_str().unwrap_or_default()
}

/// Returns what a sentence about the value at `pointer` starts with.
fn subject(pointer: &str) -> String {
    let mut parts = pointer.rsplit('/');
    let last = parts.next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    match (last.parse::<usize>(), parts.next()) {
        (Ok(index), Some(list)) if !list.is_empty() => format!("entry {} of `{list}`", index + 1),
        _ if last.is_empty() => "the file".into(),
        _ => format!("`{last}`"),
    }
}

/// Returns the rest of that sentence, without its full stop.
fn must(kind: &Kind, node: &Value, found: &Value) -> String {
    match kind {
        Kind::Type { .. } if found.is_null() => "has no value; write one or remove the key".into(),
        Kind::Type { .. } => {
            let wanted = in_words(node["type"].as_str().unwrap_or_default());
            let quotes = if wanted == "text" && !found.is_object() && !found.is_array() {
                "; put quotes around it"
            } else {
                ""
            };
            format!("must be {wanted}, not {}{quotes}", in_words(type_name(found)))
        }
        Kind::Enum { options } => {
            let options: Vec<&str> =
                options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            format!("must be one of: {}", options.join(", "))
        }
        Kind::Minimum { limit } => format!("must be {limit} or more"),
        Kind::Maximum { limit } => format!("must be {limit} or less"),
        Kind::MinLength { .. } => "must not be empty".into(),
        _ => "is not written as it must be".into(),
    }
}

/// Returns what a person calls a type of JSON Schema.
fn in_words(name: &str) -> &'static str {
    match name {
        "string" => "text",
        "object" => "a mapping",
        "array" => "a list",
        "integer" => "a whole number",
        "number" => "a number with a fraction",
        "boolean" => "true or false",
        _ => "nothing",
    }
}

/// Takes the value at `pointer` out of the object that holds it.
fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    let name = name.replace("~1", "/").replace("~0", "~");
    if let Some(map) = value.pointer_mut(parent).and_then(Value::as_object_mut) {
        map.shift_remove(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{CONFIG_SCHEMA, CONNECTIONS_SCHEMA};
    use proptest::prelude::*;
    use serde_json::json;

    /// Keys of both schemas, and values that fit some of them and not others.
    fn values() -> impl Strategy<Value = Value> {
        let keys = "connections|box|dialect|base_url|key|headers|models|id|context|vision|timeout|idle_s|mode|permission|bash|budget|wall_s|steps|hardline_disable|x";
        let texts =
            prop::sample::select(vec!["", "a", "allow", "ask", "box/a"]).prop_map(Value::from);
        let numbers = prop::sample::select(vec![
            json!(-1),
            json!(0),
            json!(1),
            json!(1.5),
            json!(2.0),
            json!(90_000),
        ]);
        let leaf =
            prop_oneof![texts, numbers, any::<bool>().prop_map(Value::from), Just(Value::Null)];
        leaf.prop_recursive(4, 40, 4, move |inner| {
            let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
            let map = prop::collection::hash_map(keys, inner, 0..4);
            prop_oneof![list, map.prop_map(|map| Value::Object(map.into_iter().collect()))]
        })
    }

    fn check_both(schema: &str, value: &Value) -> (bool, bool) {
        let schema: Value = serde_json::from_str(schema).unwrap();
        (fits(&schema, value), jsonschema::is_valid(&schema, value))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn what_fits_is_valid(value in values(), dialect in values(), rules in values()) {
            let connection = json!({ "connections": { "box": { "dialect": dialect, "base_url": "u", "headers": value } } });
            let config = json!({ "permission": { "bash": rules }, "budget": value });
            for (schema, value) in [(CONFIG_SCHEMA, &config), (CONFIG_SCHEMA, &value), (CONNECTIONS_SCHEMA, &connection)] {
                let (fits, is_valid) = check_both(schema, value);
                prop_assert!(!fits || is_valid, "{value} fits but is not valid");
            }
        }
    }

    #[test]
    fn good_files_need_no_validator() {
        let connection = json!({
            "dialect": "d", "base_url": "u", "key": "k", "headers": { "a": "b" }, "timeout": { "idle_s": 5 },
            "models": [{ "id": "a", "context": 5, "vision": true }]
        });
        assert_eq!(
            check_both(CONNECTIONS_SCHEMA, &json!({ "connections": { "box": connection } })),
            (true, true)
        );
        let config = json!({
            "mode": "m", "steps": 3, "budget": { "wall_s": 1 }, "hardline_disable": ["a"],
            "permission": { "*": "ask", "bash": { "ls *": "allow" } }
        });
        assert_eq!(check_both(CONFIG_SCHEMA, &config), (true, true));
    }
}
