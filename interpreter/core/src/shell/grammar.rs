//! Lists, pipelines and simple commands. Compound commands are in `compound`.

use super::assign::{Simple, after_equals, fields, read_again};
use super::dollar::assigned_name;
use super::expand;
use super::reader::{Reader, ends_word};
use super::variables::{Values, name_at};
use super::words::{Until, means};
use super::{Assignment, Command, Piece, Unseen, Word};
use compact_str::CompactString;
use std::ops::Range;

/// Longer than any word of the grammar.
const LONGEST: usize = 16;

impl<'t> Reader<'t, '_> {
    /// Takes a word in which no sign means anything: most are such. The first of a command may be an assignment.
    fn plain_word(&mut self, first: bool) -> Option<&'t str> {
        let rest = self.rest();
        let end = rest.find(|sign| sign == '=' && first || means(sign)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let ends = behind.starts_with([' ', '\t', '\n', ';', '|', '&', ')']) || behind.is_empty();
        if word.is_empty() || !ends {
            return None;
        }
        self.jump(self.at + end);
        Some(word)
    }
}

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
                _ if self.at_one_of(ends) => return,
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
                _ if self.at_one_of(ends) => {}
                _ => self.out.unseen(Unseen::Syntax),
            }
            if self.at == before {
                return self.fail(Unseen::Syntax);
            }
        }
    }

    fn at_one_of(&self, words: &[&str]) -> bool {
        !words.is_empty()
            && self.bare_word().is_some_and(|(word, _)| words.contains(&word.as_str()))
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
            self.conditionally(|reader| reader.must(Self::pipeline));
        }
        self.out.chain = outer;
        if self.peek() == Some('&') {
            self.out.variables.undo_since(mark);
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
                self.out.variables.undo_since(mark);
            }
            self.bump();
            self.eat('&');
            self.skip_lines();
            let next = self.out.line.commands.len();
            self.must(|reader| reader.scoped(Self::command));
            let next = next..self.out.line.commands.len();
            self.connect(stage, &next);
            stage = next;
        }
    }

    /// Reads what has to stand here, behind an operator.
    fn must(&mut self, inner: impl FnOnce(&mut Self)) {
        let before = self.at;
        inner(self);
        if self.at == before {
            self.fail(if self.at >= self.text.len() { Unseen::Unended } else { Unseen::Syntax });
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
            Some((word, _)) if goes_on(&word) => self.fail(Unseen::Syntax),
            Some((word, end)) if !self.compound(&word, end) => self.simple(),
            None => self.simple(),
            _ => {}
        }
    }

    /// Returns the unquoted literal word here and its end, if it is short enough to be a keyword.
    pub(super) fn bare_word(&self) -> Option<(CompactString, usize)> {
        let means = |sign: char| ends_word(sign) || matches!(sign, '\\' | '\'' | '"' | '$' | '`');
        let mut word = CompactString::default();
        let mut rest = self.rest();
        loop {
            let (part, behind) = rest.split_at(rest.find(means).unwrap_or(rest.len()));
            if word.len() + part.len() > LONGEST || behind.starts_with(['\'', '"', '$', '`']) {
                return None;
            }
            word.push_str(part);
            rest = match behind.strip_prefix('\\').map(|joined| joined.strip_prefix('\n')) {
                Some(Some(joined)) => joined,
                Some(None) => return None,
                None => break (!word.is_empty()).then(|| (word, self.text.len() - behind.len())),
            };
        }
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
        let mut simple = Simple::new(self.begin(from), self.out.variables.mark());
        let mut end = from;
        loop {
            self.skip_blanks();
            let before = self.at;
            if let Some(redirect) = self.redirect() {
                simple.command.redirects.push(redirect);
            } else if self.peek() == Some('(') {
                if !self.defines(&simple.command) {
                    self.fail(Unseen::Syntax);
                }
                return;
            } else if !self.argument(&mut simple) || self.at == before {
                break;
            }
            end = self.at;
        }
        simple.command.span.end = self.base + end;
        if !simple.command.words.is_empty() {
            self.withdraw(&mut simple);
            self.evaluated(&mut simple.command);
            self.effects(&simple);
        }
        let command = simple.command;
        if !(command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty())
        {
            self.out.line.commands.push(command);
        }
    }

    /// Reads an assignment or a word; false if neither stands here.
    fn argument(&mut self, simple: &mut Simple) -> bool {
        let from = self.at;
        if simple.command.words.is_empty() && !self.at_assignment() && !self.at_end() {
            self.withdraw(simple);
        }
        if let Some(text) = self.plain_word(simple.command.words.is_empty()) {
            expand::plain(text, self.out, &mut simple.command.words);
            return true;
        }
        let atoms = self.atoms(Until::Blank);
        let raw = self.text.get(from..self.at).unwrap_or_default();
        if raw.is_empty() {
            return false;
        }
        let array = raw.ends_with('=') && self.peek() == Some('(');
        let assigned = assigned_name(raw).filter(|_| simple.command.words.is_empty());
        let Some(name) = assigned else {
            expand::words(atoms, self.out, &mut simple.command.words);
            if array {
                let (word, fields) = self.array();
                simple.command.words.push(word);
                simple.arrays.extend(name_at(raw).map(|name| (name.to_string(), fields)));
            }
            return true;
        };
        let sign = raw.get(name.len()..).unwrap_or_default();
        let mut value = if array {
            let (value, fields) = self.array();
            self.assign_array(name, sign, fields);
            value
        } else {
            let value = read_again(name, after_equals(&expand::single(atoms, self.out), name));
            self.assign(name, sign, &value);
            value
        };
        if !sign.starts_with('=') && !array {
            let before = [Piece::Variable(name.into())];
            let pieces = [before.as_slice(), &value.pieces].concat();
            value = expand::finish(pieces, value.also.clone(), value.quoted);
        }
        simple.command.assignments.push(Assignment { name: name.into(), value });
        true
    }

    fn at_end(&self) -> bool {
        self.peek().is_none_or(ends_word)
    }

    fn at_assignment(&self) -> bool {
        let rest = self.rest();
        let behind = name_at(rest).and_then(|name| rest.get(name.len()..));
        behind
            .is_some_and(|behind| behind.starts_with(['=', '[', '\\']) || behind.starts_with("+="))
    }

    /// Reads `(…)` behind `name=`: its elements as one word that is likely at best, and each of them if all are known.
    fn array(&mut self) -> (Word, Option<Values>) {
        self.bump();
        let mut pieces = vec![Piece::Doubt];
        let mut words = Vec::new();
        let mut plain = true;
        loop {
            self.skip_lines();
            let before = self.at;
            if self.peek().is_none_or(|sign| sign == ')') {
                break;
            }
            plain &= self.peek() != Some('[');
            for word in self.word() {
                pieces.push(Piece::Text(" ".into()));
                pieces.extend(word.pieces.iter().cloned());
                words.push(word);
            }
            if self.at == before {
                self.fail(Unseen::Syntax);
            }
        }
        if !self.eat(')') {
            self.fail(Unseen::Unended);
        }
        let fields = if plain { fields(&words) } else { None };
        (Word::made(pieces, true), fields)
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
}

/// Returns whether a compound command goes on, or ends, with a word.
fn goes_on(word: &str) -> bool {
    matches!(word, "then" | "do" | "done" | "fi" | "else" | "elif" | "esac" | "}")
}
