//! What `lembas permission explain` says, byte for byte, about lines of the conformance cases. With `LEMBAS_REWRITE=1`
//! the expected texts are written instead of compared.

use crate::process::LIMIT;
use crate::support::{HARNESS, Home, LEMBAS, write};
use jsonschema::validator_for;
use serde_json::Value;
use std::{env, fs, os::unix::fs::symlink, path::Path};

/// Where the expected texts are.
const SAID: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/explained");

/// Returns the conformance case of that name.
fn case(name: &str) -> Value {
    let text = fs::read_to_string(format!("{HARNESS}/conformance/permission.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let mut all = cases["cases"].as_array().unwrap().iter();
    all.find(|case| case["name"] == name).unwrap_or_else(|| panic!("no case {name}")).clone()
}

/// Returns the written rules of a case as lines of `config.yaml`.
fn written(rules: &Value) -> String {
    let mut lines = String::new();
    for (tool, patterns) in rules.as_object().into_iter().flatten() {
        lines.push_str(&format!("  {tool}:\n"));
        for (pattern, then) in patterns.as_object().unwrap() {
            lines.push_str(&format!(
                "    {}: {}\n",
                Value::from(pattern.as_str()),
                then.as_str().unwrap()
            ));
        }
    }
    if lines.is_empty() { lines } else { format!("permission:\n{lines}") }
}

/// Explains a case in a home whose only project is `~/proj`, and returns what is said with a fixed name for the home.
fn explained(name: &str, more: &[&str]) -> String {
    let case = case(name);
    let input = &case["in"];
    let home = Home::at("http://127.0.0.1:9", "", &written(&input["rules"][0]));
    let root = home.project().parent().unwrap().canonicalize().unwrap();
    let project = root.join("home/proj");
    write(&project.join("README.md"), b"");
    for link in input["setup"].as_array().into_iter().flatten() {
        let [from, to] = ["symlink", "to"].map(|key| link[key].as_str().unwrap());
        symlink(to.replace("/home/dev", &root.join("home").to_string_lossy()), project.join(from))
            .unwrap();
    }
    let program = |arguments: &[&str]| {
        let line = "cd ~/proj && exec \"$0\" \"$@\"";
        let ran = home.run_with("sh", &[&["-c", line, LEMBAS], arguments].concat(), None, LIMIT);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}");
        ran.stdout
    };
    for line in input["rules"][1]["always"].as_array().into_iter().flatten() {
        program(&["permission", "allow", line.as_str().unwrap()]);
    }
    let mode = input["mode"].as_str().unwrap_or("manual");
    let line = input["command"]
        .as_str()
        .unwrap()
        .replace("/home/dev", &root.join("home").to_string_lossy());
    let said = program(&[&["permission", "explain", "--mode", mode, &line], more].concat());
    said.replace(&root.join("home").display().to_string(), "/home/dev")
}

/// Compares what is said of a case with its file.
fn check(name: &str, more: &[&str], extension: &str) -> String {
    let said = explained(name, more);
    let file = format!("{SAID}/{name}.{extension}");
    if env::var_os("LEMBAS_REWRITE").is_some() {
        write(Path::new(&file), said.as_bytes());
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(said == expected, "{file} says\n{expected}\nbut it is\n{said}");
    said
}

#[test]
fn what_is_said_of_a_line() {
    for name in [
        "pm-f-readonly-005",
        "pl-b-wrap-002",
        "hl-b-wipe-015",
        "sp-b-redirect-011",
        "sp-b-subst-005",
        "pl-b-nest-004",
        "pl-b-wrap-023",
        "pm-b-option-009",
        "al-f-prefix-010",
        "sp-b-cwdtrick-001",
        "pm-b-cmdpath-022",
    ] {
        check(name, &[], "txt");
    }
}

#[test]
fn what_is_said_of_a_line_as_json() {
    let said: Value = serde_json::from_str(&check("pl-b-wrap-023", &["--json"], "json")).unwrap();
    let schema = include_str!("../../schema/explain.schema.json");
    let schema = validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&said).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
