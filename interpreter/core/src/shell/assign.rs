//! What simple commands do to the variables of the line: assignments, and builtins that set variables by name.

use super::dollar::runs_something;
use super::expand;
use super::reader::Reader;
use super::variables::{POSITIONAL, Values, name_at};
use super::{Command, Hidden, Piece, Unseen, Word};
use compact_str::CompactString;

/// Returns whether a builtin sets variables by name and says more of them.
fn declares(builtin: &str) -> bool {
    matches!(builtin, "declare" | "typeset" | "local" | "export" | "readonly")
}

/// Returns whether a builtin sets the positional parameters.
fn sets_parameters(builtin: &str) -> bool {
    matches!(builtin, "set" | "shift")
}

/// Options of `declare` that make something else of a value, or that make a name stand for another one.
const BENDING: [char; 5] = ['i', 'l', 'u', 'c', 'n'];

/// Options that make the shell read later lines another way.
const GRAMMAR_OPTIONS: [&str; 3] = ["keyword", "expand_aliases", "lastpipe"];

/// Returns, of a builtin that reads what stands in an index of a name it is given, what stands in front of the name if
/// not all arguments are names.
fn indexes(builtin: &str) -> Option<&'static str> {
    match builtin {
        "let" | "read" | "unset" | "getopts" => Some(""),
        "printf" | "test" | "[" => Some("-v"),
        "wait" => Some("-p"),
        _ => declares(builtin).then_some(""),
    }
}

/// The variable whose value is expanded again for every command that `set -x` shows.
const PROMPT: &str = "PS4";

impl Reader<'_, '_> {
    /// Takes back what the assignments in front of a command have done: they are for that command alone.
    pub(super) fn withdraw(&mut self, simple: &mut Simple) {
        if !simple.command.assignments.is_empty() && !std::mem::replace(&mut simple.withdrawn, true)
        {
            self.out.variables.undo_since(simple.mark);
        }
    }

    /// Notes `name=value`, `name+=value` or `name[index]=value`; `sign` is what stands behind the name.
    pub(super) fn assign(&mut self, name: &str, sign: &str, value: &Word) {
        let sure = self.out.conditional == 0;
        let variables = &mut self.out.variables;
        if sign.starts_with('=') {
            return variables.set(name, value.values(), sure);
        }
        let unset = (!variables.touched(name)).then(Values::new);
        let before = variables.fields(name).or(unset).filter(|_| value.also.is_empty());
        let index = match sign.strip_prefix('[').and_then(|sign| sign.split_once("]=")) {
            Some((index, _)) => index.parse().ok(),
            None => Some(0),
        };
        let (Some(mut fields), Some(index)) = (before, index) else {
            return variables.forget(name);
        };
        let next = fields.len();
        match fields.get_mut(index) {
            Some(field) if sign.starts_with("+=") => field.extend(value.pieces.iter().cloned()),
            Some(field) => *field = value.pieces.clone(),
            None if sign.starts_with("+=") => return variables.forget(name),
            None if index == next => fields.push(value.pieces.clone()),
            None => return variables.forget(name),
        }
        variables.set_fields(name, fields, sure);
    }

    /// Notes `name=(…)` or `name+=(…)`.
    pub(super) fn assign_array(&mut self, name: &str, sign: &str, fields: Option<Values>) {
        let sure = self.out.conditional == 0;
        let variables = &mut self.out.variables;
        let before =
            if sign.starts_with('=') { Some(Values::new()) } else { variables.fields(name) };
        match (before, fields) {
            (Some(before), Some(fields)) => {
                variables.set_fields(name, [before, fields].concat(), sure)
            }
            _ => variables.forget(name),
        }
    }

    /// Marks a command that reads one of its arguments once more, where that runs something.
    pub(super) fn evaluated(&self, command: &mut Command) {
        let name = command.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let Some(mark) = indexes(name) else { return };
        let names = mark.is_empty() || command.words.iter().any(|word| word.text == mark);
        let runs = |word: &Word| match name {
            "let" => self.evaluates(word),
            _ => word.pieces.iter().any(is_run_later),
        };
        if names && command.words.iter().skip(1).any(runs) {
            command.words.iter_mut().next_back().into_iter().for_each(hide);
        }
    }

    /// Notes what a command does to the variables of the line.
    pub(super) fn effects(&mut self, simple: &Simple) {
        let words = &simple.command.words;
        // What runs, what makes the shell read later lines another way, what sets variables by name.
        let (mut runs, mut changes, mut assigns) = (false, false, false);
        for word in words {
            match word.text.as_str() {
                "eval" | "source" | "." | "trap" => runs = true,
                "shopt" => changes = true,
                "set" => (changes, assigns) = (true, true),
                "shift" | "read" | "readarray" | "mapfile" | "printf" | "getopts" | "wait"
                | "unset" | "let" => assigns = true,
                builtin => assigns |= declares(builtin),
            }
        }
        let calls =
            words.first().is_some_and(|word| self.out.functions.contains(word.text.as_str()));
        if calls || runs {
            self.out.variables.lose();
        }
        if changes && words.iter().any(|word| changes_grammar(&word.text)) {
            self.out.unseen(Unseen::Syntax);
        }
        if !assigns {
            return;
        }
        self.declared(simple);
        let parameters = words.iter().position(|word| sets_parameters(&word.text));
        if let Some(at) = parameters {
            self.out.variables.positional = true;
            if self.out.variables.in_function == 0 {
                self.parameters(words.get(at..).unwrap_or_default());
            }
        }
    }

    /// Notes the variables that the words behind a builtin name.
    fn declared(&mut self, simple: &Simple) {
        let sure = self.out.conditional == 0;
        let words = &simple.command.words;
        let declares = words.first().is_some_and(|word| declares(&word.text));
        let bends = |word: &Word| {
            word.text.strip_prefix(['-', '+']).is_some_and(|flags| flags.contains(BENDING))
        };
        let bent = declares && words.iter().any(bends);
        if bent && words.iter().any(|word| bends(word) && word.text.contains('n')) {
            self.out.variables.lose();
        }
        for word in words.iter().skip(1) {
            let Some(name) = name_at(&word.text) else { continue };
            let rest = word.text.get(name.len()..).unwrap_or_default();
            let array = simple.arrays.iter().find(|(array, _)| array == name);
            match (rest, array) {
                _ if bent => self.out.variables.bend(name),
                ("=", Some((_, Some(fields)))) if declares => {
                    self.out.variables.set_fields(name, fields.clone(), sure)
                }
                (_, Some(_)) => self.out.variables.forget(name),
                _ if declares && rest.starts_with('=') => {
                    let values = after_equals(word, name).values();
                    self.out.variables.set(name, values, sure);
                }
                // Without a value these only say what kind of variable it is.
                ("", None) if declares => self.out.variables.doubt(name),
                _ if rest.is_empty() || rest.starts_with(['=', '+', '[', '-']) => {
                    self.out.variables.forget(name)
                }
                _ => {}
            }
        }
    }

    /// Notes what `set` and `shift` make of the positional parameters.
    fn parameters(&mut self, words: &[Word]) {
        let sure = self.out.conditional == 0;
        let Some((program, arguments)) = words.split_first() else { return };
        let next = match program.text.as_str() {
            "set" => match operands(arguments) {
                None => return,
                Some(operands) => fields(operands),
            },
            _ => {
                let count = arguments.first().map_or(Ok(1), |count| count.text.parse::<usize>());
                let before = self.out.variables.fields(POSITIONAL).filter(|_| sure);
                let rest = |before: Values| before.get(count.ok()?..).map(<[_]>::to_vec);
                before.and_then(rest)
            }
        };
        match next {
            Some(fields) => self.out.variables.set_fields(POSITIONAL, fields, sure),
            None => self.out.variables.forget(POSITIONAL),
        }
    }
}

/// A simple command while it is read.
pub(super) struct Simple {
    pub(super) command: Command,
    /// Where the log of the variables stood before it.
    mark: usize,
    /// The assignments in front of it are taken back.
    withdrawn: bool,
    /// Arrays among its arguments: `declare a=(…)`.
    pub(super) arrays: Vec<(String, Option<Values>)>,
}

impl Simple {
    pub(super) fn new(mut command: Command, mark: usize) -> Simple {
        // Most commands have no more.
        command.words.reserve(8);
        Simple { command, mark, withdrawn: false, arrays: Vec::new() }
    }
}

/// Returns whether a text runs something when it is read once more.
fn is_run_later(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(text) if runs_something(text))
}

/// Marks a word: its value is read as code.
fn hide(word: &mut Word) {
    let hidden = Piece::Hidden(Hidden::Arithmetic, CompactString::default());
    let pieces = [word.pieces.as_slice(), &[hidden]].concat();
    *word = expand::finish(pieces, word.also.clone(), word.quoted);
}

/// Returns the value of an assignment, marked if the shell reads it once more and that runs something.
pub(super) fn read_again(name: &str, mut value: Word) -> Word {
    if name == PROMPT && value.pieces.iter().any(is_run_later) {
        hide(&mut value);
    }
    value
}

/// Returns what `set` makes the positional parameters: what stands behind its options, or `None` if nothing does.
fn operands(arguments: &[Word]) -> Option<&[Word]> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.text.as_str() {
            "--" | "-" => return arguments.get(at + 1..),
            "-o" | "+o" => at += 2,
            text if text.starts_with(['-', '+']) => at += 1,
            _ => return arguments.get(at..),
        }
    }
    None
}

/// Returns words as elements of an array: none is where it seems once one before it may be no word, or several.
pub(super) fn fields(words: &[Word]) -> Option<Values> {
    if words.iter().any(|word| !word.also.is_empty()) {
        return None;
    }
    let mut sure = true;
    let each = words.iter().map(|word| {
        sure &= word.is_known() && !word.has_glob();
        let mut pieces = word.pieces.clone();
        pieces.extend((!sure).then_some(Piece::Doubt));
        pieces
    });
    Some(each.collect())
}

/// Returns whether an option of `set` or `shopt` makes the shell read later lines another way.
fn changes_grammar(option: &str) -> bool {
    let keyword = option
        .strip_prefix('-')
        .is_some_and(|flags| flags.contains('k') && !flags.starts_with('-'));
    keyword || GRAMMAR_OPTIONS.contains(&option)
}

/// Returns the value of a word that reads `name…=value`.
pub(super) fn after_equals(word: &Word, name: &str) -> Word {
    let strip = |pieces: &Vec<Piece>| {
        let mut pieces = pieces.clone();
        let indexed = pieces
            .iter()
            .position(|piece| matches!(piece, Piece::Text(text) if text.contains('=')))
            .unwrap_or(0);
        pieces.drain(..indexed);
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            let start = if indexed == 0 { name.len() } else { 0 };
            let value = text
                .get(start..)
                .and_then(|rest| rest.split_once('='))
                .map(|(_, value)| value.to_string());
            *text = value.unwrap_or_default().into();
        }
        if pieces.len() > 1 && pieces.first() == Some(&Piece::Text(CompactString::default())) {
            pieces.remove(0);
        }
        pieces
    };
    let also = word.also.iter().map(strip).collect();
    expand::finish(strip(&word.pieces), also, word.quoted)
}
