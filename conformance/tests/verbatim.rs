//! No rule is written for one case: what the rules are made of holds no whole command line that a case asks about.
//! The cases are a sample of what may come; a rule that knows one of them by heart answers that one only.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lembas_core::spec::{self, Files, files};
use serde_json::Value;
use std::collections::BTreeSet;

/// Prose and examples: they decide nothing, and examples may well be lines that are asked about.
const DECIDES_NOTHING: [&str; 8] =
    ["$schema", "id", "about", "say", "says", "why", "source", "examples"];

/// Most words of a command's name: `npm`, `git stash`, `docker compose up`.
const LONGEST_NAME: usize = 3;

/// Returns every text in `json` that decides something, keys too: a key of a list by name is the name of a command.
fn texts(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|each| texts(each, found)),
        Value::Object(keys) => {
            for (key, value) in
                keys.iter().filter(|(key, _)| !DECIDES_NOTHING.contains(&key.as_str()))
            {
                found.push(key.clone());
                texts(value, found);
            }
        }
        _ => {}
    }
}

/// Returns whether a line is no more than a command's name may be. A list of commands holds such lines, as `git stash`,
/// for what they are; a line counts that has an operand besides: a path, a pattern, an option, a fourth word.
fn is_name(line: &str) -> bool {
    let plain = |word: &str| {
        word.chars().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-')
    };
    let verb = |word: &str| plain(word) && word.starts_with(|sign: char| sign.is_ascii_lowercase());
    line.split(' ').count() <= LONGEST_NAME && line.split(' ').all(verb)
}

/// Returns a text as it is compared: blanks joined, and without the backslashes a pattern may have in it.
fn bare(text: &str) -> String {
    text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the command lines that count.
fn lines(files: &Files) -> BTreeSet<String> {
    let cases = spec::cases(files, None).unwrap();
    let permission = cases.into_iter().filter(|file| file.area == "permission");
    let lines = permission.flat_map(|file| file.cases);
    let lines = lines.filter_map(|case| case.input["command"].as_str().map(bare));
    lines.filter(|line| line.contains(' ') && !is_name(line)).collect()
}

/// Returns the lines that `json` holds, and in which text.
fn held(json: &Value, lines: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    texts(json, &mut found);
    let found = found.iter().map(|text| (text, bare(text)));
    let hits = found.flat_map(|(text, bare)| {
        let hit = lines.iter().find(|line| bare.contains(line.as_str()));
        hit.map(|line| format!("{text:?} holds the line of a case: {line}"))
    });
    hits.collect()
}

#[test]
fn rules_hold_no_case() {
    let files = files();
    let lines = lines(&files);
    assert!(lines.len() > 500, "only {} lines are compared", lines.len());
    let judge = |name: &str| name == "quirks.json" || name.starts_with("permission/");
    let mut wrong = Vec::new();
    for (name, text) in files.all().filter(|(name, _)| judge(name)) {
        let found = held(&serde_json::from_str(text).unwrap(), &lines);
        wrong.extend(found.into_iter().map(|each| format!("harness/{name}: {each}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_a_case_in_a_rule() {
    let lines = BTreeSet::from(["cat .env".to_string(), "find . -name x".to_string()]);
    let check = |text: &str, count: usize| {
        let rule = serde_json::json!({ "when": { "words": { "matches": text } }, "why": text });
        assert_eq!(held(&rule, &lines).len(), count, "{text}");
    };
    check("cat .env", 1);
    check("^cat \\.env$", 1);
    check("(sudo )?find  . -name x( |$)", 1);
    check("cat", 0);
    for (line, name) in [
        ("git stash", true),
        ("npm run build", true),
        ("rm -rf a", false),
        ("cat a.txt", false),
        ("a b c d", false),
    ] {
        assert_eq!(is_name(line), name, "{line}");
    }
}
