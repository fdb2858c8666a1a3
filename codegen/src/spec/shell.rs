//! What the spec says about command lines: how long they may be, how programs read their options
//! (`permission/wrappers.json`), and how many words say what a command does (`permission/arity.json`).

use super::Entries;
use super::named::{Index, Named};
use super::program::Program;
use crate::reader::Reader;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// `"shell"` in `loop.json`: how much of a command line is read. Beyond a limit it counts as not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellLimits {
    /// Longest line in bytes.
    pub max_bytes: usize,
    /// Deepest nesting of groups, substitutions and quotes.
    pub max_depth: usize,
    /// Most words that braces may make of one line.
    pub max_words: usize,
    /// Most bytes that variables of the line may expand to.
    pub max_expanded: usize,
    /// Deepest nesting of lines in lines, such as `sh -c "sh -c …"`.
    pub max_nested: usize,
    /// Most spellings of one command that are looked at.
    pub max_spellings: usize,
    /// Most bytes of all spellings of one command together.
    pub max_spelled: usize,
    /// Most simple commands of a call, nested lines included, that are looked at.
    pub max_commands: usize,
    /// Most files that the commands of a call name.
    pub max_files: usize,
    /// Most lines a variable is read from that are told apart.
    pub max_lines: usize,
    /// A glob in a program's place that more known programs fit says nothing of which it is.
    pub max_globbed: usize,
    /// How much is looked at in all, in bytes: texts read, spellings made, files followed; what is left is asked about.
    pub max_work: usize,
    /// How much more is looked at for each byte of the line.
    pub work_per_byte: usize,
    /// Most options of one command that the spec does not know and that are read with and without a value.
    pub max_unknown: usize,
    /// Most verbs in a row behind a program.
    pub max_verbs: usize,
    /// Most targets of one command that are told apart.
    pub max_targets: usize,
    /// In a line with more functions than this only one that names itself counts as calling itself.
    pub max_functions: usize,
    /// Most directories a command may stand in that are kept apart; beyond it none is known.
    pub max_directories: usize,
    /// Most characters of a command that a sentence shows.
    pub shown_chars: usize,
}

/// `permission/arity.json`: what "always" stores.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arity {
    /// How many words name what a command does, by the words it starts with: `git` 2, `git stash` 3.
    pub words: Entries<usize>,
    /// Programs of which every operand is a target of its own, and stored by itself.
    pub targets: Vec<String>,
    /// Commands that are only ever stored exactly as they were.
    pub exact_only: Entries,
    /// Verbs that make a command of any program that has verbs be stored exactly: what they do cannot be taken back.
    pub exact_verbs: Vec<String>,
    /// Commands that run what they read: while something is fed to them, no approval covers them.
    pub runs_input: Entries,
    /// Commands for which no "always" is offered.
    pub never: Entries,
    /// Variables that say which program runs or what it loads: with one in front no "always" is offered.
    pub never_with: Vec<String>,
}

/// `permission/wrappers.json`: how programs read their arguments, and which of them run another program.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrappers {
    /// Programs that run what their arguments say, by the first word of their names.
    #[serde(deserialize_with = "wrapping")]
    pub wrappers: Named<Wrapper>,
    /// How programs read their arguments, by name or by name and verb (`git diff`), and by their other names.
    #[serde(deserialize_with = "programs")]
    pub programs: Named<Program>,
    /// Programs that print what their words say: `echo x | sh` and `$(echo x)` run `x`.
    pub speakers: BTreeMap<String, Says>,
    /// Programs that pass their input on, if they name no file to read: `echo x | cat | sh` runs `x`.
    pub passers: Vec<String>,
    /// Programs that print their input as it is, if they have no arguments.
    pub printers: Vec<String>,
    /// Names of a program's own input: `sh /dev/stdin`.
    pub stdin: Vec<String>,
    /// Builtins that read lines into the variables their operands name.
    pub takers: Vec<String>,
    /// Variables whose value programs run as a shell text; written rules count against it.
    pub variables: Vec<String>,
    /// What stands where a program would and is none: conditions and jumps. A rule that asks about everything is not
    /// about them.
    pub grammar: Vec<String>,
    /// Directories every machine has, and names that matter wherever they are: a glob that fits one stands for it,
    /// and another spelling of one counts as it.
    pub landmarks: Vec<String>,
    /// How such a name may be spelled otherwise where file systems do not tell cases apart.
    pub folding: Folding,
    /// Builtins that change the directory to their operand.
    pub movers: Vec<String>,
    /// Builtins after which the directory is not known.
    pub lost: Vec<String>,
    /// Sentences about a verdict, by reason; `{{ of }}` is the command or path, `{{ rule }}`, `{{ from }}` and
    /// `{{ then }}` say which rule said what.
    pub says: BTreeMap<String, String>,
}

/// Where entries of `permission/wrappers.json` stand in it.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// Those of `wrappers`.
    pub wrappers: Index,
    /// Those of `programs`.
    pub programs: Index,
}

impl Wrappers {
    /// Returns the wrappers that a command whose program is `name` may be, those called by a pattern too.
    pub fn starting(&self, name: &str) -> impl Iterator<Item = &Wrapper> {
        let patterns = self.wrappers.patterns().filter(|(pattern, _)| fits(pattern, name));
        let patterns = patterns.filter_map(|(_, entry)| self.wrappers.entry(entry));
        self.wrappers.called(name).chain(patterns)
    }

    /// Returns how a program, or a program with its verbs, reads its arguments.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.called(name).next().or_else(|| {
            let (_, entry) = self.programs.patterns().find(|(pattern, _)| fits(pattern, name))?;
            self.programs.entry(entry)
        })
    }

    /// Returns the names of all programs the spec says something of, verbs and patterns left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.wrappers.names().chain(self.programs.names()).filter(|name| !name.contains(' '))
    }
}

/// Returns whether a name with a `*` in it may be `name`.
fn fits(pattern: &str, name: &str) -> bool {
    // Most are told by their first sign.
    if pattern.bytes().next() != name.bytes().next() && !pattern.starts_with('*') {
        return false;
    }
    let (front, back) = pattern.split_once('*').unwrap_or_default();
    name.strip_prefix(front).is_some_and(|rest| rest.ends_with(back))
}

/// Reads wrappers and indexes them by the first words of their names.
fn wrapping<'de, D: Deserializer<'de>>(from: D) -> Result<Named<Wrapper>, D::Error> {
    let list = Vec::<Wrapper>::deserialize(from)?;
    let first = |name: &str| name.split(' ').next().unwrap_or_default().to_string();
    let of = |(entry, wrapper): (usize, &Wrapper)| {
        wrapper.programs.iter().map(move |name| (entry, first(name))).collect::<Vec<_>>()
    };
    let named: BTreeSet<(usize, String)> = list.iter().enumerate().flat_map(of).collect();
    let index = Index::of(named.iter().map(|(entry, name)| (name.as_str(), *entry)));
    Ok(Named::read(index, list))
}

/// Reads programs and indexes them by their names; a name of its own beats another's other name.
fn programs<'de, D: Deserializer<'de>>(from: D) -> Result<Named<Program>, D::Error> {
    let map = BTreeMap::<String, Program>::deserialize(from)?;
    let also = |(entry, program): (usize, &Program)| {
        program.also.iter().map(move |also| (also.clone(), entry)).collect::<Vec<_>>()
    };
    let also: Vec<(String, usize)> = map.values().enumerate().flat_map(also).collect();
    let keys = map.keys().enumerate().map(|(entry, key)| (key.clone(), entry));
    let (patterns, plain): (Vec<_>, Vec<_>) =
        also.into_iter().partition(|(name, _)| name.contains('*'));
    let plain: BTreeMap<String, usize> = plain.into_iter().chain(keys).collect();
    let named = plain.iter().chain(patterns.iter().map(|(name, entry)| (name, entry)));
    let index = Index::of(named.map(|(name, entry)| (name.as_str(), *entry)));
    Ok(Named::read(index, map.into_values()))
}

/// Where `permission/wrappers.json` stands.
pub const WRAPPERS: &str = "permission/wrappers.json";

/// Reads `permission/wrappers.json`; of the packed spec the wrappers and programs when they are asked for.
pub(super) fn wrappers(reader: &mut Reader<'_>) -> Wrappers {
    let mut read: Wrappers = reader.typed(WRAPPERS, "wrappers").unwrap_or_default();
    if let (Some((_, text)), Some(outline)) = (reader.brief(WRAPPERS), reader.files.outline()) {
        read.wrappers = Named::late(text, &outline.wrappers);
        read.programs = Named::late(text, &outline.programs);
    }
    read
}

/// What file systems that do not tell cases apart overlook in a name besides its case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folding {
    /// Signs that are ignored wherever they stand.
    pub ignored: String,
    /// Signs that are ignored at the end.
    pub trailing: String,
    /// Names by the short forms that also reach them.
    pub short: BTreeMap<String, String>,
}

/// How a program's options are spelled.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Letters of options without a value.
    pub letters: String,
    /// Names of options without a value.
    pub names: Vec<String>,
    /// Options (letters and names) that take a value, in the same word or the next.
    pub value: Vec<String>,
    /// Options that take a value only in the same word.
    pub maybe: Vec<String>,
    /// Options whose values are always the next words, with how many; letters behind one in its word count on
    /// (`tree -Po pattern file`).
    pub apart: BTreeMap<String, usize>,
    /// Long names have one dash (`find -name`).
    pub single_dash: bool,
    /// Options end at the first operand.
    pub stop: bool,
    /// The first word is a bundle of letters without a dash, too; their values are the next words (`tar cf a.tar b`).
    pub bundle: bool,
}

/// A program that runs what its arguments say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wrapper {
    /// Its names; `*` stands for anything.
    pub programs: Vec<String>,
    /// How its own options are spelled; they end at the first operand unless `anywhere` is set.
    pub options: Options,
    /// Its options may stand behind operands.
    pub anywhere: bool,
    /// Its options may begin with `+`, too.
    pub plus: bool,
    /// A `--` may stand behind operands; what follows it is the command.
    pub dashes: bool,
    /// What it runs runs on another machine, in a container or later: written rules count against it, the floor and
    /// rules about files do not.
    pub elsewhere: bool,
    /// With one of these options it runs nothing.
    pub query: Vec<String>,
    /// Options whose value is the directory the command runs in.
    pub directory: Vec<String>,
    /// `NAME=value` operands in front of the command go into its environment.
    pub assigns: bool,
    /// Its own arguments name no files.
    pub no_files: bool,
    /// So many operands come before the command.
    pub skip: usize,
    /// Its options may stand behind those operands, too.
    pub between: bool,
    /// What its operands are.
    pub runs: Runs,
    /// With one of these options the first operand is a shell text.
    pub text_if: Vec<String>,
    /// Options whose value is a shell text.
    pub text: Vec<String>,
    /// Options whose value is split into words in front of the operands.
    pub split: Vec<String>,
    /// Values `KEY=text`, `KEY:text` and `KEY text` that hold shell texts.
    pub keyed: Vec<Keyed>,
    /// Options that are followed by a command up to `;` or `+`.
    pub exec: Vec<String>,
    /// Options that choose among files: with them an `exec` is not about the starting points as a whole.
    pub filters: Vec<String>,
    /// The option that makes a command do to everything below what `exec` does to each file.
    pub deep: String,
    /// What it finds goes behind the command where no `{}` stands for it.
    pub appends: bool,
    /// Words behind which no command stands but words that each run of it gets.
    pub given: Vec<String>,
    /// Options that name the word the input replaces.
    pub replace: Vec<String>,
    /// With one of these options a word of the input may hold blanks.
    pub whole: Vec<String>,
    /// What it does with its input.
    pub input: Input,
}

/// What the operands of a wrapper are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// Nothing that runs.
    #[default]
    Nothing,
    /// A command.
    Command,
    /// A command; a single operand may be a whole shell text.
    Line,
    /// One shell text, joined by blanks.
    Text,
    /// Shell texts, each operand one.
    Texts,
    /// One shell text, and the first operand only.
    FirstText,
    /// A file of commands, if there is an operand.
    File,
}

/// Where shell texts stand in values that have a key.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keyed {
    /// Options whose value has a key.
    pub options: Vec<String>,
    /// Operands have one, or are a key and its text.
    pub operands: bool,
    /// Keys whose text is run, in lower case; `*` stands for anything.
    pub keys: Vec<String>,
    /// Keys whose text is run if it begins with the mark.
    pub marked: Vec<String>,
    /// The mark in front of a text that is run.
    pub mark: String,
    /// Keys whose text without the mark is a verb of the program itself, with its arguments.
    pub verbs: Vec<String>,
    /// Marks in front of a value without a key, of which the rest is run.
    pub marks: Vec<String>,
}

/// What a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// Its operands, blanks between them.
    Words,
    /// Its operands put into the first.
    Format,
    /// The last part of the path its operand is.
    Base,
    /// The directory of the path its operand is.
    Parent,
    /// The directory it stands in.
    Here,
    /// What is in its operands, or, with the option `d`, its operands.
    Names,
    /// Where it starts to look.
    Starts,
}

/// What a wrapper does with its input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing that runs.
    #[default]
    Nothing,
    /// Reads it as a shell text if it has no operand.
    Text,
    /// Adds its words to the command.
    Words,
}
