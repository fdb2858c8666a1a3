//! `edit`: replaces text in a file by the edit engine of core, and writes the file only when the edit was made.

use super::{Outcome, Shared, file, read, write};
use lembas_core::edit::{self, Change, Reason};
use lembas_core::spec::EditArgs;
use std::fs;

pub(super) fn run(shared: &Shared, args: &EditArgs) -> Outcome {
    let path = shared.path(&args.path);
    let shown = shared.shown(&path);
    let found = match read::regular(shared, &path, &shown) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let failed = |error| read::failed(shared, &shown, found.len(), &error);
    let content = fs::canonicalize(&path).and_then(|real| {
        let bytes = file::read(&real, shared.limits().max_file_bytes)?;
        Ok((real, bytes))
    });
    let (real, bytes) = match content {
        Ok(content) => content,
        Err(error) => return failed(error),
    };
    let Some(tool) = shared.tool("edit") else { return Outcome::failed(String::new()) };
    let change = Change { old: &args.old, new: &args.new, all: args.all.unwrap_or(false) };
    match edit::edit(&bytes, change, &tool.matchers, &shared.limits().edit) {
        Err(refused) => Outcome {
            error: refused.reason != Reason::AlreadyApplied,
            text: edit::refused(tool, &shown, &refused),
        },
        Ok(edited) => match write::put(shared, &real, &edited.bytes, Some(&found)) {
            Ok(()) => Outcome::done(edit::changed(tool, &shown, &edited)),
            Err(error) => failed(error),
        },
    }
}
