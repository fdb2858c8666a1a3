//! What becomes of a line where one program is denied and all others are allowed, in the mode that asks least.

use lembas_core::permission::{self, Call, Disk, Layer, Policy, Scope, Verdict, World};
use lembas_core::spec::{self, Decision, Spec};
use serde_json::json;
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

/// Returns the decision about a line where the program of that name is denied.
pub(crate) fn decided(line: &str, name: &str) -> Decision {
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
