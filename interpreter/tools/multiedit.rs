//! `multiedit`: several edits of one file, in order, all of them or none.

use super::edit::{Changed, change_file};
use super::{Outcome, Shared};
use crate::engine::Grant;
use lembas_core::edit::{self, Change};
use lembas_core::spec::MultieditArgs;

pub(super) fn run(
    shared: &Shared,
    grant: &Grant,
    args: &MultieditArgs,
) -> Result<Outcome, Outcome> {
    let (Some(edit), Some(tool)) = (shared.tool("edit"), shared.tool("multiedit")) else {
        return Err(Outcome::failed(String::new()));
    };
    let changes: Vec<_> = args
        .edits
        .iter()
        .map(|each| Change { old: &each.old, new: &each.new, all: each.all.unwrap_or(false) })
        .collect();
    change_file(shared, grant, &args.path, |shown, bytes| {
        match edit::edits(bytes, &changes, &edit.matchers, &shared.limits().edit) {
            Err((index, refused)) => Changed {
                bytes: None,
                text: edit::edits_refused(edit, tool, shown, index, changes.len(), &refused),
                error: true,
            },
            Ok(edits) => Changed {
                text: edit::edits_made(edit, tool, shown, &edits),
                bytes: (!edits.lines.is_empty()).then_some(edits.bytes),
                error: false,
            },
        }
    })
}
