//! Puts the pieces of tool calls together, however a server numbers, names and cuts them. It runs nothing.

use super::nesting::Nesting;
use crate::message::{Broken, Carry, ToolCall};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// One piece of a call, as a frame carries it.
#[derive(Debug, Clone, Default)]
pub struct CallPiece<'a> {
    /// Which call, by the server's count.
    pub index: Option<u64>,
    /// The server's id; an empty one counts as none.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name; an empty one counts as none.
    pub name: Option<Cow<'a, str>>,
    /// The next piece of the arguments.
    pub arguments: Cow<'a, str>,
    /// Whether `arguments` is a whole JSON value rather than a piece of text.
    pub whole: bool,
    /// What the provider wants back with the call.
    pub carry: Option<Carry>,
}

/// The calls of one reply while they arrive.
#[derive(Debug)]
pub struct Calls<'t> {
    offered: &'t [String],
    prefix: String,
    most: usize,
    open: Vec<Open>,
}

#[derive(Debug, Default)]
struct Open {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Where the last piece of the arguments begins.
    last: usize,
    /// Whether some piece does not begin with the one before.
    goes_on: bool,
    nesting: Nesting,
    carry: Option<Carry>,
}

impl Open {
    /// Takes a piece of the arguments. Some gateways send the empty object of the call's start before them, or all of them again
    /// behind them.
    fn take(&mut self, piece: &CallPiece<'_>) {
        let text = piece.arguments.trim();
        let whole = piece.whole || (self.nesting.closed() && text.starts_with('{'));
        if whole && !self.arguments.is_empty() && matches!(text, "{}" | "[]") {
            return;
        }
        if whole && (piece.whole || self.has_none() || text == self.arguments.trim()) {
            self.arguments.clear();
            (self.last, self.nesting) = (0, Nesting::default());
        }
        self.add(&piece.arguments);
    }

    fn add(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let before = self.arguments.get(self.last..).unwrap_or_default();
        self.goes_on |= !piece.starts_with(before);
        self.last = self.arguments.len();
        self.nesting.feed(piece.as_bytes());
        self.arguments.push_str(piece);
    }

    /// Reads the arguments. Some servers send all of them so far in each piece.
    fn read(&self) -> Result<Map<String, Value>, Broken> {
        read(&self.arguments).or_else(|broken| {
            let all = self.arguments.get(self.last..).filter(|_| self.last > 0 && !self.goes_on);
            all.and_then(|all| read(all).ok()).ok_or(broken)
        })
    }

    /// Whether the arguments so far are an empty object.
    fn has_none(&self) -> bool {
        let inner = self.arguments.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        inner.is_some_and(|inner| inner.trim().is_empty())
    }
}

/// The finished calls, and whether a name had to be cleaned.
#[derive(Debug, Default)]
pub struct Finished {
    /// The calls in the order they began.
    pub calls: Vec<ToolCall>,
    /// Whether something glued on to an offered tool's name was taken off.
    pub cleaned: bool,
}

impl<'t> Calls<'t> {
    /// Returns an empty list. `offered` are the names of the tools the request offered; ids made here begin with `prefix`.
    /// One call more than `most` is kept, which shows that there were too many.
    pub fn new(offered: &'t [String], prefix: &str, most: usize) -> Calls<'t> {
        Calls { offered, prefix: prefix.into(), most, open: Vec::new() }
    }

    /// Opens a call, unless there are too many. Returns which it is, from 0.
    fn open(&mut self, call: Open) -> usize {
        let at = self.open.len();
        if at <= self.most {
            self.open.push(call);
        }
        at
    }

    /// Returns whether no call has begun.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns how many calls have begun.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns how many calls have arguments that are no JSON.
    pub fn broken(&self) -> usize {
        self.open.iter().filter(|call| call.read() == Err(Broken::NotJson)).count()
    }

    /// Takes a piece. Returns which call it belongs to, from 0, and that call's name so far.
    pub fn push(&mut self, piece: &CallPiece<'_>) -> (usize, &str) {
        let id = piece.id.as_deref().unwrap_or_default();
        let name = piece.name.as_deref().unwrap_or_default();
        let known = self.belongs_to(piece.index, id, name, piece);
        let at = known.unwrap_or_else(|| self.open(Open { index: piece.index, ..Open::default() }));
        let Some(call) = self.open.get_mut(at) else { return (at, "") };
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        if call.name.is_empty() || (call.arguments.is_empty() && call.name != name) {
            call.name.push_str(name.strip_prefix(call.name.as_str()).unwrap_or(name));
        }
        call.carry = call.carry.take().or_else(|| piece.carry.clone());
        call.take(piece);
        (at, &call.name)
    }

    /// Adds a whole call without asking what it may go on with. Returns which it is, from 0.
    pub(super) fn add(&mut self, name: &str, arguments: &str) -> usize {
        let mut nesting = Nesting::default();
        nesting.feed(arguments.as_bytes());
        self.open(Open {
            name: name.into(),
            arguments: arguments.into(),
            nesting,
            ..Open::default()
        })
    }

    /// Opens a call that the server tells apart from all others. Returns which it is, from 0.
    pub(super) fn begin(&mut self, id: &str, name: &str) -> usize {
        self.open(Open { id: id.into(), name: name.into(), ..Open::default() })
    }

    /// Adds to the arguments of a call that was begun, and returns its name.
    pub(super) fn extend(&mut self, at: usize, arguments: &str) -> &str {
        let Some(call) = self.open.get_mut(at) else { return "" };
        call.add(arguments);
        &call.name
    }

    /// Takes what the beginning of a call did not say of it.
    pub(super) fn identify(&mut self, at: usize, id: &str, name: &str) {
        let Some(call) = self.open.get_mut(at) else { return };
        for (own, said) in [(&mut call.id, id), (&mut call.name, name)] {
            if own.is_empty() {
                own.push_str(said);
            }
        }
    }

    /// Takes the arguments as the server says them at the end, in the place of their pieces, unless they say nothing.
    pub(super) fn settle(&mut self, at: usize, arguments: &str) {
        let Some(call) = self.open.get_mut(at).filter(|call| call.arguments != arguments) else {
            return;
        };
        if read(arguments).is_ok_and(|read| !read.is_empty()) {
            *call = Open {
                arguments: String::new(),
                nesting: Nesting::default(),
                ..std::mem::take(call)
            };
            call.add(arguments);
            (call.last, call.goes_on) = (0, true);
        }
    }

    /// Whether a call is one of this tool with these arguments, blanks aside.
    pub(super) fn is(&self, at: usize, name: &str, arguments: &str) -> bool {
        self.open
            .get(at)
            .is_some_and(|call| call.name == name && bare(&call.arguments).eq(bare(arguments)))
    }

    /// Which open call a piece goes on with; none when it opens a new one.
    fn belongs_to(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        piece: &CallPiece<'_>,
    ) -> Option<usize> {
        let last = self.open.len().checked_sub(1)?;
        let same_id = |call: &Open| !id.is_empty() && call.id == id;
        if let Some(same) = self.open.iter().rposition(same_id) {
            let call = self.open.get(same)?;
            let other = call.name != name || (index.is_some() && call.index != index);
            let reused = !name.is_empty() && call.nesting.closed() && other;
            return (!reused).then_some(same);
        }
        let numbered =
            index.and_then(|index| self.open.iter().rposition(|call| call.index == Some(index)));
        let at = numbered.unwrap_or(last);
        let call = self.open.get(at)?;
        let unseen = index.is_some() && numbered.is_none();
        let opens = if name.is_empty() {
            // A number not seen before alone is drift; with a new id after whole arguments it is a call whose name comes later.
            unseen && !id.is_empty() && call.nesting.closed()
        } else if call.name.is_empty() {
            unseen
        } else if unseen || (!id.is_empty() && !call.id.is_empty()) {
            true
        } else {
            self.new_name(call, name, piece)
        };
        (!opens).then_some(at)
    }

    /// Whether a name on a piece that says no other id opens a call of its own.
    fn new_name(&self, call: &Open, name: &str, piece: &CallPiece<'_>) -> bool {
        if call.nesting.closed() {
            // The empty object of a call's beginning is followed by its arguments.
            let begins = call.index.is_some() && call.index == piece.index && call.has_none();
            let filled = piece.arguments.trim().len() > 2;
            return call.name != name || !(piece.arguments.is_empty() || begins && filled);
        }
        call.arguments.is_empty()
            && call.name != name
            && !name.starts_with(&call.name)
            && self.offered.contains(&call.name)
    }

    /// Reads the arguments. `cut` says that the reply ended at the output limit.
    pub fn finish(self, cut: bool) -> Finished {
        let (mut done, mut ids) = (Finished::default(), HashSet::new());
        let last = self.open.len().saturating_sub(1);
        for (at, open) in self.open.into_iter().enumerate() {
            let name = clean(&open.name, self.offered);
            done.cleaned |= name != open.name;
            let (arguments, broken) = match open.read() {
                _ if cut && at == last && open.arguments.is_empty() => {
                    (Map::new(), Some(Broken::Cut))
                }
                Ok(arguments) => (arguments, None),
                Err(Broken::NotJson) if cut => (Map::new(), Some(Broken::Cut)),
                Err(broken) => (Map::new(), Some(broken)),
            };
            let mut id = open.id;
            if id.is_empty() || ids.contains(&id) {
                id = format!("{}{at}", self.prefix);
            }
            ids.insert(id.clone());
            let raw = broken.is_some().then_some(open.arguments);
            done.calls.push(ToolCall {
                id,
                name: name.into(),
                arguments,
                raw,
                broken,
                carry: open.carry,
            });
        }
        done
    }
}

/// Takes channel marks, a prefix (`functions.`, `default_api:`) and a number behind off a name when that leaves an offered
/// tool, in whatever case it is written.
pub(super) fn clean<'n>(name: &'n str, offered: &'n [String]) -> &'n str {
    let known = |name: &str| {
        let same = offered.iter().find(|tool| *tool == name);
        same.or_else(|| offered.iter().find(|tool| tool.eq_ignore_ascii_case(name)))
    };
    let bare = name.split("<|").next().unwrap_or(name).trim();
    let tool = known(name).or_else(|| known(bare));
    tool.or_else(|| bare.rsplit(['.', ':']).find_map(known)).map_or(name, String::as_str)
}

/// Reads arguments as a JSON object: nothing, null and an empty list are `{}`, text that holds one of them is opened once, raw
/// control characters are borne.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, Broken> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value = match parse(text.trim())? {
        Value::String(inner) if inner.trim().is_empty() => Value::Null,
        Value::String(inner) => parse(inner.trim()).map_err(|_| Broken::NotObject)?,
        value => value,
    };
    match value {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Map::new()),
        Value::Array(list) if list.is_empty() => Ok(Map::new()),
        _ => Err(Broken::NotObject),
    }
}

fn parse(text: &str) -> Result<Value, Broken> {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&escape_controls(text)))
        .map_err(|_| Broken::NotJson)
}

/// A text without its blanks.
fn bare(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|each| !each.is_ascii_whitespace())
}

/// Escapes control characters inside strings, which some servers send raw.
fn escape_controls(text: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::with_capacity(text.len() + 8), false, false);
    for each in text.chars() {
        if quoted && each.is_ascii_control() && each != '\x7f' {
            out.push_str(&format!("\\u{:04x}", u32::from(each)));
            escaped = false;
            continue;
        }
        if each == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && each == '\\' && !escaped;
        out.push(each);
    }
    out
}
