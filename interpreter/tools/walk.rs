//! Goes through the files of a directory as a search sees them: `.git` left out, hidden files seen, ignored ones only
//! when they are asked for, links not followed.

use ignore::{DirEntry, WalkBuilder, WalkState};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Most threads one search uses.
const THREADS: usize = 8;

/// Returns the walk below `base`.
pub(super) fn below(base: &Path, depth: Option<usize>, ignored: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(base);
    walk.standard_filters(!ignored)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    walk
}

/// What a walk found.
pub(super) struct Found<T> {
    /// What was made of its entries, in no order.
    pub(super) results: Vec<T>,
    /// How many places could not be read.
    pub(super) unreadable: usize,
}

/// Gives every file below `base` to workers on several threads, each made by `worker`, and returns what they made of
/// them.
pub(super) fn files<T: Send, W: FnMut(&DirEntry) -> Option<T> + Send>(
    base: &Path,
    ignored: bool,
    stop: &CancellationToken,
    worker: impl Fn() -> W,
) -> Found<T> {
    entries(base, ignored, stop, || {
        let mut work = worker();
        move |entry: &DirEntry| match entry.file_type() {
            Some(kind) if kind.is_file() => work(entry),
            _ => None,
        }
    })
}

/// The same with everything below `base`.
pub(super) fn entries<T: Send, W: FnMut(&DirEntry) -> Option<T> + Send>(
    base: &Path,
    ignored: bool,
    stop: &CancellationToken,
    worker: impl Fn() -> W,
) -> Found<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let (found, results) = mpsc::channel();
    let unreadable = AtomicUsize::new(0);
    below(base, None, ignored).threads(threads).build_parallel().run(|| {
        let (found, unreadable, mut work) = (found.clone(), &unreadable, worker());
        Box::new(move |entry| {
            let Ok(entry) = entry else {
                unreadable.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            };
            if stop.is_cancelled() {
                return WalkState::Quit;
            }
            if let Some(result) = work(&entry) {
                // The other end is there until all are done.
                let _ = found.send(result);
            }
            WalkState::Continue
        })
    });
    drop(found);
    Found { results: results.into_iter().collect(), unreadable: unreadable.into_inner() }
}
