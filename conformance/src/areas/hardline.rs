//! `hardline`: which rule of the floor a call breaks: `{"command"}` or `{"tool", "path"}`, with `home`, `cwd`, `project`
//! and `setup` as in `permission`, to `{"rule": id or null}`.

use super::permission::{Setting, call};
use lembas_core::permission::{self, Policy};
use lembas_core::spec::Spec;
use serde_json::{Value, json};

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let setting = Setting::of(input);
    let policy = Policy::default();
    let rule = permission::hardline(spec, &policy, setting.world(), &call(spec, input)?);
    Ok(json!({ "rule": rule.map(|rule| &rule.id) }))
}
