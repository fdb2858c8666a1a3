//! What a whole patch makes of a tree: every file's new content, or the first reason why not. It writes nothing.

use super::hunk::Sign;
use super::splice::{self, Made};
use super::{Action, Change, Patch, Reason, Refused};
use crate::spec::{EditLimits, Matcher};
use std::path::PathBuf;

pub use super::splice::Landing;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A file with this content.
    File(Vec<u8>),
    /// Something that cannot be patched, with the system's words.
    Other(Reason, String),
}

/// The files that a patch is planned against.
pub trait Tree {
    /// Returns the one name that every spelling of a path leads to.
    fn key(&self, path: &str) -> PathBuf;

    /// Returns what is there.
    fn entry(&self, path: &str) -> Entry;
}

/// What a patch does, all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What happens to each file the patch names, in its order.
    pub landed: Vec<Landed>,
    /// What is written, once per file.
    pub writes: Vec<Write>,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// The file, as the patch names it.
    pub path: String,
    /// What happens.
    pub verb: Verb,
    /// Where it is moved or copied to.
    pub to: Option<String>,
    /// Where each hunk landed.
    pub hunks: Vec<Landing>,
    /// How many lines it has, if it was added.
    pub lines: usize,
    /// Whether it may be executed from now on, where the patch says so.
    pub executable: Option<bool>,
    /// Whether it is deleted whatever it holds.
    pub unseen: bool,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It is new.
    Added,
    /// It goes.
    Deleted,
    /// It changes where it is.
    Updated,
    /// It moves, and may change.
    Moved,
    /// A copy of it is made, and may differ.
    Copied,
}

/// A file that is not the same afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Its one name.
    pub key: PathBuf,
    /// A spelling of it from the patch.
    pub path: String,
    /// What it holds now.
    pub before: Option<Vec<u8>>,
    /// What it holds afterwards; nothing when it goes.
    pub after: Option<Vec<u8>>,
    /// The file whose mode it gets, when it is not its own.
    pub like: Option<PathBuf>,
    /// Whether it may be executed, where the patch says so.
    pub executable: Option<bool>,
}

/// Plans a patch against a tree.
///
/// # Errors
/// The first change that cannot be made, or that all of them were made before.
pub fn plan(
    patch: &Patch,
    tree: &dyn Tree,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Result<Plan, Refused> {
    planned(patch, tree, matchers, limits).map_err(|refused| {
        let made = |change| is_made(change, tree, matchers, limits);
        // That a file is not there does not say that it was deleted.
        let told =
            patch.changes.iter().any(|change| !matches!(change.action, Action::Delete { .. }));
        if told && patch.changes.iter().all(made) {
            Refused::new(Reason::AllApplied)
        } else {
            refused
        }
    })
}

/// Returns whether a change was made before.
fn is_made(change: &Change, tree: &dyn Tree, matchers: &[Matcher], limits: &EditLimits) -> bool {
    let gone = |path: &str| tree.entry(path) == Entry::Missing;
    let reads_so = |path: &str| match tree.entry(path) {
        Entry::File(bytes) => change.hunks.iter().all(|hunk| {
            let made = splice::apply(&bytes, std::slice::from_ref(hunk), matchers, limits);
            made.is_err_and(|refused| refused.reason == Reason::AlreadyApplied)
        }),
        Entry::Missing | Entry::Other(..) => false,
    };
    match &change.action {
        Action::Add => tree.entry(&change.path) == Entry::File(added(change).into_bytes()),
        Action::Delete { .. } => gone(&change.path),
        Action::Update => !change.hunks.is_empty() && reads_so(&change.path),
        Action::Move(to) => gone(&change.path) && reads_so(to),
        Action::Copy(to) => reads_so(to),
    }
}

/// Returns what an added file holds.
fn added(change: &Change) -> String {
    change.hunks.iter().map(super::hunk::Hunk::made).collect()
}

fn planned(
    patch: &Patch,
    tree: &dyn Tree,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Result<Plan, Refused> {
    let moved = patch.changes.iter().filter(|change| matches!(change.action, Action::Move(_)));
    let gone = patch.changes.iter().filter(|change| matches!(change.action, Action::Delete { .. }));
    let mut planner = Planner {
        moved: moved.map(|change| tree.key(&change.path)).collect(),
        gone: gone.map(|change| tree.key(&change.path)).collect(),
        tree,
        matchers,
        limits,
        files: Vec::new(),
        landed: Vec::new(),
    };
    for change in &patch.changes {
        planner.change(change).map_err(|refused| refused.of(&change.path))?;
    }
    let landed = planner.landed.into_iter().map(|(_, landed)| landed).collect();
    Ok(Plan { landed, writes: planner.files.into_iter().filter_map(File::write).collect() })
}

/// A file that the patch names.
struct File {
    key: PathBuf,
    path: String,
    entry: Entry,
    /// What it holds after the changes so far.
    now: Option<Vec<u8>>,
    /// Whether what it holds came from another file.
    taken: bool,
    like: Option<PathBuf>,
    executable: Option<bool>,
}

impl File {
    fn original(&self) -> Option<&Vec<u8>> {
        match &self.entry {
            Entry::File(bytes) => Some(bytes),
            Entry::Missing | Entry::Other(..) => None,
        }
    }

    fn write(self) -> Option<Write> {
        let File { key, path, entry, now, like, executable, .. } = self;
        let before = match entry {
            Entry::File(bytes) => Some(bytes),
            Entry::Missing | Entry::Other(..) => None,
        };
        // A new file cannot be executed anyway.
        let executable = executable.filter(|on| *on || before.is_some() || like.is_some());
        let same = before == now && like.is_none() && executable.is_none();
        (!same).then_some(Write { key, path, before, after: now, like, executable })
    }
}

struct Planner<'a> {
    tree: &'a dyn Tree,
    matchers: &'a [Matcher],
    limits: &'a EditLimits,
    /// Files that move away.
    moved: Vec<PathBuf>,
    /// Files that go.
    gone: Vec<PathBuf>,
    files: Vec<File>,
    /// What happened so far, each with the file whose lines it tells.
    landed: Vec<(usize, Landed)>,
}

impl Planner<'_> {
    /// Returns which of the files a path is, looking at it when it is named first.
    fn index(&mut self, path: &str) -> usize {
        let key = self.tree.key(path);
        if let Some(index) = self.files.iter().position(|file| file.key == key) {
            return index;
        }
        let entry = self.tree.entry(path);
        let now = if let Entry::File(bytes) = &entry { Some(bytes.clone()) } else { None };
        let path = path.to_owned();
        self.files.push(File { key, path, entry, now, taken: false, like: None, executable: None });
        self.files.len() - 1
    }

    fn file(&mut self, path: &str) -> Result<(usize, &mut File), Refused> {
        let index = self.index(path);
        match self.files.get_mut(index) {
            Some(File { entry: Entry::Other(reason, words), .. }) => {
                Err(Refused::new(*reason).text(words).of(path))
            }
            Some(file) => Ok((index, file)),
            None => Err(Refused::new(Reason::Missing)),
        }
    }

    fn change(&mut self, change: &Change) -> Result<(), Refused> {
        match &change.action {
            Action::Add => self.add(change),
            Action::Delete { unseen } => self.delete(change, *unseen),
            Action::Update => self.update(change),
            Action::Move(to) | Action::Copy(to) => self.carry(change, to),
        }
    }

    fn land(&mut self, index: usize, change: &Change, verb: Verb, hunks: Vec<Landing>) {
        let to = match &change.action {
            Action::Move(to) | Action::Copy(to) => Some(to.clone()),
            Action::Add | Action::Delete { .. } | Action::Update => None,
        };
        let added = change.hunks.iter().map(|hunk| hunk.count(Sign::Added)).sum();
        let lines = if verb == Verb::Added { added } else { 0 };
        let (path, executable) = (change.path.clone(), change.executable);
        let unseen = matches!(change.action, Action::Delete { unseen: true });
        self.landed.push((index, Landed { path, verb, to, hunks, lines, executable, unseen }));
    }

    fn add(&mut self, change: &Change) -> Result<(), Refused> {
        let moved = self.moved.contains(&self.tree.key(&change.path));
        let content = added(change);
        if content.len() > self.limits.max_bytes {
            return Err(Refused::new(Reason::TooLarge));
        }
        let (index, file) = self.file(&change.path)?;
        if file.now.is_some() && (!moved || file.taken) {
            return Err(Refused::new(Reason::Exists));
        }
        file.taken = file.now.is_some();
        file.now = Some(content.into_bytes());
        file.executable = change.executable;
        self.land(index, change, Verb::Added, Vec::new());
        Ok(())
    }

    fn delete(&mut self, change: &Change, unseen: bool) -> Result<(), Refused> {
        let (matchers, limits) = (self.matchers, self.limits);
        let (index, file) = self.file(&change.path)?;
        let content = if file.taken { file.original() } else { file.now.as_ref() };
        let content = content.ok_or_else(|| Refused::new(Reason::Missing))?;
        let left = match unseen {
            true => false,
            false if change.hunks.is_empty() => !content.is_empty(),
            false => !splice::apply(content, &change.hunks, matchers, limits)?.bytes.is_empty(),
        };
        if left {
            return Err(Refused::new(Reason::NotEmptied));
        }
        if !file.taken {
            file.now = None;
        }
        self.land(index, change, Verb::Deleted, Vec::new());
        Ok(())
    }

    fn update(&mut self, change: &Change) -> Result<(), Refused> {
        let (matchers, limits) = (self.matchers, self.limits);
        // In a diff of git, a file may move away and be written anew.
        let anew = change.original && self.moved.contains(&self.tree.key(&change.path));
        let (index, file) = self.file(&change.path)?;
        let content = file.now.as_ref().or_else(|| file.original().filter(|_| anew));
        let content = content.ok_or_else(|| Refused::new(Reason::Missing))?;
        let Made { bytes, landings, shifts } =
            splice::apply(content, &change.hunks, matchers, limits)?;
        if bytes == *content && change.executable.is_none() {
            return Err(Refused::new(Reason::Same));
        }
        file.now = Some(bytes);
        file.executable = change.executable.or(file.executable);
        let earlier = self.landed.iter_mut().filter(|(of, _)| *of == index);
        earlier.for_each(|(_, landed)| shift(landed, &shifts));
        self.land(index, change, Verb::Updated, landings);
        Ok(())
    }

    /// Moves or copies a file, changing what arrives.
    fn carry(&mut self, change: &Change, to: &str) -> Result<(), Refused> {
        let (matchers, limits) = (self.matchers, self.limits);
        let moves = matches!(change.action, Action::Move(_));
        let (from, file) = self.file(&change.path)?;
        let before = file.original().filter(|_| change.original || file.taken);
        let content = before.or(file.now.as_ref());
        let stays = change.original && file.now.as_ref() != file.original();
        let content = content.ok_or_else(|| Refused::new(Reason::Missing))?;
        let Made { bytes, landings, .. } = splice::apply(content, &change.hunks, matchers, limits)?;
        let key = file.key.clone();
        let target = self.tree.key(to);
        let leaves = self.moved.contains(&target) || self.gone.contains(&target);
        let (index, file) = self.file(to)?;
        if index == from || file.now.is_some() && (!leaves || file.taken) {
            return Err(Refused::new(Reason::Taken).of(to));
        }
        file.taken = true;
        file.now = Some(bytes);
        file.like = Some(key);
        file.executable = change.executable;
        if let Some(file) = self.files.get_mut(from).filter(|file| moves && !stays && !file.taken) {
            file.now = None;
        }
        self.land(index, change, if moves { Verb::Moved } else { Verb::Copied }, landings);
        Ok(())
    }
}

/// Moves the lines told of a file by what a later change of it puts in or takes out before them.
fn shift(landed: &mut Landed, shifts: &[(std::ops::Range<usize>, usize)]) {
    let moved = |line: usize| {
        let before = shifts.iter().filter(|(core, _)| core.end < line);
        before.fold(line, |line, (core, new)| (line + new).saturating_sub(core.len()))
    };
    for (first, last) in landed.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        (*first, *last) = (moved(*first), moved(*last));
    }
}
