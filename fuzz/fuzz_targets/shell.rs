//! Any text is read and judged as a line of the shell. Neither panics, and what the reader found lies where it says.
#![no_main]

#[path = "../../interpreter/core/tests/shell/verdict.rs"]
mod verdict;

use lembas_core::shell::{Line, read};
use lembas_core::spec::{self, Spec};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use std::sync::LazyLock;
use verdict::judged;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

/// Rules that allow, ask and deny, so that each way through the judge is taken.
static RULES: LazyLock<serde_json::Value> = LazyLock::new(
    || serde_json::json!({ "bash": { "*": "allow", "a *": "deny", "git push *": "ask" } }),
);

fuzz_target!(|line: &str| {
    lies_inside(line, &read(line, &SPEC.limits.shell));
    judged(line, &RULES);
});

/// Every place and position that the reader names exists.
fn lies_inside(line: &str, read: &Line) {
    let within = |range: &Range<usize>| range.is_empty() || range.end <= read.commands.len();
    for command in &read.commands {
        let Range { start, end } = command.span;
        let inside = start <= end && (end <= line.len() || !read.unseen.is_empty());
        assert!(inside, "no place in the line: {command:?}");
        assert!(within(&command.feeds) && within(&command.fed_by), "no commands: {command:?}");
        assert!(command.scope < read.scopes.len().max(1), "no scope: {command:?}");
        let documents = command.redirects.iter().filter_map(|redirect| redirect.document);
        assert!(documents.max() < Some(read.documents.len()), "no document: {command:?}");
    }
    assert!(read.functions.iter().all(|function| within(&function.body)), "{:?}", read.functions);
}
