//! What a command's words mean to its program: options, operands, what is risky, which files it touches and how.

use super::arguments::{Arguments, Known, arguments, contains};
use super::script;
use crate::shell::{Piece, Word};
use crate::spec::{Effect, FileAction, Operands, Options, Program, Script, Spec, Which, Wrappers};
use compact_str::CompactString;
use foldhash::{HashMap, HashMapExt};
use globset::Glob;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::LazyLock;

/// The spec, and commands read by it, each once: a command is looked at for its facts, its files and its spellings.
pub(super) struct Grammar<'s> {
    spec: &'s Spec,
    read: RefCell<HashMap<Vec<Word>, Rc<Reading<'s>>>>,
    fitting: RefCell<HashMap<String, Rc<[&'s str]>>>,
    /// What the texts of substitutions print, by text and how deep it stands.
    said: RefCell<HashMap<String, Vec<(usize, Said)>>>,
    /// How much may still be looked at, in bytes.
    left: Cell<usize>,
}

/// What commands print, as far as the line says it.
pub(super) type Said = Option<Vec<Piece>>;

/// What looking at a command, a spelling or a file costs beside its bytes.
const EACH: usize = 48;

/// How many times as much a byte costs where a text is read, and where a command's words are taken apart.
const READ: usize = 4;
const WORDS: usize = 2;

impl Deref for Grammar<'_> {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        self.spec
    }
}

impl<'s> Grammar<'s> {
    pub(super) fn new(spec: &'s Spec) -> Grammar<'s> {
        let left = Cell::new(spec.limits.shell.max_work);
        Grammar {
            spec,
            // Most calls have no more.
            read: RefCell::new(HashMap::with_capacity(16)),
            fitting: RefCell::default(),
            said: RefCell::default(),
            left,
        }
    }

    /// Returns what a text that stands so deep says; it is made once.
    pub(super) fn said(&self, text: &str, depth: usize, make: impl FnOnce() -> Said) -> Said {
        let found = |said: &Vec<(usize, Said)>| {
            said.iter().find(|(at, _)| *at == depth).map(|(_, said)| said.clone())
        };
        if let Some(said) = self.said.borrow().get(text).and_then(found) {
            return said;
        }
        let said = make();
        self.said.borrow_mut().entry(text.to_string()).or_default().push((depth, said.clone()));
        said
    }

    /// Lets more be looked at for a line of that many bytes.
    pub(super) fn grant(&self, bytes: usize) {
        let more = bytes.saturating_mul(self.spec.limits.shell.work_per_byte);
        self.left.set(self.left.get().saturating_add(more));
    }

    /// Takes one thing of that many bytes off what may still be looked at; false once nothing is left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(bytes.saturating_add(EACH)));
        !self.is_spent()
    }

    /// The same for a text that is to be read.
    pub(super) fn spend_reading(&self, text: &str) -> bool {
        self.spend(text.len().saturating_mul(READ))
    }

    /// The same for the words of a command, of so many bytes, that are to be taken apart.
    pub(super) fn spend_words(&self, bytes: usize) -> bool {
        self.spend(bytes.saturating_mul(WORDS))
    }

    /// Returns whether so much has been looked at that the rest is not.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the programs that the spec says something of and whose name a glob fits; none if they are many.
    pub(super) fn fitting(&self, pattern: &str) -> Rc<[&'s str]> {
        if let Some(names) = self.fitting.borrow().get(pattern) {
            return Rc::clone(names);
        }
        let most = self.spec.limits.shell.max_globbed;
        let mut names: Vec<&str> = Vec::new();
        if let Some(glob) = Glob::new(pattern).ok().filter(|_| self.spend(pattern.len() * EACH)) {
            let glob = glob.compile_matcher();
            let fits = self.spec.wrappers.names().filter(|name| glob.is_match(name));
            names.extend(fits.take(most + 1));
        }
        let names: Rc<[&str]> = if names.len() <= most { names.into() } else { Rc::default() };
        self.fitting.borrow_mut().insert(pattern.to_string(), Rc::clone(&names));
        names
    }

    /// Reads a command's words; the first is the program.
    pub(super) fn read(&self, words: &[Word]) -> Rc<Reading<'s>> {
        if let Some(reading) = self.read.borrow().get(words) {
            return Rc::clone(reading);
        }
        if let Some((program, rest)) = words.split_first().filter(|(it, _)| it.text.contains('/')) {
            // The grammar is that of its name.
            let name = [Word::of(basename(&program.text))];
            return self.read(&[&name, rest].concat());
        }
        self.spend_words(bytes(words));
        let reading = Rc::new(read(&self.spec.wrappers, words));
        self.read.borrow_mut().insert(words.to_vec(), Rc::clone(&reading));
        reading
    }
}

/// A command read by the grammar of its program.
#[derive(Debug, Default)]
pub(super) struct Reading<'s> {
    /// The grammar; `None` for a program or verb the spec does not know.
    pub(super) program: Option<&'s Program>,
    /// The arguments behind the last verb.
    pub(super) arguments: Arguments,
    /// Options between program and verb.
    pub(super) globals: Arguments,
    /// The verbs.
    pub(super) verbs: Vec<CompactString>,
    /// Options and operands that run, write or delete, as typed.
    pub(super) risks: Vec<CompactString>,
    /// The command with the options in front of its verb left out, if it has any.
    pub(super) bare: Option<Vec<Word>>,
    /// Values of options that name files.
    named: Vec<(FileAction, Word)>,
    /// What its script says.
    said: OnceCell<Vec<CompactString>>,
}

/// Returns the length of words as they are written.
pub(super) fn bytes(words: &[Word]) -> usize {
    words.iter().map(|word| word.text.len() + 1).sum()
}

/// Returns the last component of a program's name.
pub(super) fn basename(name: &str) -> &str {
    let behind = memchr::memrchr(b'/', name.as_bytes()).map_or(0, |slash| slash + 1);
    name.get(behind..).unwrap_or(name)
}

/// Returns whether `name` is `pattern`, in which `*` stands for anything.
pub(super) fn is_named(pattern: &str, name: &str) -> bool {
    // Most are told by their first letter.
    let first = pattern.bytes().next();
    if first != name.bytes().next() && !matches!(first, Some(b'*' | b'?' | b'\\')) {
        return false;
    }
    if pattern.contains('*') { super::wildcard::matches(pattern, name) } else { pattern == name }
}

fn known(program: &Program) -> Known<'_> {
    Known {
        options: &program.options,
        valued: [&program.file, &program.out],
        risky: &program.risky,
        signal: program.signal,
        signals: program.signals,
        stop: program.options.stop,
    }
}

fn read<'s>(wrappers: &'s Wrappers, words: &[Word]) -> Reading<'s> {
    let name = words.first().map(|word| basename(&word.text)).unwrap_or_default();
    let mut reading = Reading::default();
    reading.step(wrappers.program(name), words.get(1..).unwrap_or_default());
    if reading.program.is_none_or(|program| !program.verbs) {
        return reading;
    }
    let mut key = name.to_string();
    let mut spelled: Vec<Word> = words.first().cloned().into_iter().collect();
    while reading.program.is_some_and(|program| program.verbs) {
        let operands = std::mem::take(&mut reading.arguments.operands);
        let Some((verb, behind)) = operands.split_first() else { break };
        let asks = reading.program.is_some_and(|it| reading.arguments.has(&it.query));
        if !reading.arguments.typed.is_empty() && !asks {
            reading.bare = Some([spelled.as_slice(), &operands].concat());
        }
        spelled.push(verb.clone());
        key = format!("{key} {}", verb.text);
        reading.verbs.push(verb.text.clone());
        reading.step(wrappers.program(&key), behind);
    }
    reading
}

/// Returns where a file's name starts in a value such as `@file` or `field=@file`.
fn file_mark(value: &str) -> Option<usize> {
    if value.starts_with('@') { Some(1) } else { value.find("=@").map(|at| at + 2) }
}

fn risks(program: &Program, arguments: &Arguments) -> Vec<CompactString> {
    let known = known(program);
    let dangerous =
        |name: &str| program.risky.iter().chain(&program.out).any(|risky| risky == name);
    let number = |name: &str| name.parse::<u32>().is_ok();
    let mut risks: Vec<CompactString> = arguments
        .typed
        .iter()
        .filter(|(name, _)| {
            dangerous(name) || (program.strict && !number(name) && !known.names(name))
        })
        .map(|(_, typed)| typed.text.clone())
        .collect();
    // One bundle of letters is one risk.
    risks.dedup();
    if program.risky.iter().any(|risky| risky == "+") {
        risks.extend(
            arguments
                .operands
                .iter()
                .filter(|word| word.text.starts_with('+'))
                .map(|word| word.text.clone()),
        );
    }
    if let Some(max) = program.max.filter(|_| !program.verbs) {
        risks.extend(arguments.operands.iter().skip(max).map(|word| word.text.clone()));
    }
    if !(program.risky.is_empty() && program.out.is_empty()) {
        risks.extend(arguments.unsure.iter().cloned());
    }
    risks
}

impl<'s> Reading<'s> {
    /// Goes down to the grammar of a program or verb and takes the words behind it apart.
    fn step(&mut self, program: Option<&'s Program>, words: &[Word]) {
        static UNKNOWN: LazyLock<Options> = LazyLock::new(Options::default);
        let parsed = arguments(program.map_or(Known::only(&UNKNOWN), known), words);
        let outer = std::mem::replace(&mut self.arguments, parsed);
        self.globals.typed.extend(outer.typed);
        self.globals.values.extend(outer.values);
        self.program = program;
        let Some(program) = program else { return };
        self.risks.extend(risks(program, &self.arguments));
        for (name, value) in &self.arguments.values {
            if contains(&program.out, name) {
                self.named.push((FileAction::Write, value.clone()));
            } else if contains(&program.file, name) {
                self.named.push((FileAction::Read, value.clone()));
            } else if let Some(at) = file_mark(&value.text) {
                self.named.push((FileAction::Read, value.skip(at)));
            }
        }
    }

    /// Returns the words that name files, with what is done to each.
    pub(super) fn files(&self) -> Vec<(FileAction, Word)> {
        let mut files = self.named.clone();
        let Some(program) = self.program else {
            self.add_likely(&mut files);
            return files;
        };
        let pattern = self.has_pattern(program);
        if program.operands != Operands::Text {
            let named = self.arguments.operands.iter().skip(usize::from(pattern));
            files.extend(named.map(|word| (FileAction::Read, word.clone())));
        }
        for effect in program.effects.iter().filter(|effect| applies(effect, &self.arguments)) {
            let operands = self.arguments.operands.get(usize::from(pattern)..).unwrap_or_default();
            let into = self.arguments.values.iter().find(|(name, _)| contains(&effect.into, name));
            let words = affected(effect, operands, into.map(|(_, value)| value));
            let values = self.arguments.values.iter();
            let values = values.filter(|(name, _)| contains(&effect.options, name));
            let words = words.into_iter().chain(values.map(|(_, value)| value.clone()));
            files.extend(words.map(|word| (effect.action, word)));
        }
        files.extend(self.script_files());
        files
    }

    /// Returns the shell texts that the script in the arguments runs; an empty one is not shown in it.
    pub(super) fn script_texts(&self) -> Vec<String> {
        self.in_script(|script, name, text| contains(&script.texts, name).then(|| text.into()))
    }

    /// Returns the files that the script in the arguments names.
    fn script_files(&self) -> Vec<(FileAction, Word)> {
        self.in_script(|script, name, file| {
            let action = script.files.get(name).filter(|_| !file.is_empty())?;
            Some((*action, Word::of(file)))
        })
    }

    /// Returns what `takes` makes of the parts of the script: their names, and what stands behind those.
    fn in_script<T>(&self, takes: impl Fn(&Script, &str, &str) -> Option<T>) -> Vec<T> {
        let Some(script) = self.program.and_then(|program| program.script.as_ref()) else {
            return Vec::new();
        };
        let parts = self.script().iter();
        let parts = parts.map(|part| part.split_once(' ').unwrap_or((part, "")));
        parts.filter_map(|(name, rest)| takes(script, name, rest)).collect()
    }

    /// Returns whether the first operand is no file but what the program looks for or does.
    fn has_pattern(&self, program: &Program) -> bool {
        program.operands == Operands::Pattern && !self.arguments.has(&program.unless)
    }

    /// Returns what the script in the arguments says, if the program runs one; it is read once.
    pub(super) fn script(&self) -> &[CompactString] {
        self.said.get_or_init(|| self.read_script())
    }

    fn read_script(&self) -> Vec<CompactString> {
        let Some((program, script)) = self.program.and_then(|it| Some((it, it.script.as_ref()?)))
        else {
            return Vec::new();
        };
        let values = self.arguments.values.iter();
        let parts =
            values.filter(|(name, _)| contains(&script.options, name)).map(|(_, word)| word);
        let first = self.arguments.operands.first().filter(|_| self.has_pattern(program));
        script::parts(script, &parts.chain(first).collect::<Vec<_>>())
    }

    /// A program the spec does not know: every operand and value may be a file.
    fn add_likely(&self, files: &mut Vec<(FileAction, Word)>) {
        let Arguments { values, operands, typed, .. } = &self.arguments;
        files.reserve(values.len() + operands.len());
        let mut add = |word: Word| files.push((FileAction::Read, word));
        for word in values.iter().map(|(_, value)| value).chain(operands) {
            add(word.clone());
            if let Some(sign) = word.text.find('=') {
                add(word.skip(sign + 1));
            }
        }
        let mut before = None;
        for (_, word) in typed {
            // Letters of one bundle are one word.
            if let Some(at) = word.text.find('/').filter(|_| before != Some(word)) {
                add(Word::of(word.text.get(at..).unwrap_or_default()));
            }
            before = Some(word);
        }
    }
}

fn applies(effect: &Effect, arguments: &Arguments) -> bool {
    let only = effect.only.is_empty() || arguments.has(&effect.only);
    let operand = effect.operand.is_empty()
        || arguments.operands.iter().any(|word| contains(&effect.operand, &word.text));
    let until = effect
        .ordered
        .then(|| arguments.flags().position(|flag| contains(&effect.only, flag)))
        .flatten();
    let mut before = arguments.flags().take(until.unwrap_or(arguments.typed.len()));
    only && operand && !before.any(|flag| contains(&effect.unless, flag))
}

/// Returns what an operand is called in a directory that it goes into.
fn below(effect: &Effect, directory: &Word, operand: &Word) -> Word {
    let name = basename(operand.text.trim_end_matches('/'));
    let name = name.rsplit(':').next().filter(|_| effect.hosts).unwrap_or(name);
    directory.with(&format!("/{name}"))
}

fn affected(effect: &Effect, operands: &[Word], into: Option<&Word>) -> Vec<Word> {
    let mut words: Vec<Word> = match (effect.to, operands) {
        (Which::None, _) | (_, []) => Vec::new(),
        (Which::All, all) => all.to_vec(),
        (Which::First, [first, ..]) => vec![first.clone()],
        (Which::Rest, [_, rest @ ..]) => rest.to_vec(),
        (Which::Last, all) if let Some(into) = into => {
            all.iter().map(|word| below(effect, into, word)).collect()
        }
        (Which::Sources, all) if into.is_some() => all.to_vec(),
        (Which::Sources, [sources @ .., _]) => sources.to_vec(),
        (Which::Last, [sources @ .., last]) => {
            let inside = sources.iter().map(|word| below(effect, last, word));
            inside.chain([last.clone()]).collect()
        }
    };
    for key in &effect.keys {
        let prefix = format!("{key}=");
        words.extend(
            operands
                .iter()
                .filter(|word| word.text.starts_with(&prefix))
                .map(|word| word.skip(prefix.len())),
        );
    }
    words
}
