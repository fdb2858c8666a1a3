//! The other spellings of a command: wrappers, program paths and options in front of a verb taken off, texts that
//! a shell would run read as lines of their own. What it finds counts against a command, never for it.

use super::arguments::{Known, arguments, contains};
use super::documents;
use super::program::{Grammar, basename, bytes, is_named};
use super::said;
use crate::shell::{self, Command, Line, Piece, Unseen, Word};
use crate::spec::{Options, Program, Spec, Wrapper};
use compact_str::CompactString;
use std::cell::OnceCell;
use std::collections::HashSet;

/// What a command comes down to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plain {
    /// Every spelling; the first is the command as it was written, without assignments and redirects.
    pub(super) spellings: Vec<Vec<Word>>,
    /// Texts it runs as shell lines.
    pub(super) texts: Vec<Text>,
    /// What it runs elsewhere or later: written rules count against it, not the floor, not rules about files.
    pub(super) aside: Aside,
    /// What it may be if options that the spec does not know are read another way: a written rule against it asks.
    pub(super) guessed: Aside,
    /// It runs something that the line does not show.
    pub(super) unseen: bool,
    /// It runs a text, or a command, that it reads, and the line does not show that.
    pub(super) fed: bool,
    /// Its words have several values each, and more of them together than are looked at.
    pub(super) mixed: bool,
    /// It has more spellings than the limit lets be looked at.
    pub(super) cut: bool,
}

impl Plain {
    /// Returns whether a spelling whose program is a path is there by the program's name, too.
    pub(super) fn names_again(&self, words: &[Word], name: &str) -> bool {
        let Some((program, rest)) = words.split_first() else { return false };
        let same = |other: &Vec<Word>| {
            other.split_first().is_some_and(|(first, behind)| first.text == name && behind == rest)
        };
        program.text.len() > name.len() && self.spellings.iter().any(same)
    }
}

/// Spellings and texts that only written rules look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Aside {
    /// Spellings.
    pub(super) spellings: Vec<Vec<Word>>,
    /// Texts that a shell runs.
    pub(super) texts: Vec<Text>,
}

/// A text that a shell runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    /// The text, as far as it is known.
    pub(super) text: String,
    /// What it is called with: `$0`, `$1`, ….
    pub(super) arguments: Vec<Word>,
    /// What its commands read, as far as the line says it.
    pub(super) input: Option<Vec<Piece>>,
}

impl Text {
    /// Returns a text that is called with nothing and reads nothing known.
    pub(super) fn of(text: &str) -> Text {
        Text { text: text.to_string(), ..Text::default() }
    }

    /// Reads it as a line, arguments and input in their places.
    pub(super) fn read(&self, spec: &Grammar<'_>) -> Line {
        let limits = &spec.limits.shell;
        if !spec.spend_reading(&self.text) {
            return Line { unseen: vec![Unseen::TooLarge], ..Line::default() };
        }
        let mut line = match self.arguments.is_empty() {
            true => shell::read(&self.text, limits),
            false => shell::read_called(&self.text, &self.arguments, limits),
        };
        documents::settle(spec, &mut line);
        if let Some(input) = &self.input {
            line.feed(input);
        }
        line
    }
}

/// Returns the spellings of the `index`-th command of a line; without `beside` none that only written rules look at.
pub(super) fn plain(spec: &Grammar<'_>, line: &Line, index: usize, beside: bool) -> Plain {
    let Some(command) = line.commands.get(index) else { return Plain::default() };
    let mut search = Search {
        spec,
        line,
        command,
        index,
        found: Plain::default(),
        standing: Standing::Sure,
        last: if beside { Standing::Guessed } else { Standing::Sure },
        bytes: 0,
        input: OnceCell::new(),
        takes_words: false,
    };
    search.run();
    search.found
}

/// Returns the spellings of every command of a line as texts, nested lines included, in order and without repeats.
pub fn plain_texts(spec: &Spec, line: &str) -> Vec<String> {
    let nested = nested(&Grammar::new(spec), vec![Text::of(line)], false);
    let mut texts: Vec<String> =
        nested.spellings.iter().map(|words| Line::spelled(words)).collect();
    let mut seen = HashSet::new();
    texts.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    texts
}

/// Spellings of the commands in texts.
#[derive(Default)]
pub(super) struct Nested {
    pub(super) spellings: Vec<Vec<Word>>,
    /// There is more than the limits let be looked at.
    pub(super) cut: bool,
}

/// Returns the spellings that only written rules look at, nested ones included.
pub(super) fn aside(spec: &Grammar<'_>, aside: &Aside) -> Nested {
    let Nested { spellings, cut } = nested(spec, aside.texts.clone(), true);
    Nested { spellings: aside.spellings.iter().cloned().chain(spellings).collect(), cut }
}

/// Returns every spelling of every command in these texts and in the texts that those run, `aside` or not.
fn nested(spec: &Grammar<'_>, texts: Vec<Text>, aside: bool) -> Nested {
    let limits = &spec.limits.shell;
    let mut found = Nested::default();
    let (mut bytes, mut commands) = (0, 0);
    let mut rest: Vec<(Text, usize)> = texts.into_iter().map(|text| (text, 0)).collect();
    while let Some((text, depth)) = rest.pop() {
        let line = text.read(spec);
        bytes += text.text.len();
        commands += line.commands.len();
        if bytes > limits.max_bytes || commands > limits.max_commands || spec.is_spent() {
            found.cut = true;
            break;
        }
        for index in 0..line.commands.len() {
            let Plain { spellings, texts, aside: more, .. } = plain(spec, &line, index, aside);
            let more = if aside { more } else { Aside::default() };
            found.spellings.extend(spellings.into_iter().chain(more.spellings));
            let deeper = texts.into_iter().chain(more.texts);
            rest.extend(deeper.filter(|_| depth < limits.max_nested).map(|text| (text, depth + 1)));
        }
    }
    found
}

/// Returns words with what was called in place of `$0`, `$1`, … and `$@`.
fn filled(words: &[Word], called: &[Word]) -> Vec<Word> {
    let given = called.get(1..).unwrap_or_default();
    let all = |name: &str| name == "@" || name == "*";
    let mut found = Vec::new();
    for word in words {
        let said =
            word.pieces.iter().filter(|piece| **piece != Piece::Text(CompactString::default()));
        let said: Vec<&Piece> = said.collect();
        if matches!(said.as_slice(), [Piece::Variable(name)] if all(name)) {
            found.extend(given.iter().cloned());
            continue;
        }
        let mut pieces = Vec::new();
        let mut changed = false;
        for piece in &word.pieces {
            let by = match piece {
                Piece::Variable(name) if all(name) => Some(given),
                Piece::Variable(name) => {
                    name.parse().ok().and_then(|at: usize| called.get(at)).map(std::slice::from_ref)
                }
                _ => None,
            };
            changed |= by.is_some();
            match by {
                Some(by) => pieces.extend(by.iter().flat_map(|word| word.pieces.iter().cloned())),
                None => pieces.push(piece.clone()),
            }
        }
        found.push(if changed { Word::made(pieces, true) } else { word.clone() });
    }
    found
}

/// How sure it is that a command comes to what is being looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Sure,
    Aside,
    Guessed,
}

pub(super) struct Search<'a, 's> {
    pub(super) spec: &'a Grammar<'s>,
    line: &'a Line,
    command: &'a Command,
    index: usize,
    pub(super) found: Plain,
    pub(super) standing: Standing,
    /// What is less sure than this is not looked for.
    last: Standing,
    /// Length of all spellings together.
    bytes: usize,
    input: OnceCell<Option<Vec<Piece>>>,
    /// Words that the line does not show come behind what it runs.
    pub(super) takes_words: bool,
}

impl Search<'_, '_> {
    fn run(&mut self) {
        self.variants();
        for each in &self.command.assignments {
            self.assigned(&each.name, &each.value.text);
        }
        let each = [Standing::Sure, Standing::Aside, Standing::Guessed];
        let last = self.last;
        for standing in each.into_iter().filter(|each| *each <= last) {
            let mut at = 0;
            self.standing = standing;
            while let Some(words) = self.lists().0.get(at).cloned().filter(|_| !self.found.cut) {
                at += 1;
                self.step(&words);
                self.standing = standing;
            }
        }
    }

    /// Returns what has been found with the present standing.
    fn lists(&mut self) -> (&mut Vec<Vec<Word>>, &mut Vec<Text>) {
        let found = &mut self.found;
        match self.standing {
            Standing::Sure => (&mut found.spellings, &mut found.texts),
            Standing::Aside => (&mut found.aside.spellings, &mut found.aside.texts),
            Standing::Guessed => (&mut found.guessed.spellings, &mut found.guessed.texts),
        }
    }

    /// Adds the command with each of its values: those of loops, what substitutions say, what it is called with.
    fn variants(&mut self) {
        let words = &self.command.words;
        let variants = words.iter().map(|word| word.also.len()).max().unwrap_or(0);
        for index in 0..=variants {
            if self.found.cut {
                break;
            }
            let words: Vec<Word> = words.iter().map(|word| word.variant(index)).collect();
            let resolved = said::resolved(self.spec, &words, 0);
            let taken = said::taken(self.spec, self.line, self.index, &words);
            self.add(words);
            resolved.into_iter().chain(taken).for_each(|words| self.add(words));
        }
        self.mixtures(words);
        for function in self.line.functions.iter().filter(|function| calls(words, &function.name)) {
            let body = self.line.commands.get(function.body.clone()).unwrap_or_default();
            for command in body {
                let called = filled(&command.words, words);
                if called != command.words {
                    self.add(called);
                }
            }
        }
    }

    /// Adds the command with each value of one word beside each value of every other: they may be of loops in loops.
    fn mixtures(&mut self, words: &[Word]) {
        let counts = || words.iter().map(|word| 1 + word.also.len());
        if counts().filter(|count| *count > 1).count() < 2 {
            return;
        }
        let all = counts().fold(1, usize::saturating_mul);
        if all > self.spec.limits.shell.max_spellings {
            self.found.mixed = true;
            self.found.cut |= words.first().is_some_and(|word| !word.also.is_empty());
            return;
        }
        for number in 0..all {
            let mut rest = number;
            let each = words.iter().map(|word| {
                let count = 1 + word.also.len();
                let index = rest % count;
                rest /= count;
                word.variant(index)
            });
            let words = each.collect();
            self.add(words);
        }
    }

    pub(super) fn add(&mut self, words: Vec<Word>) {
        if self.standing > self.last {
            return;
        }
        let known = self.found.spellings.contains(&words) || self.lists().0.contains(&words);
        if words.is_empty() || known {
            return;
        }
        let limits = &self.spec.limits.shell;
        let length = bytes(&words);
        self.bytes += length;
        let Plain { spellings, aside, guessed, .. } = &self.found;
        let count = spellings.len() + aside.spellings.len() + guessed.spellings.len();
        let many = count >= limits.max_spellings || self.bytes > limits.max_spelled;
        if !self.spec.spend_words(length) || count > 0 && many {
            self.found.cut = true;
            return;
        }
        self.lists().0.push(words);
    }

    pub(super) fn text(&mut self, text: Text) {
        if self.standing > self.last {
            return;
        }
        let texts = self.lists().1;
        if !texts.contains(&text) {
            texts.push(text);
        }
    }

    /// Adds the value of a variable that programs run.
    pub(super) fn assigned(&mut self, name: &str, value: &str) {
        if contains(&self.spec.wrappers.variables, name) {
            self.found.aside.texts.push(Text::of(value));
        }
    }

    /// Returns what the command reads, as far as the line says it.
    pub(super) fn input(&self) -> Option<Vec<Piece>> {
        let read = || said::input(self.spec, self.line, self.command, 0);
        self.input.get_or_init(read).clone()
    }

    /// Adds what one spelling comes down to.
    fn step(&mut self, words: &[Word]) {
        let Some((program, rest)) = words.split_first() else { return };
        self.without_unknown(program, rest);
        let name = basename(&program.text);
        if program.has_glob() {
            self.globbed(name, rest);
        }
        if name != program.text && !name.is_empty() {
            return self.add(after(Word::of(name), rest));
        }
        let reading = self.spec.read(words);
        let targets = reading.program.filter(|program| program.targets);
        let targets = targets.map(|_| reading.arguments.operands.clone()).unwrap_or_default();
        if let Some(bare) = &reading.bare {
            self.add(bare.clone());
        }
        for text in reading.script_texts() {
            match text.is_empty() {
                true => self.unshown(),
                false => self.text(Text::of(&text)),
            }
        }
        if self.takes_words && reading.program.is_some_and(|program| program.verbs) {
            self.unshown();
        }
        let spec = self.spec;
        for wrapper in spec.wrappers.starting(name) {
            let named = wrapper.programs.iter().filter_map(|names| behind(names, words)).max();
            if let Some(count) = named {
                let (front, rest) = words.split_at(count.min(words.len()));
                self.unwrap(wrapper, front, rest);
            }
        }
        self.standing = self.standing.max(Standing::Aside);
        if self.standing > self.last {
            return;
        }
        for from in 0..targets.len().min(spec.limits.shell.max_targets) {
            self.add(after(Word::of(name), targets.get(from..).unwrap_or_default()));
        }
        self.standing = Standing::Guessed;
        self.guess(name, words);
    }

    /// Adds the command as it is if what the line does not know of its program's name is nothing.
    fn without_unknown(&mut self, program: &Word, rest: &[Word]) {
        let is_unknown =
            |piece: &&Piece| matches!(piece, Piece::Variable(_) | Piece::Hidden(..) | Piece::Doubt);
        if !program.pieces.iter().any(|piece| is_unknown(&piece)) && !program.pieces.is_empty() {
            return;
        }
        if program.pieces.iter().all(|piece| is_unknown(&piece)) && !program.quoted {
            return self.add(rest.to_vec());
        }
        let known: Vec<Piece> =
            program.pieces.iter().filter(|piece| !is_unknown(piece)).cloned().collect();
        if known.len() < program.pieces.len() && !program.text.contains('/') {
            self.add(after(Word::made(known, program.quoted), rest));
        }
    }

    /// Adds the programs that the spec says something of and whose name a glob fits.
    fn globbed(&mut self, pattern: &str, rest: &[Word]) {
        let names = self.spec.fitting(pattern);
        names.iter().for_each(|name| self.add(after(Word::of(name), rest)));
    }

    /// Adds the command without the options in front of what may be a verb, where the spec does not know them: as if
    /// none of them took a value, and as if all did.
    fn guess(&mut self, name: &str, words: &[Word]) {
        let spec = self.spec;
        let mut key = name.to_string();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let program = spec.wrappers.program(&key);
            let is = |names: &[String]| names.iter().any(|each| is_named(each, &key));
            let wraps = spec.wrappers.starting(name).any(|wrapper| is(&wrapper.programs));
            if program.map_or(wraps, |program| !program.verbs) || at > spec.limits.shell.max_verbs {
                return;
            }
            if word.text.starts_with(['-', '+']) {
                let front = words.get(..at).unwrap_or_default();
                return self.guess_options(program, front, words.get(at..).unwrap_or_default());
            }
            key = format!("{key} {}", word.text);
            at += 1;
        }
    }

    fn guess_options(&mut self, program: Option<&Program>, front: &[Word], words: &[Word]) {
        let none = Options::default();
        let options = program.map_or(&none, |program| &program.options);
        let known = Known { stop: true, ..Known::only(options) };
        let skipped = words.iter().take_while(|word| word.text.starts_with('+')).count();
        let words = words.get(skipped..).unwrap_or_default();
        let without = arguments(known, words);
        if program.is_some_and(|program| without.has(&program.query)) {
            return;
        }
        let mut unknown: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for flag in without.flags().filter(|flag| seen.insert(*flag)) {
            if unknown.len() < self.spec.limits.shell.max_unknown && !known.names(flag) {
                unknown.push(flag.to_string());
            }
        }
        let with = match unknown.is_empty() {
            true => without.clone(),
            false => arguments(Known { valued: [&unknown, &[]], ..known }, words),
        };
        for found in [without, with] {
            self.add([front, &found.operands].concat());
        }
    }
}

fn after(program: Word, rest: &[Word]) -> Vec<Word> {
    std::iter::once(program).chain(rest.iter().cloned()).collect()
}

fn calls(words: &[Word], function: &str) -> bool {
    words.first().is_some_and(|word| word.text == function)
}

/// Returns what the spec says of a command, whose program's name is this, that runs what its words say.
pub(super) fn wrapper<'s>(spec: &'s Spec, name: &str, words: &[Word]) -> Option<&'s Wrapper> {
    let is = |names: &String| behind(names, words).is_some();
    spec.wrappers.starting(name).find(|wrapper| wrapper.programs.iter().any(is))
}

/// Returns how many words of the command the wrapper's name and verbs take, if it is that wrapper.
fn behind(names: &str, words: &[Word]) -> Option<usize> {
    let mut count = 0;
    for name in names.split(' ') {
        let word = words.get(count)?;
        if !is_named(name, &word.text) {
            return None;
        }
        count += 1;
    }
    Some(count)
}
