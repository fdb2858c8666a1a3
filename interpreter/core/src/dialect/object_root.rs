//! Gives the parameters of a tool a root that is an object and nothing else, for wires that refuse alternatives there. What is
//! below the root stays as it is.

use super::resolved::Resolver;
use crate::spec::SchemaLimits;
use lembas_codegen::when::Pattern;
use serde_json::{Map, Value};

/// Returns the parameters with such a root. Properties whose names do not fit are left out.
pub(super) fn parameters(schema: &Value, names: Option<&Pattern>, limits: &SchemaLimits) -> Value {
    let mut root = Resolver::new(schema, limits).object(schema, limits.depth);
    root.insert("type".into(), "object".into());
    if let Some(names) = names.and_then(Pattern::regex) {
        keep(&mut root, |name| names.is_match(name));
    }
    root.into()
}

fn keep(root: &mut Map<String, Value>, fits: impl Fn(&str) -> bool) {
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        properties.retain(|name, _| fits(name));
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(&fits));
    }
}
