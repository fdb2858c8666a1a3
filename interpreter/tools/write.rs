//! `write`: a whole file. A file that somebody else changed since it was read is left alone.

use super::{Outcome, Shared, file};
use lembas_core::spec::{WriteArgs, WriteSay};
use serde_json::json;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn run(shared: &Shared, args: &WriteArgs) -> Outcome {
    let path = shared.path(&args.path);
    let shown = shared.shown(&path);
    match write(shared, &path, &shown, args.content.as_bytes()) {
        Ok(text) => Outcome::done(text),
        Err(text) => Outcome::failed(text),
    }
}

fn write(shared: &Shared, path: &Path, shown: &str, content: &[u8]) -> Result<String, String> {
    let failed = |error: std::io::Error| {
        shared.say(WriteSay::Failed, &json!({"path": shown, "error": file::words(&error)}))
    };
    let before = match fs::metadata(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        found => found.ok(),
    };
    let real = file::real(path).map_err(failed)?;
    let Some(found) = &before else {
        put(shared, &real, content, None).map_err(failed)?;
        return Ok(shared.say(WriteSay::Created, &json!({"path": shown, "lines": lines(content)})));
    };
    if !found.is_file() {
        let key = if found.is_dir() { WriteSay::Directory } else { WriteSay::Special };
        return Err(shared.say(key, &json!({"path": shown})));
    }
    let old = current(shared, &real, found).map_err(failed)?;
    if old.as_deref() == Some(content) {
        shared.seen().insert(real, file::print(content));
        return Ok(shared.say(WriteSay::Unchanged, &json!({"path": shown})));
    }
    let print = old.as_deref().map(file::print);
    if print.is_some() && shared.seen().get(&real).is_some_and(|seen| Some(*seen) != print) {
        return Err(shared.say(WriteSay::Stale, &json!({"path": shown})));
    }
    put(shared, &real, content, before.as_ref()).map_err(failed)?;
    let values =
        json!({"path": shown, "lines": lines(content), "before": old.as_deref().map(lines)});
    Ok(shared.say(WriteSay::Replaced, &values))
}

/// Returns what the file holds; nothing when that is too much to compare.
fn current(shared: &Shared, path: &Path, found: &Metadata) -> std::io::Result<Option<Vec<u8>>> {
    let most = shared.limits().max_file_bytes;
    if found.len() > most { Ok(None) } else { file::read(path, most).map(Some) }
}

/// Writes a file and remembers what it holds now.
pub(super) fn put(
    shared: &Shared,
    real: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
) -> std::io::Result<()> {
    file::write(real, bytes, before)?;
    // A file that was just made may have been reached through links in its directories.
    let real = fs::canonicalize(real).unwrap_or_else(|_| real.to_owned());
    shared.seen().insert(real, file::print(bytes));
    Ok(())
}

fn lines(bytes: &[u8]) -> usize {
    lembas_core::text::lines(bytes).count()
}
