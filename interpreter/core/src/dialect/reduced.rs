//! Reduces the JSON schema of a tool's parameters to what a wire knows. What cannot be said in it is left out: a schema that is
//! refused makes every request of a session fail.

use super::object_root;
use super::resolved::{Resolver, lay_under};
use crate::prompt::ToolDefinition;
use crate::spec::{RepairLimits, RequestNames, SchemaForm, SchemaLimits};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Keys that only a schema of this type may have.
const OF_TYPE: [(&str, [&str; 3]); 2] = [
    ("object", ["properties", "minProperties", "maxProperties"]),
    ("array", ["items", "minItems", "maxItems"]),
];

/// Keys of which an alternative has one that says more than what its values are like.
const SHAPES: [&str; 9] =
    ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items"];
/// Keys that say of alternatives what each of them can say.
const OF_EACH: [&str; 2] = ["description", "nullable"];

/// What the wire knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    keys: &'a [String],
    /// The formats of each type.
    formats: Option<&'a BTreeMap<String, Vec<String>>>,
    /// Whether the wire is OpenAPI's: each schema has a type or alternatives, and enumerations are of text.
    openapi: bool,
    /// Whether every object lists what it requires, nothing too.
    lists_required: bool,
    limits: &'a SchemaLimits,
}

impl<'a> Known<'a> {
    /// Returns what a dialect's file says of it.
    pub(super) fn of(names: &'a RequestNames, limits: &'a RepairLimits) -> Known<'a> {
        Known {
            keys: &names.schema_keys,
            formats: Some(&names.schema_formats),
            openapi: names.schema == SchemaForm::Openapi,
            lists_required: false,
            limits: &limits.schema,
        }
    }

    /// Returns what every wire knows: no format, and as strict as any.
    pub(super) fn plain(limits: &'a RepairLimits) -> Known<'a> {
        Known {
            keys: &limits.schema.keys,
            formats: None,
            openapi: true,
            lists_required: true,
            limits: &limits.schema,
        }
    }
}

/// Returns the parameters, or nothing for a function that has none.
pub(super) fn parameters(schema: &Value, known: Known<'_>) -> Option<Value> {
    let mut reducer = Reducer { resolver: Resolver::new(schema, known.limits), known };
    let root = object_root::parameters(schema, None, known.limits);
    let reduced = reducer.schema(&root, known.limits.depth);
    let some = reduced.get("properties").and_then(Value::as_object);
    some.is_some_and(|properties| !properties.is_empty()).then_some(reduced)
}

/// Returns tools with such parameters.
pub(super) fn definitions(tools: &[ToolDefinition], known: Known<'_>) -> Vec<ToolDefinition> {
    let reduced = |tool: &ToolDefinition| {
        let nothing = || json!({ "type": "object", "properties": {} });
        let parameters = parameters(&tool.parameters, known).unwrap_or_else(nothing);
        ToolDefinition { parameters, ..tool.clone() }
    };
    tools.iter().map(reduced).collect()
}

struct Reducer<'a> {
    resolver: Resolver<'a>,
    known: Known<'a>,
}

impl Reducer<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(deeper) = depth.checked_sub(1) else { return self.anything() };
        let outside = self.resolver.open.len();
        let mut whole = self.resolver.merged(schema, deeper);
        self.alternatives(&mut whole, deeper);
        tuple(&mut whole);
        self.types(&mut whole);
        let mut out = Map::new();
        for (key, value) in &whole {
            if self.known.keys.contains(key)
                && let Some(value) = self.value(key, value, deeper)
            {
                out.insert(key.clone(), value);
            }
        }
        self.resolver.open.truncate(outside);
        if self.known.openapi {
            finish(&mut out);
        }
        self.format(&mut out);
        require(&mut out, self.known.lists_required);
        Value::Object(out)
    }

    fn anything(&self) -> Value {
        if self.known.openapi { json!({ "type": "string" }) } else { json!({}) }
    }

    /// Makes alternatives and constants what the wire calls them; nothing as one of two is the mark for that.
    fn alternatives(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        if let Some(constant) = schema.shift_remove("const") {
            schema.insert("enum".into(), json!([constant]));
        }
        if let Some(any) = schema.shift_remove("oneOf") {
            schema.entry("anyOf").or_insert(any);
        }
        let typed = schema.contains_key("type");
        let Some(Value::Array(any)) = schema.get_mut("anyOf") else { return };
        any.retain(|each| !typed || SHAPES.iter().any(|key| each.get(*key).is_some()));
        let before = any.len();
        any.retain(|each| each.get("type").is_none_or(|kind| kind != "null"));
        let nullable = any.len() < before;
        let only = (any.len() == 1 && nullable).then(|| any.pop()).flatten();
        if any.is_empty() {
            schema.shift_remove("anyOf");
        }
        if nullable {
            schema.insert("nullable".into(), true.into());
        }
        if let Some(only) = only {
            let mut under = self.resolver.merged(&only, depth);
            self.alternatives(&mut under, depth);
            lay_under(schema, under);
        }
    }

    /// Gives types their own names, and leaves out what is none. OpenAPI has one type where JSON schema has a list.
    fn types(&self, schema: &mut Map<String, Value>) {
        let Some(kind) = schema.shift_remove("type") else { return };
        let named = |kind: &Value| {
            let name = self.known.limits.types.get(&kind.as_str()?.to_lowercase())?;
            Some(Value::from(name.as_str()))
        };
        let several = kind.as_array().map(|all| all.iter().filter_map(named).collect::<Vec<_>>());
        match several.or_else(|| Some(vec![named(&kind)?])) {
            Some(types) if self.known.openapi => one_type(schema, types),
            Some(types) if kind.is_array() => drop(schema.insert("type".into(), types.into())),
            Some(types) => schema.extend(types.into_iter().map(|kind| ("type".into(), kind))),
            None => {}
        }
    }

    fn value(&mut self, key: &str, value: &Value, depth: usize) -> Option<Value> {
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
            "enum" if self.known.openapi => words(value.as_array()?),
            "enum" => value.is_array().then(|| value.clone()),
            "title" | "description" | "format" => value.is_string().then(|| value.clone()),
            _ => Some(value.clone()),
        }
    }

    /// Leaves out a format that the wire does not know of the type.
    fn format(&self, schema: &mut Map<String, Value>) {
        let Some(format) = schema.get("format") else { return };
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        let known = self.known.formats.and_then(|formats| formats.get(kind));
        let known = known.is_some_and(|known| known.iter().any(|each| format == each));
        let wordless = format == "enum" && !schema.contains_key("enum");
        if !known || wordless {
            schema.shift_remove("format");
        }
    }
}

/// Returns the values of an enumeration as texts that are not empty.
fn words(values: &[Value]) -> Option<Value> {
    let text = |each: &Value| each.as_str().map_or_else(|| each.to_string(), String::from);
    let mut texts: Vec<String> = Vec::new();
    for text in values.iter().filter(|each| !each.is_null()).map(text) {
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.into())
}

/// Makes a list of types one type, `null` in it, or alone, the mark for that.
fn one_type(schema: &mut Map<String, Value>, types: Vec<Value>) {
    let nullable = types.iter().any(|each| each == "null");
    let named: Vec<Value> = types.into_iter().filter(|each| each != "null").collect();
    if nullable {
        schema.insert("nullable".into(), true.into());
    }
    match named.as_slice() {
        [one] => drop(schema.insert("type".into(), one.clone())),
        [] => {}
        several => {
            let any: Vec<Value> = several.iter().map(|each| json!({ "type": each })).collect();
            schema.entry("anyOf").or_insert(any.into());
        }
    }
}

/// Puts right what only the whole shows: there is a type or alternatives, not both; enumerations are of text, lists say of
/// what, objects require what they have.
fn finish(schema: &mut Map<String, Value>) {
    // A choice of truths says no more than the type, and as a text it would be none.
    if schema.get("type").is_some_and(|kind| kind == "boolean") {
        schema.shift_remove("enum");
    } else if schema.contains_key("enum") {
        schema.insert("type".into(), "string".into());
    }
    let usual = match (schema.contains_key("properties"), schema.contains_key("items")) {
        (true, _) => "object",
        (false, true) => "array",
        (false, false) => "string",
    };
    if usual == "string" && schema.contains_key("anyOf") && !schema.contains_key("enum") {
        alone(schema);
    } else {
        schema.shift_remove("anyOf");
        schema.entry("type").or_insert(usual.into());
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
    if kind == "array" {
        schema.entry("items").or_insert_with(|| json!({ "type": "string" }));
    }
    schema.retain(|key, _| {
        OF_TYPE.iter().all(|(of, keys)| *of == kind || !keys.contains(&key.as_str()))
    });
}

/// Lets alternatives stand alone: what is said of all of them is said in each.
fn alone(schema: &mut Map<String, Value>) {
    let Some(Value::Array(mut any)) = schema.shift_remove("anyOf") else { return };
    for each in any.iter_mut().filter_map(Value::as_object_mut) {
        for key in OF_EACH {
            if let Some(value) = schema.get(key) {
                each.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    *schema = Map::from_iter([("anyOf".into(), any.into())]);
}

/// Makes the schemas of a list's first elements those of its elements, where nothing else is said of them.
fn tuple(schema: &mut Map<String, Value>) {
    if let Some(first) = schema.shift_remove("prefixItems")
        && !schema.get("items").is_some_and(Value::is_object)
    {
        schema.insert("items".into(), first);
    }
}

/// Leaves of what an object requires what it has; nothing is not listed, unless that must be.
fn require(schema: &mut Map<String, Value>, listed: bool) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let has = |name: &&Value| {
        name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)))
    };
    let required = schema.get("required").and_then(Value::as_array);
    let mut kept: Vec<Value> = Vec::new();
    for name in required.into_iter().flatten().filter(has) {
        if !kept.contains(name) {
            kept.push(name.clone());
        }
    }
    let object = schema.get("type").is_some_and(|kind| kind == "object");
    match kept.is_empty() && !(listed && object) {
        true => drop(schema.shift_remove("required")),
        false => drop(schema.insert("required".into(), kept.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::resolved::size;
    use super::*;
    use crate::spec::packed;

    #[test]
    fn references_that_double_do_not_explode() {
        let limits = packed().unwrap().limits.repair;
        let next = |number: usize| json!({ "$ref": format!("#/$defs/{number}") });
        let double =
            |number: usize| json!({ "properties": { "a": next(number), "b": next(number) } });
        let defs: Map<String, Value> =
            (0..40).map(|number| (number.to_string(), double(number + 1))).collect();
        let schema = json!({ "type": "object", "properties": { "a": next(0) }, "$defs": defs });
        let reduced = parameters(&schema, Known::plain(&limits)).unwrap();
        assert!(size(&reduced, usize::MAX) < 4 * limits.schema.most_referred);
    }
}
