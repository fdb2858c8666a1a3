//! What the judge made of a call, for a person who wants to know: noted while it judges, so that it cannot differ from
//! what was judged.

use super::facts::assigned;
use super::paths::is_known;
use super::plain::Plain;
use super::{Step, Verdict};
use crate::shell::{Command, Redirect, RedirectKind, Word};
use crate::spec::CommandFacts;
use compact_str::CompactString;
use serde::Serialize;
use std::collections::HashSet;
use std::hash::Hash;

/// A verdict with all that was looked at on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// Every simple command in the order they were looked at; nested ones stand behind the one that runs them.
    pub commands: Vec<CommandView>,
    /// Files that the tool's own arguments name.
    pub files: Vec<FileView>,
    /// Why the line as a whole could not be read, by the names of the spec's sentences.
    pub unseen: Vec<&'static str>,
    /// Rules that matched too, but another one counts.
    pub overruled: Vec<Overruled>,
    /// The row of the mode that decided, as a JSON pointer in `permission/modes.json`.
    #[serde(skip)]
    pub row: Option<String>,
}

/// A simple command as its program would get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// The command whose text this one stands in, as a position in the list; none for the line itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<usize>,
    /// The program and its arguments; what only running would tell is as it was written.
    pub words: Vec<String>,
    /// Which of the words are not known in full, as positions in that list.
    pub unknown: Vec<usize>,
    /// Variables set in front of it, as `name=value`.
    pub assigns: Vec<String>,
    /// Its redirects, in order.
    pub redirects: Vec<RedirectView>,
    /// Programs whose output it reads through a pipe.
    pub fed_by: Vec<String>,
    /// Programs that read its output through a pipe.
    pub feeds: Vec<String>,
    /// It stands in a substitution: its output becomes a part of another command.
    pub substituted: bool,
    /// Other spellings of it: wrappers, program paths and options in front of a verb taken off.
    pub spellings: Vec<Vec<String>>,
    /// Texts that it runs as command lines.
    pub runs: Vec<String>,
    /// Files it touches.
    pub files: Vec<FileView>,
    /// Why not all of it can be seen before it runs, by the names of the spec's sentences.
    pub unseen: Vec<&'static str>,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedirectView {
    /// What it does.
    pub kind: RedirectKind,
    /// The descriptor in front of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fd: Option<String>,
    /// The file, descriptor or here-document mark behind it.
    pub target: String,
}

/// A file that a call touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct FileView {
    /// What happens to it: read, write, delete, wipe or alter.
    pub action: &'static str,
    /// Where its name leads if nothing on the way is a link; below `~` for the home directory, else absolute.
    pub path: String,
    /// Where it really is.
    pub real: String,
    /// Both are in the project.
    pub inside: bool,
}

/// A rule that matched but does not count.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Overruled {
    /// What it says, and to what.
    #[serde(flatten)]
    pub step: Step,
    /// The rule that counts instead.
    pub by: String,
}

/// Where what is found out about a call is noted.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Somebody will read them.
    read: bool,
    commands: Vec<CommandView>,
    files: Vec<FileView>,
    unseen: Vec<&'static str>,
    overruled: Vec<Overruled>,
    /// The command that is looked at.
    at: Option<usize>,
}

impl Notes {
    /// Returns notes that somebody will read; others stay empty.
    pub(super) fn read() -> Notes {
        Notes { read: true, ..Notes::default() }
    }

    /// Begins a command: what is noted next is about it. Returns the one around it, which `leave` takes.
    pub(super) fn enter(
        &mut self,
        command: &Command,
        plain: &Plain,
        facts: Option<&CommandFacts>,
    ) -> Outer {
        if !self.read {
            return Outer(None);
        }
        let within = self.at.replace(self.commands.len());
        self.commands.push(CommandView { within, ..seen(command, plain, facts) });
        Outer(within)
    }

    /// Ends a command.
    pub(super) fn leave(&mut self, outer: Outer) {
        self.at = outer.0;
    }

    /// Notes a file, which is not made where nobody reads.
    pub(super) fn file(&mut self, file: impl FnOnce() -> FileView) {
        if !self.read {
            return;
        }
        let here = self.at.and_then(|at| self.commands.get_mut(at));
        here.map_or(&mut self.files, |command| &mut command.files).push(file());
    }

    /// Notes why something cannot be seen.
    pub(super) fn unseen(&mut self, why: &'static str) {
        if !self.read {
            return;
        }
        let here = self.at.and_then(|at| self.commands.get_mut(at));
        here.map_or(&mut self.unseen, |command| &mut command.unseen).push(why);
    }

    /// Notes rules that matched and do not count; they are not made where nobody reads.
    pub(super) fn overruled(&mut self, overruled: impl Iterator<Item = Overruled>) {
        if self.read {
            self.overruled.extend(overruled);
        }
    }

    /// Returns all that was noted beside the verdict, everything once.
    pub(super) fn explain(mut self, verdict: Verdict, row: Option<String>) -> Explanation {
        for command in &mut self.commands {
            once(&mut command.files);
            once(&mut command.unseen);
        }
        once(&mut self.files);
        once(&mut self.unseen);
        once(&mut self.overruled);
        let Notes { commands, files, unseen, overruled, .. } = self;
        Explanation { verdict, commands, files, unseen, overruled, row }
    }
}

/// The command around another one.
pub(super) struct Outer(Option<usize>);

fn seen(command: &Command, plain: &Plain, facts: Option<&CommandFacts>) -> CommandView {
    let texts = |words: &[Word]| words.iter().map(|word| word.text.to_string()).collect();
    let named = |names: Option<&[CompactString]>| {
        names.unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    let assigned = assigned(command).into_iter().map(|(name, value)| format!("{name}={value}"));
    let redirects = command.redirects.iter().map(|Redirect { kind, fd, target, .. }| {
        RedirectView { kind: *kind, fd: fd.clone(), target: target.text.to_string() }
    });
    CommandView {
        within: None,
        words: texts(&command.words),
        unknown: (0..)
            .zip(&command.words)
            .filter(|(_, word)| !is_known(word))
            .map(|(at, _)| at)
            .collect(),
        assigns: assigned.collect(),
        redirects: redirects.collect(),
        fed_by: named(facts.map(|facts| facts.fed_by.as_slice())),
        feeds: named(facts.map(|facts| facts.feeds.as_slice())),
        substituted: command.level > 0,
        spellings: plain.spellings.iter().skip(1).map(|words| texts(words)).collect(),
        runs: plain.texts.iter().map(|text| text.text.clone()).collect(),
        files: Vec::new(),
        unseen: Vec::new(),
    }
}

/// Leaves the first of what is there more than once.
fn once<T: Clone + Eq + Hash>(list: &mut Vec<T>) {
    let mut seen = HashSet::new();
    list.retain(|each| seen.insert(each.clone()));
}
