//! Says whether a spec is right, and what this build would leave out of it.

use crate::{
    error::{Error, Outcome},
    source,
};
use lembas_core::spec::{Area, DialectName, Spec, Tool, Whole};
use std::{io::Write, path::Path};

/// Checks everything in `dir`, or in the texts packed into the binary, and runs every rule's examples.
///
/// # Errors
/// All problems, a line each; or the report could not be written.
pub fn check(dir: Option<&Path>, out: &mut dyn Write) -> Result<Outcome, Error> {
    let whole = source::whole(dir)?;
    let Whole { spec, cases, .. } = &whole;
    for tool in spec.tools.iter().filter(|tool| Tool::named(&tool.id).is_none()) {
        writeln!(
            out,
            "note: this build has no handler for tools/{}.json; it is not offered",
            tool.id
        )?;
    }
    for dialect in spec.dialects.iter().filter(|each| DialectName::named(&each.id).is_none()) {
        writeln!(
            out,
            "note: this build does not speak dialects/{}.json; a connection that needs it is refused",
            dialect.id
        )?;
    }
    for file in cases.iter().filter(|file| Area::named(&file.area).is_none()) {
        writeln!(out, "note: this build has no area {:?}; its cases are skipped", file.area)?;
    }
    writeln!(
        out,
        "harness {}: {} tools, {} modes, {} rules, {} cases: no problems",
        spec.version,
        spec.tools.len(),
        spec.modes.len(),
        rules(spec),
        cases.iter().map(|file| file.cases.len()).sum::<usize>(),
    )?;
    Ok(Outcome::Passed)
}

fn rules(spec: &Spec) -> usize {
    spec.hardline.len() + spec.quirks.len() + spec.defaults.len()
}
