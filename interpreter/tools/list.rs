//! `list`: what a directory holds, sorted, as far as searches see it.

use super::{Outcome, Shared, read, walk};
use crate::engine::{Grant, Target};
use crate::project::marked;
use lembas_core::spec::{ListArgs, ListSay, Sentence};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &ListArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, args.path.as_deref())?;
    let shown = shared.shown(&target.named);
    let (_, found) = read::found(shared, target, &shown)?;
    if !found.is_dir() {
        let values = json!({"path": shown, "bytes": found.len()});
        return Err(shared.fails(ListSay::File, &values));
    }
    let depth = args.depth.and_then(|depth| usize::try_from(depth).ok()).unwrap_or(1);
    let ignored = args.ignored.unwrap_or(false);
    let text = entries(shared, target, depth, ignored, &grant.stop);
    read::still(shared, target, &shown, &found)?;
    Ok(if text.is_empty() {
        shared.tells(ListSay::Empty, &json!({"path": shown, "ignored": ignored}))
    } else {
        Outcome::done(text)
    })
}

/// Returns the entries below a directory, a line each, relative to it; how many were left out is said.
pub(super) fn entries(
    shared: &Shared,
    target: &Target,
    depth: usize,
    ignored: bool,
    stop: &CancellationToken,
) -> String {
    let mut unreadable = 0;
    let mut names: Vec<_> = walk::below(&target.real, Some(depth), ignored)
        .build()
        .take_while(|_| !stop.is_cancelled())
        .inspect(|entry| unreadable += usize::from(entry.is_err()))
        .flatten()
        .filter(|entry| entry.depth() > 0)
        .map(|entry| {
            let inside = entry.path().strip_prefix(&target.real).unwrap_or(entry.path());
            let inside = marked(inside);
            let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            if directory { inside + "/" } else { inside }
        })
        .collect();
    names.sort_unstable();
    let mut text = bounded(shared, ListSay::More, &names, shared.limits().list.results);
    if unreadable > 0 {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&shared.say(ListSay::Unreadable, &json!({"count": unreadable})));
    }
    text
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
