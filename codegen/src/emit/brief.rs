//! What a run reads of the packed files: JSON without what checks alone ask, and where entries stand that are read one by one.

use super::text::{doc, line};
use crate::{
    files::Files,
    spec::{DEFAULTS, HARDLINE, Index, Name, QUIRKS, WRAPPERS, Wrappers},
};
use serde_json::{Map, Value, value::RawValue};
use std::{collections::BTreeMap, io};

/// Emits the tables.
pub(super) fn emit(out: &mut String, files: &Files, wrappers: &Wrappers) -> io::Result<()> {
    doc(out, "", "Files without what checks alone ask, and without what is read entry by entry.");
    line(out, "static BRIEFS: &[(&str, &str)] = &[");
    for file in [HARDLINE, DEFAULTS, QUIRKS, WRAPPERS] {
        let mut json: Map<String, Value> =
            serde_json::from_str(files.text(file).unwrap_or_default())?;
        match file {
            WRAPPERS => {
                ["wrappers", "programs"].into_iter().for_each(|part| empty(&mut json, part))
            }
            _ => without_examples(&mut json),
        }
        line(out, &format!("    ({file:?}, {:?}),", Value::Object(json).to_string()));
    }
    line(out, "];");
    outline(out, files.text(WRAPPERS).unwrap_or_default(), wrappers)
}

fn without_examples(json: &mut Map<String, Value>) {
    let rules = json.get_mut("rules").and_then(Value::as_array_mut).into_iter().flatten();
    rules.filter_map(Value::as_object_mut).for_each(|rule| _ = rule.remove("examples"));
}

fn empty(json: &mut Map<String, Value>, part: &str) {
    match json.get_mut(part) {
        Some(Value::Array(list)) => list.clear(),
        Some(Value::Object(map)) => map.clear(),
        _ => {}
    }
}

/// Emits where the entries of `permission/wrappers.json` stand. Its text has been checked.
fn outline(out: &mut String, text: &str, wrappers: &Wrappers) -> io::Result<()> {
    doc(out, "", &format!("Where the entries of `{WRAPPERS}` stand."));
    line(out, "static OUTLINE: lembas_codegen::spec::Outline = lembas_codegen::spec::Outline {");
    let file: BTreeMap<&str, &RawValue> = serde_json::from_str(text)?;
    let part = |name: &str| file.get(name).map(|part| part.get()).unwrap_or_default();
    let list: Vec<&RawValue> = serde_json::from_str(part("wrappers"))?;
    index(out, "wrappers", wrappers.wrappers.index(), list.iter().map(|each| span(text, each)));
    let map: BTreeMap<String, &RawValue> = serde_json::from_str(part("programs"))?;
    index(out, "programs", wrappers.programs.index(), map.values().map(|each| span(text, each)));
    line(out, "};");
    Ok(())
}

/// Returns where a value that was read from a text stands in it.
fn span(text: &str, value: &RawValue) -> (usize, usize) {
    let from = value.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    (from, from + value.get().len())
}

fn index(out: &mut String, name: &str, index: &Index, spans: impl Iterator<Item = (usize, usize)>) {
    let names = |names: &[Name]| {
        let each = |name: &Name| {
            let Name { key, start, len, entry } = name;
            format!(
                "lembas_codegen::spec::Name {{ key: {key}, start: {start}, len: {len}, entry: {entry} }}"
            )
        };
        names.iter().map(each).collect::<Vec<_>>().join(", ")
    };
    line(out, &format!("    {name}: lembas_codegen::spec::Index {{"));
    line(out, &format!("        names: std::borrow::Cow::Borrowed({:?}),", index.names));
    for (field, list) in [("plain", &index.plain), ("patterns", &index.patterns)] {
        line(out, &format!("        {field}: std::borrow::Cow::Borrowed(&[{}]),", names(list)));
    }
    let spans = spans.collect::<Vec<_>>();
    line(out, &format!("        spans: std::borrow::Cow::Borrowed(&{spans:?}),\n    }},"));
}
