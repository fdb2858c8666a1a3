//! The Rust names a protocol gets, in one place: what is emitted, and what must not be taken twice.

use super::{Base, Member, Method, Protocol, Shape};
use crate::{emit::text::camel, place::Place};

/// Names that emitted code uses for something else.
const TAKEN: [&str; 29] = [
    "AgentMethods",
    "ClientLink",
    "ClientMethods",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Dispatch",
    "Eq",
    "Err",
    "FnOnce",
    "From",
    "Future",
    "Hash",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "Vec",
    "Wire",
];

/// Returns the name of a method's parameters.
pub(crate) fn params(method: &Method) -> String {
    format!("{}Params", camel(&method.name))
}

/// Returns the name of a method's result.
pub(crate) fn result(method: &Method) -> String {
    format!("{}Result", camel(&method.name))
}

/// Returns the name of the closed list of a choice's words.
pub(crate) fn kinds(choice: &str) -> String {
    format!("{choice}Kind")
}

/// Returns the name of the enum for words written at a field of `owner`.
pub(crate) fn words(owner: &str, field: &str) -> String {
    format!("{owner}{}", camel(field))
}

/// Returns the name of a number's constant.
pub(crate) fn number(name: &str) -> String {
    name.to_uppercase()
}

/// Returns the name that owns the fields of a variant.
pub(crate) fn variant(owner: &str, word: &str) -> String {
    format!("{owner}{}", camel(word))
}

/// Returns every type that is emitted for the protocol, and where it comes from.
pub(super) fn all(protocol: &Protocol) -> Vec<(String, Place)> {
    let mut found = Vec::new();
    for named in &protocol.types {
        owned(&named.name, &named.shape, named.at, &mut found);
        if let Shape::Choice { .. } = named.shape {
            found.push((kinds(&named.name), named.at));
        }
    }
    for method in &protocol.methods {
        owned(&params(method), &method.params, method.at, &mut found);
        if let Some(shape) = &method.result {
            owned(&result(method), shape, method.at, &mut found);
        }
    }
    found
}

/// Returns whether emitted code uses `name` for something else.
pub(super) fn taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

fn owned(name: &str, shape: &Shape, at: Place, found: &mut Vec<(String, Place)>) {
    found.push((name.to_string(), at));
    match shape {
        Shape::Fields(members) => inline(name, members, found),
        Shape::Choice { variants, .. } => {
            for each in variants {
                inline(&variant(name, &each.word.name), &each.members, found);
            }
        }
        Shape::Words(_) => {}
    }
}

fn inline(owner: &str, members: &[Member], found: &mut Vec<(String, Place)>) {
    for member in members {
        if let Member::Field(field) = member
            && let Base::Words(_) = field.kind.base
        {
            found.push((words(owner, &field.name), field.at));
        }
    }
}
