//! The files a call touches: what its arguments, operands, options and redirects name, where that really is, and what
//! the floor, the rules and the project's border say of it.

use super::{Judge, Place};
use crate::permission::arguments::contains;
use crate::permission::folded::{is_usual, protected};
use crate::permission::globs;
use crate::permission::offers::{OUTSIDE, pattern};
use crate::permission::paths::{self, Located, is_address, resolve};
use crate::permission::plain::{Plain, wrapper};
use crate::permission::program::Reading;
use crate::permission::real::real;
use crate::permission::rules::Asked;
use crate::permission::unwrap::is_assignment;
use crate::permission::view::FileView;
use crate::permission::{Call, NamedPath, program, rules};
use crate::shell::{Redirect, RedirectKind, Word};
use crate::spec::{Decision, FileAction, FileFacts};
use foldhash::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

impl Judge<'_> {
    /// Looks at the files a command names in any spelling, and at its redirects.
    pub(super) fn files(
        &mut self,
        place: Place<'_>,
        written: &str,
        plain: &Plain,
        readings: &[Rc<Reading<'_>>],
        cwds: Option<&[PathBuf]>,
    ) {
        let mut seen = HashSet::default();
        let anywhere = cwds.is_some_and(globs::in_paths);
        for (spelling, (words, reading)) in plain.spellings.iter().zip(readings).enumerate() {
            let by = words.first().map(|word| program::basename(&word.text)).unwrap_or_default();
            let mut files = reading.files();
            if spelling == 0 && place.depth == 0 && self.is_unseen(&files, cwds) {
                self.ask(written, "unseen", "variable");
            }
            if plain.names_again(words, by) {
                continue;
            }
            if let Some(own) = self.own(plain, words, reading, by) {
                files = self.grammar.read(&own).files();
            }
            if contains(&self.spec.wrappers.movers, by) && reading.arguments.operands.is_empty() {
                files.push((FileAction::Read, Word::of(&self.world.home.to_string_lossy())));
            }
            // A text that is run is no file; its commands are looked at for themselves.
            let run = |word: &Word| plain.texts.iter().any(|text| word.text == text.text);
            files.retain(|(_, word)| !is_address(word) && !run(word));
            for (action, word) in files {
                // A file that no rule asks about by its program is the same in every spelling.
                let named = if spelling > 0 && self.floor.asks_by() { by } else { "" };
                if !seen.insert((action, word.clone(), named)) {
                    continue;
                }
                self.files += 1;
                let most = self.spec.limits.shell.max_files;
                if self.grammar.is_spent() || self.files > most {
                    return self.ask(written, "unreadable", "too_large");
                }
                let globs = anywhere || globs::in_word(&word);
                for path in resolve(&word, cwds, &self.world).unwrap_or_default() {
                    self.file(written, action, &path, by);
                    if globs {
                        self.listed(written, action, &path, by);
                    }
                }
            }
        }
        for redirect in &place.command.redirects {
            if self.grammar.is_spent() {
                return self.ask(written, "unreadable", "too_large");
            }
            self.redirect(written, redirect, cwds);
        }
    }

    /// Returns the words of a wrapper whose files are its own, where the spec does not say how it reads them and they are
    /// not all: what it runs is a spelling itself, if all were found, and of an assignment the value may be a file.
    fn own(
        &self,
        plain: &Plain,
        words: &[Word],
        reading: &Reading<'_>,
        by: &str,
    ) -> Option<Vec<Word>> {
        if reading.program.is_some() || plain.cut {
            return None;
        }
        let wrapper = wrapper(self.spec, by, words)?;
        let inner = plain.spellings.iter().map(Vec::as_slice);
        let inner = inner.filter(|inner| inner.len() < words.len() && words.ends_with(inner));
        let behind = inner.map(<[Word]>::len).max().unwrap_or_default();
        let count = if wrapper.no_files { 1 } else { words.len() - behind };
        let value = |word: &Word| match word.text.find('=').filter(|_| is_assignment(&word.text)) {
            Some(sign) if wrapper.assigns => word.skip(sign + 1),
            _ => word.clone(),
        };
        Some(words.iter().take(count).map(value).collect())
    }

    /// Returns whether the line does not say all of what some files are called, or where they are.
    fn is_unseen(&self, files: &[(FileAction, Word)], cwds: Option<&[PathBuf]>) -> bool {
        let nowhere = |word: &Word| cwds.is_none() && resolve(word, cwds, &self.world).is_none();
        let mut words = files.iter().map(|(_, word)| word).filter(|word| !is_address(word));
        words.any(|word| !paths::is_known(word) || nowhere(word))
    }

    fn redirect(&mut self, written: &str, redirect: &Redirect, cwds: Option<&[PathBuf]>) {
        let action = match redirect.kind {
            RedirectKind::Read => FileAction::Read,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
                FileAction::Write
            }
            RedirectKind::Duplicate | RedirectKind::Document => return,
        };
        let of = if written.is_empty() { redirect.target.text.as_str() } else { written };
        match resolve(&redirect.target, cwds, &self.world)
            .filter(|_| paths::is_known(&redirect.target))
        {
            Some(found) => {
                for path in found {
                    let real = self.file(of, action, &path, "");
                    self.listed(of, action, &path, "");
                    if action == FileAction::Write {
                        let real = real.unwrap_or_else(|| paths::normal(&path));
                        let texts = &self.roots.located(&real).texts;
                        let facts = self.roots.located(&path).facts(action, "");
                        let hit = self.lookup("edit", texts, "file", &facts, true);
                        let allows = hit.as_ref().is_some_and(|hit| hit.then == Decision::Allow);
                        self.allowed &= allows;
                        if !allows {
                            self.offers.never();
                        }
                        self.ruled(of, hit, "write");
                    }
                }
            }
            None => self.ask(of, "unseen", "redirect"),
        }
    }

    /// Looks at one file that a command reads or changes. Returns where it really is, as far as that can be known.
    pub(super) fn file(
        &mut self,
        of: &str,
        action: FileAction,
        path: &Path,
        by: &str,
    ) -> Option<PathBuf> {
        let real = self.real(of, path);
        self.note_file(action, path, real.as_deref());
        self.look(of, action, path, real.as_deref(), by);
        real
    }

    /// Looks at what a path with globs names on this disk. What leads elsewhere is noted.
    fn listed(&mut self, of: &str, action: FileAction, path: &Path, by: &str) {
        for path in globs::listed(path, self.world.disk, &self.spec.limits.paths) {
            let real = self.real(of, &path);
            if real.as_deref() != Some(&paths::normal(&path)) {
                self.note_file(action, &path, real.as_deref());
            }
            self.look(of, action, &path, real.as_deref(), by);
        }
    }

    /// Holds a file against the floor, the rules and the project's border.
    fn look(&mut self, of: &str, action: FileAction, path: &Path, real: Option<&Path>, by: &str) {
        let tool = if action == FileAction::Read { "read" } else { "edit" };
        for located in self.spellings(action, path, real) {
            let facts = located.facts(action, by);
            self.breaks(of, "file", &facts);
            let hit = self.lookup(tool, &located.texts, "file", &facts, true);
            let approved = hit.as_ref().is_some_and(|hit| hit.approved);
            if let Some(hit) = hit.filter(|hit| {
                hit.then == Decision::Deny
                    || (hit.then == Decision::Ask && (tool == "read" || hit.written))
            }) {
                self.offer(tool, action, &located, false);
                self.ruled(of, Some(hit), "file");
            }
            self.border(of, action, &located, approved, &facts);
        }
    }

    /// Returns where a path really is. One that cannot be followed to its end is asked about, and is no file of the
    /// project.
    fn real(&mut self, of: &str, path: &Path) -> Option<PathBuf> {
        let real = real(path, self.world.disk, &self.spec.limits.paths);
        if real.is_none() {
            self.ask(of, "unreadable", "links");
            self.outside.push(self.roots.located(&paths::normal(path)).shown.clone());
        }
        real
    }

    /// Offers to store that a tool may use a file, or a directory with all below it.
    fn offer(&mut self, tool: &str, action: FileAction, located: &Located, below: bool) {
        if self.offers.are_none() {
            return;
        }
        let pattern = pattern(self.spec, &self.roots, located, action, below);
        self.offers.file(tool, pattern, below);
    }

    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.world.home.join(rest),
            Err(_) => self.world.cwd.join(path),
        }
    }

    /// Looks at a path that a tool's argument names.
    pub(super) fn tool_path(&mut self, call: &Call, action: FileAction, path: &Path) {
        let absolute = self.absolute(path);
        let real = self.real(&path.to_string_lossy(), &absolute);
        self.note_file(action, &absolute, real.as_deref());
        for located in self.spellings(action, &absolute, real.as_deref()) {
            let facts = located.facts(action, &call.tool);
            let of = facts.path.clone();
            self.breaks(&of, "file", &facts);
            let hit = self.lookup(&call.rule, &located.texts, "file", &facts, true);
            let allows = hit.as_ref().is_some_and(|hit| hit.then == Decision::Allow);
            let approved = hit.as_ref().is_some_and(|hit| hit.approved);
            self.allowed &= allows;
            if !allows {
                self.offer(&call.rule, action, &located, false);
            }
            self.ruled(&of, hit, if action == FileAction::Read { "file" } else { "default" });
            self.border(&of, action, &located, approved, &facts);
        }
        self.named.push(NamedPath { named: absolute, real });
    }

    /// Returns a path by its text and by where it really is, and notes both for the mode.
    fn spellings(
        &mut self,
        action: FileAction,
        path: &Path,
        real: Option<&Path>,
    ) -> Vec<Rc<Located>> {
        // Sign by sign: compared by their parts, `/etc/` and `/etc` are the same.
        let same = |real: &Path| real.as_os_str() == path.as_os_str();
        let found: Vec<Rc<Located>> =
            match real.is_some_and(same) && is_usual(&self.spec.wrappers, path) {
                // Most paths have one spelling.
                true => vec![self.roots.located(path)],
                false => self.other_spellings(action, path, real),
            };
        found.iter().for_each(|located| {
            self.grammar.spend(located.path.as_os_str().len());
        });
        for located in &found {
            match &located.place {
                Some(place) => {
                    // What only a folded name makes a plan is none everywhere.
                    self.inside.extend(located.spelled.clone());
                    self.inside.push(place.clone());
                }
                None => self.outside.push(located.shown.clone()),
            }
            if action != FileAction::Read {
                self.writes.push(located.shown.clone());
            }
            // With a directory goes what is in it.
            if action >= FileAction::Delete && self.roots.hold_own(&located.path) {
                self.writes.push(paths::OWN.into());
            }
        }
        found
    }

    fn other_spellings(
        &self,
        action: FileAction,
        path: &Path,
        real: Option<&Path>,
    ) -> Vec<Rc<Located>> {
        let mut found = vec![paths::normal(path)];
        if let Some(real) = real.filter(|real| *real != path) {
            found.insert(0, real.to_path_buf());
        }
        if action >= FileAction::Wipe {
            found.iter_mut().for_each(|path| *path = paths::whole(path).to_path_buf());
        }
        let wrappers = &self.spec.wrappers;
        let landmarks = found.iter().flat_map(|path| paths::landmarks(wrappers, path, &self.world));
        let landmarks: Vec<PathBuf> = landmarks.collect();
        found.extend(landmarks);
        let other: Vec<PathBuf> =
            found.iter().filter_map(|path| protected(wrappers, path)).collect();
        found.extend(other);
        found.dedup();
        found.iter().map(|path| self.roots.located(path)).collect()
    }

    fn note_file(&mut self, action: FileAction, path: &Path, real: Option<&Path>) {
        let roots = &self.roots;
        self.notes.file(|| {
            let path = paths::normal(path);
            let real = real.unwrap_or(&path);
            FileView {
                action: action.name(),
                path: roots.told(&path),
                real: roots.told(real),
                inside: [real, &path].iter().all(|path| roots.located(path).place.is_some()),
            }
        });
    }

    /// A path outside the project goes through the rules for that. That a person let one be read says nothing about
    /// changing it: for that, the change itself has to be `approved`.
    fn border(
        &mut self,
        of: &str,
        action: FileAction,
        located: &Located,
        approved: bool,
        facts: &FileFacts,
    ) {
        if facts.inside {
            return;
        }
        let reads = action == FileAction::Read;
        let asked = Asked {
            tool: OUTSIDE,
            texts: &located.texts,
            about: "file",
            record: facts,
            plain: true,
            approvals: reads || approved,
        };
        let hit = rules::lookup(self.spec, &self.policy.layers, asked);
        if hit.as_ref().is_none_or(|hit| hit.then != Decision::Allow) {
            self.offer(OUTSIDE, action, located, true);
            if !reads {
                self.offer("edit", action, located, false);
            }
        }
        self.ruled(of, hit, "external");
    }
}
