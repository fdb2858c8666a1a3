//! What "always" stores: the words that say what a command does, or the command exactly, or nothing.

use super::Approval;
use super::facts::{self, assigned, command_facts, doubts};
use super::paths::is_known;
use super::plain::plain;
use super::wildcard;
use crate::shell::{self, Command, Line, RedirectKind, Word};
use crate::spec::{Arity, Spec};

/// What is stored of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prefix {
    /// These words, whatever follows.
    Words(String),
    /// The command as it is, nothing else.
    Exact,
    /// Nothing: each run is asked about.
    Never,
}

/// The rule name of command lines.
pub(super) const RULE: &str = "bash";

/// Returns what "always" would store for a line; `None` where it is not offered.
pub fn always(spec: &Spec, text: &str) -> Option<Vec<Approval>> {
    let line = shell::read(text, &spec.limits.shell);
    if !line.unseen.is_empty() || !line.functions.is_empty() {
        return None;
    }
    let mut patterns = Vec::new();
    for (index, command) in line.commands.iter().enumerate() {
        let pattern = pattern(spec, &line, index, command)?;
        if !pattern.is_empty() && !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    let approval = |pattern| Approval { tool: RULE.into(), pattern };
    (!patterns.is_empty()).then(|| patterns.into_iter().map(approval).collect())
}

fn pattern(spec: &Spec, line: &Line, index: usize, command: &Command) -> Option<String> {
    let plain = plain(spec, line, index);
    let writes =
        |kind| matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
    let to_file = command
        .redirects
        .iter()
        .any(|redirect| writes(redirect.kind) && redirect.target.text != "/dev/null");
    let unknown = command.words.iter().any(|word| !is_known(word) || !word.also.is_empty());
    if !plain.texts.is_empty()
        || plain.unseen
        || plain.cut
        || to_file
        || unknown
        || !doubts(line, command).is_empty()
    {
        return None;
    }
    let exact = wildcard::escape(&facts::text(&assigned(command), &command.words));
    let facts = command_facts(spec, line, command, &command.words);
    let by_path = !facts.named.is_empty();
    let wrapped = plain.spellings.len() > 1 + usize::from(by_path);
    let wrapped = wrapped || (by_path && is_known_program(spec, &facts.program));
    if wrapped || !command.assignments.is_empty() || !facts.risks.is_empty() {
        return (prefix(spec, &command.words) != Prefix::Never).then_some(exact);
    }
    match prefix(spec, &command.words) {
        Prefix::Words(words) => Some(format!("{} *", wildcard::escape(&words))),
        Prefix::Exact => Some(exact),
        Prefix::Never => None,
    }
}

/// Returns whether the spec says anything of a program: then its path is no name of its own.
fn is_known_program(spec: &Spec, name: &str) -> bool {
    let Arity { words, exact_only, never } = &spec.arity;
    let entries = words.keys().chain(exact_only).chain(never);
    let mut firsts = entries.filter_map(|entry| entry.split(' ').next());
    spec.wrappers.program(name).is_some()
        || firsts.any(|first| super::program::is_named(first, name))
}

/// Returns which words of a command say what it does.
pub fn prefix(spec: &Spec, words: &[Word]) -> Prefix {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let arity = &spec.arity;
    let longest = |entries: &mut dyn Iterator<Item = &str>| {
        entries.filter(|entry| starts(&texts, entry)).map(|entry| entry.split(' ').count()).max()
    };
    let words_entry = arity
        .words
        .iter()
        .filter(|(entry, _)| starts(&texts, entry))
        .max_by_key(|(entry, _)| entry.split(' ').count());
    let named = words_entry.map_or(0, |(entry, _)| entry.split(' ').count());
    if longest(&mut arity.never.iter().map(String::as_str)).is_some_and(|count| count >= named) {
        return Prefix::Never;
    }
    if longest(&mut arity.exact_only.iter().map(String::as_str)).is_some_and(|count| count >= named)
    {
        return Prefix::Exact;
    }
    let count = words_entry.map_or(1, |(_, count)| *count);
    match texts.get(..count) {
        Some(stored)
            if stored.iter().all(|text| !text.starts_with(['-', '+']) && !text.is_empty()) =>
        {
            Prefix::Words(stored.join(" "))
        }
        _ => Prefix::Exact,
    }
}

/// Returns whether a command starts with the words of an entry; `*` in one stands for anything.
fn starts(texts: &[&str], entry: &str) -> bool {
    let mut texts = texts.iter();
    entry
        .split(' ')
        .all(|word| texts.next().is_some_and(|text| super::program::is_named(word, text)))
}
