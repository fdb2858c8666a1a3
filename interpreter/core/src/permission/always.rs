//! What "always" stores: the words that say what a command does, or the command exactly, or nothing.

use super::Approval;
use super::arguments::contains;
use super::facts::{self, assigned, command_facts, doubts};
use super::paths::is_known;
use super::plain::{Plain, Text, plain};
use super::program::{Grammar, basename, is_named};
use super::wildcard;
use crate::shell::{Command, Line, Redirect, RedirectKind, Word};
use crate::spec::{CommandFacts, Entries, Runs, Spec};
use std::collections::HashSet;

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

/// Returns what "always" would store for a line of which every command is asked about; `None` where it is not offered.
pub fn always(spec: &Spec, text: &str) -> Option<Vec<Approval>> {
    let grammar = Grammar::new(spec);
    let line = Text::of(text).read(&grammar);
    let looked = line.commands.iter().enumerate().map(|(index, command)| Looked {
        plain: plain(&grammar, &line, index, true),
        facts: command_facts(
            &grammar,
            &line,
            command,
            &command.words,
            &grammar.read(&command.words),
        ),
    });
    let looked = looked.collect::<Vec<_>>();
    of(&grammar, &line, &looked, |_| true)
}

/// What the judge knows of a command of the line when "always" is asked for.
pub(super) struct Looked {
    pub(super) plain: Plain,
    /// The facts of the command as it is written.
    pub(super) facts: CommandFacts,
}

/// Returns the same for a line whose commands have been looked at, of which those at some positions are `asked` about.
pub(super) fn of(
    spec: &Grammar<'_>,
    line: &Line,
    looked: &[Looked],
    asked: impl Fn(usize) -> bool,
) -> Option<Vec<Approval>> {
    if !line.unseen.is_empty() || !line.functions.is_empty() {
        return None;
    }
    let mut patterns: Vec<String> = Vec::new();
    let each = line.commands.iter().zip(looked).enumerate();
    for (_, (command, looked)) in each.filter(|(index, _)| asked(*index)) {
        let found = stored(spec, line, command, looked)?;
        patterns.extend(found.into_iter().filter(|pattern| !pattern.is_empty()));
    }
    let mut seen = HashSet::new();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    let approval = |pattern| Approval { tool: RULE.into(), pattern };
    (!patterns.is_empty()).then(|| patterns.into_iter().map(approval).collect())
}

/// The file that holds nothing and keeps nothing.
const NOTHING: &str = "/dev/null";

fn stored(
    spec: &Grammar<'_>,
    line: &Line,
    command: &Command,
    looked: &Looked,
) -> Option<Vec<String>> {
    let Looked { plain, facts } = looked;
    let hidden = !plain.texts.is_empty() || plain.unseen || plain.cut;
    let unsure = |word: &Word| !is_known(word) || !word.also.is_empty() || facts::looks_blank(word);
    let is_never = |words: &Vec<Word>| prefix(spec, words) == Prefix::Never;
    if hidden
        || to_file(command)
        || command.words.iter().any(unsure)
        || plain.spellings.iter().any(is_never)
        || command.assignments.iter().any(|each| changes_programs(spec, &each.name))
        || runs_input(spec, line, command, plain.spellings.iter().map(|words| texts(words)))
        || !doubts(line, command).is_empty()
    {
        return None;
    }
    let exact = wildcard::escape(&facts::text(&assigned(command), &command.words));
    let wrapped = plain.spellings.len() > 1 + usize::from(!facts.named.is_empty());
    if wrapped || !command.assignments.is_empty() || !facts.risks.is_empty() {
        return Some(vec![exact]);
    }
    match prefix(spec, &command.words) {
        Prefix::Words(words) => {
            let targets = targets(spec, &command.words);
            let each = targets.iter().map(|words| facts::text(&[], words));
            let words = if targets.len() > 1 { each.collect() } else { vec![words] };
            Some(words.iter().map(|words| format!("{} *", wildcard::escape(words))).collect())
        }
        Prefix::Exact => Some(vec![exact]),
        Prefix::Never => None,
    }
}

/// Returns a command of several targets as one for each (`make a b` is `make a` and `make b`); settings are none.
pub(super) fn targets(spec: &Grammar<'_>, words: &[Word]) -> Vec<Vec<Word>> {
    let has_targets = |word: &&Word| contains(&spec.arity.targets, &word.text);
    let Some(first) = words.first().filter(has_targets) else { return Vec::new() };
    let reading = spec.read(words);
    let targets = reading.arguments.operands.iter().filter(|word| !word.text.contains('='));
    targets.map(|target| vec![first.clone(), target.clone()]).collect()
}

/// Returns whether a command in one of its spellings runs what it reads, and is given something to read: the words do
/// not say what.
pub(super) fn runs_input<'w>(
    spec: &Spec,
    line: &Line,
    command: &Command,
    mut spelled: impl Iterator<Item = Vec<&'w str>>,
) -> bool {
    let reads = |redirect: &Redirect| {
        redirect.kind.reads()
            && redirect.kind != RedirectKind::Duplicate
            && redirect.target.text != NOTHING
    };
    let given = |command: &Command| command.redirects.iter().any(reads);
    let around = |other: &Command| other.words.is_empty() && given(other);
    let fed = !command.fed_by.is_empty() || given(command) || line.commands.iter().any(around);
    let listed = |texts: Vec<&str>| longest(&spec.arity.runs_input, &texts).is_some();
    fed && spelled.any(listed)
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn to_file(command: &Command) -> bool {
    let mut redirects = command.redirects.iter();
    redirects.any(|redirect| redirect.kind.writes() && redirect.target.text != NOTHING)
}

/// Returns whether a variable says which program runs, or what it loads.
fn changes_programs(spec: &Spec, name: &str) -> bool {
    spec.arity.never_with.iter().any(|pattern| is_named(pattern, name))
}

/// Returns which words of a command say what it does.
pub fn prefix(spec: &Spec, words: &[Word]) -> Prefix {
    let texts = texts(words);
    let name = texts.first().copied().unwrap_or_default();
    let arity = &spec.arity;
    let words_entry = longest(&arity.words, &texts);
    let (named, count) = words_entry.map_or((0, 1), |(named, count)| (named, *count));
    let listed = |entries| longest(entries, &texts).is_some_and(|(count, ())| count >= named);
    if listed(&arity.never) {
        return Prefix::Never;
    }
    let mut runners = spec.wrappers.starting(basename(name));
    let runs = runners.any(|it| {
        let names = || it.programs.iter().filter_map(|names| starting(&texts, names)).max();
        (it.runs != Runs::Nothing || !it.exec.is_empty())
            && names().is_some_and(|count| count >= named)
    });
    let by_path = named == 0 && name.contains('/');
    let has_verbs = named > 0 || spec.wrappers.program(name).is_none_or(|program| program.verbs);
    let lost = |text: &&str| arity.exact_verbs.iter().any(|verb| is_named(verb, text));
    let loses = has_verbs && texts.iter().take(count.max(2)).skip(1).any(lost);
    if runs || by_path || loses || listed(&arity.exact_only) {
        return Prefix::Exact;
    }
    match texts.get(..count) {
        Some(stored) if is_verbs(stored) => Prefix::Words(stored.join(" ")),
        _ => Prefix::Exact,
    }
}

/// Returns whether words are a program and its verbs: an option, a path or a setting says nothing of what is done.
fn is_verbs(words: &[&str]) -> bool {
    let plain = |word: &&str| !word.is_empty() && !word.starts_with(['-', '+']);
    words.iter().all(plain) && words.iter().skip(1).all(|word| !word.contains(['/', '=']))
}

/// Returns of how many words the longest entry is that a command starts with, and its value.
fn longest<'e, T: Ord>(entries: &'e Entries<T>, texts: &[&str]) -> Option<(usize, &'e T)> {
    let may = entries.starting(texts.first()?);
    may.filter_map(|(entry, value)| Some((starting(texts, entry)?, value))).max()
}

/// Returns of how many words an entry is that a command starts with; `*` in one stands for anything.
fn starting(texts: &[&str], entry: &str) -> Option<usize> {
    let mut rest = texts.iter();
    let mut words = entry.split(' ');
    let all = words.all(|word| rest.next().is_some_and(|text| is_named(word, text)));
    all.then(|| texts.len() - rest.len())
}
