//! `edit`: replaces text in a file by the edit engine of core, and writes the file only when the edit was made.

use super::{Outcome, Shared, file, read, write};
use crate::engine::Grant;
use lembas_core::edit::{self, Change, Reason};
use lembas_core::spec::EditArgs;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &EditArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, Some(&args.path))?;
    let shown = shared.shown(&target.named);
    let (file, found) = read::regular(shared, target, &shown)?;
    let failed = |error| read::failed(shared, &shown, found.len(), &error);
    let bytes = file::read(file, shared.limits().max_file_bytes).map_err(failed)?;
    let Some(tool) = shared.tool("edit") else { return Err(Outcome::failed(String::new())) };
    let change = Change { old: &args.old, new: &args.new, all: args.all.unwrap_or(false) };
    match edit::edit(&bytes, change, &tool.matchers, &shared.limits().edit) {
        Err(refused) => Ok(Outcome {
            error: refused.reason != Reason::AlreadyApplied,
            text: edit::refused(tool, &shown, &refused),
        }),
        Ok(edited) => {
            write::put(shared, target, &edited.bytes, Some(&found)).map_err(failed)?;
            Ok(Outcome::done(edit::changed(tool, &shown, &edited)))
        }
    }
}
