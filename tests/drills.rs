//! Drills: a change of the spec's data alone, and what the program that is already built says after it.
//!
//! A drill is `{"about", "changes", "ask", "before", "expect"}`. A change is `{"file", "patch"}` with a JSON Patch,
//! `{"file", "text"}` with a whole new text, or `{"file", "replace": [from, to]}`. `ask` is a conformance question,
//! or `{"args", "find"?}`: a call of the program, `{dir}` standing for the changed directory, answered with its exit
//! code and whether the text was found. `before` is the answer without the changes, so that none passes for nothing.

use json_patch::Patch;
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    error::Error,
    fs,
    io::Write,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drill {
    /// What changes and what must follow.
    #[serde(rename = "about")]
    _about: String,
    changes: Vec<Change>,
    ask: Value,
    before: Value,
    expect: Value,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Change {
    Patch { file: String, patch: Patch },
    Text { file: String, text: String },
    Replace { file: String, replace: (String, String) },
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for entry in fs::read_dir(root.join("tests/drills"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(name, move || drilled(&path).map_err(Failed::from)));
    }
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}

fn drilled(path: &Path) -> Result<(), String> {
    run(path).map_err(|error| error.to_string())
}

fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let drill: Drill = serde_json::from_str(&fs::read_to_string(path)?)?;
    let dir = tempfile::tempdir()?;
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("harness"), dir.path())?;
    same("before the change", &drill.before, &ask(dir.path(), &drill.ask)?)?;
    for change in &drill.changes {
        apply(dir.path(), change)?;
    }
    same("after the change", &drill.expect, &ask(dir.path(), &drill.ask)?)
}

fn same(when: &str, expected: &Value, got: &Value) -> Result<(), Box<dyn Error>> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{when}\n  expected {expected}\n  got      {got}").into())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if from.is_dir() {
            copy(&from, &to.join(name))?;
        } else {
            fs::copy(&from, to.join(name))?;
        }
    }
    Ok(())
}

fn apply(dir: &Path, change: &Change) -> Result<(), Box<dyn Error>> {
    match change {
        Change::Patch { file, patch } => {
            let mut json: Value = serde_json::from_str(&fs::read_to_string(dir.join(file))?)?;
            json_patch::patch(&mut json, patch)?;
            fs::write(dir.join(file), json.to_string())?;
        }
        Change::Text { file, text } => fs::write(dir.join(file), text)?,
        Change::Replace { file, replace: (from, to) } => {
            let text = fs::read_to_string(dir.join(file))?;
            if !text.contains(from) {
                return Err(format!("{file} has no {from:?}").into());
            }
            fs::write(dir.join(file), text.replace(from, to))?;
        }
    }
    Ok(())
}

fn ask(dir: &Path, question: &Value) -> Result<Value, Box<dyn Error>> {
    let dir = dir.to_str().ok_or("the directory's name is not UTF-8")?;
    let Some(args) = question["args"].as_array() else {
        let (out, said) = lembas(&["conformance", "--serve", "--harness", dir], question)?;
        return serde_json::from_str(&out).map_err(|_| format!("no answer: {out}{said}").into());
    };
    let args: Vec<String> =
        args.iter().filter_map(Value::as_str).map(|arg| arg.replace("{dir}", dir)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lembas"));
    let ended = command.args(args).stdin(Stdio::null()).output()?;
    let out = String::from_utf8_lossy(&ended.stdout);
    let found = question["find"].as_str().map(|text| out.contains(text));
    Ok(json!({ "exit": ended.status.code(), "found": found }))
}

/// Runs the program with a line of input; its output and what it said on standard error.
fn lembas(args: &[&str], line: &Value) -> Result<(String, String), Box<dyn Error>> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lembas"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A spec that is refused ends the program before it reads; what it says is the answer then.
        let _ = writeln!(stdin, "{line}");
    }
    let ended = child.wait_with_output()?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok((text(&ended.stdout), text(&ended.stderr)))
}
