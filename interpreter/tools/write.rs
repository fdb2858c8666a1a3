//! `write`: a whole file. A file that somebody else changed since it was read is left alone.

use super::edit::differences;
use super::seen::Since;
use super::{Outcome, Shared, file};
use crate::engine::{Grant, Target};
use crate::project::safe;
use lembas_core::spec::{WriteArgs, WriteSay};
use lembas_core::text;
use serde_json::json;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};

pub(super) fn run(shared: &Shared, grant: &Grant, args: &WriteArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, Some(&args.path))?;
    let shown = shared.shown(&target.named);
    if args.path.ends_with('/') {
        return Err(shared.fails(WriteSay::Directory, &json!({"path": args.path})));
    }
    let content = args.content.as_bytes();
    let failed = |error: io::Error| failed(shared, &shown, &error);
    let file = match safe::open(&target.real) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            put(shared, target, content, None).map_err(failed)?;
            let values = json!({"path": shown, "lines": lines(content)});
            return Ok(shared.tells(WriteSay::Created, &values));
        }
        opened => opened.map_err(failed)?,
    };
    replace(shared, target, &shown, content, file)
}

/// Returns the answer for an error of the system.
fn failed(shared: &Shared, shown: &str, error: &io::Error) -> Outcome {
    if safe::is_moved(error) {
        return shared.moved(shown);
    }
    let key = if safe::is_special(error) { WriteSay::Special } else { WriteSay::Failed };
    shared.fails(key, &json!({"path": shown, "error": file::words(error)}))
}

/// Replaces what a file holds.
fn replace(
    shared: &Shared,
    target: &Target,
    shown: &str,
    content: &[u8],
    file: File,
) -> Result<Outcome, Outcome> {
    let failed = |error: io::Error| failed(shared, shown, &error);
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        let key = if found.is_dir() { WriteSay::Directory } else { WriteSay::Special };
        return Err(shared.fails(key, &json!({"path": shown})));
    }
    let old = current(shared, file, &found).map_err(failed)?;
    if old.as_deref() == Some(content) {
        shared.seen().saw(target.real.clone(), content, shared.limits().seen);
        return Ok(shared.tells(WriteSay::Unchanged, &json!({"path": shown})));
    }
    let since = old.as_deref().map(|old| shared.seen().since(&target.real, old));
    if let (Some(Since::Changed(seen)), Some(old)) = (&since, &old) {
        let values = differences(shared, shown, seen.as_deref(), old);
        return Err(shared.fails(WriteSay::Stale, &values));
    }
    put(shared, target, content, Some(&found)).map_err(failed)?;
    let (before, unread) = (old.as_deref().map(lines), since == Some(Since::Unread));
    let lost = |had: fn(&[u8]) -> bool| old.as_deref().is_some_and(had) && !had(content);
    let values = json!({
        "path": shown, "lines": lines(content), "before": before, "unread": unread,
        "crlf": lost(has_crlf) && content.contains(&b'\n'),
        "bom": lost(|bytes| bytes.starts_with(text::BOM)),
    });
    Ok(shared.tells(WriteSay::Replaced, &values))
}

/// Returns what the file holds; nothing when that is too much to compare.
fn current(shared: &Shared, file: File, found: &Metadata) -> io::Result<Option<Vec<u8>>> {
    let most = shared.limits().max_file_bytes;
    if found.len() > most { Ok(None) } else { file::read(file, most).map(Some) }
}

/// Writes a file and remembers what it holds now.
pub(super) fn put(
    shared: &Shared,
    target: &Target,
    bytes: &[u8],
    before: Option<&Metadata>,
) -> io::Result<()> {
    safe::write(&target.real, bytes, before)?;
    shared.seen().saw(target.real.clone(), bytes, shared.limits().seen);
    Ok(())
}

fn has_crlf(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\r\n").is_some()
}

fn lines(bytes: &[u8]) -> usize {
    text::lines(bytes).count()
}
