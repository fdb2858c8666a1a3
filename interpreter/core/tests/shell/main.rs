//! The shell reader beside real bash: every program that bash starts for a line is one that a rule against it denies in
//! that line. Nothing here knows what the reader does inside; both sides are asked the same.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "core does no IO; its test starts bash")]
#![expect(clippy::disallowed_types, reason = "core does no IO; its test keeps logs")]

mod bash;
mod generated;
mod pieces;
mod robust;
mod verdict;

use bash::Bash;
use lembas_core::spec::Decision;
use serde_json::json;
use std::{collections::BTreeSet, sync::Mutex, thread};
use verdict::judged;

/// How many lines are made from pieces of the grammar, and from which seed.
const GENERATED: (usize, u64) = (300, 1);

/// A line, and whether it is enough that it is asked about.
struct Entry {
    line: String,
    may_ask: bool,
}

impl Entry {
    fn of(row: &str) -> Entry {
        let (row, may_ask) = row.strip_prefix("? ").map_or((row, false), |row| (row, true));
        Entry { line: row.replace('␤', "\n").replace('␉', "\t"), may_ask }
    }
}

/// Returns what is wrong about a line: programs that bash started and that nothing in it stands for.
fn missed(bash: &Bash, entry: &Entry) -> Option<String> {
    let Entry { line, may_ask } = entry;
    let ran = bash.run(line);
    let wrong = |name: &&String| match decided(line, name) {
        Decision::Deny => false,
        Decision::Ask => !may_ask,
        Decision::Allow => true,
    };
    let wrong: BTreeSet<&String> = ran.started.iter().filter(wrong).collect();
    (!wrong.is_empty()).then(|| format!("{line:?} starts {wrong:?} unseen\n    {}", ran.said))
}

fn check(entries: Vec<Entry>) {
    let bash = Bash::new();
    let rest = Mutex::new(entries.into_iter());
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                loop {
                    let Some(entry) = rest.lock().unwrap().next() else { return };
                    found.lock().unwrap().extend(missed(&bash, &entry));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}

#[test]
fn written_lines() {
    let rows = include_str!("lines.txt").lines();
    let rows: Vec<&str> = rows.filter(|row| !row.is_empty() && !row.starts_with("# ")).collect();
    assert!(rows.len() > 1000, "the list of lines is cut: {}", rows.len());
    check(rows.into_iter().map(Entry::of).collect());
}

#[test]
fn generated_lines() {
    let (count, seed) = GENERATED;
    let lines = generated::lines(seed, count).into_iter();
    check(lines.map(|line| Entry { line, may_ask: true }).collect());
}

/// Returns the decision about a line where the program of that name is denied.
fn decided(line: &str, name: &str) -> Decision {
    let pattern: String = name.chars().flat_map(literal).collect();
    judged(line, &json!({ "bash": { "*": "allow", format!("{pattern} *"): "deny" } })).decision
}

/// A sign of a name in a pattern; a blank is shown there by its sign.
fn literal(sign: char) -> Vec<char> {
    match sign {
        ' ' => vec!['␠'],
        '\t' => vec!['␉'],
        '*' | '?' | '\\' => vec!['\\', sign],
        _ => vec![sign],
    }
}
