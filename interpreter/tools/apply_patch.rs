//! `apply_patch`: a patch of one or more files. All of it is planned by core, then written to temporary files, then put
//! in place; what fails before the end is undone.

use super::edit::changed_since;
use super::seen::Since;
use super::{Outcome, Shared, file};
use crate::engine::{Grant, Target};
use crate::project::safe::{self, Staged, Swapped};
use lembas_core::patch::{self, Entry, Landed, Patch, Plan, Reason, Refused, Tree, Verb, Write};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

pub(super) fn run(shared: &Shared, grant: &Grant) -> Result<Outcome, Outcome> {
    // What was judged is applied, and nothing else.
    let patch = grant.patch.as_ref().ok_or_else(|| Refused::new(Reason::Moved));
    let text = patch.and_then(|patch| apply(&Files { shared, grant }, patch));
    text.map(Outcome::done).map_err(|refused| Outcome {
        error: refused.reason != Reason::AllApplied,
        ..Outcome::failed(patch::refused(&shared.spec, &refused))
    })
}

fn apply(files: &Files<'_>, patch: &Patch) -> Result<String, Refused> {
    let shared = files.shared;
    let matchers = shared.tool("edit").map(|tool| tool.matchers.as_slice()).unwrap_or_default();
    let plan = patch::plan(patch, files, matchers, &shared.limits().edit)?;
    check(files, &plan)?;
    let since: Vec<String> = plan.writes.iter().filter_map(|write| files.told(write)).collect();
    commit(&plan.writes)?;
    for Write { key, after, .. } in &plan.writes {
        match after {
            Some(bytes) => shared.seen().saw(key.clone(), bytes, shared.limits().seen),
            None => shared.seen().forget(key),
        }
    }
    let lines = std::iter::once(patch::applied(&shared.spec, &plan)).chain(since);
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The files of a call, as they were judged.
struct Files<'a> {
    shared: &'a Shared,
    grant: &'a Grant,
}

impl Files<'_> {
    fn target(&self, path: &str) -> Option<&Target> {
        self.grant.paths.of(Some(path))
    }

    /// Returns what is said of a file that somebody else changed.
    fn told(&self, write: &Write) -> Option<String> {
        let shown = self.shared.shown(&self.target(&write.path)?.named);
        changed_since(self.shared, &shown, &write.key, write.before.as_ref()?)
    }

    fn content(&self, target: &Target) -> io::Result<Entry> {
        let file = safe::open(&target.real)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Ok(Entry::Other(Reason::Directory, String::new()));
        }
        if !found.is_file() {
            return Ok(Entry::Other(Reason::Special, String::new()));
        }
        file::read(file, self.shared.limits().max_file_bytes).map(Entry::File)
    }
}

impl Tree for Files<'_> {
    fn key(&self, path: &str) -> PathBuf {
        self.target(path).map_or_else(|| PathBuf::from(path), |target| target.real.clone())
    }

    fn entry(&self, path: &str) -> Entry {
        let other = |reason, words: String| Entry::Other(reason, words);
        let Some(target) = self.target(path) else { return other(Reason::Moved, String::new()) };
        self.content(target).unwrap_or_else(|error| match error.kind() {
            ErrorKind::NotFound => Entry::Missing,
            ErrorKind::FileTooLarge => other(Reason::TooLarge, String::new()),
            _ => other(reason(&error), file::words(&error)),
        })
    }
}

/// Returns the reason that an error of the system is.
fn reason(error: &io::Error) -> Reason {
    if safe::is_moved(error) {
        Reason::Moved
    } else if safe::is_special(error) {
        Reason::Special
    } else {
        Reason::Failed
    }
}

/// Refuses to take away a link in place of its file, and a file as a whole that somebody else changed.
fn check(files: &Files<'_>, plan: &Plan) -> Result<(), Refused> {
    for landed in &plan.landed {
        let takes = matches!(landed.verb, Verb::Deleted | Verb::Moved);
        let link = || files.target(&landed.path).is_some_and(|target| safe::is_link(&target.named));
        let reason = match takes {
            true if link() => Reason::Special,
            true if landed.unseen && is_stale(files, plan, landed) => Reason::Stale,
            _ => continue,
        };
        let path = Some(landed.path.as_str().into());
        return Err(Refused { path, ..Refused::new(reason) });
    }
    Ok(())
}

fn is_stale(files: &Files<'_>, plan: &Plan, landed: &Landed) -> bool {
    let key = files.key(&landed.path);
    let write = plan.writes.iter().find(|write| write.key == key);
    write
        .and_then(|write| write.before.as_ref())
        .is_some_and(|before| matches!(files.shared.seen().since(&key, before), Since::Changed(_)))
}

/// A file that is about to change.
struct Ready<'w> {
    write: &'w Write,
    before: Option<Metadata>,
    /// The new content; nothing for a file that goes.
    staged: Option<Staged>,
}

/// Puts every file in place, or none.
fn commit(writes: &[Write]) -> Result<(), Refused> {
    let failed = |write: &Write, error: &io::Error| Refused {
        path: Some(write.path.as_str().into()),
        text: Some(file::words(error).into()),
        ..Refused::new(reason(error))
    };
    let mut made = Vec::new();
    let mut ready = Vec::new();
    for write in writes {
        match stage(write) {
            Ok(each) => {
                made.extend(each.staged.iter().flat_map(|staged| staged.made.clone()));
                ready.push(each);
            }
            Err(error) => {
                drop(ready);
                safe::remove_directories(&made);
                return Err(failed(write, &error));
            }
        }
    }
    // A crash between two of the renames that follow finds every content whole on the disk, old and new.
    let synced = (ready.len() > 1).then(|| ready.iter().find_map(Ready::sync)).flatten();
    if let Some(refused) = synced.map(|(write, error)| failed(write, &error)) {
        drop(ready);
        safe::remove_directories(&made);
        return Err(refused);
    }
    // Nothing goes before everything else is there.
    ready.sort_by_key(|each| each.staged.is_none());
    let mut done: Vec<Done<'_>> = Vec::new();
    let mut ready = ready.into_iter();
    while let Some(each) = ready.next() {
        match each.put() {
            Ok(put) => done.extend(put),
            Err((write, error)) => {
                drop(ready);
                done.into_iter().rev().for_each(Done::undo);
                safe::remove_directories(&made);
                return Err(failed(write, &error));
            }
        }
    }
    Ok(())
}

impl<'w> Ready<'w> {
    /// Waits until the new content is on the disk; answers with what failed.
    fn sync(&self) -> Option<(&'w Write, io::Error)> {
        let error = self.staged.as_ref()?.sync().err()?;
        Some((self.write, error))
    }

    fn put(self) -> Result<Option<Done<'w>>, (&'w Write, io::Error)> {
        let Ready { write, before, staged } = self;
        let swapped = match (staged, &before) {
            (Some(staged), _) => staged.swap(),
            (None, Some(before)) => safe::take(&write.key, before),
            (None, None) => return Ok(None),
        };
        let swapped = swapped.map_err(|error| (write, error))?;
        Ok(Some(Done { write, before, swapped }))
    }
}

/// A file that was changed.
struct Done<'w> {
    write: &'w Write,
    before: Option<Metadata>,
    swapped: Swapped,
}

impl Done<'_> {
    /// Puts the file back as it was. What cannot be put back is left: the first failure is the one to tell.
    fn undo(self) {
        let Done { write, before, swapped } = self;
        drop(swapped.undo().or_else(|_| rewrite(write, before.as_ref())));
    }
}

fn stage(write: &Write) -> io::Result<Ready<'_>> {
    let before = write.before.as_ref().map(|_| safe::open(&write.key)).transpose()?;
    let before = before.as_ref().map(File::metadata).transpose()?;
    let Some(bytes) = &write.after else { return Ok(Ready { write, before, staged: None }) };
    let like = match &write.like {
        Some(like) => Some(safe::open(like)?.metadata()?),
        None => before.clone(),
    };
    let permissions = like.as_ref().map(Metadata::permissions);
    let staged = Staged::new(&write.key, bytes, before.as_ref(), permissions)?;
    if let Some(on) = write.executable {
        staged.executable(on)?;
    }
    Ok(Ready { write, before, staged: Some(staged) })
}

/// Writes a file again as it was, where the old one was not kept.
fn rewrite(write: &Write, before: Option<&Metadata>) -> io::Result<()> {
    let (Some(bytes), Some(_)) = (&write.before, &write.after) else { return Ok(()) };
    let now = safe::open(&write.key)?.metadata()?;
    let permissions = before.map(Metadata::permissions);
    Staged::new(&write.key, bytes, Some(&now), permissions)?.put()
}
