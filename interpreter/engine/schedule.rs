//! Which calls of a step may run now. Pure: it starts nothing.

use lembas_core::spec::Class;
use std::path::PathBuf;

/// What the order of a step's calls depends on.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// What the tool does to the world.
    pub(crate) class: Class,
    /// Whether it runs alone.
    pub(crate) exclusive: bool,
    /// The real paths it names.
    pub(crate) paths: Vec<PathBuf>,
}

impl Planned {
    /// Returns the plan of a call that will not run: nothing depends on it.
    pub(crate) fn none() -> Planned {
        Planned { class: Class::Read, exclusive: false, paths: Vec::new() }
    }
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has not started.
    Waiting,
    /// It runs.
    Running,
    /// It is over, or will not run.
    Done,
}

/// Returns the first call that may start now: fewer than `most` run, and no call before it that is not done
/// has to come first.
pub(crate) fn next(calls: &[Planned], states: &[State], most: usize) -> Option<usize> {
    let running = states.iter().filter(|state| **state == State::Running).count();
    if running >= most {
        return None;
    }
    let waiting = states.iter().enumerate().filter(|(_, state)| **state == State::Waiting);
    waiting.map(|(i, _)| i).find(|&i| {
        let before = calls.iter().zip(states).take(i);
        calls.get(i).is_some_and(|call| {
            before
                .filter(|(_, state)| **state != State::Done)
                .all(|(other, _)| !ordered(other, call))
        })
    })
}

/// Whether `after` has to wait for `before`: an exclusive call waits for all and all wait for it, calls on one
/// file stay in order unless all only look, and a command, whose files nobody knows, stays in order with all other tools.
fn ordered(before: &Planned, after: &Planned) -> bool {
    let changes = |call: &Planned| matches!(call.class, Class::Write | Class::Run);
    let shared = before.paths.iter().any(|path| after.paths.contains(path));
    before.exclusive
        || after.exclusive
        || shared && (changes(before) || changes(after))
        || (before.class == Class::Run) != (after.class == Class::Run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(class: Class, path: &str) -> Planned {
        Planned { class, exclusive: false, paths: vec![PathBuf::from(path)] }
    }

    /// Runs all calls, each for one round, and returns the rounds they start in.
    fn check(calls: &[Planned], most: usize, rounds: &[&[usize]]) {
        let mut states = vec![State::Waiting; calls.len()];
        let mut seen: Vec<Vec<usize>> = Vec::new();
        while states.contains(&State::Waiting) {
            let mut round = Vec::new();
            while let Some(i) = next(calls, &states, most) {
                states[i] = State::Running;
                round.push(i);
            }
            assert!(!round.is_empty(), "nothing can start: {states:?}");
            states
                .iter_mut()
                .filter(|state| **state == State::Running)
                .for_each(|state| *state = State::Done);
            seen.push(round);
        }
        assert_eq!(seen, rounds);
    }

    #[test]
    fn order() {
        use Class::{Read, Run, Write};
        let (a, b) = ("/a", "/b");
        check(&[call(Read, a), call(Read, a), call(Read, b)], 4, &[&[0, 1, 2]]);
        check(&[call(Read, a), call(Read, a), call(Read, b)], 2, &[&[0, 1], &[2]]);
        check(&[call(Write, a), call(Write, a), call(Write, b)], 4, &[&[0, 2], &[1]]);
        check(&[call(Read, a), call(Write, a), call(Read, a)], 4, &[&[0], &[1], &[2]]);
        check(&[call(Write, a), call(Run, b), call(Write, b)], 4, &[&[0], &[1], &[2]]);
        check(&[call(Run, ""), call(Run, "/c"), call(Read, b)], 4, &[&[0, 1], &[2]]);
        check(&[call(Read, a), call(Run, ""), call(Read, b)], 4, &[&[0], &[1], &[2]]);
        let alone = Planned { exclusive: true, ..call(Read, b) };
        check(&[call(Read, a), alone.clone(), call(Read, a)], 4, &[&[0], &[1], &[2]]);
    }
}
