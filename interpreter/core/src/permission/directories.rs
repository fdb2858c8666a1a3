//! Which directories the commands of a line may stand in, as its `cd`s go.

use super::arguments::contains;
use super::facts;
use super::paths::{World, resolve};
use super::plain::Plain;
use super::program::{Grammar, basename};
use crate::shell::{Command, Line, Word};
use crate::spec::ShellLimits;
use foldhash::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// The directories of every scope of a line so far.
pub(super) struct Directories {
    scopes: HashMap<usize, State>,
    /// More than this are not kept apart: then none is known.
    most: usize,
}

#[derive(Clone)]
struct State {
    /// Where a command may stand; `None` if that cannot be said.
    now: Option<Rc<Vec<PathBuf>>>,
    /// Where it stands if an earlier `cd` failed: sure not to count within that `cd`'s own and-or list only.
    failed: Vec<PathBuf>,
    chain: usize,
}

impl Directories {
    pub(super) fn new(start: Option<Vec<PathBuf>>, limits: &ShellLimits) -> Directories {
        let state = State { now: start.map(Rc::new), failed: Vec::new(), chain: 0 };
        Directories { scopes: std::iter::once((0, state)).collect(), most: limits.max_directories }
    }

    /// Returns the directories a command may stand in.
    pub(super) fn at(&mut self, line: &Line, command: &Command) -> Option<Rc<Vec<PathBuf>>> {
        let most = self.most;
        let state = self.state(line, command.scope);
        if state.chain != command.chain {
            state.chain = command.chain;
            let failed = std::mem::take(&mut state.failed);
            merge(&mut state.now, failed, most);
        }
        state.now.clone()
    }

    fn state(&mut self, line: &Line, scope: usize) -> &mut State {
        let mut missing = Vec::new();
        let mut known = scope;
        while !self.scopes.contains_key(&known) && known != 0 {
            missing.push(known);
            known = line.scopes.get(known).copied().unwrap_or(0);
        }
        if !missing.is_empty()
            && let Some(state) = self.scopes.get(&known).cloned()
        {
            self.scopes.extend(missing.into_iter().map(|scope| (scope, state.clone())));
        }
        self.scopes.entry(scope).or_insert(State { now: None, failed: Vec::new(), chain: 0 })
    }

    /// Notes where a command leaves its scope.
    pub(super) fn after(
        &mut self,
        spec: &Grammar<'_>,
        line: &Line,
        command: &Command,
        plain: &Plain,
        now: Option<&[PathBuf]>,
        world: &World<'_>,
    ) {
        let most = self.most;
        let calls = facts::is_defined(line, command);
        for words in &plain.spellings {
            let name = words.first().map(|word| basename(&word.text)).unwrap_or_default();
            if calls || contains(&spec.wrappers.lost, name) {
                self.state(line, command.scope).now = None;
            } else if contains(&spec.wrappers.movers, name) {
                let state = self.state(line, command.scope);
                let target = moved_to(spec, words, world);
                let moved = target.as_ref().and_then(|target| resolve(target, now, world));
                let again = command.repeated
                    && target.is_some_and(|target| !target.text.starts_with(['/', '~']));
                state.keep(now.unwrap_or_default(), most);
                state.now = moved.filter(|moved| moved.len() <= most && !again).map(Rc::new);
            }
        }
    }
}

impl State {
    /// Keeps where a command stood if a `cd` fails; one more than are kept apart is enough to know none.
    fn keep(&mut self, now: &[PathBuf], most: usize) {
        for path in now {
            if self.failed.len() <= most && !self.failed.contains(path) {
                self.failed.push(path.clone());
            }
        }
    }
}

/// Returns the word that says where a builtin such as `cd` goes; `None` if the line does not say.
fn moved_to(spec: &Grammar<'_>, words: &[Word], world: &World<'_>) -> Option<Word> {
    let reading = spec.read(words);
    match reading.arguments.operands.first() {
        None => Some(Word::of(&world.home.to_string_lossy())),
        Some(word) if word.text == "-" || word.text.starts_with('+') => None,
        Some(word) => Some(word.clone()),
    }
}

fn merge(now: &mut Option<Rc<Vec<PathBuf>>>, more: Vec<PathBuf>, most: usize) {
    let Some(dirs) = now.as_mut().filter(|_| !more.is_empty()).map(Rc::make_mut) else { return };
    for path in more {
        if !dirs.contains(&path) {
            dirs.push(path);
        }
    }
    if dirs.len() > most {
        *now = None;
    }
}
