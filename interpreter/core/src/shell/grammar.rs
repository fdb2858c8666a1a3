//! Lists, pipelines and simple commands. Compound commands are in `compound`.

use super::dollar::assigned_name;
use super::expand;
use super::reader::{Reader, ends_word};
use super::variables::name_at;
use super::words::Until;
use super::{Assignment, Command, Piece, Unseen, Word};
use std::ops::Range;

/// Words that begin or go on with a compound command; none of them is as long as `LONGEST`.
const INNER_WORDS: [&str; 8] = ["then", "do", "done", "fi", "else", "elif", "esac", "}"];
const LONGEST: usize = 16;

/// Builtins that set variables by name, and those that may set any.
const ASSIGNING: [&str; 15] = [
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "readarray",
    "mapfile",
    "printf",
    "unset",
    "getopts",
    "let",
    "wait",
    "set",
    "shift",
];
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];
const RUNNING: [&str; 4] = ["eval", "source", ".", "trap"];

impl Reader<'_, '_> {
    /// Reads the whole text.
    pub(super) fn whole(&mut self) {
        self.list(&[]);
        if self.at < self.text.len() {
            self.fail(Unseen::Syntax);
        }
        if !self.pending.is_empty() {
            self.out.unseen(Unseen::Unended);
        }
    }

    /// Reads the inside of a substitution and its closing sign.
    pub(super) fn substituted(&mut self, close: char) {
        let from = self.at;
        let outer = std::mem::take(&mut self.pending);
        self.deeper(|reader| reader.substituted_list());
        if !self.pending.is_empty() {
            self.out.unseen(Unseen::Syntax);
        }
        let over_lines = self.text.get(from..self.at).is_some_and(|text| text.contains('\n'));
        if !outer.is_empty() && over_lines {
            self.out.unseen(Unseen::Syntax);
        }
        self.pending = outer;
        if !self.eat(close) {
            self.fail(Unseen::Unended);
        }
    }

    /// Reads the whole text as the inside of a substitution.
    pub(super) fn substituted_whole(&mut self) {
        self.substituted_list();
        if self.at < self.text.len() || !self.pending.is_empty() {
            self.fail(Unseen::Syntax);
        }
    }

    fn substituted_list(&mut self) {
        let chain = self.out.chain;
        self.out.level += 1;
        self.scoped(|reader| reader.list(&[]));
        self.out.level -= 1;
        self.out.chain = chain;
    }

    /// Reads commands up to a closing bracket, one of `ends`, the end of a case branch or of the text.
    pub(super) fn list(&mut self, ends: &[&str]) {
        loop {
            self.skip_lines();
            match self.peek() {
                None | Some(')' | ';') => return,
                _ if self.bare_word().is_some_and(|(word, _)| ends.contains(&word.as_str())) => {
                    return;
                }
                _ => {}
            }
            let before = self.at;
            self.and_or();
            self.skip_blanks();
            match self.peek() {
                Some(';') if matches!(self.ahead(1), Some(';' | '&')) => return,
                Some(';' | '&') => {
                    self.bump();
                }
                None | Some('\n' | ')') => {}
                _ if self.bare_word().is_some_and(|(word, _)| ends.contains(&word.as_str())) => {}
                _ => self.out.unseen(Unseen::Syntax),
            }
            if self.at == before {
                return self.fail(Unseen::Syntax);
            }
        }
    }

    fn and_or(&mut self) {
        let start = self.out.line.commands.len();
        let mark = self.out.variables.mark();
        self.out.chains += 1;
        let outer = std::mem::replace(&mut self.out.chain, self.out.chains);
        self.pipeline();
        loop {
            self.skip_blanks();
            if !(self.eat_two('&', '&') || self.eat_two('|', '|')) {
                break;
            }
            self.skip_lines();
            self.conditionally(Self::pipeline);
        }
        self.out.chain = outer;
        if self.peek() == Some('&') {
            self.out.variables.doubt_since(mark);
            self.rescope(start);
            self.here_since(start).for_each(|command| command.background = true);
        }
    }

    fn here_since(&mut self, start: usize) -> impl Iterator<Item = &mut Command> {
        let level = self.out.level;
        self.out
            .line
            .commands
            .get_mut(start..)
            .unwrap_or_default()
            .iter_mut()
            .filter(move |command| command.level == level)
    }

    /// Moves the commands since `start` into a scope of their own.
    fn rescope(&mut self, start: usize) {
        let (old, new) = (self.out.scope, self.out.open_scope());
        self.here_since(start)
            .filter(|command| command.scope == old)
            .for_each(|command| command.scope = new);
    }

    fn pipeline(&mut self) {
        self.pipeline_prefix();
        let (start, mark) = (self.out.line.commands.len(), self.out.variables.mark());
        self.command();
        let mut stage = start..self.out.line.commands.len();
        loop {
            self.skip_blanks();
            if self.peek() != Some('|') || self.ahead(1) == Some('|') {
                break;
            }
            if stage.start == start {
                self.rescope(start);
            }
            self.bump();
            self.eat('&');
            self.skip_lines();
            let next = self.out.line.commands.len();
            self.scoped(Self::command);
            let next = next..self.out.line.commands.len();
            self.connect(stage, &next);
            stage = next;
        }
        if stage.start != start {
            self.out.variables.doubt_since(mark);
        }
    }

    fn pipeline_prefix(&mut self) {
        while let Some((word, end)) =
            self.bare_word().filter(|(word, _)| word == "!" || word == "time")
        {
            self.jump(end);
            self.skip_blanks();
            if word == "time" {
                while let Some((_, end)) =
                    self.bare_word().filter(|(word, _)| word == "-p" || word == "--")
                {
                    self.jump(end);
                    self.skip_blanks();
                }
            }
        }
    }

    fn connect(&mut self, left: Range<usize>, right: &Range<usize>) {
        let level = self.out.level;
        let commands = &mut self.out.line.commands;
        let here = |command: &&mut Command| command.level == level;
        for command in commands
            .get_mut(left.clone())
            .unwrap_or_default()
            .iter_mut()
            .filter(here)
            .filter(|command| command.feeds.is_empty())
        {
            command.feeds = right.clone();
        }
        for command in commands
            .get_mut(right.clone())
            .unwrap_or_default()
            .iter_mut()
            .filter(here)
            .filter(|command| command.fed_by.is_empty())
        {
            command.fed_by = left.clone();
        }
    }

    /// Reads one command of any kind.
    pub(super) fn command(&mut self) {
        self.deeper(Self::command_here);
    }

    fn command_here(&mut self) {
        self.skip_blanks();
        if self.peek() == Some('(') {
            return self.bracketed();
        }
        match self.bare_word() {
            Some((word, _)) if INNER_WORDS.contains(&word.as_str()) => self.fail(Unseen::Syntax),
            Some((word, end)) if !self.compound(&word, end) => self.simple(),
            None => self.simple(),
            _ => {}
        }
    }

    /// Returns the unquoted literal word here and its end, if it is short enough to be a keyword.
    pub(super) fn bare_word(&self) -> Option<(String, usize)> {
        let mut word = String::new();
        let mut rest = self.rest();
        loop {
            while let Some(joined) = rest.strip_prefix("\\\n") {
                rest = joined;
            }
            match rest.chars().next().filter(|sign| !ends_word(*sign)) {
                None => break,
                Some('\\' | '\'' | '"' | '$' | '`') => return None,
                Some(_) if word.len() >= LONGEST => return None,
                Some(sign) => {
                    word.push(sign);
                    rest = rest.get(sign.len_utf8()..).unwrap_or_default();
                }
            }
        }
        (!word.is_empty()).then(|| (word, self.text.len() - rest.len()))
    }

    /// Returns a command that stands here, without words yet.
    pub(super) fn begin(&self, from: usize) -> Command {
        Command {
            span: self.base + from..self.base + self.at,
            level: self.out.level,
            scope: self.out.scope,
            chain: self.out.chain,
            conditional: self.out.conditional > 0,
            repeated: self.out.repeated > 0,
            ..Command::default()
        }
    }

    fn simple(&mut self) {
        let from = self.at;
        let mut command = self.begin(from);
        let mut end = from;
        loop {
            self.skip_blanks();
            let before = self.at;
            if let Some(redirect) = self.redirect() {
                command.redirects.push(redirect);
            } else if self.peek() == Some('(') {
                if !self.defines(&command) {
                    self.fail(Unseen::Syntax);
                }
                return;
            } else if !self.argument(&mut command) || self.at == before {
                break;
            }
            end = self.at;
        }
        command.span.end = self.base + end;
        self.effects(&command);
        if !(command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty())
        {
            self.out.line.commands.push(command);
        }
    }

    /// Reads an assignment or a word; false if neither stands here.
    fn argument(&mut self, command: &mut Command) -> bool {
        let from = self.at;
        let atoms = self.atoms(Until::Blank);
        let raw = self.text.get(from..self.at).unwrap_or_default();
        if raw.is_empty() {
            return false;
        }
        let array = raw.ends_with('=') && self.peek() == Some('(');
        let assigned = assigned_name(raw).filter(|_| command.words.is_empty());
        match assigned {
            Some(name) if array => {
                let value = self.array();
                command.assignments.push(Assignment { name: name.to_string(), value });
            }
            Some(name) => {
                let word = expand::single(atoms, self.out);
                let mut value = after_equals(&word, name);
                if !raw.get(name.len()..).is_some_and(|rest| rest.starts_with('=')) {
                    let before = [Piece::Variable(name.to_string())];
                    let pieces = [before.as_slice(), &value.pieces].concat();
                    value = expand::finish(pieces, value.also.clone(), value.quoted);
                }
                command.assignments.push(Assignment { name: name.to_string(), value });
            }
            None => {
                command.words.extend(expand::words(atoms, self.out));
                if array {
                    command.words.push(self.array());
                }
            }
        }
        true
    }

    /// Reads `(…)` behind `name=`: its elements as one word that is likely at best.
    fn array(&mut self) -> Word {
        self.bump();
        let mut pieces = vec![Piece::Doubt];
        loop {
            self.skip_lines();
            let before = self.at;
            if self.peek().is_none_or(|sign| sign == ')') {
                break;
            }
            for word in self.word() {
                pieces.push(Piece::Text(" ".into()));
                pieces.extend(word.pieces.iter().cloned());
            }
            if self.at == before {
                self.fail(Unseen::Syntax);
            }
        }
        if !self.eat(')') {
            self.fail(Unseen::Unended);
        }
        Word::made(pieces, true)
    }

    /// Reads a function's body if `name ()` stands here.
    fn defines(&mut self, command: &Command) -> bool {
        let [name] = command.words.as_slice() else { return false };
        let inner = self.rest().get(1..).unwrap_or_default().trim_start_matches([' ', '\t']);
        if !inner.starts_with(')')
            || !command.assignments.is_empty()
            || !command.redirects.is_empty()
        {
            return false;
        }
        let name = name.text.clone();
        self.jump(self.text.len() - inner.len() + 1);
        self.function_body(name);
        true
    }

    /// Notes what a command does to the variables of the line.
    fn effects(&mut self, command: &Command) {
        let sure = self.out.conditional == 0;
        if command.words.is_empty() {
            for Assignment { name, value } in &command.assignments {
                self.out.variables.set(
                    name,
                    std::iter::once(value.pieces.clone()).chain(value.also.clone()).collect(),
                    sure,
                );
            }
            return;
        }
        let has =
            |list: &[&str]| command.words.iter().any(|word| list.contains(&word.text.as_str()));
        let calls =
            command.words.first().is_some_and(|word| self.out.functions.contains(&word.text));
        if calls || has(&RUNNING) {
            self.out.variables.lose();
        }
        if !has(&ASSIGNING) {
            return;
        }
        let declares =
            command.words.first().is_some_and(|word| DECLARING.contains(&word.text.as_str()));
        for word in command.words.iter().skip(1) {
            let Some(name) = name_at(&word.text) else { continue };
            match word.text.get(name.len()..) {
                Some(rest) if declares && rest.starts_with('=') => {
                    self.out.variables.set(
                        name,
                        vec![after_equals(word, name).pieces.clone()],
                        sure,
                    );
                }
                Some(rest) if rest.is_empty() || rest.starts_with(['=', '+', '[', '-']) => {
                    self.out.variables.forget(name)
                }
                _ => {}
            }
        }
        self.out.variables.positional |= has(&["set", "shift"]);
    }
}

/// Returns the value of a word that reads `name…=value`.
fn after_equals(word: &Word, name: &str) -> Word {
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
            *text = value.unwrap_or_default();
        }
        pieces
    };
    let also = word.also.iter().map(strip).collect();
    expand::finish(strip(&word.pieces), also, word.quoted)
}
