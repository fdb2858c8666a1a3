//! Which directories the commands of a line may stand in, as its `cd`s go.

use super::facts;
use super::paths::{World, resolve};
use super::plain::Plain;
use super::program::{self, basename};
use crate::shell::{Command, Line, Word};
use crate::spec::Spec;
use std::collections::HashMap;
use std::path::PathBuf;

/// More directories than this are not kept apart: then none is known.
const MOST: usize = 8;

/// The directories of every scope of a line so far.
pub(super) struct Directories {
    scopes: HashMap<usize, State>,
}

#[derive(Clone)]
struct State {
    /// Where a command may stand; `None` if that cannot be said.
    now: Option<Vec<PathBuf>>,
    /// Where it stands if an earlier `cd` failed: sure not to count within that `cd`'s own and-or list only.
    failed: Vec<PathBuf>,
    chain: usize,
}

impl Directories {
    pub(super) fn new(start: Option<Vec<PathBuf>>) -> Directories {
        let state = State { now: start, failed: Vec::new(), chain: 0 };
        Directories { scopes: HashMap::from([(0, state)]) }
    }

    /// Returns the directories a command may stand in.
    pub(super) fn at(&mut self, line: &Line, command: &Command) -> Option<Vec<PathBuf>> {
        let state = self.state(line, command.scope);
        if state.chain != command.chain {
            state.chain = command.chain;
            let failed = std::mem::take(&mut state.failed);
            merge(&mut state.now, failed);
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
        let state = self.scopes.get(&known).cloned();
        for scope in missing {
            if let Some(state) = &state {
                self.scopes.insert(scope, state.clone());
            }
        }
        self.scopes.entry(scope).or_insert(State { now: None, failed: Vec::new(), chain: 0 })
    }

    /// Notes where a command leaves its scope.
    pub(super) fn after(
        &mut self,
        spec: &Spec,
        line: &Line,
        command: &Command,
        plain: &Plain,
        world: &World<'_>,
    ) {
        let now = self.at(line, command);
        let calls = facts::doubts(line, command).contains(&"defined");
        for words in &plain.spellings {
            let name = words.first().map(|word| basename(&word.text)).unwrap_or_default();
            let listed = |list: &[String]| list.iter().any(|each| each == name);
            let state = self.state(line, command.scope);
            if calls || listed(&spec.wrappers.lost) {
                state.now = None;
            } else if listed(&spec.wrappers.movers) {
                let target = moved_to(spec, words, world);
                let moved =
                    target.as_ref().and_then(|target| resolve(target, now.as_deref(), world));
                let again = command.repeated
                    && target.is_some_and(|target| !target.text.starts_with(['/', '~']));
                state.failed.extend(now.clone().unwrap_or_default());
                state.now = moved.filter(|moved| moved.len() <= MOST && !again);
            }
        }
    }
}

/// Returns the word that says where a builtin such as `cd` goes; `None` if the line does not say.
fn moved_to(spec: &Spec, words: &[Word], world: &World<'_>) -> Option<Word> {
    let operands = program::read(&spec.wrappers, words).arguments.operands;
    match operands.first() {
        None => Some(Word::of(&world.home.to_string_lossy())),
        Some(word) if word.text == "-" || word.text.starts_with('+') => None,
        Some(word) => Some(word.clone()),
    }
}

fn merge(now: &mut Option<Vec<PathBuf>>, more: Vec<PathBuf>) {
    let Some(dirs) = now else { return };
    for path in more {
        if !dirs.contains(&path) {
            dirs.push(path);
        }
    }
    if dirs.len() > MOST {
        *now = None;
    }
}
