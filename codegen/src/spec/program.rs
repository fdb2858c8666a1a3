//! `permission/wrappers.json`, the part about programs: options, operands, scripts, and what is done to files.

use super::shell::Options;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How a program reads its arguments.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    /// Other names that read their arguments alike; `*` stands for anything.
    pub also: Vec<String>,
    /// How its options are spelled.
    pub options: Options,
    /// Options that run, write or delete something.
    pub risky: Vec<String>,
    /// Options not named here count as risky.
    pub strict: bool,
    /// The first operand is a verb: what follows is looked up under both words.
    pub verbs: bool,
    /// With one of these options in front of a verb it says something of the verb, and does not do it.
    pub query: Vec<String>,
    /// Every operand is a verb of its own: `make a b` is `make a` and `make b`.
    pub targets: bool,
    /// What its operands are.
    pub operands: Operands,
    /// Options in whose presence the first operand is no pattern.
    pub unless: Vec<String>,
    /// More operands than this count as risky.
    pub max: Option<usize>,
    /// Options whose value is a file it reads.
    pub file: Vec<String>,
    /// Options whose value is a file it writes; risky too.
    pub out: Vec<String>,
    /// What it does to files.
    pub effects: Vec<Effect>,
    /// The first dashed word is a signal, later `-1` is an operand.
    pub signal: bool,
    /// Three capitals or more behind a dash are a signal's name (`pkill -HUP`).
    pub signals: bool,
    /// The script it runs, if its arguments hold one.
    pub script: Option<Script>,
    /// When it prints names of files below its operands.
    pub names: Option<Given>,
    /// When it prints lines of its input as they are, if it has no files of its own.
    pub filters: Option<Given>,
}

/// A script in a program's arguments: the first operand of a program whose operands start with a pattern, or values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The language it is read in.
    pub language: Language,
    /// Options whose value is a part of it.
    #[serde(default)]
    pub options: Vec<String>,
    /// Names that stand for no file when it writes to them.
    #[serde(default)]
    pub streams: Vec<String>,
    /// What its parts do to the file that is named behind them, by their name.
    #[serde(default)]
    pub files: BTreeMap<String, Action>,
    /// Parts whose rest is run as a shell text, by their name.
    #[serde(default)]
    pub texts: Vec<String>,
}

/// Languages of scripts that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Commands of a stream editor.
    Sed,
    /// Patterns and actions over records.
    Awk,
    /// A filter over JSON.
    Jq,
}

/// Options that something depends on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Given {
    /// Only with one of these.
    #[serde(rename = "if")]
    pub only: Vec<String>,
    /// Not with any of these.
    pub unless: Vec<String>,
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operands {
    /// Files.
    #[default]
    Files,
    /// No files.
    Text,
    /// First something that is no file, then files.
    Pattern,
}

/// Something a program does to the files its operands name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Effect {
    /// What is done.
    #[serde(rename = "do")]
    pub action: Action,
    /// To which operands.
    pub to: Which,
    /// Options whose value is the directory that operands go below.
    pub into: Vec<String>,
    /// Operands `key=file` that name the file.
    pub keys: Vec<String>,
    /// Only with one of these options.
    #[serde(rename = "if")]
    pub only: Vec<String>,
    /// Not with any of these options.
    pub unless: Vec<String>,
    /// Options behind those of `if` come too late to stand against it (`find -delete -name x`).
    pub ordered: bool,
    /// Only with one of these operands.
    pub operand: Vec<String>,
    /// Options whose value it is done to.
    pub options: Vec<String>,
    /// Operands may have a host and a colon in front, which are no part of a file's name.
    pub hosts: bool,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is read or listed.
    #[default]
    Read,
    /// Its content is written.
    Write,
    /// It is deleted.
    Delete,
    /// It is deleted with everything below it.
    Wipe,
    /// The modes or owners of everything below it are changed.
    Alter,
}

impl Action {
    /// Returns the name rules use.
    pub fn name(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Delete => "delete",
            Action::Wipe => "wipe",
            Action::Alter => "alter",
        }
    }
}

/// Which operands an effect is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// All.
    #[default]
    All,
    /// The first.
    First,
    /// All but the first.
    Rest,
    /// The last, and what the others are called below it.
    Last,
    /// All but the last, which they go to; all if an option says where.
    Sources,
    /// None: only the keys.
    None,
}
