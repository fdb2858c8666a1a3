//! Any text is read and judged as a line of the shell. Neither panics, and what the reader found lies where it says.
#![no_main]

use lembas_core::permission::{Call, Disk, Layer, Policy, Scope, World, judge};
use lembas_core::shell::{Line, read};
use lembas_core::spec::{self, Spec};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

/// Rules that allow, ask and deny, so that each way through the judge is taken.
const RULES: &str = r#"{ "bash": { "*": "allow", "a *": "deny", "git push *": "ask" } }"#;

/// A disk without links.
struct Plain;

impl Disk for Plain {}

fuzz_target!(|line: &str| {
    lies_inside(line, &read(line, &SPEC.limits.shell));
    let root = Path::new("/home/dev/proj");
    let home = Path::new("/home/dev");
    let world = World { home, cwd: root, project: Some(root), own: &[], disk: &Plain };
    let rules = serde_json::from_str(RULES).unwrap();
    let layers = vec![Layer::read(Scope::Global, "rules", &rules).unwrap()];
    let policy = Policy { mode: "auto".into(), layers, ..Policy::default() };
    let call = Call {
        tool: "bash".into(),
        class: "run".into(),
        rule: "bash".into(),
        command: Some(line.into()),
        ..Call::default()
    };
    judge(&SPEC, &policy, world, &call);
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
