//! Finds tool calls that a model wrote as text because its server has no parser for them. Only offered tools count; anything
//! else stays text. It holds back no more than an open block.

use super::calls;
use crate::prose::Prose;
use crate::spec::{TextCall, TextForm};
use serde_json::Value;

/// A call found in the text: name and arguments as JSON text.
pub(super) type Written = (String, String);

/// What a piece of text turned out to be.
pub(super) enum Said<'a> {
    /// Text.
    Text(&'a str),
    /// The calls of one block.
    Calls(Vec<Written>),
}

/// A finder for one reply.
#[derive(Debug)]
pub(super) struct TextCalls<'t> {
    forms: &'t [TextCall],
    offered: &'t [String],
    limit: usize,
    /// What may be the beginning of a block, or an open block with its opening.
    held: String,
    /// The way of writing whose block is open.
    block: Option<&'t TextCall>,
    /// How much of the open block holds no closing.
    searched: usize,
    prose: Prose,
    /// Blanks after a block are dropped.
    trim: bool,
}

enum Next<'t> {
    Open(usize, &'t TextCall),
    Half(usize),
    Nothing,
}

impl<'t> TextCalls<'t> {
    /// Returns a finder that gives up on a block longer than `limit` bytes.
    pub(super) fn new(forms: &'t [TextCall], offered: &'t [String], limit: usize) -> TextCalls<'t> {
        let forms = if offered.is_empty() { &[][..] } else { forms };
        TextCalls {
            forms,
            offered,
            limit,
            held: String::new(),
            block: None,
            searched: 0,
            prose: Prose::new(),
            trim: false,
        }
    }

    /// Takes the next piece of text.
    pub(super) fn push(&mut self, piece: &str, out: &mut dyn FnMut(Said<'_>)) {
        if self.forms.is_empty() {
            out(Said::Text(piece));
        } else if self.held.is_empty() {
            let rest = self.scan(piece, false, out);
            self.held.push_str(piece.get(rest..).unwrap_or_default());
        } else {
            self.held.push_str(piece);
            self.scan_held(false, out);
        }
    }

    /// Hands on what was held back; the reply has ended.
    pub(super) fn end(&mut self, out: &mut dyn FnMut(Said<'_>)) {
        self.scan_held(true, out);
    }

    fn scan_held(&mut self, last: bool, out: &mut dyn FnMut(Said<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        let rest = self.scan(&held, last, out);
        held.drain(..rest);
        self.held = held;
    }

    /// Deals with as much of `all` as is certain and returns how much that was.
    fn scan(&mut self, all: &str, last: bool, out: &mut dyn FnMut(Said<'_>)) -> usize {
        let mut at = 0;
        while let Some(rest) = all.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(form) = self.block {
                match self.closing(rest, form) {
                    Some(end) => at += self.settle(rest.get(..end).unwrap_or(rest), form, out),
                    None if last => at += self.settle(rest, form, out),
                    None if rest.len() > self.limit => at += self.give_up(rest, out),
                    None => break,
                }
                continue;
            }
            match self.next_open(rest, last) {
                Next::Open(offset, form) => {
                    self.text(rest.get(..offset).unwrap_or_default(), out);
                    (self.block, self.searched) = (Some(form), form.open.len());
                    at += offset;
                }
                Next::Half(offset) => {
                    self.text(rest.get(..offset).unwrap_or_default(), out);
                    return at + offset;
                }
                Next::Nothing => {
                    self.text(rest, out);
                    at = all.len();
                }
            }
        }
        at
    }

    /// Finds the first opening in `rest`; one counts only at the start of a line and outside fenced blocks.
    fn next_open(&mut self, rest: &str, last: bool) -> Next<'t> {
        let mut at = 0;
        loop {
            if self.prose.mark_counts() {
                let line = rest.get(at..).unwrap_or_default();
                let line = line.trim_start_matches(|each: char| each.is_ascii_whitespace());
                self.prose.see(rest.get(at..rest.len() - line.len()).unwrap_or_default());
                at = rest.len() - line.len();
                let fits = |form: &&TextCall| !form.whole || self.prose.fresh();
                let mut forms = self.forms.iter().filter(fits);
                if let Some(form) = forms.clone().find(|form| line.starts_with(&form.open)) {
                    return Next::Open(at, form);
                }
                if !last && !line.is_empty() && forms.any(|form| form.open.starts_with(line)) {
                    return Next::Half(at);
                }
            }
            let line = rest.get(at..).unwrap_or_default();
            let end = line.find('\n').map_or(line.len(), |end| end + 1);
            self.prose.see(line.get(..end).unwrap_or_default());
            at += end;
            if at == rest.len() {
                return Next::Nothing;
            }
        }
    }

    /// Finds the end of the open block, looking at each byte once.
    fn closing(&mut self, block: &str, form: &TextCall) -> Option<usize> {
        let close = form.close.as_deref()?;
        let mut from = self.searched.min(block.len());
        while !block.is_char_boundary(from) {
            from -= 1;
        }
        let found = block.get(from..)?.find(close).map(|at| from + at + close.len());
        self.searched = form.open.len().max((block.len() + 1).saturating_sub(close.len()));
        found
    }

    /// Decides what a finished block was. Returns its length.
    fn settle(&mut self, block: &str, form: &TextCall, out: &mut dyn FnMut(Said<'_>)) -> usize {
        self.block = None;
        let same = |other: &&TextCall| other.open == form.open && other.close == form.close;
        match self.forms.iter().filter(same).find_map(|form| self.read(block, form)) {
            Some(calls) => {
                self.prose.begin_line();
                self.trim = true;
                out(Said::Calls(calls));
                block.len()
            }
            None => self.give_up(block, out),
        }
    }

    fn give_up(&mut self, block: &str, out: &mut dyn FnMut(Said<'_>)) -> usize {
        self.block = None;
        self.prose.see(block);
        self.text(block, out);
        block.len()
    }

    fn text(&mut self, text: &str, out: &mut dyn FnMut(Said<'_>)) {
        let text = if self.trim { text.trim_start() } else { text };
        if !text.is_empty() {
            self.trim = false;
            out(Said::Text(text));
        }
    }

    /// Reads a block as calls, all of them of offered tools.
    fn read(&self, block: &str, form: &TextCall) -> Option<Vec<Written>> {
        let inner = if form.whole { block } else { block.strip_prefix(&form.open)? };
        let inner = form
            .close
            .as_deref()
            .and_then(|close| inner.strip_suffix(close))
            .unwrap_or(inner)
            .trim();
        let calls = match &form.read {
            TextForm::Json { name, arguments } => read_json(inner, name, arguments)?,
            TextForm::Named { begin, separator, end } => read_named(inner, begin, separator, end)?,
            TextForm::Tags { begin, end, parameter, parameter_end, name_end } => {
                read_tags(inner, [begin, end], [parameter, parameter_end], name_end)?
            }
        };
        let known = |call: &Written| self.offered.contains(&call.0);
        let calls: Vec<Written> = calls
            .into_iter()
            .map(|(name, arguments)| (calls::clean(&name, self.offered).into(), arguments))
            .collect();
        (!calls.is_empty() && calls.iter().all(known)).then_some(calls)
    }
}

fn read_json(text: &str, name: &[String], arguments: &[String]) -> Option<Vec<Written>> {
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()?;
    let flat = values.into_iter().flat_map(|value| match value {
        Value::Array(list) => list,
        other => vec![other],
    });
    let call = |value: Value| {
        let name = name.iter().find_map(|key| value.get(key)?.as_str())?;
        let text = match arguments.iter().find_map(|key| value.get(key)) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        calls::read(&text).is_ok().then(|| (name.to_owned(), text))
    };
    flat.map(call).collect()
}

fn read_named(text: &str, begin: &str, separator: &str, end: &str) -> Option<Vec<Written>> {
    let (mut rest, mut calls) = (text, Vec::new());
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix(begin)?.split_once(separator)?;
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
        let arguments = values.next()?.ok().filter(Value::is_object)?;
        rest = after.get(values.byte_offset()..)?.trim_start().strip_prefix(end)?.trim_start();
        let name = name
            .trim()
            .rsplit_once(':')
            .filter(|(_, count)| count.parse::<u32>().is_ok())
            .map_or(name.trim(), |(name, _)| name);
        calls.push((name.to_owned(), arguments.to_string()));
    }
    Some(calls)
}

fn read_tags(
    text: &str,
    [begin, end]: [&str; 2],
    [open, close]: [&str; 2],
    name_end: &str,
) -> Option<Vec<Written>> {
    let named = |text: &'_ str| -> Option<(String, usize)> {
        let name = text.split_once(name_end)?.0;
        let body = name.len() + text.get(name.len()..)?.find('>')? + 1;
        Some((name.trim().to_owned(), body))
    };
    let (mut rest, mut calls) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let call = rest.strip_prefix(begin)?;
        let (name, body) = named(call)?;
        let (inner, after) = call.get(body..)?.split_once(end)?;
        let (mut inner, mut arguments) = (inner.trim(), serde_json::Map::new());
        while !inner.is_empty() {
            let parameter = inner.strip_prefix(open)?;
            let (key, body) = named(parameter)?;
            let (value, next) = parameter.get(body..)?.split_once(close)?;
            let value = value.strip_prefix('\n').unwrap_or(value);
            arguments.insert(key, value.strip_suffix('\n').unwrap_or(value).into());
            inner = next.trim_start();
        }
        calls.push((name, Value::Object(arguments).to_string()));
        rest = after.trim_start();
    }
    Some(calls)
}
