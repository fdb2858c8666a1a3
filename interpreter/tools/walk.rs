//! Goes through the files of a directory as a search sees them: ignored files and `.git` left out, hidden ones seen,
//! links not followed.

use ignore::{DirEntry, WalkBuilder, WalkState};
use std::path::Path;
use std::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Most threads one search uses.
const THREADS: usize = 8;

/// Returns the walk below `base`.
pub(super) fn below(base: &Path, depth: Option<usize>) -> WalkBuilder {
    let mut walk = WalkBuilder::new(base);
    walk.hidden(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    walk
}

/// Gives every file below `base` to `look`, on several threads, and returns what it made of them, in no order.
pub(super) fn files<T: Send>(
    base: &Path,
    stop: &CancellationToken,
    look: impl Fn(&DirEntry) -> Option<T> + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let (found, results) = mpsc::channel();
    below(base, None).threads(threads).build_parallel().run(|| {
        let (found, look) = (found.clone(), &look);
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            if stop.is_cancelled() {
                return WalkState::Quit;
            }
            if entry.file_type().is_some_and(|kind| kind.is_file())
                && let Some(result) = look(&entry)
            {
                let _ = found.send(result);
            }
            WalkState::Continue
        })
    });
    drop(found);
    results.into_iter().collect()
}
