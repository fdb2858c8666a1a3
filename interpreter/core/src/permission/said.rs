//! What the commands of a line print, as far as the line itself says it: what a pipe, a substitution or `<(…)` hands
//! on. Nothing is run; what is not said here is not known.

use super::program::{Grammar, basename};
use crate::shell::{self, Command, Hidden, Line, Piece, Redirect, RedirectKind, Word};
use crate::spec::Says;

/// Returns what a command reads: a document, `< <(…)`, or what the commands before it in the pipe say.
pub(super) fn input(
    spec: &Grammar<'_>,
    line: &Line,
    command: &Command,
    depth: usize,
) -> Option<Vec<Piece>> {
    let is_stdin = |redirect: &&Redirect| redirect.fd.as_deref().is_none_or(|fd| fd == "0");
    let own = command.redirects.iter().rev().filter(is_stdin).find(|each| each.kind.reads());
    if let Some(redirect) = own {
        return match redirect.document.and_then(|index| line.documents.get(index)) {
            Some(document) => Some(vec![Piece::Text(document.text.as_str().into())]),
            None => process(spec, &redirect.target, depth),
        };
    }
    if depth >= spec.limits.shell.max_nested {
        return None;
    }
    let stage = command.fed_by.clone();
    let sources = line.commands.get(stage.clone())?.iter();
    let last =
        |source: &&Command| source.level == command.level && !stage.contains(&source.feeds.start);
    printed(spec, line, sources.filter(last), depth)
}

/// Returns a command's words with the lines that the line reads into variables before it in place of them: one list of
/// words for each line.
pub(super) fn taken(
    spec: &Grammar<'_>,
    line: &Line,
    index: usize,
    words: &[Word],
) -> Vec<Vec<Word>> {
    if !words.iter().any(|word| word.text.starts_with('$')) {
        return Vec::new();
    }
    let before = line.commands.get(..index).unwrap_or_default();
    let takes = |command: &&Command| {
        let name = command.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let used =
            || command.words.iter().skip(1).any(|taken| words.iter().any(|word| uses(word, taken)));
        spec.wrappers.takers.iter().any(|taker| taker == name) && used()
    };
    let Some(taker) = before.iter().rev().find(takes) else { return Vec::new() };
    let Some(said) = input(spec, line, taker, 0) else { return Vec::new() };
    let names: Vec<&Word> =
        taker.words.iter().skip(1).filter(|word| !word.text.starts_with('-')).collect();
    let put = |value: &Word| {
        let parts = match names.len() {
            1 => vec![value.clone()],
            _ => Word::split(&value.pieces),
        };
        let each = words.iter().flat_map(|word| {
            let named = names.iter().position(|name| uses(word, name));
            match named.and_then(|at| parts.get(at)) {
                Some(part) if word.quoted => vec![part.clone()],
                Some(part) => Word::split(&part.pieces),
                None => vec![word.clone()],
            }
        });
        each.collect()
    };
    lines(&said).iter().take(spec.limits.shell.max_lines).map(put).collect()
}

/// Returns whether a word is a variable of that name.
fn uses(word: &Word, name: &Word) -> bool {
    word.text.strip_prefix('$') == Some(name.text.as_str())
}

/// Returns the lines of what is read, each as one word.
pub(super) fn lines(said: &[Piece]) -> Vec<Word> {
    let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
    for piece in said {
        let Piece::Text(text) = piece else {
            lines.last_mut().into_iter().for_each(|line| line.push(piece.clone()));
            continue;
        };
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if !part.is_empty() {
                lines.last_mut().into_iter().for_each(|line| line.push(Piece::Text(part.into())));
            }
        }
    }
    let full = lines.into_iter().filter(|line| !line.is_empty());
    full.map(|line| Word::made(line, true)).collect()
}

/// Returns what the command inside a word `<(…)` prints.
pub(super) fn process(spec: &Grammar<'_>, word: &Word, depth: usize) -> Option<Vec<Piece>> {
    match word.pieces.as_slice() {
        [Piece::Hidden(Hidden::Substitution, raw)] => {
            substituted(spec, raw.strip_prefix("<(")?.strip_suffix(')')?, depth)
        }
        _ => None,
    }
}

/// Returns the words with what their substitutions say in place of them; `None` if that changes nothing.
pub(super) fn resolved(spec: &Grammar<'_>, words: &[Word], depth: usize) -> Option<Vec<Word>> {
    let hides = words.iter().any(|word| word.is_substituted());
    if !hides || depth >= spec.limits.shell.max_nested {
        return None;
    }
    let mut changed = false;
    let mut found = Vec::new();
    for word in words {
        let mut pieces = Vec::new();
        for piece in &word.pieces {
            match said_in(spec, piece, depth) {
                Some(said) => {
                    changed = true;
                    pieces.extend(said);
                    pieces.push(Piece::Doubt);
                }
                None => pieces.push(piece.clone()),
            }
        }
        match word.quoted {
            true => found.push(Word::made(pieces, true)),
            false => found.extend(Word::split(&pieces)),
        }
    }
    changed.then_some(found)
}

fn said_in(spec: &Grammar<'_>, piece: &Piece, depth: usize) -> Option<Vec<Piece>> {
    let Piece::Hidden(Hidden::Substitution | Hidden::Document, raw) = piece else { return None };
    let inner = raw.strip_prefix("$(").and_then(|raw| raw.strip_suffix(')')).map(String::from);
    let ticks = || raw.strip_prefix('`').and_then(|raw| raw.strip_suffix('`'));
    let unticked = || ticks().map(|raw| raw.replace("\\`", "`").replace("\\$", "$"));
    let mut pieces = substituted(spec, &inner.or_else(unticked)?, depth)?;
    if let Some(Piece::Text(last)) = pieces.last_mut() {
        last.truncate(last.trim_end_matches('\n').len());
    }
    Some(pieces)
}

fn substituted(spec: &Grammar<'_>, text: &str, depth: usize) -> Option<Vec<Piece>> {
    if depth >= spec.limits.shell.max_nested || !spec.spend_reading(text) {
        return None;
    }
    spec.said(text, depth, || {
        let line = shell::read(text, &spec.limits.shell);
        let last = |command: &&Command| command.level == 0 && command.feeds.is_empty();
        printed(spec, &line, line.commands.iter().filter(last), depth + 1)
    })
}

/// Returns what commands print one after the other; those of which nothing is known are left out.
fn printed<'l>(
    spec: &Grammar<'_>,
    line: &Line,
    commands: impl Iterator<Item = &'l Command>,
    depth: usize,
) -> Option<Vec<Piece>> {
    let mut here = vec![Piece::Variable("PWD".into())];
    let mut found = Vec::new();
    for command in commands {
        let words = resolved(spec, &command.words, depth);
        let words = words.as_ref().unwrap_or(&command.words);
        let Some(name) = words.first().map(|word| basename(&word.text)) else { continue };
        if spec.wrappers.movers.iter().any(|mover| mover == name) {
            here = words.last().map(|word| word.pieces.clone()).unwrap_or_default();
        }
        if command.redirects.iter().any(writes) {
            continue;
        }
        match spec.wrappers.speakers.get(name) {
            Some(says) => found.extend(said(*says, spec, words, &here)),
            None if passes(spec, name, words) => {
                found.extend(input(spec, line, command, depth + 1).unwrap_or_default())
            }
            None => {}
        }
    }
    (!found.is_empty()).then_some(found)
}

fn writes(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
        && redirect.fd.as_deref().is_none_or(|fd| fd == "1")
}

/// Returns whether a program prints what it reads, and reads no file instead.
fn passes(spec: &Grammar<'_>, name: &str, words: &[Word]) -> bool {
    let listed = spec.wrappers.passers.iter().any(|passer| passer == name);
    let reading = listed.then(|| spec.read(words));
    reading.is_some_and(|reading| {
        let only_writes = reading.program.is_some_and(|program| !program.effects.is_empty());
        only_writes || reading.files().iter().all(|(_, word)| word.text == "-")
    })
}

fn said(says: Says, spec: &Grammar<'_>, words: &[Word], here: &[Piece]) -> Vec<Piece> {
    let program = words.first().and_then(|word| spec.wrappers.program(basename(&word.text)));
    let letters = program.map(|program| program.options.letters.as_str());
    let option = |word: &&Word| {
        let named =
            |rest: &str| letters.is_none_or(|known| rest.chars().all(|sign| known.contains(sign)));
        word.text.strip_prefix('-').is_some_and(named)
    };
    let operands: Vec<&Word> = words.iter().skip(1).skip_while(option).collect();
    let escapes = words.iter().skip(1).any(|word| word.text == "-e");
    let mut pieces = match says {
        Says::Words => joined(operands.iter().map(|word| plain(word, escapes))),
        Says::Format => return format(&operands),
        Says::Base => joined(operands.iter().take(1).map(|word| base(word))),
        Says::Parent => joined(operands.iter().map(|word| parent(word))),
        Says::Here => here.to_vec(),
        Says::Names if operands.iter().any(|word| word.has_glob()) || lists_itself(words) => {
            joined(operands.iter().map(|word| word.pieces.clone()))
        }
        Says::Names => vec![Piece::Glob("*".into())],
        Says::Starts => {
            let end = Piece::Text("\n".into());
            let starts = starts(spec, words).into_iter();
            starts
                .flat_map(|word| [word.pieces.as_slice(), std::slice::from_ref(&end)].concat())
                .collect()
        }
    };
    pieces.push(Piece::Text("\n".into()));
    pieces
}

/// Returns whether a listing is of directories themselves.
fn lists_itself(words: &[Word]) -> bool {
    let short = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--");
    words.iter().any(|word| short(word) && word.text.contains('d'))
}

/// Returns where a search starts; nothing if it chooses among what it finds.
fn starts(spec: &Grammar<'_>, words: &[Word]) -> Vec<Word> {
    let name = words.first().map(|word| basename(&word.text)).unwrap_or_default();
    let chooses = |word: &Word| {
        let named = spec.wrappers.starting(name).flat_map(|wrapper| &wrapper.filters);
        named.into_iter().any(|filter| word.text.strip_prefix('-') == Some(filter.as_str()))
    };
    if words.iter().any(chooses) {
        return Vec::new();
    }
    spec.read(words).arguments.operands.clone()
}

fn joined(words: impl Iterator<Item = Vec<Piece>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, word) in words.enumerate() {
        if index > 0 {
            pieces.push(Piece::Text(" ".into()));
        }
        pieces.extend(word);
    }
    pieces
}

/// Returns a word's pieces with its escapes decoded: all of them, or the line ends that some shells' `echo` knows.
fn plain(word: &Word, escapes: bool) -> Vec<Piece> {
    let decoded = |text: &str| match escapes {
        true => shell::unescaped(text),
        false => text.replace("\\n", "\n"),
    };
    let each = word.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Piece::Text(decoded(text).into()),
        other => other.clone(),
    });
    each.collect()
}

fn base(word: &Word) -> Vec<Piece> {
    vec![Piece::Text(basename(word.text.trim_end_matches('/')).into())]
}

fn parent(word: &Word) -> Vec<Piece> {
    if !word.pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Doubt)) {
        return Vec::new();
    }
    let path = std::path::Path::new(&word.text);
    let parent = path.parent().map_or("/".into(), |parent| parent.to_string_lossy());
    vec![Piece::Text(if parent.is_empty() { ".".into() } else { parent.into() })]
}

/// Puts operands into the first of them, as `printf` does: again and again until all are used.
fn format(operands: &[&Word]) -> Vec<Piece> {
    let Some((format, values)) = operands.split_first() else { return Vec::new() };
    let format = shell::unescaped(&format.text);
    let mut values = values.iter();
    let mut pieces = Vec::new();
    loop {
        let before = values.len();
        let mut rest = format.as_str();
        while let Some((text, directive)) = rest.split_once('%') {
            pieces.push(Piece::Text(text.into()));
            let end = directive.find(|sign: char| sign.is_ascii_alphabetic() || sign == '%');
            let at = end.map_or(directive.len(), |end| end + 1);
            match directive.get(..at) {
                Some(sign) if sign.ends_with('%') => pieces.push(Piece::Text("%".into())),
                _ => pieces.extend(values.next().map(|word| plain(word, true)).unwrap_or_default()),
            }
            rest = directive.get(at..).unwrap_or_default();
        }
        pieces.push(Piece::Text(rest.into()));
        if values.len() == 0 || values.len() == before {
            return pieces;
        }
    }
}
