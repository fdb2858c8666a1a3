//! Reduces the JSON schema of a tool's parameters to the subset of OpenAPI 3.0 that a wire knows. What cannot be said in it is
//! left out: a schema that is refused makes every request of a session fail.

use crate::spec::RequestNames;
use serde_json::{Map, Value, json};

/// How deep references and schemas are followed.
const DEEPEST: usize = 8;

/// What the wire knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    keys: &'a [String],
    formats: &'a [String],
    /// Whether every object lists what it requires, nothing too.
    lists_required: bool,
}

impl<'a> Known<'a> {
    /// Returns what a dialect's file says of it.
    pub(super) fn of(names: &'a RequestNames) -> Known<'a> {
        Known { keys: &names.schema_keys, formats: &names.schema_formats, lists_required: false }
    }

    /// Returns a wire that knows these keys and no format, and is as strict as any.
    pub(super) fn plain(keys: &'a [String]) -> Known<'a> {
        Known { keys, formats: &[], lists_required: true }
    }
}

/// Returns the parameters, or nothing for a function that has none.
pub(super) fn parameters(schema: &Value, known: Known<'_>) -> Option<Value> {
    let reduced = Reducer { root: schema, known }.schema(schema, DEEPEST);
    let some = reduced.get("properties").and_then(Value::as_object);
    some.is_some_and(|properties| !properties.is_empty()).then_some(reduced)
}

struct Reducer<'a> {
    root: &'a Value,
    known: Known<'a>,
}

impl Reducer<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Value {
        let Some(deeper) = depth.checked_sub(1) else { return json!({ "type": "string" }) };
        let mut whole = self.merged(schema, deeper);
        one_type(&mut whole);
        if let Some(constant) = whole.shift_remove("const") {
            whole.insert("enum".into(), json!([constant]));
        }
        if let Some(any) = whole.shift_remove("oneOf") {
            whole.entry("anyOf").or_insert(any);
        }
        let mut out = Map::new();
        for (key, value) in &whole {
            if self.known.keys.iter().any(|known| known == key)
                && let Some(value) = self.value(key, value, deeper)
            {
                out.insert(key.clone(), value);
            }
        }
        finish(&mut out);
        require(&mut out, self.known.lists_required);
        Value::Object(out)
    }

    /// Returns a schema with what it refers to and all parts of its `allOf` laid under it.
    fn merged(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut whole = schema.as_object().cloned().unwrap_or_default();
        let Some(deeper) = depth.checked_sub(1) else { return whole };
        let target = whole
            .shift_remove("$ref")
            .and_then(|target| self.root.pointer(target.as_str()?.strip_prefix('#')?).cloned());
        let parts = whole.shift_remove("allOf");
        let parts = parts.as_ref().and_then(Value::as_array).into_iter().flatten();
        for under in target.iter().chain(parts) {
            for (key, value) in self.merged(under, deeper) {
                match (whole.get_mut(&key), value) {
                    (Some(Value::Object(own)), Value::Object(more)) => {
                        for (key, value) in more {
                            own.entry(key).or_insert(value);
                        }
                    }
                    (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                        own.extend(more)
                    }
                    (Some(_), _) => {}
                    (None, value) => drop(whole.insert(key, value)),
                }
            }
        }
        whole
    }

    fn value(&self, key: &str, value: &Value, depth: usize) -> Option<Value> {
        match key {
            "properties" => {
                let properties = value.as_object().filter(|all| !all.is_empty())?.iter();
                let reduced =
                    properties.map(|(name, each)| (name.clone(), self.schema(each, depth)));
                Some(Value::Object(reduced.collect()))
            }
            "items" => {
                // A list of schemas is for a tuple; the first stands for all.
                let one = value.as_array().map_or(Some(value), |list| list.first())?;
                Some(self.schema(one, depth))
            }
            "anyOf" => {
                let each = value.as_array()?.iter().map(|each| self.schema(each, depth));
                let each: Vec<Value> = each.collect();
                (!each.is_empty()).then(|| each.into())
            }
            "enum" => {
                let each = value.as_array()?.iter().filter(|each| !each.is_null());
                let text =
                    |each: &Value| each.as_str().map_or_else(|| each.to_string(), String::from);
                let texts: Vec<String> = each.map(text).filter(|text| !text.is_empty()).collect();
                (!texts.is_empty()).then(|| texts.into())
            }
            "format" => {
                let known = |format: &str| self.known.formats.iter().any(|each| each == format);
                value.as_str().is_some_and(known).then(|| value.clone())
            }
            _ => Some(value.clone()),
        }
    }
}

/// Makes a list of types one type, `null` in it, or alone, the mark for that.
fn one_type(schema: &mut Map<String, Value>) {
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.clone(),
        Some(one) if one == "null" => vec![one.clone()],
        _ => return,
    };
    let nullable = types.iter().any(|each| each == "null");
    let named: Vec<Value> = types.into_iter().filter(|each| each != "null").collect();
    if nullable {
        schema.insert("nullable".into(), true.into());
    }
    match named.as_slice() {
        [one] => drop(schema.insert("type".into(), one.clone())),
        several => {
            schema.shift_remove("type");
            if !several.is_empty() {
                let any: Vec<Value> = several.iter().map(|each| json!({ "type": each })).collect();
                schema.entry("anyOf").or_insert(any.into());
            }
        }
    }
}

/// Puts right what only the whole shows: there is a type or alternatives, not both; enumerations are of text, lists say of
/// what, objects require what they have.
fn finish(schema: &mut Map<String, Value>) {
    if schema.contains_key("enum") {
        schema.insert("type".into(), "string".into());
    }
    let usual = match (schema.contains_key("properties"), schema.contains_key("items")) {
        (true, _) => "object",
        (false, true) => "array",
        (false, false) => "string",
    };
    if usual == "string" && schema.contains_key("anyOf") && !schema.contains_key("enum") {
        schema.shift_remove("type");
    } else {
        schema.shift_remove("anyOf");
        schema.entry("type").or_insert(usual.into());
    }
    if schema.get("type").is_some_and(|kind| kind == "array") {
        schema.entry("items").or_insert_with(|| json!({ "type": "string" }));
    }
}

/// Leaves of what an object requires what it has; nothing is not listed, unless that must be.
fn require(schema: &mut Map<String, Value>, listed: bool) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let has = |name: &&Value| {
        name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)))
    };
    let required = schema.get("required").and_then(Value::as_array);
    let kept: Vec<Value> = required.into_iter().flatten().filter(has).cloned().collect();
    let object = schema.get("type").is_some_and(|kind| kind == "object");
    match kept.is_empty() && !(listed && object) {
        true => drop(schema.shift_remove("required")),
        false => drop(schema.insert("required".into(), kept.into())),
    }
}
