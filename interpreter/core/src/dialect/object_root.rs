//! Gives the parameters of a tool a root that is an object and nothing else, for wires that refuse alternatives there. What is
//! below the root stays as it is.

use lembas_codegen::when::Pattern;
use serde_json::{Map, Value, json};

/// Returns the parameters with such a root. Alternatives are laid over each other: all of their properties are there, and
/// required is what each of them requires. Properties whose names do not fit are left out.
pub(super) fn parameters(schema: &Value, names: Option<&Pattern>) -> Value {
    let mut root = schema.as_object().cloned().unwrap_or_default();
    let all = root.shift_remove("allOf");
    for part in parts(&all, schema) {
        let more = required(&part);
        let whole = required(&root).into_iter().chain(more).collect();
        lay_under(&mut root, part, whole);
    }
    for alternatives in ["anyOf", "oneOf"].map(|name| root.shift_remove(name)) {
        let parts = parts(&alternatives, schema);
        let mut common = parts.first().map(required).unwrap_or_default();
        common.retain(|name| parts.iter().all(|part| required(part).contains(name)));
        for part in parts {
            let whole = required(&root).into_iter().chain(common.clone()).collect();
            lay_under(&mut root, part, whole);
        }
    }
    root.insert("type".into(), "object".into());
    if let Some(names) = names.and_then(Pattern::regex) {
        keep(&mut root, |name| names.is_match(name));
    }
    root.into()
}

fn keep(root: &mut Map<String, Value>, fits: impl Fn(&str) -> bool) {
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        properties.retain(|name, _| fits(name));
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(&fits));
    }
}

/// Returns the schemas of a list, what they refer to in their place.
fn parts(list: &Option<Value>, whole: &Value) -> Vec<Map<String, Value>> {
    let each = list.as_ref().and_then(Value::as_array).into_iter().flatten();
    each.filter_map(|part| {
        let target = part.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|path| whole.pointer(path.strip_prefix('#')?));
        target.unwrap_or(part).as_object().cloned()
    })
    .collect()
}

fn required(schema: &Map<String, Value>) -> Vec<Value> {
    schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn lay_under(root: &mut Map<String, Value>, part: Map<String, Value>, mut required: Vec<Value>) {
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    if let (Value::Object(own), Some(Value::Object(more))) = (properties, part.get("properties")) {
        for (name, value) in more {
            own.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let mut seen = Vec::new();
    required.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    if !required.is_empty() {
        root.insert("required".into(), required.into());
    }
}
