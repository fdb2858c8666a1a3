//! Reads a bash line into what would run: simple commands with decoded words, redirects and nested texts.
//!
//! It knows the grammar of the shell and nothing of programs, paths or rules. It is total: whatever it cannot follow
//! is named in [`Line::unseen`] and never guessed away.

mod assign;
mod braced;
mod compound;
mod dollar;
mod escape;
mod expand;
mod grammar;
mod heredoc;
mod operation;
mod reader;
mod redirect;
mod variables;
mod words;

use crate::spec::ShellLimits as Limits;
use compact_str::CompactString;
use reader::{Out, Reader};
use serde::Serialize;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::rc::Rc;

/// A line as the shell would take it apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Simple commands in the order they would start; one in a substitution stands before the one that uses it.
    pub commands: Vec<Command>,
    /// Here-document and here-string texts, named by [`Redirect::document`].
    pub documents: Vec<Document>,
    /// Parents of the scopes (subshells, stages of a pipe) that commands run in; scope 0 is the line itself.
    pub scopes: Vec<usize>,
    /// Functions the line defines.
    pub functions: Vec<Function>,
    /// Why the line could not be followed to its end; empty for a line that was read whole.
    pub unseen: Vec<Unseen>,
}

/// A simple command, or the redirects of a compound one (then without words).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Where it stands in the line, in bytes; in the body of a here-document, counted from the body's start without the
    /// tabs and backslashes that are no part of it. Past the end only where [`Line::unseen`] has a reason.
    pub span: Range<usize>,
    /// Assignments in front of it.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Its redirects, in order.
    pub redirects: Vec<Redirect>,
    /// Commands (as positions in [`Line::commands`]) that read its output through a pipe.
    pub feeds: Range<usize>,
    /// Commands whose output it reads through a pipe.
    pub fed_by: Range<usize>,
    /// How many substitutions it stands in.
    pub level: usize,
    /// The scope it runs in: what it changes (directory, variables) holds in that scope only.
    pub scope: usize,
    /// The and-or list it is part of; within one list a later command knows that an earlier `cd` worked.
    pub chain: usize,
    /// It runs only if something before it went right or wrong, or once per turn of a loop.
    pub conditional: bool,
    /// It stands in a loop or a function, and may run many times.
    pub repeated: bool,
    /// The line goes on without waiting for it.
    pub background: bool,
}

/// `name=value` in front of a command or alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without an index.
    pub name: CompactString,
    /// Its value; for an array the elements one after the other.
    pub value: Word,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: CompactString,
    /// The commands of its body, as positions in [`Line::commands`].
    pub body: Range<usize>,
}

/// A text handed to a command on a file descriptor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The text, as far as it is known.
    pub text: String,
    /// Nothing in it is expanded or guessed.
    pub known: bool,
    /// Expanding it runs something.
    pub runs: bool,
    /// Expanding it may run what the line does not show.
    pub evaluates: bool,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The descriptor in front of it: a number, or a name in braces.
    pub fd: Option<String>,
    /// The file, descriptor or here-document mark behind it.
    pub target: Word,
    /// The text of a here-document or here-string, as a position in [`Line::documents`].
    pub document: Option<usize>,
}

/// What a redirect does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>` and `>&` before a file name
    Write,
    /// `>>` and `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&` and `>&` before a descriptor
    Duplicate,
    /// `<<`, `<<-` and `<<<`
    Document,
}

/// A word as the program would get it, as far as the line tells. Words are looked at in many spellings of a command, so
/// a copy shares its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word(Rc<Parts>);

/// What a word consists of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Its parts in order.
    pub pieces: Vec<Piece>,
    /// Other values it takes, from a loop over known words.
    pub also: Vec<Vec<Piece>>,
    /// The parts as one text; unknown parts as they were written.
    pub text: CompactString,
    /// Some part of it was quoted or escaped.
    pub quoted: bool,
    /// Of the text, made once: words are looked up far more often than they are read.
    hash: u64,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text the program gets as it stands here.
    Text(CompactString),
    /// Unquoted glob signs: files decide what it becomes.
    Glob(CompactString),
    /// `~` or `~name` at the start.
    Tilde(CompactString),
    /// A variable whose value the line does not say.
    Variable(CompactString),
    /// No text: the parts beside it are likely, not sure.
    Doubt,
    /// What only running the line would tell, as it was written.
    Hidden(Hidden, CompactString),
}

/// Why a part of a word cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hidden {
    /// `$(…)`, backticks, `<(…)`
    Substitution,
    /// `"$(…)"` of one program without arguments that reads a text the line says.
    Document,
    /// Arithmetic over a name whose value is no number on this line: an index in it could run something.
    Arithmetic,
    /// `${x@P}` and `${!x}`: the value is read as code or as a name.
    Indirect,
    /// An operation on a value, or a number: text that runs nothing.
    Expansion,
}

/// Why a line could not be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// Longer than the limit.
    TooLong,
    /// Nested deeper than the limit.
    TooDeep,
    /// Braces, loops or variables grow beyond the limit.
    TooLarge,
    /// The grammar does not allow it, or this reader does not know it.
    Syntax,
    /// A quote, group or here-document does not end.
    Unended,
    /// A loop changes a variable that it also uses.
    ChangedInLoop,
}

/// By text alone: words that differ in nothing but their parts are rare.
impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Deref for Word {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Word {
    /// Returns true if nothing in it is hidden, guessed or up to a variable. Globs and the person's own `~` are known.
    pub fn is_known(&self) -> bool {
        std::iter::once(&self.pieces).chain(&self.also).flatten().all(|piece| match piece {
            Piece::Text(_) | Piece::Glob(_) => true,
            Piece::Tilde(name) => name == "~",
            Piece::Variable(_) | Piece::Doubt | Piece::Hidden(..) => false,
        })
    }

    /// Returns all values it takes, each as its parts.
    pub(crate) fn values(&self) -> Vec<Vec<Piece>> {
        [std::slice::from_ref(&self.pieces), &self.also].concat()
    }

    /// Returns true if it has an unquoted glob sign.
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Returns true if a part of it is hidden for that reason.
    pub fn hides(&self, reason: Hidden) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Hidden(why, _) if *why == reason))
    }

    /// Returns true if expanding it runs something, or may.
    pub fn runs(&self) -> bool {
        self.is_substituted() || self.evaluates()
    }

    /// Returns true if a part of it is what a command prints.
    pub fn is_substituted(&self) -> bool {
        self.hides(Hidden::Substitution) || self.hides(Hidden::Document)
    }

    /// Returns true if a value in it is read as code: that may run what the line does not show.
    pub fn evaluates(&self) -> bool {
        self.hides(Hidden::Arithmetic) || self.hides(Hidden::Indirect)
    }

    /// Returns the word with its `index`-th other value, or as it is if it has none.
    pub fn variant(&self, index: usize) -> Word {
        match index.checked_sub(1).and_then(|other| self.also.get(other)) {
            Some(pieces) => Word::made(pieces.clone(), self.quoted),
            None => self.clone(),
        }
    }

    /// Returns the word without its first `count` bytes; a part that is not plain text there makes the rest doubtful.
    pub fn skip(&self, count: usize) -> Word {
        let cut = |pieces: &Vec<Piece>| {
            let mut left = count;
            let mut rest = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) | Piece::Glob(text) if left > 0 => {
                        let from = left.min(text.len());
                        left -= from;
                        rest.push(Piece::Text(text.get(from..).unwrap_or_default().into()));
                    }
                    _ => {
                        if left > 0 && *piece != Piece::Doubt {
                            left = 0;
                            rest.push(Piece::Doubt);
                        }
                        rest.push(piece.clone());
                    }
                }
            }
            rest
        };
        let also = self.also.iter().map(cut).collect();
        expand::finish(cut(&self.pieces), also, self.quoted)
    }

    /// Returns the word with `text` behind it.
    pub fn with(&self, text: &str) -> Word {
        let join = |pieces: &Vec<Piece>| [pieces.as_slice(), &[Piece::Text(text.into())]].concat();
        let also = self.also.iter().map(join).collect();
        expand::finish(join(&self.pieces), also, self.quoted)
    }

    /// Returns a word of these pieces.
    pub fn made(pieces: Vec<Piece>, quoted: bool) -> Word {
        expand::finish(pieces, Vec::new(), quoted)
    }

    /// Returns the words that unquoted pieces become: blanks in texts end a word.
    pub fn split(pieces: &[Piece]) -> Vec<Word> {
        expand::unquoted(pieces)
    }

    /// Returns a known word of that text.
    pub fn of(text: &str) -> Word {
        Word::made(vec![Piece::Text(text.into())], false)
    }
}

impl Piece {
    /// Returns pieces as one text, unknown ones as they were written.
    fn written(pieces: &[Piece]) -> CompactString {
        let mut text = CompactString::with_capacity(pieces.iter().map(expand::size).sum());
        for piece in pieces {
            match piece {
                Piece::Text(part)
                | Piece::Glob(part)
                | Piece::Tilde(part)
                | Piece::Hidden(_, part) => text.push_str(part),
                Piece::Variable(name) => {
                    text.push('$');
                    text.push_str(name);
                }
                Piece::Doubt => {}
            }
        }
        text
    }
}

impl RedirectKind {
    /// Returns true if it may change a file.
    pub fn writes(self) -> bool {
        matches!(self, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite)
    }

    /// Returns true if it may be what a command reads from.
    pub fn reads(self) -> bool {
        !matches!(self, RedirectKind::Write | RedirectKind::Append)
    }
}

impl Command {
    /// Returns every word the shell expands for it: its own, assigned values, targets of redirects.
    pub fn expanded(&self) -> impl Iterator<Item = &Word> {
        let values = self.assignments.iter().map(|each| &each.value);
        let targets = self.redirects.iter().map(|redirect| &redirect.target);
        self.words.iter().chain(values).chain(targets)
    }
}

impl Document {
    /// Returns the text that a word expands to.
    fn of(word: &Word) -> Document {
        Document {
            text: word.text.to_string(),
            known: word.is_known(),
            runs: word.runs(),
            evaluates: word.evaluates(),
        }
    }
}

impl Line {
    /// Puts a text on the input of the line: of every command that reads neither a file nor a pipe.
    pub fn feed(&mut self, pieces: &[Piece]) {
        let word = Word::made(pieces.to_vec(), true);
        let index = self.documents.len();
        self.documents.push(Document::of(&word));
        let reads = |redirect: &Redirect| {
            redirect.fd.as_deref().is_none_or(|fd| fd == "0") && redirect.kind.reads()
        };
        let open = |command: &&mut Command| {
            command.level == 0
                && command.fed_by.is_empty()
                && !command.words.is_empty()
                && !command.redirects.iter().any(reads)
        };
        for command in self.commands.iter_mut().filter(open) {
            let redirect = Redirect {
                kind: RedirectKind::Document,
                fd: None,
                target: Word::default(),
                document: Some(index),
            };
            command.redirects.push(redirect);
        }
    }

    /// Returns the texts handed to a command.
    pub fn documents_of(&self, command: &Command) -> impl Iterator<Item = &Document> {
        command.redirects.iter().filter_map(|redirect| self.documents.get(redirect.document?))
    }

    /// Returns a command's words as one text, single blanks between them.
    pub fn spelled(words: &[Word]) -> String {
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Reads a line. Never fails and never panics; the time is linear in the line.
pub fn read(line: &str, limits: &Limits) -> Line {
    read_into(Out::new(*limits), line, limits)
}

/// Reads a line that is called with arguments: the first is `$0`, the others `$1` and on.
pub fn read_called(line: &str, arguments: &[Word], limits: &Limits) -> Line {
    let mut out = Out::new(*limits);
    if let Some((own, given)) = arguments.split_first() {
        let fields = given.iter().map(|word| word.pieces.clone()).collect();
        out.variables.called(own.pieces.clone(), fields);
    }
    read_into(out, line, limits)
}

/// Returns a text with its backslash escapes decoded, as `echo -e` and `printf` do.
pub fn unescaped(text: &str) -> String {
    escape::ansi_c(text)
}

fn read_into(mut out: Out, line: &str, limits: &Limits) -> Line {
    if line.len() > limits.max_bytes {
        out.line.unseen.push(Unseen::TooLong);
        return out.line;
    }
    Reader::new(line, 0, &mut out).whole();
    out.line.unseen.dedup();
    out.line
}

#[cfg(test)]
mod tests;
