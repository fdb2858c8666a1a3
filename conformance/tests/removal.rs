//! Takes the data that judges calls apart: without any one rule, member of a set or entry, a conformance case must
//! answer otherwise. A rule's own examples do not count; they could not tell whether the rule is needed.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use lembas_conformance::{Here, check};
use lembas_core::spec::{self, Case, Files, Late, Spec, escape, files};
use serde_json::Value;
use std::sync::LazyLock;

/// The areas that answer by this data.
const AREAS: [&str; 5] = ["hardline", "permission", "always", "arity", "plain"];

/// A case, its area, and its whole text, by which it is found quickly.
struct Asked {
    area: String,
    case: Case,
    text: String,
}

/// A file without rules of its own: it need not be checked again with each of its many entries.
const ARITY: &str = "permission/arity.json";

static PACKED: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

static FILES: LazyLock<Files> = LazyLock::new(files);

static CASES: LazyLock<Vec<Asked>> = LazyLock::new(|| {
    let files = spec::cases(&FILES, None).unwrap();
    let known = files.into_iter().filter(|file| AREAS.contains(&file.area.as_str()));
    let asked = known.flat_map(|file| {
        let area = file.area;
        file.cases.into_iter().map(move |case| Asked {
            area: area.clone(),
            text: serde_json::to_string(&case).unwrap(),
            case,
        })
    });
    asked.collect()
});

/// Something that can be taken out of a file.
struct Part {
    pointer: String,
    /// What it is called in a report.
    name: String,
    /// Cases with one of these texts in them are asked first.
    hints: Vec<String>,
}

/// A file and what is taken out of it.
struct File {
    name: &'static str,
    json: Value,
    parts: Vec<Part>,
}

impl File {
    fn new(name: &'static str) -> File {
        let json = serde_json::from_str(FILES.text(name).unwrap()).unwrap();
        File { name, json, parts: Vec::new() }
    }

    /// Adds every entry of the list or object at `pointer`, called by its text, its id or its key.
    fn each(mut self, pointer: &str) -> File {
        let entries: Vec<(String, &Value)> = match self.json.pointer(pointer).unwrap() {
            Value::Array(list) => {
                list.iter().enumerate().map(|(index, entry)| (index.to_string(), entry)).collect()
            }
            Value::Object(keys) => keys.iter().map(|(key, entry)| (key.clone(), entry)).collect(),
            _ => panic!("{pointer} of {} has no entries", self.name),
        };
        for (key, entry) in entries {
            let name = entry.as_str().or(entry["id"].as_str()).unwrap_or(&key).to_string();
            let hits = entry["examples"]["hit"].as_array().into_iter().flatten();
            let hits = hits.filter_map(Value::as_str).map(String::from);
            let told = name.split('*').max_by_key(|piece| piece.len()).unwrap_or(&name);
            let hints = hits.chain([told.to_string()]).collect();
            self.parts.push(Part { pointer: format!("{pointer}/{}", escape(&key)), name, hints });
        }
        self
    }

    /// Adds every member of every set.
    fn sets(self) -> File {
        let names: Vec<String> = self.json["sets"].as_object().unwrap().keys().cloned().collect();
        names.iter().fold(self, |file, name| file.each(&format!("/sets/{name}")))
    }

    /// Returns the spec without what is at `pointer`.
    fn without(&self, pointer: &str) -> Spec {
        let mut json = self.json.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match json.pointer_mut(parent).unwrap() {
            Value::Array(list) => drop(list.remove(key.parse().unwrap())),
            Value::Object(keys) => {
                let key = key.replace("~1", "/").replace("~0", "~");
                assert!(keys.shift_remove(&key).is_some(), "nothing at {pointer}");
            }
            _ => panic!("nothing at {pointer}"),
        }
        if self.name == ARITY {
            let mut spec = PACKED.clone();
            spec.arity = Late::now(serde_json::from_value(json).unwrap());
            return spec;
        }
        let mut files = FILES.clone();
        files.set(self.name, json.to_string());
        Spec::load(&files, None).unwrap()
    }

    /// Returns whether a case fails without a part. Those that mention it are asked first; most times that is enough.
    fn needs(&self, part: &Part) -> bool {
        let here = Here::new(self.without(&part.pointer));
        let (first, rest): (Vec<&Asked>, Vec<&Asked>) = CASES
            .iter()
            .partition(|asked| part.hints.iter().any(|hint| asked.text.contains(hint.as_str())));
        first.iter().chain(&rest).any(|Asked { area, case, .. }| check(&here, area, case).is_err())
    }

    /// Expects that nothing can be taken out unnoticed.
    fn all_needed(self) {
        assert!(!self.parts.is_empty(), "{} has nothing to take out", self.name);
        let spare = self.parts.iter().filter(|part| !self.needs(part));
        let spare: Vec<String> = spare
            .map(|Part { pointer, name, .. }| format!("harness/{}{pointer}: {name:?}", self.name))
            .collect();
        assert!(
            spare.is_empty(),
            "no case depends on these; write one that fails without it, or take it out:\n{}",
            spare.join("\n")
        );
    }
}

#[test]
fn the_floor() {
    File::new("permission/hardline.json").each("/rules").sets().all_needed();
}

#[test]
fn the_default_rules() {
    File::new("permission/defaults.json").each("/rules").sets().all_needed();
}

#[test]
fn the_modes() {
    let mut file = File::new("permission/modes.json").sets();
    for (index, mode) in spec::packed().unwrap().modes.iter().enumerate() {
        let known = file.parts.len();
        file = file.each(&format!("/modes/{index}/decide"));
        for row in file.parts.iter_mut().skip(known) {
            row.name = format!("{} {}", mode.id, row.name);
            row.hints = vec![format!("\"mode\":\"{}\"", mode.id)];
        }
    }
    file.all_needed();
}

#[test]
fn what_always_stores() {
    let lists = [
        "/words",
        "/targets",
        "/exact_only",
        "/exact_verbs",
        "/runs_input",
        "/never",
        "/never_with",
    ];
    lists.iter().fold(File::new(ARITY), |file, list| file.each(list)).all_needed();
}

#[test]
fn an_entry_that_no_case_needs_is_told() {
    let mut file = File::new(ARITY);
    file.json["never"].as_array_mut().unwrap().push("no-such-program".into());
    let file = file.each("/never");
    let spare: Vec<&Part> = file.parts.iter().filter(|part| !file.needs(part)).collect();
    assert!(matches!(spare.as_slice(), [part] if part.name == "no-such-program"));
}
