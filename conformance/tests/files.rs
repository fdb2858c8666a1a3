//! Runs over files: what is wrong with them is told by place, what is recorded keeps their layout.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use lembas_conformance::{Error, Options, Outcome, Record, harness, run};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn report(options: &Options) -> (Outcome, String) {
    let mut out = Vec::new();
    let outcome = run(options, &mut out).unwrap();
    (outcome, text(out))
}

/// A spec directory that is a copy of the one in the repository.
fn spec_copy() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = lembas_core::spec::files();
    for (name, text) in files.all() {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Replaces a text that stands in a file of the spec.
fn replace(dir: &Path, file: &str, from: &str, to: &str) {
    let path = dir.join(file);
    let before = fs::read_to_string(&path).unwrap();
    assert!(before.contains(from), "{file} has no {from}");
    fs::write(path, before.replacen(from, to, 1)).unwrap();
}

/// Runs a file of cases whose problems are expected.
fn refused(cases: &str, expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.json");
    fs::write(&path, cases).unwrap();
    let options = Options { cases: vec![path.clone()], ..Options::default() };
    let mut out = Vec::new();
    let error = run(&options, &mut out).unwrap_err();
    let Error::Input(lines) = error else { panic!("{error}") };
    let expected: Vec<String> =
        expected.iter().map(|each| format!("{}{each}", path.display())).collect();
    assert_eq!(lines, expected);
    assert_eq!(out, b"", "a run that is refused reports nothing");
}

#[test]
fn a_wrong_file_is_refused_with_places() {
    refused("{\n  x", &[":2:3: not JSON: key must be a string at line 2 column 3"]);
    refused("{ \"area\": \"hardline\" }", &[":1:1: \"cases\" is missing here"]);
    refused(
        "{ \"area\": \"../x\", \"cases\": [\n{ \"name\": 1 }] }",
        &[
            ":1:11: \"../x\" does not match \"^[a-z][a-z0-9_-]*$\"",
            ":2:1: \"in\" is missing in /cases/0",
            ":2:11: 1 is not of type \"string\"",
        ],
    );
    refused(
        "{ \"area\": \"hardline\", \"cases\": [{ \"name\": \"a\", \"in\": 1 },\n{ \"name\": \"a\", \"in\": 2 }] }",
        &[":2:11: a second case called \"a\"; names are unique in an area"],
    );
    let missing = Options { cases: vec!["no/such.json".into()], ..Options::default() };
    let error = run(&missing, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with("no/such.json: No such file"), "{error}");
}

#[test]
fn a_wrong_directory_is_refused_with_places() {
    let dir = spec_copy();
    replace(dir.path(), "permission/hardline.json", "\"program\"", "\"programme\"");
    let options = Options { harness: Some(dir.path().into()), ..Options::default() };
    let error = run(&options, &mut Vec::new()).unwrap_err().to_string();
    let start = format!("{}/permission/hardline.json:", dir.path().display());
    assert!(error.starts_with(&start), "{error}");
    assert!(error.contains(": no fact \"programme\" here; there are: "), "{error}");
    assert_eq!(harness::check(Some(dir.path()), &mut Vec::new()).unwrap_err().to_string(), error);
}

#[test]
fn a_rule_that_breaks_its_example_is_refused() {
    let dir = spec_copy();
    replace(dir.path(), "quirks.json", "\"hit\": [", "\"hit\": [{ \"dialect\": \"none\" }, ");
    let error = harness::check(Some(dir.path()), &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("misses this example, which it must hit"), "{error}");
}

#[test]
fn what_this_build_does_not_know_is_noted_and_skipped() {
    let dir = spec_copy();
    let plan =
        "{ \"area\": \"made-up\", \"cases\": [{ \"name\": \"a\", \"in\": 1, \"expect\": 1 }] }";
    fs::write(dir.path().join("conformance/made-up.json"), plan).unwrap();
    let tool = fs::read_to_string(dir.path().join("tools/read.json")).unwrap();
    let mut tool: serde_json::Value = serde_json::from_str(&tool).unwrap();
    tool["name"] = "peruse".into();
    // An alias belongs to one tool.
    tool["aliases"] = serde_json::json!({});
    let tool = tool.to_string();
    fs::write(dir.path().join("tools/peruse.json"), tool).unwrap();
    let mut out = Vec::new();
    assert_eq!(harness::check(Some(dir.path()), &mut out).unwrap(), Outcome::Passed);
    let told = text(out);
    assert!(told.contains("note: this build has no handler for tools/peruse.json"), "{told}");
    assert!(told.contains("note: this build has no area \"made-up\"; its cases"), "{told}");
    assert!(told.contains("cases: no problems"), "{told}");
    let options = Options {
        harness: Some(dir.path().into()),
        area: Some("made-up".into()),
        ..Options::default()
    };
    let lines = "skip made-up/a: no such area in this build\n0 passed, 0 failed, 1 skipped\n";
    assert_eq!(report(&options), (Outcome::Passed, lines.into()));
}

const MIXED: &str = r#"{
  "area": "tool",
  "cases": [
    { "name": "same", "in": { "name": "nothing" }, "expect": { "tool": null, "arguments": {} }, "why": "kept" },
    { "name": "new", "in": { "name": "nothing" } },
    {
      "name": "wrong",
      "in": { "name": "nothing" },
      "expect": { "tool": "read" }
    },
    { "name": "broken", "in": {} }
  ]
}
"#;

/// What becomes of the second case when its answer is recorded.
fn with_new(cases: &str) -> String {
    let answer = "\"nothing\" }, \"expect\": { \"tool\": null, \"arguments\": {} } },\n    {";
    cases.replacen("\"nothing\" } },\n    {", answer, 1)
}

fn recorded(record: Option<Record>, json: bool) -> (Outcome, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.json");
    fs::write(&path, MIXED).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let options = Options { cases: vec![path.clone()], record, json, ..Options::default() };
    let (outcome, told) = report(&options);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    (outcome, told, fs::read_to_string(&path).unwrap())
}

#[test]
fn nothing_is_written_unasked() {
    let (outcome, told, after) = recorded(None, false);
    let got = r#"{"tool":null,"arguments":{}}"#;
    let lines = format!(
        "fail tool/new: not recorded; got {got}\n\
         fail tool/wrong: expected {{\"tool\":\"read\"}}, got {got}\n\
         fail tool/broken: got no answer: "
    );
    assert!(told.starts_with(&lines), "{told}");
    assert!(told.ends_with("\n1 passed, 3 failed, 0 skipped\n"), "{told}");
    assert_eq!((outcome, after.as_str()), (Outcome::Failed, MIXED));
}

#[test]
fn missing_answers_are_recorded() {
    let (outcome, told, after) = recorded(Some(Record::Missing), false);
    assert!(told.contains("record tool/new: is now {\"tool\":null,"), "{told}");
    assert!(told.ends_with("1 recorded\n1 passed, 2 failed, 0 skipped\n"), "{told}");
    assert_eq!((outcome, after), (Outcome::Failed, with_new(MIXED)));
}

#[test]
fn all_answers_are_recorded() {
    let (_, told, after) = recorded(Some(Record::All), false);
    let changed = "record tool/wrong: expected {\"tool\":\"read\"}, now {\"tool\":null,";
    assert!(told.contains(changed), "{told}");
    assert!(told.ends_with("2 recorded\n1 passed, 1 failed, 0 skipped\n"), "{told}");
    let (before, now) = ("{ \"tool\": \"read\" }\n", "{ \"tool\": null, \"arguments\": {} }\n");
    assert_eq!(after, with_new(MIXED).replacen(before, now, 1));
}

#[test]
fn json_lines_hold_what_the_text_does() {
    let (_, told, _) = recorded(None, true);
    let lines: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.lines().next().unwrap(), r#"{"area":"tool","name":"same","ok":true}"#);
    assert_eq!(lines[2]["expected"]["tool"], "read");
    assert!(lines[2]["got"]["tool"].is_null());
    assert!(lines[3]["error"].is_string());
    assert_eq!(told.lines().last().unwrap(), r#"{"passed":1,"failed":3,"skipped":0}"#);
}

#[test]
fn packed_cases_are_not_written() {
    let options = Options { record: Some(Record::All), ..Options::default() };
    let error = run(&options, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("--harness DIR or --cases FILE"), "{error}");
}

#[test]
fn two_specs_are_compared() {
    let (old, new) = (spec_copy(), spec_copy());
    let mut out = Vec::new();
    assert_eq!(harness::diff(old.path(), new.path(), &mut out).unwrap(), Outcome::Passed);
    assert!(text(out).ends_with(" answers differ, 0 parts differ\n"));
    replace(new.path(), "tools/read.json", "\"name\": \"read\"", "\"name\": \"peruse\"");
    replace(new.path(), "permission/modes.json", "\"id\": \"auto\"", "\"id\": \"free\"");
    let mut out = Vec::new();
    assert_eq!(harness::diff(old.path(), new.path(), &mut out).unwrap(), Outcome::Failed);
    let told = text(out);
    for line in [
        "- mode auto (permission/modes.json)\n",
        "+ mode free (permission/modes.json)\n",
        "~ tool read (tools/read.json)\n",
        "answer tool/by its own name: was {\"tool\":\"read\",\"arguments\":{\"path\":\"a\"}}, now {\"tool\":null,",
        " parts differ\n",
    ] {
        assert!(told.contains(line), "{told} has no {line}");
    }
}

#[test]
fn the_reference_names_every_part() {
    let mut out = Vec::new();
    harness::doc(None, &mut out).unwrap();
    let told = text(out);
    let spec = lembas_core::spec::packed().unwrap();
    let tools = spec.tools.iter().map(|tool| &tool.name);
    let rules = spec.hardline.iter().chain(&spec.quirks).map(|rule| &rule.id);
    for name in tools.chain(rules).chain(spec.modes.iter().map(|mode| &mode.id)) {
        assert!(told.contains(name.as_str()), "{name} is missing");
    }
}
