//! Reads a condition from JSON and checks it against the facts it is about.

use super::{FactTypes, Kind, Pattern, Test, When, pattern::Globs, test::Texts};
use crate::place::escape;
use serde_json::Value;
use std::collections::BTreeMap;

/// Named lists a rule file may refer to as `"@name"`.
pub type Sets = BTreeMap<String, Vec<String>>;

/// What is wrong with a condition: the pointer of the part, and a sentence.
pub type Wrong = (String, String);

const DEEPEST: usize = 6;
const OPERATORS: &str =
    "starts_with, ends_with, contains, glob, under, matches, exists, above, below, any, every";

impl When {
    /// Reads the condition that stands at pointer `at`. Patterns and globs are compiled when first used;
    /// [`When::check`] compiles them at once.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn read(json: &Value, facts: &FactTypes, sets: &Sets, at: &str) -> Result<When, Wrong> {
        Reader { facts, sets }.when(json, at, 0)
    }

    /// Compiles every pattern and glob.
    ///
    /// # Errors
    /// A sentence about the first that does not compile.
    pub fn check(&self) -> Result<(), String> {
        match self {
            When::All(list) | When::Any(list) => list.iter().try_for_each(When::check),
            When::Not(inner) => inner.check(),
            When::Fact { test, .. } => test.check(),
        }
    }
}

impl Test {
    fn check(&self) -> Result<(), String> {
        match self {
            Test::Matches(pattern) => pattern.check(),
            Test::Glob(globs) => globs.check(),
            Test::Any(test) | Test::Every(test) => test.check(),
            _ => Ok(()),
        }
    }
}

struct Reader<'a> {
    facts: &'a FactTypes,
    sets: &'a Sets,
}

impl Reader<'_> {
    fn when(&self, json: &Value, at: &str, depth: usize) -> Result<When, Wrong> {
        let wrong = |message: &str| (at.to_string(), message.to_string());
        if depth > DEEPEST {
            return Err(wrong("conditions nest at most 6 deep"));
        }
        let object = json.as_object().ok_or_else(|| wrong("a condition is an object"))?;
        let mut parts = object
            .iter()
            .map(|(key, value)| self.part(key, value, at, depth))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(if parts.len() == 1 { parts.remove(0) } else { When::All(parts) })
    }

    fn part(&self, key: &str, value: &Value, at: &str, depth: usize) -> Result<When, Wrong> {
        let here = format!("{at}/{}", escape(key));
        match key {
            "all" => Ok(When::All(self.list(value, &here, depth)?)),
            "any" => Ok(When::Any(self.list(value, &here, depth)?)),
            "not" => Ok(When::Not(Box::new(self.when(value, &here, depth + 1)?))),
            _ => self.fact(key, value, &here),
        }
    }

    fn list(&self, value: &Value, at: &str, depth: usize) -> Result<Vec<When>, Wrong> {
        let list = value
            .as_array()
            .ok_or_else(|| (at.to_string(), "it takes a list of conditions".to_string()))?;
        let each = |(i, each)| self.when(each, &format!("{at}/{i}"), depth + 1);
        list.iter().enumerate().map(each).collect()
    }

    fn fact(&self, key: &str, value: &Value, at: &str) -> Result<When, Wrong> {
        let (name, pointer) = match key.split_once('/') {
            Some((name, rest)) => (name, format!("/{rest}")),
            None => (key, String::new()),
        };
        let Some(fact) = self.facts.get(name) else {
            let known: Vec<&str> = self.facts.keys().map(String::as_str).collect();
            return Err((
                at.into(),
                format!("no fact {name:?} here; there are: {}", known.join(", ")),
            ));
        };
        if !pointer.is_empty() && fact.kind != Kind::Json {
            return Err((at.into(), format!("{name:?} has no parts: it is not json")));
        }
        let test = self.test(value, fact.kind, at)?;
        Ok(When::Fact { name: name.into(), pointer, test })
    }

    fn test(&self, json: &Value, kind: Kind, at: &str) -> Result<Test, Wrong> {
        let Value::Object(object) = json else { return self.one_of(json, kind, at) };
        let mut entries = object.iter();
        match (entries.next(), entries.next()) {
            (Some((op, value)), None) => self.operator(op, value, kind, &format!("{at}/{op}")),
            _ => Err((at.into(), format!("a test has one operator of: {OPERATORS}"))),
        }
    }

    fn one_of(&self, json: &Value, kind: Kind, at: &str) -> Result<Test, Wrong> {
        let list = self.values(json, at)?;
        let fits = |value: &Value| match kind {
            Kind::String => value.is_string(),
            Kind::Number => value.is_number(),
            Kind::Bool => value.is_boolean(),
            Kind::Json => !value.is_object(),
            Kind::Strings => false,
        };
        if kind == Kind::Strings {
            return Err((
                at.into(),
                "a list of strings is tested with \"any\" or \"every\"".into(),
            ));
        }
        match list.iter().find(|value| !fits(value)) {
            Some(value) => Err((at.into(), format!("{value} is no {}", word(kind)))),
            None if list.iter().all(Value::is_string) => {
                let texts = list.iter().filter_map(Value::as_str).map(String::from);
                Ok(Test::Is(Texts::new(texts)))
            }
            None => Ok(Test::OneOf(list)),
        }
    }

    fn operator(&self, op: &str, value: &Value, kind: Kind, at: &str) -> Result<Test, Wrong> {
        let wrong = |message: String| (at.to_string(), message);
        let lists = matches!(kind, Kind::Strings | Kind::Json);
        let inner = if kind == Kind::Strings { Kind::String } else { kind };
        match op {
            "any" if lists => return Ok(Test::Any(Box::new(self.test(value, inner, at)?))),
            "every" if lists => return Ok(Test::Every(Box::new(self.test(value, inner, at)?))),
            "exists" => {
                return value
                    .as_bool()
                    .map(Test::Exists)
                    .ok_or_else(|| wrong("\"exists\" takes true or false".into()));
            }
            "above" | "below" if matches!(kind, Kind::Number | Kind::Json) => {
                let limit =
                    value.as_f64().ok_or_else(|| wrong(format!("{op:?} takes a number")))?;
                return Ok(if op == "above" { Test::Above(limit) } else { Test::Below(limit) });
            }
            "above" | "below" => {
                return Err(wrong(format!("{op:?} is for a number, not a {}", word(kind))));
            }
            "any" | "every" => {
                return Err(wrong(format!("{op:?} is for a list, not a {}", word(kind))));
            }
            _ => {}
        }
        if !matches!(kind, Kind::String | Kind::Json) {
            return Err(wrong(format!("{op:?} is for a text, not a {}", word(kind))));
        }
        self.text_operator(op, value, at)
    }

    fn text_operator(&self, op: &str, value: &Value, at: &str) -> Result<Test, Wrong> {
        let wrong = |message: String| (at.to_string(), message);
        Ok(match op {
            "starts_with" => Test::StartsWith(self.texts(value, at)?),
            "ends_with" => Test::EndsWith(self.texts(value, at)?),
            "contains" => Test::Contains(self.texts(value, at)?),
            "under" => Test::Under(self.texts(value, at)?),
            "glob" => Test::Glob(Globs::new(self.texts(value, at)?)),
            "matches" => {
                let text =
                    value.as_str().ok_or_else(|| wrong("\"matches\" takes one pattern".into()))?;
                Test::Matches(Pattern::new(text).map_err(wrong)?)
            }
            _ => return Err(wrong(format!("no test {op:?}; there are: {OPERATORS}"))),
        })
    }

    fn texts(&self, value: &Value, at: &str) -> Result<Vec<String>, Wrong> {
        let each = |value: &Value| {
            value
                .as_str()
                .map(String::from)
                .ok_or_else(|| (at.to_string(), format!("{value} is no text")))
        };
        self.values(value, at)?.iter().map(each).collect()
    }

    /// A literal or a list of literals, with sets filled in.
    fn values(&self, json: &Value, at: &str) -> Result<Vec<Value>, Wrong> {
        let mut out = Vec::new();
        for each in json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice) {
            match each.as_str().and_then(|text| text.strip_prefix('@')) {
                Some(name) => {
                    let set = self.sets.get(name).ok_or_else(|| {
                        let known: Vec<&str> = self.sets.keys().map(String::as_str).collect();
                        (
                            at.to_string(),
                            format!(
                                "no set \"@{name}\" in this file; there are: {}",
                                known.join(", ")
                            ),
                        )
                    })?;
                    out.extend(set.iter().cloned().map(Value::String));
                }
                None => out.push(each.clone()),
            }
        }
        Ok(out)
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "text",
        Kind::Strings => "list of texts",
        Kind::Number => "number",
        Kind::Bool => "true or false",
        Kind::Json => "json",
    }
}
