//! The lines of the page that follow a form: a method's heading, a field, a type, a word.

use super::{Base, Field, Kind, Member, Sender, Spot, Word, page::Part};
use crate::problem::Problem;

const HEADING: &str = "a method's heading is: ### `name` — client → agent [→ result] [(capability `x`)], or agent → client";
const FIELD: &str = "a field is: name[?]: type — what it is; or ...Name for all fields of a type";
const TYPES: &str = "there are: string, integer, number, boolean, json, \"words\" separated by |, and the names of type fences; [] makes a list, | null allows null";

/// What a method's heading says.
pub(super) struct Heading {
    pub(super) name: String,
    pub(super) from: Sender,
    pub(super) answered: bool,
    pub(super) capability: Option<Spot>,
}

impl Part<'_> {
    pub(super) fn spot(self) -> Spot {
        Spot { name: self.text.into(), at: (self.line, self.column) }
    }
}

/// Reads a method's heading, from the backtick on.
pub(super) fn heading(text: Part<'_>) -> Result<Heading, Problem> {
    let wrong = || text.problem(HEADING);
    let (name, rest) = text.after("`").and_then(|rest| rest.cut("`")).ok_or_else(wrong)?;
    let rest = rest.trim().after("—").ok_or_else(wrong)?;
    let (ways, capability) = match rest.cut("(") {
        Some((ways, capability)) => (ways, Some(in_brackets(capability).ok_or_else(wrong)?)),
        None => (rest, None),
    };
    let ways: Vec<&str> = ways.text.split('→').map(str::trim).collect();
    let (from, answered) = match ways.as_slice() {
        ["client", "agent"] => (Sender::Client, false),
        ["client", "agent", "result"] => (Sender::Client, true),
        ["agent", "client"] => (Sender::Agent, false),
        ["agent", "client", "result"] => (Sender::Agent, true),
        _ => return Err(wrong()),
    };
    if name.text.is_empty() || !name.text.chars().all(is_method_char) {
        return Err(name.problem("a method's name holds letters, digits, _ and / only"));
    }
    Ok(Heading { name: name.text.into(), from, answered, capability })
}

fn is_method_char(each: char) -> bool {
    each.is_ascii_alphanumeric() || matches!(each, '_' | '/')
}

fn in_brackets(text: Part<'_>) -> Option<Spot> {
    let name = text.trim().after("capability `")?.before("`)")?;
    Some(name.spot())
}

/// Reads a member of an object.
pub(super) fn member(line: Part<'_>) -> Result<Member, Problem> {
    let line = line.trim();
    if let Some(name) = line.after("...") {
        let name = name.trim();
        return if is_type_name(name.text) {
            Ok(Member::All(name.spot()))
        } else {
            Err(name.problem(FIELD))
        };
    }
    let (name, rest) = line.cut(":").ok_or_else(|| line.problem(FIELD))?;
    let (kind_text, doc) = rest.cut(" — ").ok_or_else(|| line.problem(FIELD))?;
    let (name, optional) = name.before("?").map_or((name, false), |name| (name, true));
    if !is_field_name(name.text) || doc.text.trim().is_empty() {
        return Err(line.problem(FIELD));
    }
    Ok(Member::Field(Field {
        name: name.text.into(),
        optional,
        kind: kind(kind_text.trim())?,
        doc: doc.text.trim().into(),
        at: (name.line, name.column),
    }))
}

/// Reads a word with its sentence: `"word" — what it means`, or without the quotes for a variant.
pub(super) fn word(line: Part<'_>, quoted: bool) -> Result<Word, Problem> {
    let form = if quoted {
        "a word is: \"word\" — what it means"
    } else {
        "a variant is: word — what it means; its fields are indented below"
    };
    let wrong = || line.problem(form);
    let (name, doc) = line.cut(" — ").ok_or_else(wrong)?;
    let name = if quoted { unquoted(name.trim()).ok_or_else(wrong)? } else { name.trim() };
    if !is_field_name(name.text) || doc.text.trim().is_empty() {
        return Err(wrong());
    }
    Ok(Word { name: name.text.into(), doc: doc.text.trim().into(), at: (name.line, name.column) })
}

fn unquoted(text: Part<'_>) -> Option<Part<'_>> {
    text.after("\"")?.before("\"")
}

fn kind(text: Part<'_>) -> Result<Kind, Problem> {
    let mut nullable = false;
    let mut words = Vec::new();
    let mut others = Vec::new();
    for part in text.split('|').map(Part::trim) {
        match unquoted(part) {
            _ if part.text == "null" => nullable = true,
            Some(word) if is_field_name(word.text) => words.push(word.text.to_string()),
            Some(word) => return Err(word.problem("a word holds letters, digits and _ only")),
            None => others.push(part),
        }
    }
    let at = (text.line, text.column);
    match (others.as_slice(), words.is_empty()) {
        ([], false) => Ok(Kind { base: Base::Words(words), list: false, nullable, at }),
        ([one], true) => {
            let (name, list) = one.before("[]").map_or((*one, false), |name| (name, true));
            Ok(Kind { base: base(name)?, list, nullable, at: (one.line, one.column) })
        }
        _ => Err(text.problem(format!("{:?} is no type; {TYPES}", text.text))),
    }
}

fn base(name: Part<'_>) -> Result<Base, Problem> {
    match name.text {
        "string" => Ok(Base::String),
        "integer" => Ok(Base::Integer),
        "number" => Ok(Base::Number),
        "boolean" => Ok(Base::Boolean),
        "json" => Ok(Base::Json),
        other if is_type_name(other) => Ok(Base::Named(other.into())),
        other => Err(name.problem(format!("there is no type {other:?}; {TYPES}"))),
    }
}

/// Whether a text can name a type: `SessionState`.
pub(super) fn is_type_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|each| each.is_ascii_alphanumeric())
}

/// Whether a text can name a field, a word or a variant.
pub(super) fn is_field_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().any(|each| each.is_ascii_alphanumeric())
        && text.chars().all(|each| each.is_ascii_alphanumeric() || each == '_')
        // These four cannot be written as names in code, not even raw.
        && !["self", "Self", "super", "crate"].contains(&text)
}
