//! `edit`: replaces text in a file by the edit engine of core, and writes the file only when the edit was made.

use super::seen::Since;
use super::{Outcome, Shared, file, read, write};
use crate::engine::Grant;
use lembas_core::edit::{self, Change, Reason};
use lembas_core::spec::{EditArgs, EditSay};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &EditArgs) -> Result<Outcome, Outcome> {
    let (Some(tool), limits) = (shared.tool("edit"), &shared.limits().edit) else {
        return Err(Outcome::failed(String::new()));
    };
    let change = Change { old: &args.old, new: &args.new, all: args.all.unwrap_or(false) };
    change_file(shared, grant, &args.path, |shown, bytes| {
        match edit::edit(bytes, change, &tool.matchers, limits) {
            Err(refused) => Changed {
                bytes: None,
                error: refused.reason != Reason::AlreadyApplied,
                text: edit::refused(tool, shown, &refused),
            },
            Ok(edited) => Changed {
                text: edit::changed(tool, shown, &edited),
                bytes: Some(edited.bytes),
                error: false,
            },
        }
    })
}

/// What a change makes of a file.
pub(super) struct Changed {
    /// The new content; nothing when the file stays as it is.
    pub(super) bytes: Option<Vec<u8>>,
    /// What the model is told.
    pub(super) text: String,
    /// Whether the change failed.
    pub(super) error: bool,
}

/// Changes a file by `change`, which is told how the file is shown and what it holds. What somebody else changed since
/// the file was last read is kept, and told.
pub(super) fn change_file(
    shared: &Shared,
    grant: &Grant,
    given: &str,
    change: impl FnOnce(&str, &[u8]) -> Changed,
) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, Some(given))?;
    let shown = shared.shown(&target.named);
    let (file, found) = read::regular(shared, target, &shown)?;
    let failed = |error| read::failed(shared, &shown, found.len(), &error);
    let bytes = file::read(file, shared.limits().max_file_bytes).map_err(failed)?;
    let changed = change(&shown, &bytes);
    let since = changed_since(shared, &shown, &target.real, &bytes);
    if let Some(bytes) = &changed.bytes {
        write::put(shared, target, bytes, Some(&found)).map_err(failed)?;
    }
    let text = [Some(changed.text), since].into_iter().flatten().collect::<Vec<_>>().join("\n");
    Ok(Outcome { error: changed.error, ..Outcome::done(text) })
}

/// Returns what is said of a file that somebody else changed since it was last read; nothing of any other.
pub(super) fn changed_since(
    shared: &Shared,
    shown: &str,
    real: &Path,
    now: &[u8],
) -> Option<String> {
    let Since::Changed(before) = shared.seen().since(real, now) else { return None };
    let values = differences(shared, shown, before.as_deref(), now);
    Some(shared.say(EditSay::ChangedSince, &values))
}

/// Returns what a sentence says of how a file differs from what was seen of it, if that was kept.
pub(super) fn differences(shared: &Shared, shown: &str, seen: Option<&[u8]>, now: &[u8]) -> Value {
    let (lines, left) =
        seen.map(|seen| edit::differences(seen, now, &shared.limits().edit)).unwrap_or_default();
    json!({"path": shown, "lines": lines, "left": left})
}
