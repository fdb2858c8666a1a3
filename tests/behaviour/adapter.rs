//! From the names of the format to those of the program, and what of the format is not built yet.

use crate::case::Case;
use crate::{expect, text};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// What can be set up.
const SETUP: [&str; 7] = ["files", "config_files", "home_files", "git", "cwd", "env", "umask"];

/// Returns the first thing a case asks for that is not built.
pub(crate) fn missing(case: &Case) -> Option<String> {
    let setup = case.setup.keys().find(|key| !SETUP.contains(&key.as_str()));
    let setup = setup.map(|key| format!("setup of {key}"));
    let step = || case.steps().into_iter().find_map(missing_step);
    setup.or_else(step).or_else(|| missing_predicate(&case.expect))
}

fn missing_step(step: &Value) -> Option<String> {
    let text = |key: &str| step.get(key).and_then(Value::as_str);
    let keys = |known: &[&str]| {
        let odd = step.as_object()?.keys().find(|key| !known.contains(&key.as_str()));
        odd.map(|key| format!("{key} of a step"))
    };
    if let Some(tool) = text("tool").filter(|_| step.get("op").is_none()) {
        let args = step.get("args").and_then(Value::as_object)?;
        return missing_tool(tool, args);
    }
    if step.get("user").is_some() {
        return keys(&["user"]);
    }
    match text("op") {
        Some("cli") => {
            let script = step.get("script").and_then(Value::as_array);
            let entry = script.into_iter().flatten().find_map(missing_entry);
            keys(&["op", "argv", "script", "stdin_open"]).or(entry)
        }
        Some("permission") => keys(&["op", "tool", "args"]),
        Some(op) => Some(format!("operation {op}")),
        None => Some(format!("a step like {step}")),
    }
}

/// Returns what a line of a script has that cannot be played.
fn missing_entry(entry: &Value) -> Option<String> {
    const KNOWN: [&str; 5] = ["text", "call", "delay_ms", "stream", "gap_ms"];
    let odd = entry.as_object()?.keys().find(|key| !KNOWN.contains(&key.as_str()));
    odd.map(|key| format!("{key} in a script"))
}

/// Returns what is missing of a tool: the tool itself, or an argument of it.
fn missing_tool(tool: &str, args: &Map<String, Value>) -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("harness/tools/{tool}.json"));
    let Some(spec) = fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()) else {
        return Some(format!("tool {tool}"));
    };
    let spec: Value = spec;
    let has = |name: &str| spec.pointer(&format!("/parameters/properties/{name}")).is_some();
    args.keys().find(|name| !has(name)).map(|name| format!("argument {name} of {tool}"))
}

/// Returns a predicate that cannot be asked yet.
fn missing_predicate(wanted: &Map<String, Value>) -> Option<String> {
    let texts =
        ["result", "stdout", "stderr"].iter().filter_map(|key| wanted.get(*key)?.as_object());
    let odd = texts.flat_map(Map::keys).find(|name| !text::KNOWN.contains(&name.as_str()));
    let unknown = wanted.keys().find(|name| !expect::KNOWN.contains(&name.as_str()));
    let inner = ["any_of", "each"].iter().filter_map(|key| wanted.get(*key)?.as_array()).flatten();
    let name = unknown.or(odd).map(|name| format!("predicate {name}"));
    name.or_else(|| inner.filter_map(Value::as_object).find_map(missing_predicate))
}
