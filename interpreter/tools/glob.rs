//! `glob`: files by name, the last changed first, and directories where they are meant. What exists under a literal name
//! is taken before any pattern.

use super::{Outcome, Shared, list, read, walk};
use crate::engine::Grant;
use crate::project::safe;
use globset::{GlobBuilder, GlobMatcher};
use ignore::DirEntry;
use lembas_core::spec::{GlobArgs, GlobSay, ListSay};
use serde_json::json;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &GlobArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, args.path.as_deref())?;
    let shown = shared.shown(&target.named);
    let (_, before) = read::found(shared, target, &shown)?;
    let given = &args.pattern;
    let outside = || shared.fails(GlobSay::Outside, &json!({"pattern": given, "path": shown}));
    let pattern = inside(&target.named, given).ok_or_else(outside)?;
    let (base, rest) = literal_part(&target.real, pattern);
    let Some(rest) = rest else { return Ok(Outcome::done(shared.shown(&target.called(&base)))) };
    let matcher = matcher(&rest).map_err(|error| {
        let values = json!({"pattern": given, "error": error.kind().to_string()});
        shared.fails(GlobSay::Pattern, &values)
    })?;
    let ignored = args.ignored.unwrap_or(false);
    let (base, matcher) = (base.as_path(), &matcher);
    let found = walk::entries(base, ignored, &grant.stop, || {
        move |entry: &DirEntry| {
            let kind = entry.file_type().filter(|kind| kind.is_file() || kind.is_dir())?;
            if entry.depth() == 0 {
                return None;
            }
            let matches = matcher.is_match(entry.path().strip_prefix(base).unwrap_or(entry.path()));
            matches.then(|| (kind.is_dir(), Reverse(changed(entry)), entry.path().to_owned()))
        }
    });
    read::still(shared, target, &shown, &before)?;
    let mut entries = found.results;
    // Directories are meant by a pattern that says so, and by one that no file matches.
    let files = !given.ends_with('/') && entries.iter().any(|(directory, ..)| !directory);
    entries.retain(|(directory, ..)| *directory != files);
    entries.sort_unstable();
    let line = |(directory, _, path): &(bool, _, PathBuf)| {
        shared.shown(&target.called(path)) + if *directory { "/" } else { "" }
    };
    let lines: Vec<_> = entries.iter().map(line).collect();
    let mut text = list::bounded(shared, GlobSay::More, &lines, shared.limits().glob.results);
    if lines.is_empty() {
        let values = json!({"pattern": given, "path": shown, "ignored": ignored});
        text = shared.say(GlobSay::None, &values);
    }
    if found.unreadable > 0 {
        let values = json!({"count": found.unreadable});
        text = text + "\n" + &shared.say(ListSay::Unreadable, &values);
    }
    Ok(Outcome::done(text))
}

/// When a file was last changed, as far as that can be known.
fn changed(entry: &DirEntry) -> SystemTime {
    let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
    changed.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns the pattern relative to `path`; nothing when it leads out of it, where nobody judged the call.
fn inside<'a>(path: &Path, pattern: &'a str) -> Option<&'a str> {
    let relative = match pattern.strip_prefix('/') {
        Some(_) => pattern.strip_prefix(path.to_str()?)?.strip_prefix('/')?,
        None => pattern.strip_prefix("./").unwrap_or(pattern),
    };
    relative.split('/').all(|part| part != "..").then_some(relative)
}

/// Returns the directory that the pattern's first parts name literally, and the rest of the pattern; no rest when
/// all of it names a file. Links are not followed.
fn literal_part(path: &Path, pattern: &str) -> (PathBuf, Option<String>) {
    let mut base = path.to_owned();
    let mut parts: Vec<_> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let any_depth = parts.len() == 1;
    while let [first, rest @ ..] = parts.as_slice() {
        let next = base.join(first);
        // A link is none of what is asked for here.
        let found = safe::open(&next).and_then(|file| file.metadata());
        if rest.is_empty()
            && found.as_ref().is_ok_and(|found| found.is_file())
            && first.contains(['*', '?', '[', '{'])
        {
            return (next, None);
        }
        if rest.is_empty() || !found.is_ok_and(|found| found.is_dir()) {
            break;
        }
        base = next;
        parts.remove(0);
    }
    let rest = parts.join("/");
    (base, Some(if any_depth { format!("**/{rest}") } else { rest }))
}

/// Returns what matches a path by `pattern`, in which `*` stays within one name.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(pattern).literal_separator(true).build()?.compile_matcher())
}
