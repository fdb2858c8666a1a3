//! The spec's files as tables in the binary: as they are what a run asks, deflated what checks alone do.

use super::text::{doc, line};
use crate::{
    files::{Files, deflated},
    spec::QUIRKS,
};
use std::io;

/// Whether a run may ask a file; cases, prose, the protocol's text and what is read in brief alone are for checks.
fn is_warm(file: &str) -> bool {
    file == "VERSION"
        || file.starts_with("prompts/")
        || (file.ends_with(".json") && file != QUIRKS && !file.starts_with("conformance/"))
}

/// Emits the tables. JSON is packed as written: a rule's line must be found in it.
pub(super) fn emit(out: &mut String, files: &Files, schemas: &Files) -> io::Result<()> {
    doc(out, "", "The files of the spec this build was made from that a run may ask.");
    line(out, "static PACK: &[(&str, &str)] = &[");
    let (warm, cold): (Vec<_>, Vec<_>) = files.all().partition(|(file, _)| is_warm(file));
    for (file, text) in warm {
        line(out, &format!("    ({file:?}, {text:?}),"));
    }
    line(out, "];");
    table(out, "REST", "The other files of that spec, deflated.", cold)?;
    table(out, "SCHEMAS", "The schemas of every kind of file, deflated.", schemas.all())
}

fn table<'f>(
    out: &mut String,
    name: &str,
    about: &str,
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> io::Result<()> {
    doc(out, "", about);
    line(out, &format!("static {name}: &[(&str, &[u8])] = &["));
    for (file, text) in files {
        line(out, &format!("    ({file:?}, b\"{}\"),", deflated(text)?.escape_ascii()));
    }
    line(out, "];");
    Ok(())
}
