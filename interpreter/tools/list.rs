//! `list`: what a directory holds, sorted, as far as searches see it.

use super::{Outcome, Shared, read, walk};
use lembas_core::spec::{ListArgs, ListSay, Sentence};
use serde_json::json;
use std::fs;
use std::path::Path;
use tokio_util::sync::CancellationToken;

pub(super) fn run(shared: &Shared, stop: &CancellationToken, args: &ListArgs) -> Outcome {
    let path = shared.path(args.path.as_deref().unwrap_or("."));
    let shown = shared.shown(&path);
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => {
            let depth = args.depth.and_then(|depth| usize::try_from(depth).ok()).unwrap_or(1);
            let text = entries(shared, &path, depth, stop);
            Outcome::done(if text.is_empty() {
                shared.say(ListSay::Empty, &json!({"path": shown}))
            } else {
                text
            })
        }
        Ok(found) => shared.fails(ListSay::File, &json!({"path": shown, "bytes": found.len()})),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            read::missing(shared, &path, &shown)
        }
        Err(error) => read::failed(shared, &shown, 0, &error),
    }
}

/// Returns the entries below a directory, a line each, relative to it; how many were left out is said.
pub(super) fn entries(
    shared: &Shared,
    path: &Path,
    depth: usize,
    stop: &CancellationToken,
) -> String {
    let mut names: Vec<_> = walk::below(path, Some(depth))
        .build()
        .take_while(|_| !stop.is_cancelled())
        .flatten()
        .filter(|entry| entry.depth() > 0)
        .map(|entry| {
            let inside =
                entry.path().strip_prefix(path).unwrap_or(entry.path()).display().to_string();
            let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            if directory { inside + "/" } else { inside }
        })
        .collect();
    names.sort_unstable();
    bounded(shared, ListSay::More, &names, shared.limits().list.results)
}

/// Returns at most `most` of the lines, within the bytes of a result, and says by `more` how many were left out.
pub(super) fn bounded(
    shared: &Shared,
    more: impl Sentence,
    lines: &[String],
    most: usize,
) -> String {
    let mut room = shared.limits().max_bytes;
    let fits = |line: &&String| {
        let fits = line.len() < room;
        room = room.saturating_sub(line.len() + 1);
        fits
    };
    let shown: Vec<_> = lines.iter().take(most).take_while(fits).map(String::as_str).collect();
    let left = lines.len() - shown.len();
    let mut text = shown.join("\n");
    if left > 0 {
        text.push('\n');
        text.push_str(&shared.say(more, &json!({"left": left, "all": lines.len()})));
    }
    text
}
