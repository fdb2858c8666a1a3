//! The facts rules can ask about a command, in each of its spellings.

use super::names;
use super::paths::is_known;
use super::plain::Plain;
use super::program::{Grammar, Reading, basename};
use crate::shell::{Command, Function, Line, Word};
use crate::spec::{CommandFacts, Spec};
use compact_str::{CompactString, format_compact};

/// Blanks, and the signs that stand for them in a command's text.
const BLANKS: [(char, char); 3] = [(' ', '␠'), ('\n', '␤'), ('\t', '␉')];

/// Returns whether a word holds such a sign itself: it would read as another command.
pub(super) fn looks_blank(word: &Word) -> bool {
    BLANKS.iter().any(|(_, by)| word.text.contains(*by))
}

/// Returns the command's text that patterns are matched against: words with single blanks between them, a blank in a
/// word shown by its sign (`␠`, `␤`, `␉`) so that two words never read as one.
pub(super) fn text(assigned: &[(&str, &str)], words: &[Word]) -> String {
    let length: usize = words.iter().map(|word| word.text.len() + 1).sum();
    let mut text = String::with_capacity(length);
    for (name, value) in assigned {
        text.push_str(name);
        text.push('=');
        show(value, &mut text);
        text.push(' ');
    }
    for word in words {
        show(&word.text, &mut text);
        text.push(' ');
    }
    text.pop();
    text
}

fn show(part: &str, text: &mut String) {
    if !part.bytes().any(|byte| matches!(byte, b' ' | b'\n' | b'\t')) {
        return text.push_str(part);
    }
    let shown = |sign| BLANKS.iter().find(|(blank, _)| *blank == sign).map_or(sign, |(_, by)| *by);
    text.extend(part.chars().map(shown));
}

/// Returns the assignments in front of a command.
pub(super) fn assigned(command: &Command) -> Vec<(&str, &str)> {
    command.assignments.iter().map(|each| (each.name.as_str(), each.value.text.as_str())).collect()
}

/// Returns the facts of one spelling of a command.
pub(super) fn command_facts(
    spec: &Grammar<'_>,
    line: &Line,
    command: &Command,
    words: &[Word],
    reading: &Reading<'_>,
) -> CommandFacts {
    let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let Reading { arguments, globals, verbs, risks, .. } = reading;
    let values = globals.values.iter().chain(&arguments.values);
    let operands = || arguments.operands.iter().map(|word| &word.text);
    CommandFacts {
        program: basename(first).into(),
        named: if first.contains('/') { first.into() } else { CompactString::default() },
        words: words.iter().map(|word| word.text.clone()).collect(),
        verbs: match verbs.as_slice() {
            [] => CompactString::default(),
            [verb] => verb.clone(),
            verbs => verbs.join(" ").into(),
        },
        verb: verbs.first().or(operands().next()).cloned().unwrap_or_default(),
        flags: globals.flags().chain(arguments.flags()).cloned().collect(),
        values: values.map(|(name, value)| format_compact!("{name}={}", value.text)).collect(),
        operands: verbs.iter().skip(1).chain(operands()).cloned().collect(),
        risks: risks.clone(),
        script: reading.script().to_vec(),
        assigns: command.assignments.iter().map(|each| each.name.clone()).collect(),
        feeds: programs(line, command, command.feeds.clone()),
        fed_by: programs(line, command, command.fed_by.clone()),
        fed_names: names::fed(spec, line, command),
        recursion: recursion(spec, line, command).into(),
    }
}

fn programs(line: &Line, command: &Command, range: std::ops::Range<usize>) -> Vec<CompactString> {
    let commands = line.commands.get(range).unwrap_or_default().iter();
    let here = commands.filter(|other| other.level == command.level);
    here.filter_map(|other| other.words.first()).map(|word| basename(&word.text).into()).collect()
}

/// Says whether a command calls the function it stands in, by way of others too, and whether each call starts more.
fn recursion(spec: &Spec, line: &Line, command: &Command) -> &'static str {
    let most = spec.limits.shell.max_functions;
    let Some(name) = command.words.first().map(|word| word.text.as_str()) else { return "none" };
    let own = |function: &&Function| {
        line.commands
            .get(function.body.clone())
            .is_some_and(|body| body.iter().any(|other| other.span == command.span))
    };
    let within: Vec<&str> =
        line.functions.iter().filter(own).map(|function| function.name.as_str()).collect();
    if within.is_empty() || !reaches(line, name, &within, most) {
        return "none";
    }
    let again = |range: std::ops::Range<usize>| {
        programs(line, command, range).iter().any(|other| reaches(line, other, &within, most))
    };
    let forks = command.background || again(command.feeds.clone()) || again(command.fed_by.clone());
    if forks { "forks" } else { "once" }
}

/// Returns whether calling a function comes to calling one of `targets`.
fn reaches(line: &Line, name: &str, targets: &[&str], most: usize) -> bool {
    let mut seen = vec![name];
    let mut at = 0;
    while let Some(name) = seen.get(at).copied() {
        at += 1;
        if targets.contains(&name) {
            return true;
        }
        if line.functions.len() > most {
            return false;
        }
        let functions = line.functions.iter().filter(|function| function.name == name);
        let bodies = functions.filter_map(|function| line.commands.get(function.body.clone()));
        for word in bodies.flatten().filter_map(|command| command.words.first()) {
            if !seen.contains(&word.text.as_str()) {
                seen.push(&word.text);
            }
        }
    }
    false
}

/// Why the line does not show all that a command would do.
pub(super) fn doubts(line: &Line, command: &Command) -> Vec<&'static str> {
    let mut doubts = Vec::new();
    let mut doubt = |holds: bool, why: &'static str| {
        if holds {
            doubts.push(why);
        }
    };
    let first = command.words.first();
    let documents = line.documents_of(command).any(|document| document.runs);
    doubt(documents || command.expanded().any(Word::runs), "substitution");
    doubt(
        first.is_some_and(|word| !is_known(word) || word.has_glob() && word.text != "["),
        "computed",
    );
    doubt(is_defined(line, command), "defined");
    doubts
}

/// Returns whether a command calls a function of the line.
pub(super) fn is_defined(line: &Line, command: &Command) -> bool {
    let defines = |word: &Word| line.functions.iter().any(|function| function.name == word.text);
    command.words.first().is_some_and(defines)
}

/// Returns whether the program that runs, or the text of a shell, is not known before the line runs.
pub(super) fn masks(line: &Line, command: &Command, plain: &Plain) -> bool {
    let globbed = |word: &Word| word.has_glob() && word.text != "[";
    let hides = |word: &Word| !word.is_known() || globbed(word);
    let hidden = |words: &Vec<Word>| words.first().is_some_and(hides);
    plain.fed
        || plain.spellings.iter().any(hidden)
        || command.expanded().any(Word::evaluates)
        || line.documents_of(command).any(|document| document.evaluates)
}
