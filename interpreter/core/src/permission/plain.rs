//! The other spellings of a command: wrappers, program paths and options in front of a verb taken off, texts that
//! a shell would run read as lines of their own. What it finds counts against a command, never for it.

use super::arguments::{Arguments, Known, arguments};
use super::program::{self, basename, is_named};
use crate::shell::{self, Command, Line, Piece, RedirectKind, Word};
use crate::spec::{Input, Runs, Spec, Wrapper};

/// What a command comes down to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plain {
    /// Every spelling; the first is the command as it was written, without assignments and redirects.
    pub spellings: Vec<Vec<Word>>,
    /// Texts it runs as shell lines.
    pub texts: Vec<Text>,
    /// It runs something that the line does not show.
    pub unseen: bool,
    /// It has more spellings than the limit lets be looked at.
    pub cut: bool,
}

/// A text that a shell runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text, as far as it is known.
    pub text: String,
    /// Nothing in it is guessed.
    pub known: bool,
}

/// Returns the spellings of the `index`-th command of a line.
pub fn plain(spec: &Spec, line: &Line, index: usize) -> Plain {
    let Some(command) = line.commands.get(index) else { return Plain::default() };
    let mut search = Search { spec, line, command, found: Plain::default(), bytes: 0 };
    search.run();
    search.found
}

/// Returns the spellings of every command of a line as texts, nested lines included, in order and without repeats.
pub fn plain_texts(spec: &Spec, line: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut rest: Vec<(String, usize)> = vec![(line.to_string(), 0)];
    while let Some((text, depth)) = rest.pop() {
        let line = shell::read(&text, &spec.limits.shell);
        for index in 0..line.commands.len() {
            let plain = plain(spec, &line, index);
            let spelled = plain.spellings.iter().map(|words| Line::spelled(words));
            texts.extend(spelled.filter(|text| !text.is_empty()));
            let deeper = plain.texts.into_iter().filter(|_| depth < spec.limits.shell.max_nested);
            rest.extend(deeper.map(|nested| (nested.text, depth + 1)));
        }
    }
    let mut seen = std::collections::HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

struct Search<'a> {
    spec: &'a Spec,
    line: &'a Line,
    command: &'a Command,
    found: Plain,
    /// Length of all spellings together.
    bytes: usize,
}

impl Search<'_> {
    fn run(&mut self) {
        let words = &self.command.words;
        let variants = words.iter().map(|word| word.also.len()).max().unwrap_or(0);
        for index in 0..=variants {
            if self.found.cut {
                break;
            }
            self.add(words.iter().map(|word| word.variant(index)).collect());
        }
        let mut at = 0;
        while let Some(words) = self.found.spellings.get(at).cloned() {
            at += 1;
            self.step(&words);
        }
    }

    fn add(&mut self, words: Vec<Word>) {
        if words.is_empty() || self.found.spellings.contains(&words) {
            return;
        }
        let limits = &self.spec.limits.shell;
        self.bytes += words.iter().map(|word| word.text.len() + 1).sum::<usize>();
        let first = self.found.spellings.is_empty();
        if !first
            && (self.found.spellings.len() >= limits.max_spellings
                || self.bytes > limits.max_spelled)
        {
            self.found.cut = true;
            return;
        }
        self.found.spellings.push(words);
    }

    fn text(&mut self, text: String, known: bool) {
        let text = Text { text, known };
        if !self.found.texts.contains(&text) {
            self.found.texts.push(text);
        }
    }

    /// Adds what one spelling comes down to.
    fn step(&mut self, words: &[Word]) {
        let Some((program, rest)) = words.split_first() else { return };
        let vanishes = !program.quoted
            && program
                .pieces
                .iter()
                .all(|piece| matches!(piece, Piece::Variable(_) | Piece::Doubt));
        if vanishes {
            self.add(rest.to_vec());
        }
        let name = basename(&program.text);
        if name != program.text && !name.is_empty() {
            self.add(std::iter::once(Word::of(name)).chain(rest.iter().cloned()).collect());
            return;
        }
        if let Some(bare) = program::read(&self.spec.wrappers, words).bare {
            self.add(bare);
        }
        for wrapper in self.spec.wrappers.starting(name) {
            let named = wrapper.programs.iter().filter_map(|names| behind(names, words)).max();
            if let Some(rest) = named.and_then(|count| words.get(count..)) {
                self.unwrap(wrapper, rest);
            }
        }
    }

    fn unwrap(&mut self, wrapper: &Wrapper, words: &[Word]) {
        let mut options = wrapper.options.clone();
        options.stop = !wrapper.anywhere;
        let valued = [wrapper.text.as_slice(), wrapper.split.as_slice()];
        let known = Known { options: &options, valued, risky: &[], signal: false };
        if !wrapper.exec.is_empty() {
            return self.executed(wrapper, words);
        }
        let arguments = arguments(known, words);
        if arguments.has(&wrapper.query) {
            return;
        }
        for (name, value) in &arguments.values {
            if wrapper.text.contains(name) {
                self.text(value.text.clone(), value.is_known());
            }
        }
        if arguments.has(&wrapper.text_if) {
            if let Some(first) = arguments.operands.first() {
                self.text(first.text.clone(), first.is_known());
            }
            return;
        }
        self.operands(wrapper, &arguments);
    }

    fn operands(&mut self, wrapper: &Wrapper, arguments: &Arguments) {
        let split = arguments.values.iter().filter(|(name, _)| wrapper.split.contains(name));
        let front: Vec<Word> = split.flat_map(|(_, value)| self.split(&value.text)).collect();
        let mut rest: Vec<Word> = front
            .into_iter()
            .chain(arguments.operands.iter().skip(wrapper.skip).cloned())
            .collect();
        if wrapper.assigns {
            let assigned = rest.iter().take_while(|word| is_assignment(&word.text)).count();
            rest.drain(..assigned);
        }
        if wrapper.input == Input::Text
            && (rest.is_empty()
                || wrapper.runs == Runs::Nothing
                || arguments.flags.iter().any(|flag| flag == "s"))
        {
            return self.input_text();
        }
        let late_text = rest
            .first()
            .and_then(|word| word.text.strip_prefix('-'))
            .is_some_and(|name| wrapper.text.iter().any(|text| text == name));
        match wrapper.runs {
            _ if late_text => rest
                .get(1)
                .cloned()
                .into_iter()
                .for_each(|word| self.text(word.text.clone(), word.is_known())),
            Runs::Command => {
                if wrapper.input == Input::Words {
                    self.input_words(wrapper, arguments, &mut rest);
                }
                self.add(rest);
            }
            Runs::Text if !rest.is_empty() => {
                self.text(Line::spelled(&rest), rest.iter().all(Word::is_known))
            }
            Runs::FirstText => rest
                .first()
                .cloned()
                .into_iter()
                .for_each(|word| self.text(word.text.clone(), word.is_known())),
            Runs::File if !rest.is_empty() => self.found.unseen = true,
            Runs::Nothing | Runs::Text | Runs::File => {}
        }
    }

    /// Returns the words of a text that a wrapper splits as a shell would.
    fn split(&self, text: &str) -> Vec<Word> {
        let line = shell::read(text, &self.spec.limits.shell);
        line.commands
            .into_iter()
            .flat_map(|command| {
                let assigned = command
                    .assignments
                    .into_iter()
                    .map(|each| Word::of(&format!("{}={}", each.name, each.value.text)));
                assigned.chain(command.words).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Adds the commands behind `-exec` and its like; `{}` stands for the starting points unless files are chosen among.
    fn executed(&mut self, wrapper: &Wrapper, words: &[Word]) {
        let (starts, filtered) = starting_points(wrapper, words);
        for (at, _) in words.iter().enumerate().filter(|(_, word)| named(word, &wrapper.exec)) {
            let behind = words.get(at + 1..).unwrap_or_default();
            let command = behind.iter().take_while(|word| word.text != ";" && word.text != "+");
            let replaced = command.flat_map(|word| match word.text.as_str() {
                "{}" if !filtered && !starts.is_empty() => starts.clone(),
                _ => vec![word.clone()],
            });
            self.add(replaced.collect());
        }
    }

    /// Returns the text on the command's input, as far as the line shows it.
    fn input(&self) -> Option<(String, bool)> {
        input_of(self.spec, self.line, self.command, 0)
    }

    fn input_text(&mut self) {
        match self.input() {
            Some((text, known)) => self.text(text, known),
            None => self.found.unseen = true,
        }
    }

    fn input_words(&mut self, wrapper: &Wrapper, arguments: &Arguments, rest: &mut Vec<Word>) {
        let Some((text, _)) = self.input() else { return };
        let mark = arguments
            .values
            .iter()
            .find(|(name, _)| wrapper.replace.contains(name))
            .map(|(_, value)| value.text.clone());
        match mark {
            Some(mark) => {
                let line = Word::of(text.trim_end());
                rest.iter_mut()
                    .filter(|word| word.text == mark)
                    .for_each(|word| *word = line.clone());
            }
            None => rest.extend(text.split_whitespace().map(Word::of)),
        }
    }
}

fn named(word: &Word, names: &[String]) -> bool {
    word.text.strip_prefix('-').is_some_and(|name| names.iter().any(|each| each == name))
}

/// Returns where a search starts, and whether it chooses among what it finds.
fn starting_points(wrapper: &Wrapper, words: &[Word]) -> (Vec<Word>, bool) {
    let starts = words.iter().take_while(|word| !word.text.starts_with(['-', '(', '!']));
    (starts.cloned().collect(), words.iter().any(|word| named(word, &wrapper.filters)))
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

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
            && !name.starts_with(|sign: char| sign.is_ascii_digit())
    })
}

/// What a command reads: a document of its own, or what the commands before it in the pipe say.
fn input_of(spec: &Spec, line: &Line, command: &Command, depth: usize) -> Option<(String, bool)> {
    let own =
        command.redirects.iter().rev().find(|redirect| {
            redirect.fd.as_deref().is_none_or(|fd| fd == "0") && reads(redirect.kind)
        });
    if let Some(redirect) = own {
        let document = redirect.document.and_then(|index| line.documents.get(index))?;
        return Some((document.text.clone(), document.known));
    }
    if command.fed_by.is_empty() || depth >= spec.limits.shell.max_nested {
        return None;
    }
    let mut text = String::new();
    let mut known = true;
    for source in line
        .commands
        .get(command.fed_by.clone())?
        .iter()
        .filter(|source| source.level == command.level)
    {
        let (said, sure) = said_by(spec, line, source, depth)?;
        text.push_str(&said);
        known &= sure;
    }
    Some((text, known))
}

fn reads(kind: RedirectKind) -> bool {
    matches!(
        kind,
        RedirectKind::Document
            | RedirectKind::Read
            | RedirectKind::ReadWrite
            | RedirectKind::Duplicate
    )
}

fn said_by(spec: &Spec, line: &Line, command: &Command, depth: usize) -> Option<(String, bool)> {
    let (program, rest) = command.words.split_first()?;
    let name = basename(&program.text);
    let operands: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-')).collect();
    if spec.wrappers.speakers.iter().any(|speaker| speaker == name) {
        let known = operands.iter().all(|word| word.is_known());
        let text = operands.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        return Some((text.replace("\\n", "\n") + "\n", known));
    }
    let searches = |wrapper: &&Wrapper| {
        !wrapper.filters.is_empty() && wrapper.programs.iter().any(|each| each == name)
    };
    if let Some(wrapper) = spec.wrappers.wrappers.iter().find(searches) {
        let (starts, filtered) = starting_points(wrapper, rest);
        return (!filtered).then(|| (Line::spelled(&starts), false));
    }
    let passes = spec.wrappers.passers.iter().any(|passer| passer == name) && operands.is_empty();
    if passes { input_of(spec, line, command, depth + 1) } else { None }
}
