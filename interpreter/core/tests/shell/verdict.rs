//! What becomes of a line by some rules, in the mode that asks least. The tests and the run of a million lines share it.

use lembas_core::permission::{self, Call, Disk, Layer, Policy, Scope, Verdict, World};
use lembas_core::spec::{self, Spec};
use std::path::Path;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

/// A disk without links.
struct Plain;

impl Disk for Plain {}

/// Judges a line by these rules.
pub(crate) fn judged(line: &str, rules: &serde_json::Value) -> Verdict {
    let root = Path::new("/home/dev/proj");
    let world = World {
        home: Path::new("/home/dev"),
        cwd: root,
        project: Some(root),
        own: &[],
        disk: &Plain,
    };
    let layer = Layer::read(Scope::Global, "rules", rules).unwrap();
    let policy = Policy { mode: "auto".into(), layers: vec![layer], ..Policy::default() };
    let call = Call {
        tool: "bash".into(),
        class: "run".into(),
        rule: "bash".into(),
        command: Some(line.into()),
        ..Call::default()
    };
    permission::judge(&SPEC, &policy, world, &call)
}
