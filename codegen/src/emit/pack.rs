//! The spec's files as one table in the binary.

use super::text::{doc, line};
use crate::files::Files;

/// Emits a table of names and texts. JSON is packed as written: a rule's line must be found in it.
pub(super) fn emit(out: &mut String, name: &str, about: &str, files: &Files) {
    doc(out, "", about);
    line(out, &format!("pub static {name}: &[(&str, &str)] = &["));
    for (file, text) in files.all() {
        line(out, &format!("    ({file:?}, {text:?}),"));
    }
    line(out, "];");
}
