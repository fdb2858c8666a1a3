//! The protocol page as Rust: its types, its numbers, a trait for what a client may ask of the agent and one
//! for what the agent may send. It emits what `acp::Protocol` holds and decides nothing.

mod methods;
mod types;

use super::text::{doc, line, snake};
use crate::acp::{Numbers, Protocol, names::number};

/// Returns the Rust source of a module for `protocol`.
pub fn rust(protocol: &Protocol) -> String {
    let mut out =
        String::from("// Written by build.rs from harness/acp.md. Change the page, not this.\n");
    protocol.numbers.iter().for_each(|table| numbers(&mut out, table));
    types::emit(&mut out, protocol);
    methods::agent(&mut out, protocol);
    methods::client(&mut out, protocol);
    out.push_str(WIRE);
    out
}

fn numbers(out: &mut String, table: &Numbers) {
    doc(out, "", &format!("The numbers of the table \"{}\".", table.name));
    line(out, &format!("pub mod {} {{", snake(&table.name)));
    for (word, value) in &table.rows {
        doc(out, "    ", &sentence(&word.doc));
        line(out, &format!("    pub const {}: i64 = {value};", number(&word.name)));
    }
    line(out, "}");
}

/// Returns a phrase of the page as a sentence.
fn sentence(phrase: &str) -> String {
    let mut chars = phrase.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if phrase.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// What emitted code calls. It is the same for every page, and a page need not use all of it.
const WIRE: &str = r#"#[allow(dead_code, reason = "a page need not use every helper")]
mod wire {
    use super::{ClientLink, Dispatch};
    use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
    use serde_json::{Error, Map, Value};
    pub(super) fn read_meta<T: DeserializeOwned>(meta: Option<&Map<String, Value>>) -> Result<Option<T>, Error> {
        meta.map(|meta| serde_json::from_value(Value::Object(meta.clone()))).transpose()
    }
    pub(super) fn put_meta<T: Serialize>(meta: &mut Option<Map<String, Value>>, value: &T) -> Result<(), Error> {
        if let Value::Object(fields) = serde_json::to_value(value)? {
            meta.get_or_insert_default().extend(fields);
        }
        Ok(())
    }
    // A field that may be absent and may be null: absent is `None`, null is `Some(None)`.
    pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
        T::deserialize(from).map(Some)
    }
    fn given<P: DeserializeOwned>(params: Value) -> Result<P, Error> {
        serde_json::from_value(if params.is_null() { Value::Object(Map::new()) } else { params })
    }
    pub(super) async fn answered<P: DeserializeOwned, R: Serialize, E, F: Future<Output = Result<R, E>>>(params: Value, handle: impl FnOnce(P) -> F) -> Dispatch<E> {
        let params = match given(params) {
            Ok(params) => params,
            Err(error) => return Dispatch::BadParams(error),
        };
        match handle(params).await.map(serde_json::to_value) {
            Ok(Ok(result)) => Dispatch::Result(result),
            Ok(Err(error)) => Dispatch::BadResult(error),
            Err(error) => Dispatch::Refused(error),
        }
    }
    pub(super) async fn notified<P: DeserializeOwned, E, F: Future<Output = Result<(), E>>>(params: Value, handle: impl FnOnce(P) -> F) -> Dispatch<E> {
        match given(params) {
            Ok(params) => handle(params).await.map_or_else(Dispatch::Refused, |()| Dispatch::Notified),
            Err(error) => Dispatch::BadParams(error),
        }
    }
    pub(super) async fn asked<L: ClientLink + ?Sized, P: Serialize, R: DeserializeOwned>(link: &L, method: &'static str, params: P) -> Result<R, L::Error> {
        let params = serde_json::to_value(params)?;
        Ok(serde_json::from_value(link.request(method, params).await?)?)
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::tests::PAGE;

    /// What is emitted for the small page must hold each piece, blanks and line ends aside.
    fn check(pieces: &[&str]) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let emitted = words(&rust(&Protocol::read(PAGE).unwrap()));
        for piece in pieces {
            assert!(emitted.contains(&words(piece)), "{piece}\nis not in\n{emitted}");
        }
    }

    #[test]
    fn numbers_and_words() {
        check(&[
            "pub mod limit { /// Texts at once. pub const TEXTS: i64 = 4; }",
            "pub enum Capability { /// `_x/steer` is answered. #[serde(rename = \"steer\")] Steer, }",
            "pub const ALL: &'static [Mark] = &[Mark::Red, Mark::Green];",
            "/// How bright. #[derive(Debug, Clone, Copy,",
            "pub enum MarksLevel { /// `low`. #[serde(rename = \"low\")] Low,",
        ]);
    }

    #[test]
    fn objects_and_choices() {
        check(&[
            "/// Parameters of `_x/steer`. #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)] pub struct XSteerParams {",
            "/// The session. #[serde(rename = \"sessionId\")] pub session_id: String,",
            "#[serde(default, skip_serializing_if = \"Option::is_none\")] pub to: Option<Target>,",
            "#[serde(rename = \"_meta\", default, skip_serializing_if = \"Option::is_none\")] pub meta: Option<serde_json::Map<String, serde_json::Value>>,",
            "deserialize_with = \"wire::present\")] pub marks: Option<Option<Vec<Mark>>>,",
            "#[serde(tag = \"kind\")]",
            "Line { /// Which. number: i64, /// All fields of `Marks`. #[serde(flatten)] marks: Marks, },",
            "Target::Line { .. } => TargetKind::Line, Target::End => TargetKind::End,",
            "Default, PartialEq, serde::Serialize, serde::Deserialize)] pub struct ToldParams {",
        ]);
    }

    #[test]
    fn both_ends_of_the_wire() {
        check(&[
            "/// Adds a message, as `_x/*` do. /// /// The request `_x/steer`; capability `steer`. fn x_steer(&self, params: XSteerParams) -> impl Future<Output = Result<XSteerResult, Self::Error>> + Send; }",
            "\"_x/steer\" => wire::answered(params, |params| agent.x_steer(params)).await, _ => Dispatch::Unknown,",
            "fn told(&self, params: ToldParams) -> Result<(), Self::Error> { self.notify(\"told\", serde_json::to_value(params)?) }",
        ]);
    }

    #[test]
    fn phrases_become_sentences() {
        assert_eq!(sentence("which session"), "Which session.");
        assert_eq!(sentence("`x` — why?"), "`x` — why?");
        assert_eq!(sentence(""), ".");
    }
}
