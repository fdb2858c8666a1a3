//! Structs for objects, enums for choices and closed lists, as serde reads and writes them.

use super::{
    super::{
        names,
        text::{camel, doc, line, snake},
    },
    sentence,
};
use crate::acp::{
    Base, Field, Kind, Member, Protocol, Shape, Variant,
    names::{kinds, params, result, variant as owner, words as words_name},
};

const OBJECT: &str = "#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]";
const EMPTY: &str =
    "#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]";
const LIST: &str = "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]";
const MAP: &str = "Option<serde_json::Map<String, serde_json::Value>>";

/// Emits every type: the named ones, then each method's parameters and result.
pub(super) fn emit(out: &mut String, protocol: &Protocol) {
    for named in &protocol.types {
        let about = sentence(&named.doc);
        shape(out, protocol, &named.name, &about, &named.shape, false);
        if let Shape::Choice { variants, .. } = &named.shape {
            choice_kinds(out, &named.name, variants);
        }
    }
    for method in &protocol.methods {
        let about = format!("Parameters of `{}`.", method.name);
        shape(out, protocol, &params(method), &about, &method.params, true);
        if let Some(answer) = &method.result {
            let about = format!("Result of `{}`.", method.name);
            shape(out, protocol, &result(method), &about, answer, true);
        }
    }
}

/// Emits one type; with `open` it keeps a `_meta` that the page does not write out.
fn shape(
    out: &mut String,
    protocol: &Protocol,
    name: &str,
    about: &str,
    shape: &Shape,
    open: bool,
) {
    let mut inline = String::new();
    doc(out, "", about);
    match shape {
        Shape::Words(all) => {
            let all: Vec<(&str, String)> =
                all.iter().map(|word| (word.name.as_str(), sentence(&word.doc))).collect();
            list(out, name, &all);
        }
        Shape::Fields(members) => object(out, &mut inline, protocol, name, members, open),
        Shape::Choice { by, variants } => {
            line(out, OBJECT);
            line(out, &format!("#[serde(tag = {by:?})]"));
            line(
                out,
                "#[allow(clippy::large_enum_variant, reason = \"a value of the wire is made once and moved on\")]",
            );
            line(out, &format!("pub enum {name} {{"));
            variants.iter().for_each(|each| variant(out, &mut inline, name, each));
            line(out, "}");
        }
    }
    out.push_str(&inline);
}

fn object(
    out: &mut String,
    inline: &mut String,
    protocol: &Protocol,
    name: &str,
    members: &[Member],
    open: bool,
) {
    // What has no field that must be there can be made empty.
    let empty = members.iter().all(|member| can_be_absent(protocol, member));
    line(out, if empty { EMPTY } else { OBJECT });
    line(out, &format!("pub struct {name} {{"));
    members.iter().for_each(|each| self::member(out, inline, name, "    pub ", each));
    let meta = members.iter().find_map(|member| match member {
        Member::Field(field) if field.name == "_meta" => Some(field),
        _ => None,
    });
    if open && meta.is_none() {
        doc(out, "    ", "What the sender adds beyond the protocol.");
        meta_field(out);
    }
    line(out, "}");
    if let Some(Field { kind: Kind { base: Base::Named(inner), .. }, .. }) = meta {
        meta_access(out, name, inner);
    }
}

fn can_be_absent(protocol: &Protocol, member: &Member) -> bool {
    match member {
        Member::Field(field) => field.optional,
        Member::All(spot) => protocol.named(&spot.name).is_some_and(|named| match &named.shape {
            Shape::Fields(inner) => {
                inner.iter().all(|member| matches!(member, Member::Field(field) if field.optional))
            }
            _ => false,
        }),
    }
}

fn member(out: &mut String, inline: &mut String, owner: &str, start: &str, member: &Member) {
    let indent = start.trim_end_matches("pub ");
    match member {
        Member::All(spot) => {
            doc(out, indent, &format!("All fields of `{}`.", spot.name));
            line(out, &format!("{indent}#[serde(flatten)]"));
            line(out, &format!("{start}{}: {},", snake(&spot.name), spot.name));
        }
        Member::Field(field) => {
            doc(out, indent, &sentence(&field.doc));
            if field.name == "_meta" {
                return meta_field(out);
            }
            attributes(out, indent, field);
            line(
                out,
                &format!("{start}{}: {},", snake(&field.name), rust_type(inline, owner, field)),
            );
        }
    }
}

fn meta_field(out: &mut String) {
    line(
        out,
        "    #[serde(rename = \"_meta\", default, skip_serializing_if = \"Option::is_none\")]",
    );
    line(out, &format!("    pub meta: {MAP},"));
}

fn meta_access(out: &mut String, name: &str, inner: &str) {
    let text = format!(
        r"impl {name} {{
    /// Returns what `_meta` says in the protocol's own words; `None` without a `_meta`.
    ///
    /// # Errors
    /// A field of it that does not fit.
    pub fn read_meta(&self) -> Result<Option<{inner}>, serde_json::Error> {{
        wire::read_meta(self.meta.as_ref())
    }}
    /// Puts `meta` into `_meta`, beside what is there.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn put_meta(&mut self, meta: &{inner}) -> Result<(), serde_json::Error> {{
        wire::put_meta(&mut self.meta, meta)
    }}
}}"
    );
    line(out, &text);
}

fn attributes(out: &mut String, indent: &str, field: &Field) {
    let mut said = Vec::new();
    if snake(&field.name).trim_start_matches("r#") != field.name {
        said.push(format!("rename = {:?}", field.name));
    }
    if field.optional {
        said.push("default, skip_serializing_if = \"Option::is_none\"".into());
    }
    if field.optional && field.kind.nullable {
        said.push("deserialize_with = \"wire::present\"".into());
    }
    if !said.is_empty() {
        line(out, &format!("{indent}#[serde({})]", said.join(", ")));
    }
}

fn rust_type(inline: &mut String, owner: &str, field: &Field) -> String {
    let base = match &field.kind.base {
        Base::String => "String".into(),
        Base::Integer => "i64".into(),
        Base::Number => "f64".into(),
        Base::Boolean => "bool".into(),
        Base::Json => "serde_json::Value".into(),
        Base::Named(name) => name.clone(),
        Base::Words(all) => {
            let name = words_name(owner, &field.name);
            doc(inline, "", &sentence(&field.doc));
            let all: Vec<(&str, String)> =
                all.iter().map(|word| (word.as_str(), format!("`{word}`."))).collect();
            list(inline, &name, &all);
            name
        }
    };
    let listed = if field.kind.list { format!("Vec<{base}>") } else { base };
    let nullable = if field.kind.nullable { format!("Option<{listed}>") } else { listed };
    if field.optional { format!("Option<{nullable}>") } else { nullable }
}

fn variant(out: &mut String, inline: &mut String, name: &str, variant: &Variant) {
    let Variant { word, members } = variant;
    doc(out, "    ", &sentence(&word.doc));
    line(out, &format!("    #[serde(rename = {:?})]", word.name));
    if members.is_empty() {
        return line(out, &format!("    {},", camel(&word.name)));
    }
    line(out, &format!("    {} {{", camel(&word.name)));
    let owner = owner(name, &word.name);
    members.iter().for_each(|each| member(out, inline, &owner, "        ", each));
    line(out, "    },");
}

/// Emits a closed list of words with a sentence each; its own doc stands already.
fn list(out: &mut String, name: &str, all: &[(&str, String)]) {
    line(out, LIST);
    line(out, &format!("pub enum {name} {{"));
    for (word, about) in all {
        doc(out, "    ", about);
        line(out, &format!("    #[serde(rename = {word:?})]\n    {},", camel(word)));
    }
    line(out, "}");
    let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
    names::lookups(out, name, &words);
}

fn choice_kinds(out: &mut String, name: &str, variants: &[Variant]) {
    let kinds = kinds(name);
    let all: Vec<&str> = variants.iter().map(|each| each.word.name.as_str()).collect();
    names::emit(out, &kinds, &format!("The kinds of `{name}`."), &all);
    line(out, &format!("impl {name} {{"));
    doc(out, "    ", "Returns which kind it is.");
    line(out, &format!("    pub fn kind(&self) -> {kinds} {{\n        match self {{"));
    for each in variants {
        let word = camel(&each.word.name);
        let rest = if each.members.is_empty() { "" } else { " { .. }" };
        line(out, &format!("            {name}::{word}{rest} => {kinds}::{word},"));
    }
    line(out, "        }\n    }\n}");
}
