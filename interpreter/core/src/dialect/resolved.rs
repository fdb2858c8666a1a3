//! Puts together what a JSON schema says in several places: behind references, in the parts of `allOf`, and in alternatives where
//! a wire takes one object. It leaves out nothing for a wire.

use crate::spec::SchemaLimits;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Looks for what a schema refers to.
pub(super) struct Resolver<'a> {
    root: &'a Value,
    /// The references that the schema at hand stands in.
    pub(super) open: Vec<String>,
    /// How many values references may still bring in.
    left: usize,
}

impl<'a> Resolver<'a> {
    /// Returns a resolver of the references of a schema.
    pub(super) fn new(root: &'a Value, limits: &SchemaLimits) -> Resolver<'a> {
        Resolver { root, open: Vec::new(), left: limits.most_referred }
    }

    /// Returns a schema with what it refers to and all parts of its `allOf` laid under it.
    pub(super) fn merged(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut whole = schema.as_object().cloned().unwrap_or_default();
        let Some(deeper) = depth.checked_sub(1) else { return whole };
        let reference = whole.shift_remove("$ref");
        let target = reference.as_ref().and_then(Value::as_str).and_then(|path| self.follow(path));
        let parts = whole.shift_remove("allOf");
        let parts = parts.as_ref().and_then(Value::as_array).into_iter().flatten();
        for under in target.iter().chain(parts) {
            let under = self.merged(under, deeper);
            lay_under(&mut whole, under);
        }
        whole
    }

    /// Returns a schema as one object. Alternatives are laid over each other: all of their properties are there, and required is
    /// what each of them requires.
    pub(super) fn object(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut whole = self.merged(schema, depth);
        let Some(deeper) = depth.checked_sub(1) else { return whole };
        for alternatives in ["anyOf", "oneOf"].map(|name| whole.shift_remove(name)) {
            let each = alternatives.as_ref().and_then(Value::as_array).into_iter().flatten();
            let outside = self.open.len();
            let mut alternative = |each| {
                let object = self.object(each, deeper);
                self.open.truncate(outside);
                object
            };
            let each: Vec<_> = each.map(&mut alternative).collect();
            lay_under(&mut whole, over_each_other(&each));
        }
        whole
    }

    /// Returns what a reference leads to. One that leads back to where it stands, and those that bring in more than is borne,
    /// end in the type of what they lead to.
    fn follow(&mut self, path: &str) -> Option<Value> {
        let pointer = path.strip_prefix('#')?;
        let target = self.root.pointer(pointer).or_else(|| self.root.pointer(&decoded(pointer)))?;
        let size = size(target, self.left);
        if size > self.left || self.open.iter().any(|open| open == path) {
            let (kind, object) = (target.get("type"), target.get("properties").is_some());
            let kind = kind.cloned().or_else(|| object.then(|| "object".into()))?;
            return Some(json!({ "type": kind }));
        }
        self.left -= size;
        self.open.push(path.into());
        Some(target.clone())
    }
}

/// Returns a pointer as it is meant: as part of an address, some of its letters are written as `%3C`.
fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => bytes.push(byte),
            None => bytes.push(*first),
        }
        let taken = if byte.is_some() && *first == b'%' { 2 } else { 0 };
        rest = behind.get(taken..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns how many values a value has in it, and itself; no more are counted than are borne.
pub(super) fn size(value: &Value, most: usize) -> usize {
    let count = |size: usize, value| {
        if size > most { size } else { size + self::size(value, most - size) }
    };
    match value {
        Value::Array(list) => list.iter().fold(1, count),
        Value::Object(object) => object.values().fold(1, count),
        _ => 1,
    }
}

/// Lays a schema under another: what that does not say, properties one by one, and what either requires.
pub(super) fn lay_under(whole: &mut Map<String, Value>, under: Map<String, Value>) {
    for (key, value) in under {
        match (whole.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) => {
                for (key, value) in more {
                    own.entry(key).or_insert(value);
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                let known: HashSet<Value> = own.iter().cloned().collect();
                own.extend(more.into_iter().filter(|each| !known.contains(each)));
            }
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(key, value)),
        }
    }
}

/// Returns the properties that alternatives have, and what all of them require.
fn over_each_other(alternatives: &[Map<String, Value>]) -> Map<String, Value> {
    let mut properties = Map::new();
    for each in alternatives {
        for (name, more) in each.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            match properties.get_mut(name) {
                Some(own) => either(own, more),
                None => drop(properties.insert(name.clone(), more.clone())),
            }
        }
    }
    let mut whole = Map::new();
    if !properties.is_empty() {
        whole.insert("properties".into(), properties.into());
    }
    let common = required_by_all(alternatives);
    if !common.is_empty() {
        whole.insert("required".into(), common.into());
    }
    whole
}

fn required_by_all(alternatives: &[Map<String, Value>]) -> Vec<Value> {
    let required = |each: &Map<String, Value>| -> Vec<Value> {
        each.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let Some((first, others)) = alternatives.split_first() else { return Vec::new() };
    let others: Vec<HashSet<Value>> =
        others.iter().map(|each| required(each).into_iter().collect()).collect();
    let mut common = required(first);
    common.retain(|name| others.iter().all(|each| each.contains(name)));
    common
}

/// Makes a schema of a property that of two alternatives: their words together, as they part alternatives, or either of them.
fn either(own: &mut Value, more: &Value) {
    if own == more {
        return;
    }
    if let (Some(words), Some(others), Some(schema)) =
        (words(own), words(more), own.as_object_mut())
    {
        let mut all = words;
        all.extend(others.into_iter().filter(|each| !all.contains(each)).collect::<Vec<_>>());
        schema.shift_remove("const");
        schema.insert("enum".into(), all.into());
        return;
    }
    let many = own.as_object().is_some_and(|own| own.len() == 1 && own.contains_key("anyOf"));
    if !many {
        *own = json!({ "anyOf": [own.clone()] });
    }
    if let Some(any) = own.get_mut("anyOf").and_then(Value::as_array_mut)
        && !any.contains(more)
    {
        any.push(more.clone());
    }
}

/// Returns the values that a schema names.
fn words(schema: &Value) -> Option<Vec<Value>> {
    let constant = schema.get("const").map(|constant| vec![constant.clone()]);
    constant.or_else(|| schema.get("enum").and_then(Value::as_array).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_decoded() {
        let check = |pointer: &str, expected: &str| assert_eq!(decoded(pointer), expected);
        check("/definitions/Partial%3CFoo%3E", "/definitions/Partial<Foo>");
        check("/a%zz%2", "/a%zz%2");
        check("/%c3%bc", "/ü");
    }
}
