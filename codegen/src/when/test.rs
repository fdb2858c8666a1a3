//! The tests a condition can make of one fact.

use super::{Fact, Pattern, pattern::Globs};
use serde_json::Value;
use std::cmp::Ordering;

/// A test of a fact's value. A value of another type fails every test.
#[derive(Debug, Clone)]
pub enum Test {
    /// It is one of these texts.
    Is(Texts),
    /// It equals one of these.
    OneOf(Vec<Value>),
    /// It starts with one of these.
    StartsWith(Vec<String>),
    /// It ends with one of these.
    EndsWith(Vec<String>),
    /// It contains one of these.
    Contains(Vec<String>),
    /// It is a path that one of these globs matches.
    Glob(Globs),
    /// It is one of these directories or below it, compared by component.
    Under(Vec<String>),
    /// The pattern matches somewhere in it.
    Matches(Pattern),
    /// It is there and not null, or it is not.
    Exists(bool),
    /// It is a number above this.
    Above(f64),
    /// It is a number below this.
    Below(f64),
    /// An element passes.
    Any(Box<Test>),
    /// There are elements, and every one passes.
    Every(Box<Test>),
}

/// Texts in an order in which one is found quickly: lists of programs are long, and are asked for each command.
#[derive(Debug, Clone)]
pub struct Texts {
    list: Vec<Box<str>>,
    /// A bit for each length and first byte there is, so that most others need no search.
    starts: u64,
}

impl Texts {
    pub(super) fn new(texts: impl Iterator<Item = String>) -> Texts {
        let mut texts: Vec<Box<str>> = texts.map(String::into_boxed_str).collect();
        texts.sort_unstable_by(|one, other| order(one, other));
        let starts = texts.iter().map(|text| start(text)).fold(0, |starts, start| starts | start);
        Texts { list: texts, starts }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|text| &**text)
    }

    fn has(&self, text: &str) -> bool {
        self.starts & start(text) != 0
            && self.list.binary_search_by(|each| order(each, text)).is_ok()
    }
}

#[inline]
fn start(text: &str) -> u64 {
    let first = text.bytes().next().unwrap_or_default();
    1 << ((usize::from(first) * 5 + text.len()) % 64)
}

fn order(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

impl Test {
    /// Returns whether `fact` passes.
    pub fn passes(&self, fact: Fact<'_>) -> bool {
        match self {
            Test::Exists(wanted) => exists(fact) == *wanted,
            Test::Is(list) => text(fact).is_some_and(|text| list.has(text)),
            Test::OneOf(list) => list.iter().any(|each| equals(fact, each)),
            Test::StartsWith(list) => texts(fact, list, |text, part| text.starts_with(part)),
            Test::EndsWith(list) => texts(fact, list, |text, part| text.ends_with(part)),
            Test::Contains(list) => texts(fact, list, |text, part| text.contains(part)),
            Test::Under(list) => texts(fact, list, under),
            Test::Glob(globs) => text(fact).is_some_and(|path| globs.hit(path)),
            Test::Matches(pattern) => fact.written().is_some_and(|text| pattern.hit(&text)),
            Test::Above(limit) => number(fact).is_some_and(|n| n > *limit),
            Test::Below(limit) => number(fact).is_some_and(|n| n < *limit),
            Test::Any(test) => match fact {
                Fact::Texts(list) => list.iter().any(|each| test.passes(Fact::Text(each))),
                Fact::Json(Value::Array(list)) => {
                    list.iter().any(|each| test.passes(Fact::Json(each)))
                }
                _ => false,
            },
            Test::Every(test) => match fact {
                Fact::Texts(list) => {
                    !list.is_empty() && list.iter().all(|each| test.passes(Fact::Text(each)))
                }
                Fact::Json(Value::Array(list)) => {
                    !list.is_empty() && list.iter().all(|each| test.passes(Fact::Json(each)))
                }
                _ => false,
            },
        }
    }
}

fn exists(fact: Fact<'_>) -> bool {
    !matches!(fact, Fact::Missing | Fact::Json(Value::Null))
}

fn text(fact: Fact<'_>) -> Option<&str> {
    match fact {
        Fact::Text(text) => Some(text),
        Fact::Json(json) => json.as_str(),
        _ => None,
    }
}

fn number(fact: Fact<'_>) -> Option<f64> {
    match fact {
        Fact::Number(number) => Some(number),
        Fact::Json(json) => json.as_f64(),
        _ => None,
    }
}

fn texts(fact: Fact<'_>, list: &[String], holds: impl Fn(&str, &str) -> bool) -> bool {
    text(fact).is_some_and(|text| list.iter().any(|part| holds(text, part)))
}

fn equals(fact: Fact<'_>, value: &Value) -> bool {
    match (fact, value) {
        (Fact::Text(text), Value::String(other)) => text == other,
        (Fact::Number(number), Value::Number(other)) => other.as_f64() == Some(number),
        (Fact::Bool(bool), Value::Bool(other)) => bool == *other,
        (Fact::Json(Value::Number(number)), Value::Number(other)) => {
            number.as_f64() == other.as_f64()
        }
        (Fact::Json(json), other) => json == other,
        _ => false,
    }
}

fn under(path: &str, dir: &str) -> bool {
    let dir = dir.trim_end_matches('/');
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
