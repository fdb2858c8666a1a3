//! From what a model wrote to what is meant: names and arguments under which a call is accepted. It runs nothing.

use crate::spec::{Spec, ToolSpec};
use serde_json::{Map, Value};

/// Returns the tool that a model means by `name`: the one that has the name, or else one that has it as an alias.
pub fn named<'s>(spec: &'s Spec, name: &str) -> Option<&'s ToolSpec> {
    let alias = |tool: &&ToolSpec| tool.aliases.values().flatten().any(|alias| alias == name);
    spec.tools.iter().find(|tool| tool.name == name).or_else(|| spec.tools.iter().find(alias))
}

/// Returns the arguments of a call under the tool's own names, in the order given. An alias of an argument that is
/// given by its own name too is left as it is: the tool's schema refuses it, and the model is told. In the objects of a
/// list, an alias is that of `list/name`.
pub fn arguments(tool: &ToolSpec, given: Map<String, Value>) -> Map<String, Value> {
    let mut out = renamed(given, |name| tool.argument_aliases.get(name));
    for (list, value) in &mut out {
        let objects = value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
        for object in objects {
            let meant = |name: &str| tool.argument_aliases.get(&format!("{list}/{name}"));
            *object = renamed(std::mem::take(object), meant);
        }
    }
    out
}

fn renamed<'t>(
    given: Map<String, Value>,
    meant: impl Fn(&str) -> Option<&'t String>,
) -> Map<String, Value> {
    let mut out = Map::new();
    let own: Vec<String> = given.keys().cloned().collect();
    for (name, value) in given {
        let meant = meant(&name);
        let meant = meant.filter(|meant| !own.contains(meant) && !out.contains_key(*meant));
        out.insert(meant.cloned().unwrap_or(name), value);
    }
    out
}
