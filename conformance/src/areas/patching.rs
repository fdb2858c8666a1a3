//! What `envelope` and `unidiff` have in common: a patch, the files it meets, and what becomes of them. A file is its
//! text, or `{"hex"}`, or `{"other": reason}` for what cannot be patched.

use super::hex;
use lembas_core::patch::{Entry, Plan, Reason, Refused, Tree, Verb, Write, plan, read};
use lembas_core::permission::normal;
use lembas_core::spec::Spec;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Answers `{files, patch}` with what is written and where every hunk landed, or why nothing is.
pub(super) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    Ok(match outcome(spec, input)? {
        Ok(plan) => json!({"ok": true, "files": written(&plan), "landed": landed(&plan)}),
        Err(refused) => reason(&refused),
    })
}

/// Plans the patch of a case.
pub(super) fn outcome(spec: &Spec, input: &Value) -> Result<Result<Plan, Refused>, String> {
    let files = Files::read(&input["files"])?;
    let text = input["patch"].as_str().ok_or("a case has a \"patch\"")?;
    let matchers = spec.tool("edit").map(|tool| tool.matchers.as_slice()).unwrap_or_default();
    Ok(read(text).and_then(|patch| plan(&patch, &files, matchers, &spec.limits.tools.edit)))
}

/// The files of a case.
struct Files(Vec<(PathBuf, Entry)>);

impl Files {
    fn read(files: &Value) -> Result<Files, String> {
        let files = files.as_object().into_iter().flatten();
        let read = |(path, file): (&String, &Value)| Ok((named(path), entry(file)?));
        files.map(read).collect::<Result<_, String>>().map(Files)
    }
}

fn entry(file: &Value) -> Result<Entry, String> {
    if let Some(text) = file.as_str() {
        return Ok(Entry::File(text.as_bytes().to_vec()));
    }
    if let Some(hex) = file["hex"].as_str() {
        return hex::read(hex).map(Entry::File);
    }
    let others = [Reason::Directory, Reason::Special, Reason::TooLarge, Reason::Failed];
    let other = others.into_iter().find(|reason| json!(reason) == file["other"]);
    let words = file["words"].as_str().unwrap_or_default().to_owned();
    other.map(|reason| Entry::Other(reason, words)).ok_or_else(|| format!("no file: {file}"))
}

fn named(path: &str) -> PathBuf {
    normal(&Path::new("/").join(path))
}

impl Tree for Files {
    fn key(&self, path: &str) -> PathBuf {
        named(path)
    }

    fn entry(&self, path: &str) -> Entry {
        let found = self.0.iter().find(|(known, _)| *known == named(path));
        found.map_or(Entry::Missing, |(_, entry)| entry.clone())
    }
}

fn written(plan: &Plan) -> Value {
    let file = |write: &Write| {
        let content = write.after.as_ref().map(|bytes| match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({"hex": hex::write(bytes)}),
        });
        let value = match (content, write.executable) {
            (Some(text), Some(executable)) => json!({"text": text, "executable": executable}),
            (content, _) => content.unwrap_or_default(),
        };
        (write.path.clone(), value)
    };
    Value::Object(plan.writes.iter().map(file).collect())
}

fn landed(plan: &Plan) -> Value {
    let told = |landed: &lembas_core::patch::Landed| {
        let verb = match landed.verb {
            Verb::Added => "added",
            Verb::Deleted => "deleted",
            Verb::Updated => "updated",
            Verb::Moved => "moved",
            Verb::Copied => "copied",
        };
        let mut told = Map::from_iter([(verb.to_owned(), json!(landed.path))]);
        if let Some(to) = &landed.to {
            told.insert("to".to_owned(), json!(to));
        }
        let hunks =
            landed.hunks.iter().map(|hunk| json!({"lines": hunk.lines, "by": hunk.matcher}));
        let hunks: Vec<Value> = hunks.collect();
        if !hunks.is_empty() {
            told.insert("hunks".to_owned(), json!(hunks));
        }
        Value::Object(told)
    };
    plan.landed.iter().map(told).collect()
}

fn reason(refused: &Refused) -> Value {
    let mut answer = Map::from_iter([
        ("ok".to_owned(), json!(false)),
        ("reason".to_owned(), json!(refused.reason)),
    ]);
    let mut put = |key: &str, value: Value| {
        if !value.is_null() && value != json!([]) {
            answer.insert(key.to_owned(), value);
        }
    };
    put("path", json!(refused.path));
    put("hunk", json!(refused.hunk));
    put("line", json!(refused.line));
    put("places", json!(refused.places));
    put("near", json!(refused.near.as_ref().map(|near| near.line)));
    Value::Object(answer)
}
