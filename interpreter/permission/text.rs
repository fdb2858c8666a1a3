//! An explanation as text: short for a simple line, complete for any other.

use super::{
    explain::{Matched, Report},
    finder::{Finder, Place},
};
use crate::{shown, table::table};
use lembas_core::{
    permission::{self, CommandView, FileView, RedirectView, Step},
    shell::RedirectKind,
    spec::Decision,
};

/// Returns what is told of a call.
pub(super) fn text(finder: Finder<'_>, report: &Report<'_>) -> String {
    let mut text = String::new();
    let numbers = numbers(&report.commands);
    for (command, number) in report.commands.iter().zip(&numbers) {
        let (number, indent) = match numbers.len() {
            1 => (String::new(), 2),
            _ => (format!("{number}  "), 4),
        };
        text.push_str(&format!("{number}{}\n", shown::line(&head(command))));
        text.push_str(&table(indent, &about(finder, command)));
    }
    if report.commands.is_empty() {
        let tool = if report.tool == "bash" { "" } else { report.tool };
        text.push_str(format!("{tool} {}", shown::line(report.what)).trim_start());
        text.push('\n');
    }
    let mut rows: Vec<Vec<String>> = report.files.iter().map(file).collect();
    rows.extend(report.unseen.iter().map(|why| vec!["unseen".into(), reason(finder, why)]));
    text.push_str(&table(2, &rows));
    text.push_str(&format!("rules\n{}", table(2, &rules(finder, report))));
    text.push_str(&format!("verdict in mode {}\n{}", report.mode, table(2, &verdict(report))));
    text
}

/// Returns the number of every command: those in a text of number 2 are 2.1, 2.2, …
fn numbers(commands: &[CommandView]) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let before = commands.iter().take(index);
        let count = 1 + before.filter(|other| other.within == command.within).count();
        let outer = command.within.and_then(|within| numbers.get(within));
        numbers.push(outer.map_or(count.to_string(), |outer| format!("{outer}.{count}")));
    }
    numbers
}

fn head(command: &CommandView) -> String {
    let words = command.words.iter().enumerate();
    let words = words.map(|(at, word)| quoted(word, !command.unknown.contains(&at)));
    let words = words.collect::<Vec<_>>().join(" ");
    if words.is_empty() { "(no program)".into() } else { words }
}

/// Returns a word so that it can be seen where it ends; what is not known in full is in double quotes.
fn quoted(word: &str, is_known: bool) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '\'');
    match is_known && !word.contains('\'') {
        _ if plain => word.to_string(),
        true => format!("'{word}'"),
        false => format!("\"{word}\""),
    }
}

fn words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word, true)).collect::<Vec<_>>().join(" ")
}

fn about(finder: Finder<'_>, command: &CommandView) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |label: &str, text: String| rows.push(vec![label.into(), text]);
    if !command.assigns.is_empty() {
        add("sets", words(&command.assigns));
    }
    if command.substituted {
        add("inside", "a substitution: its output becomes part of another command".into());
    }
    if !command.fed_by.is_empty() {
        add("fed by", command.fed_by.join(", "));
    }
    if !command.feeds.is_empty() {
        add("feeds", command.feeds.join(", "));
    }
    command.redirects.iter().for_each(|each| add("redirect", redirect(each)));
    command.spellings.iter().for_each(|each| add("also", words(each)));
    command.runs.iter().for_each(|each| add("runs", each.trim_end().into()));
    rows.extend(command.files.iter().map(file));
    rows.extend(command.unseen.iter().map(|why| vec!["unseen".into(), reason(finder, why)]));
    rows
}

fn redirect(RedirectView { kind, fd, target }: &RedirectView) -> String {
    let input = fd.as_deref() == Some("0");
    let sign = match kind {
        RedirectKind::Read => "<",
        RedirectKind::Write => ">",
        RedirectKind::Append => ">>",
        RedirectKind::ReadWrite => "<>",
        RedirectKind::Document => "<<",
        RedirectKind::Duplicate if input => return format!("0<&{target}"),
        RedirectKind::Duplicate => {
            return format!("{}>&{target}", fd.as_deref().unwrap_or_default());
        }
    };
    format!("{}{sign} {target}", fd.as_deref().unwrap_or_default())
}

fn file(FileView { action, path, real, inside }: &FileView) -> Vec<String> {
    let does = match *action {
        "wipe" => "wipes",
        "alter" => "alters all of",
        "delete" => "deletes",
        "write" => "writes",
        _ => "reads",
    };
    let really = if real == path { String::new() } else { format!(" (really {real})") };
    let side = if *inside { "in the project" } else { "outside the project" };
    vec![does.into(), format!("{path}{really}"), side.into()]
}

/// Returns a reason of the spec without what it is about.
fn reason(finder: Finder<'_>, why: &str) -> String {
    let step = Step {
        of: String::new(),
        then: Decision::Ask,
        rule: why.into(),
        from: String::new(),
        line: None,
    };
    let sentence = permission::about(finder.setting.spec, &step);
    sentence.trim_end_matches([' ', ':', '.']).to_string()
}

fn rules(finder: Finder<'_>, report: &Report<'_>) -> Vec<Vec<String>> {
    let several = report.commands.len() + report.files.len() > 1;
    let unseen = |step: &Step| {
        let here = report.commands.iter().flat_map(|command| &command.unseen);
        step.from.is_empty() && here.chain(&report.unseen).any(|why| *why == step.rule)
    };
    let row = |Matched { step, overruled_by }: &Matched| {
        let says = match overruled_by {
            Some(_) => format!("({})", step.then.name()),
            None => step.then.name().to_string(),
        };
        let (rule, place) = if step.from.is_empty() {
            (reason(finder, &step.rule), String::new())
        } else {
            let place = Place { file: step.from.clone(), line: step.line };
            let is_mode = finder.is_mode(step);
            let rule = if is_mode { format!("mode {}", step.rule) } else { step.rule.clone() };
            (rule, finder.shown(&place))
        };
        let over = overruled_by.as_ref().map(|by| format!("overruled by {by}"));
        let of = if several { step.of.clone() } else { String::new() };
        vec![says, rule, place, over.unwrap_or(of)]
    };
    let told = report.rules.iter().filter(|matched| !unseen(&matched.step));
    told.map(row).collect()
}

fn verdict(report: &Report<'_>) -> Vec<Vec<String>> {
    let mut rows = vec![vec![report.decision.name().to_string(), report.say.clone()]];
    let always = report.always.iter().map(|each| format!("{} {}", each.tool, each.pattern));
    rows.extend(always.map(|always| vec!["always".into(), always]));
    rows.push(vec!["change".into(), report.change.clone()]);
    rows
}
