//! Finds tool calls that a model wrote as text because its server has no parser for them, in the ways it is said to write them.
//! Only offered tools count; anything else stays text. It holds back no more than an open block.

use super::calls;
use crate::prose::Prose;
use crate::quirk;
use crate::spec::{ReadCalls, ReadCallsRead as Form, Rule};
use serde_json::Value;
use std::sync::Arc;

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
    forms: Vec<Arc<ReadCalls>>,
    offered: &'t [String],
    limit: usize,
    /// What may be the beginning of a block, or an open block with its opening.
    held: String,
    /// The way of writing whose block is open.
    block: Option<Arc<ReadCalls>>,
    /// How much of the open block holds no closing.
    searched: usize,
    prose: Prose,
    /// Blanks after a block are dropped.
    trim: bool,
}

/// Returns the name of the first way in which a whole text holds a call of an offered tool.
pub fn written_as<'r>(rules: &'r [Rule], offered: &[String], text: &str) -> Option<&'r str> {
    let holds = |rule: &&Rule| {
        let way = std::slice::from_ref(&rule.id);
        let (mut finder, mut found) =
            (TextCalls::new(rules, Some(way), offered, text.len()), false);
        let mut see = |said: Said<'_>| found |= matches!(said, Said::Calls(_));
        finder.push(text, &mut see);
        finder.end(&mut see);
        found
    };
    quirk::ways(rules).find(holds).map(|rule| rule.id.as_str())
}

enum Next {
    Open(usize, Arc<ReadCalls>),
    Half(usize),
    Nothing,
}

impl<'t> TextCalls<'t> {
    /// Returns a finder of calls in the ways that `named` quirks read, or in every way; it gives up on a block longer than
    /// `limit` bytes.
    pub(super) fn new(
        rules: &[Rule],
        named: Option<&[String]>,
        offered: &'t [String],
        limit: usize,
    ) -> TextCalls<'t> {
        let none = offered.is_empty() || named.is_some_and(<[String]>::is_empty);
        let forms = if none { Vec::new() } else { quirk::text_calls(rules, named) };
        TextCalls {
            forms: forms.into_iter().map(Arc::new).collect(),
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
            if let Some(form) = self.block.clone() {
                match self.closing(rest, &form) {
                    Some(end) => at += self.settle(rest.get(..end).unwrap_or(rest), &form, out),
                    None if last => at += self.settle(rest, &form, out),
                    None if rest.len() > self.limit => at += self.give_up(rest, out),
                    None => break,
                }
                continue;
            }
            match self.next_open(rest, last) {
                Next::Open(offset, form) => {
                    self.text(rest.get(..offset).unwrap_or_default(), out);
                    self.searched = form.open.len();
                    self.block = Some(form);
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
    fn next_open(&mut self, rest: &str, last: bool) -> Next {
        let mut at = 0;
        loop {
            if self.prose.mark_counts() {
                let line = rest.get(at..).unwrap_or_default();
                let line = line.trim_start_matches(|each: char| each.is_ascii_whitespace());
                self.prose.see(rest.get(at..rest.len() - line.len()).unwrap_or_default());
                at = rest.len() - line.len();
                let fits = |form: &&Arc<ReadCalls>| !is_whole(form) || self.prose.fresh();
                let mut forms = self.forms.iter().filter(fits);
                if let Some(form) = forms.clone().find(|form| line.starts_with(&form.open)) {
                    return Next::Open(at, Arc::clone(form));
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
    fn closing(&mut self, block: &str, form: &ReadCalls) -> Option<usize> {
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
    fn settle(&mut self, block: &str, form: &ReadCalls, out: &mut dyn FnMut(Said<'_>)) -> usize {
        self.block = None;
        let same = |other: &&Arc<ReadCalls>| other.open == form.open && other.close == form.close;
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
    fn read(&self, block: &str, form: &ReadCalls) -> Option<Vec<Written>> {
        let opened = if is_whole(form) { block } else { block.strip_prefix(&form.open)? };
        let closed = form.close.as_deref().and_then(|close| opened.strip_suffix(close));
        let inner = closed.unwrap_or(opened).trim();
        let calls = match &form.read {
            Form { json: Some(json), .. } => {
                let between = json.between.as_deref().unwrap_or_default();
                read_json(inner, &json.name, &json.arguments, between)?
            }
            // The opening may be that of a call, too, and then stands before each of them.
            Form { named: Some(each), .. } => {
                let inner = if each.begin == form.open { block } else { inner };
                read_named(inner, &each.begin, &each.separator, &each.end)?
            }
            Form { tags: Some(tags), .. } => {
                let inner = if tags.begin == form.open { block } else { inner };
                let parameter = [tags.parameter.as_str(), &tags.parameter_end];
                read_tags(inner, [&tags.begin, &tags.end], parameter, &tags.name_end)?
            }
            Form { json: None, named: None, tags: None } => return None,
        };
        let known = |call: &Written| self.offered.contains(&call.0);
        let calls: Vec<Written> = calls
            .into_iter()
            .map(|(name, arguments)| (calls::clean(&name, self.offered).into(), arguments))
            .collect();
        (!calls.is_empty() && calls.iter().all(known)).then_some(calls)
    }
}

/// Whether a block in this form is the whole reply.
fn is_whole(form: &ReadCalls) -> bool {
    form.whole.unwrap_or(false)
}

fn read_json(
    text: &str,
    name: &[String],
    arguments: &[String],
    between: &str,
) -> Option<Vec<Written>> {
    let (mut rest, mut values) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let mut each = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        values.push(each.next()?.ok()?);
        rest = rest.get(each.byte_offset()..)?.trim_start();
        rest = rest.strip_prefix(between).unwrap_or(rest).trim_start();
    }
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
