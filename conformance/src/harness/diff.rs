//! Says what changes from one spec directory to another: the answers of all cases of both, and what was added,
//! changed or removed.

use crate::{
    areas::Here,
    compare::{differ, same},
    error::{Error, Outcome},
    json::brief,
    reply::Reply,
    source,
};
use lembas_core::spec::{CaseFile, Files};
use serde_json::Value;
use std::{collections::BTreeMap, io::Write, path::Path};

/// Compares two spec directories and writes a line for each difference; `Passed` if there is none.
///
/// # Errors
/// The problems of a directory, a line each; or the report could not be written.
pub fn diff(old: &Path, new: &Path, out: &mut dyn Write) -> Result<Outcome, Error> {
    let (old_files, old) = source::directory(old)?;
    let (new_files, new) = source::directory(new)?;
    let parts = changed(&parts(&old_files), &parts(&new_files));
    for line in &parts {
        writeln!(out, "{line}")?;
    }
    let questions = questions(&[&old.cases, &new.cases]);
    let (old, new) = (Here::new(old.spec), Here::new(new.spec));
    let mut answers = 0;
    for ((area, _), (name, input)) in &questions {
        if let Some(text) = differs(&old.ask(area, input), &new.ask(area, input)) {
            answers += 1;
            writeln!(out, "answer {area}/{name}: {text}")?;
        }
    }
    writeln!(out, "{answers} of {} answers differ, {} parts differ", questions.len(), parts.len())?;
    Ok(Outcome::of(answers == 0 && parts.is_empty()))
}

/// The cases of both by area and question; a question both ask is asked once.
fn questions<'a>(both: &[&'a Vec<CaseFile>]) -> BTreeMap<(&'a str, String), (&'a str, &'a Value)> {
    let files = both.iter().flat_map(|files| files.iter());
    let case = |file: &'a CaseFile| {
        file.cases.iter().map(|case| {
            let asked = (file.area.as_str(), case.input.to_string());
            (asked, (case.name.as_str(), &case.input))
        })
    };
    files.flat_map(case).collect()
}

fn differs(old: &Reply, new: &Reply) -> Option<String> {
    match (old, new) {
        (Reply::Out(old), Reply::Out(new)) => {
            (!same(old, new)).then(|| differ(old, "now", new).replacen("expected", "was", 1))
        }
        _ => (old != new).then(|| format!("was {}, now {}", told(old), told(new))),
    }
}

fn told(reply: &Reply) -> String {
    match reply {
        Reply::Out(out) => brief(out, 160),
        Reply::Pending(why) => why.clone(),
        Reply::Error(error) => format!("no answer: {error}"),
    }
}

/// What stands in a spec by itself, a kind, a name and a file, and its content.
type Parts = BTreeMap<String, Value>;

/// The lists whose members are parts: the list's key, what a member is and the key of its name.
const LISTS: [(&str, &str, &str); 3] =
    [("rules", "rule", "id"), ("modes", "mode", "id"), ("cases", "case", "name")];

fn changed(old: &Parts, new: &Parts) -> Vec<String> {
    let removed =
        old.keys().filter(|part| !new.contains_key(*part)).map(|part| format!("- {part}"));
    let rest = new.iter().filter_map(|(part, content)| match old.get(part) {
        None => Some(format!("+ {part}")),
        Some(before) if !same(before, content) => Some(format!("~ {part}")),
        Some(_) => None,
    });
    removed.chain(rest).collect()
}

fn parts(files: &Files) -> Parts {
    let mut parts = Parts::new();
    for (file, text) in files.all() {
        let mut content = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        for (list, kind, key) in LISTS {
            for member in members(&mut content, list) {
                let name = member[key].as_str().unwrap_or_default();
                parts.insert(format!("{kind} {name} ({file})"), member);
            }
        }
        let tool = file.strip_prefix("tools/").and_then(|name| name.strip_suffix(".json"));
        let part = tool.map_or(format!("file {file}"), |tool| format!("tool {tool} ({file})"));
        parts.insert(part, content);
    }
    parts
}

/// Takes a list of objects out of `content`.
fn members(content: &mut Value, list: &str) -> Vec<Value> {
    match content.get_mut(list).map(Value::take) {
        Some(Value::Array(members)) => members,
        _ => Vec::new(),
    }
}
