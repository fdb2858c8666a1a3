//! How a path is shown, and what was probably meant by one that is not there.

use crate::engine::Target;
use crate::project::{marked, safe};
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// How alike two names must be, of 1, for one to be suggested.
const LIKE: f32 = 0.6;

/// How many entries of the project are looked at for a suggestion.
const LOOKED_AT: usize = 20_000;

/// Returns a path as it is shown, relative to `cwd` when it lies in it, otherwise whole.
pub(super) fn shown(cwd: &Path, path: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => marked(inside),
        Err(_) => marked(path),
    }
}

/// Returns at most `most` paths that may have been meant by `missing`: names like it beside it, then files of the
/// same name in the project.
pub(super) fn suggestions(root: &Path, missing: &Target, most: usize) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (missing.real.parent(), missing.real.file_name()) else {
        return Vec::new();
    };
    let called = missing.named.parent().unwrap_or(parent);
    let names = safe::names(parent, LOOKED_AT).unwrap_or_default();
    let lower: Vec<_> = names.iter().map(|name| name.to_lowercase()).collect();
    let known: Vec<_> = lower.iter().map(String::as_str).collect();
    // Who writes `\\` between names means the last of them.
    let name = name.to_string_lossy();
    let name = name.rsplit('\\').next().unwrap_or_default();
    let wanted = name.to_lowercase();
    let like = similar::get_close_matches(wanted.as_str(), &known, most, LIKE);
    let beside =
        like.iter().filter_map(|like| names.get(lower.iter().position(|name| name == like)?));
    let mut found: Vec<_> = beside.map(|name| called.join(name)).collect();
    let files = WalkBuilder::new(root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let same = files.flatten().take(LOOKED_AT).filter(|entry| entry.file_name() == name);
    let same = same.map(ignore::DirEntry::into_path).take(most);
    found.extend(same.filter(|path| *path != missing.real));
    found.dedup();
    found.truncate(most);
    found
}
