//! The rule language: a condition over named facts. It has no variables, calls, loops or order, and cannot fail.
//!
//! ```text
//! when = { fact: test, … }            all must hold
//!      | { "all": [when…] } | { "any": [when…] } | { "not": when }
//! fact = name | name/with/pointer     a pointer only below a json fact
//! test = literal | [one of these] | "@set" | { op: value }
//!      | { "any": test } | { "every": test }     for lists; "every" of an empty list is false
//! op   = starts_with ends_with contains glob under matches exists above below
//! ```

mod pattern;
mod read;
mod test;

pub use pattern::Pattern;
pub use read::{Sets, Wrong};
pub use test::{Test, Texts};

use compact_str::CompactString;
use serde::Deserialize;
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeMap};

/// The facts of one record, by name, as `facts.json` declares them.
pub type FactTypes = BTreeMap<String, FactType>;

/// The declaration of a fact.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactType {
    /// What kind of value it has.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it is, in one sentence.
    pub doc: String,
}

/// The kinds of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A text.
    String,
    /// A list of texts.
    Strings,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// Any JSON value; conditions may point below it.
    Json,
}

/// The value of a fact at the moment a rule asks.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// A text.
    Text(&'a str),
    /// A list of texts.
    Texts(&'a [CompactString]),
    /// A number.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// A JSON value.
    Json(&'a Value),
    /// Nothing: every test but `{"exists": false}` is false.
    Missing,
}

impl<'a> Fact<'a> {
    /// Returns the text that patterns see: of a number in JSON, how it is written.
    pub fn written(self) -> Option<Cow<'a, str>> {
        match self {
            Fact::Text(text) => Some(text.into()),
            Fact::Json(Value::String(text)) => Some(text.into()),
            Fact::Json(Value::Number(number)) => Some(number.to_string().into()),
            _ => None,
        }
    }
}

/// Something rules can be asked about. The structs made from `facts.json` are records, and so is a JSON object.
pub trait Record {
    /// Returns the fact called `name`.
    fn fact(&self, name: &str) -> Fact<'_>;
}

impl Record for Value {
    fn fact(&self, name: &str) -> Fact<'_> {
        self.get(name).map_or(Fact::Missing, Fact::Json)
    }
}

/// A condition whose names, types, sets and patterns have been checked.
#[derive(Debug, Clone)]
pub enum When {
    /// All hold; of none, it holds.
    All(Vec<When>),
    /// One holds.
    Any(Vec<When>),
    /// It does not hold.
    Not(Box<When>),
    /// A test of a fact, or of the part of a json fact at the pointer.
    Fact {
        /// The fact's name.
        name: String,
        /// A JSON pointer below it, or empty.
        pointer: String,
        /// The test.
        test: Test,
    },
}

impl Default for When {
    /// Returns one that never holds.
    fn default() -> When {
        When::Any(Vec::new())
    }
}

impl When {
    /// Returns whether the condition holds for `record`.
    pub fn holds(&self, record: &dyn Record) -> bool {
        match self {
            When::All(all) => all.iter().all(|each| each.part(record)),
            When::Any(any) => any.iter().any(|each| each.part(record)),
            When::Not(inner) => !inner.holds(record),
            When::Fact { name, pointer, test } => test_of(record, name, pointer, test),
        }
    }

    /// The same for a part of a condition, most of which are tests of a fact.
    #[inline]
    fn part(&self, record: &dyn Record) -> bool {
        match self {
            When::Fact { name, pointer, test } => test_of(record, name, pointer, test),
            other => other.holds(record),
        }
    }

    /// Returns the texts one of which the fact has to be for the condition to hold; `None` if it may hold with others.
    pub fn needs(&self, name: &str) -> Option<Vec<&str>> {
        match self {
            When::All(list) => list.iter().find_map(|each| each.needs(name)),
            When::Any(list) => {
                let each: Option<Vec<_>> = list.iter().map(|each| each.needs(name)).collect();
                Some(each?.concat())
            }
            When::Fact { name: of, pointer, test: Test::Is(texts) } => {
                (of == name && pointer.is_empty()).then(|| texts.iter().collect())
            }
            When::Not(_) | When::Fact { .. } => None,
        }
    }

    /// Calls `see` with the name of every fact the condition asks.
    pub fn facts(&self, see: &mut dyn FnMut(&str)) {
        match self {
            When::All(list) | When::Any(list) => list.iter().for_each(|each| each.facts(see)),
            When::Not(inner) => inner.facts(see),
            When::Fact { name, .. } => see(name),
        }
    }
}

#[inline]
fn test_of(record: &dyn Record, name: &str, pointer: &str, test: &Test) -> bool {
    match record.fact(name) {
        Fact::Json(json) if !pointer.is_empty() => {
            test.passes(json.pointer(pointer).map_or(Fact::Missing, Fact::Json))
        }
        fact => test.passes(fact),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn types() -> FactTypes {
        serde_json::from_value(json!({
            "program": { "type": "string", "doc": "" }, "flags": { "type": "strings", "doc": "" },
            "status": { "type": "number", "doc": "" }, "body": { "type": "json", "doc": "" },
            "known": { "type": "bool", "doc": "" } }))
        .unwrap()
    }

    fn check(when: Value, record: Value, holds: bool) {
        let sets = Sets::from([("roots".to_string(), vec!["/".to_string(), "~".to_string()])]);
        let read = When::read(&when, &types(), &sets, "/when").unwrap();
        assert_eq!(read.holds(&record), holds, "{when} on {record}");
        let program = record["program"].as_str();
        let needs = read.needs("program").filter(|_| holds);
        assert!(needs.is_none_or(|texts| program.is_some_and(|text| texts.contains(&text))));
    }

    #[test]
    fn conditions_hold() {
        let rm = json!({ "program": "rm", "flags": ["r", "f"], "status": 429, "known": true,
            "body": { "error": { "code": "internal_x" }, "list": ["a", "b"], "count": 42 } });
        for (when, holds) in [
            (json!({}), true),
            (json!({ "program": "rm" }), true),
            (json!({ "program": ["cp", "rm"], "flags": { "any": "r" } }), true),
            (json!({ "flags": { "every": ["r", "f"] } }), true),
            (json!({ "flags": { "every": "r" } }), false),
            (json!({ "program": { "starts_with": ["x", "r"] } }), true),
            (json!({ "program": { "ends_with": "m" } }), true),
            (json!({ "program": { "contains": "z" } }), false),
            (json!({ "program": { "matches": "^r[lm]$" } }), true),
            (json!({ "body/count": { "matches": "^4[0-9]$" } }), true),
            (json!({ "not": { "program": "rm" } }), false),
            (json!({ "any": [{ "program": "cp" }, { "status": { "above": 400 } }] }), true),
            (json!({ "all": [{ "status": { "below": 400 } }, { "program": "rm" }] }), false),
            (json!({ "status": 429 }), true),
            (json!({ "known": true }), true),
            (json!({ "body/error/code": { "starts_with": "internal" } }), true),
            (json!({ "body/error/nothing": { "exists": false } }), true),
            (json!({ "body/error/code": { "exists": true } }), true),
            (json!({ "body/list": { "any": "b" } }), true),
            (json!({ "program": "@roots" }), false),
        ] {
            check(when, rm.clone(), holds);
        }
        check(json!({ "flags": { "every": "r" } }), json!({ "flags": [] }), false);
        check(json!({ "program": "rm" }), json!({}), false);
    }

    #[test]
    fn paths_are_compared_by_component() {
        for (test, path, holds) in [
            (json!({ "under": "/etc" }), "/etc/passwd", true),
            (json!({ "under": "/etc" }), "/etc", true),
            (json!({ "under": "/etc" }), "/etcetera", false),
            (json!({ "under": "/" }), "/x", true),
            (json!({ "glob": "plans/**" }), "plans/a/b.md", true),
            (json!({ "glob": "plans/*" }), "plans/a/b.md", false),
            (json!({ "glob": ["*.md", "@roots"] }), "x.md", true),
            (json!("@roots"), "~", true),
        ] {
            check(json!({ "program": test }), json!({ "program": path }), holds);
        }
    }

    fn refused(when: Value, message: &str) {
        let read = When::read(&when, &types(), &Sets::new(), "/when").map_err(|(_, text)| text);
        let text = read.and_then(|read| read.check()).unwrap_err();
        assert!(text.contains(message), "{when}: {text}");
    }

    #[test]
    fn wrong_conditions_say_what_would_be_right() {
        refused(json!({ "programme": "rm" }), "no fact \"programme\" here; there are: body, flags");
        refused(json!({ "program/x": "rm" }), "\"program\" has no parts");
        refused(json!({ "flags": "r" }), "\"any\" or \"every\"");
        refused(json!({ "program": { "like": "x" } }), "no test \"like\"; there are: starts_with");
        refused(json!({ "program": "@nothing" }), "no set \"@nothing\"");
        refused(json!({ "program": { "matches": "\\w+" } }), "portable");
        refused(json!({ "program": { "matches": "(?=x)" } }), "portable");
        refused(json!({ "program": { "matches": "(" } }), "pattern");
        refused(json!({ "status": "429" }), "number");
        refused(json!({ "program": { "above": 3 } }), "number");
        refused(json!({ "all": {} }), "takes a list");
        refused(json!([]), "a condition is an object");
        let mut deep = json!({ "program": "rm" });
        for _ in 0..8 {
            deep = json!({ "not": deep });
        }
        refused(deep, "at most 6 deep");
    }
}
