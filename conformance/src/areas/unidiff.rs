//! `unidiff`: what a unified diff makes of files, or why it makes nothing of them.

use super::patching;
use lembas_core::spec::Spec;
use serde_json::Value;

/// Answers `{files, patch}`.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    patching::answer(spec, input)
}
