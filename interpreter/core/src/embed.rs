//! Vectors of texts: the request for them in a dialect, and what its answer holds. It makes no request.

use crate::event::Failure;
use crate::spec::{Dialect, Embeddings, Spec};
use crate::stream::{self, Answer};
use serde::Serialize;
use serde_json::{Map, Value};

/// A request for vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The path below the connection's base address.
    pub path: String,
    /// The body to post.
    pub body: Value,
}

/// What an answer holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Vectors {
    /// The vector of each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens of all texts, if the server counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// Returns the texts in pieces that a server takes in one request each.
///
/// # Errors
/// A sentence for a dialect that has no vectors.
pub fn pieces<'t>(
    dialect: &Dialect,
    texts: &'t [String],
) -> Result<impl Iterator<Item = &'t [String]>, String> {
    Ok(texts.chunks(places(dialect)?.most.unwrap_or(texts.len()).max(1)))
}

/// Returns the path below a connection's base address where a model makes vectors.
///
/// # Errors
/// A sentence for a dialect that has no vectors.
pub fn path(dialect: &Dialect, model: &str) -> Result<String, String> {
    Ok(places(dialect)?.path.replace("{model}", model))
}

/// Returns the request for the vectors of these texts.
///
/// # Errors
/// A sentence for a dialect that has no vectors.
pub fn request(dialect: &Dialect, model: &str, texts: &[String]) -> Result<Request, String> {
    let places = places(dialect)?;
    let each = |text: &String| match &places.each {
        Some(each) => replaced(named(each, model), text),
        None => Value::String(text.clone()),
    };
    let mut body = named(&places.body, model);
    if let (Some(fields), Some(name)) = (body.as_object_mut(), places.texts.strip_prefix('/')) {
        fields.insert(name.into(), texts.iter().map(each).collect());
    }
    Ok(Request { path: path(dialect, model)?, body })
}

/// Reads what came for a request with so many texts.
///
/// # Errors
/// What a refusal or an error in an answer means and whether to ask again, by the quirks; or that an answer has not one
/// vector for each text, all of one length.
pub fn answered(
    spec: &Spec,
    dialect: &Dialect,
    answer: &Answer<'_>,
    texts: usize,
) -> Result<Vectors, Box<Failure>> {
    if let Some(failure) = stream::error_in(spec, dialect, answer) {
        return Err(Box::new(failure));
    }
    match serde_json::from_slice(answer.body) {
        Ok(json) => read(dialect, &json, texts)
            .map_err(|why| Box::new(Failure::new("bad_response", "no", why))),
        Err(_) => Err(Box::new(unreadable(answer.body))),
    }
}

/// Reads the answer to a request with so many texts.
fn read(dialect: &Dialect, answer: &Value, texts: usize) -> Result<Vectors, String> {
    let places = places(dialect)?;
    let all = answer.pointer(&places.all).and_then(Value::as_array);
    let all = all.ok_or_else(|| format!("the answer has no vectors at {}", places.all))?;
    let mut vectors = vec![Vec::new(); texts];
    for (at, entry) in all.iter().enumerate() {
        let index = places.index.as_ref().and_then(|index| entry.pointer(index)?.as_u64());
        let index = index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let place = vectors.get_mut(index).filter(|place| place.is_empty());
        let vector = entry.pointer(&places.vector).and_then(numbers);
        let (Some(place), Some(vector)) = (place, vector) else {
            return Err(format!("entry {at} of the answer is no vector of a text"));
        };
        *place = vector;
    }
    even(&vectors)?;
    let tokens = places.tokens.iter().find_map(|place| answer.pointer(place)?.as_u64());
    Ok(Vectors { vectors, tokens })
}

/// Checks that every text has a vector, and that all are of one length.
fn even(vectors: &[Vec<f32>]) -> Result<(), String> {
    let length = vectors.first().map_or(0, Vec::len);
    let odd = vectors.iter().position(|vector| vector.is_empty() || vector.len() != length);
    odd.map_or(Ok(()), |at| {
        let has = vectors.get(at).map_or(0, Vec::len);
        Err(format!("the vector of text {at} has {has} numbers, that of the first {length}"))
    })
}

/// Returns the failure of an answer that is no JSON; only one that was cut is asked for again.
fn unreadable(body: &[u8]) -> Failure {
    let body = body.trim_ascii();
    match body.first() {
        None => Failure::new("empty", "once", "the server sent nothing"),
        Some(b'{' | b'[') => Failure::new("cut", "once", "the answer is no whole JSON"),
        Some(_) => Failure::new("bad_response", "no", stream::sent_instead("vectors", body)),
    }
}

fn places(dialect: &Dialect) -> Result<&Embeddings, String> {
    let none = || format!("the dialect {} has no vectors of texts", dialect.id);
    dialect.embeddings.as_ref().ok_or_else(none)
}

fn numbers(list: &Value) -> Option<Vec<f32>> {
    list.as_array()?.iter().map(|number| Some(number.as_f64()? as f32)).collect()
}

/// Returns a value with the model's name in its texts.
fn named(value: &Value, model: &str) -> Value {
    each_text(value.clone(), &|text| text.replace("{model}", model))
}

/// Returns a value with a text in its place.
fn replaced(value: Value, text: &str) -> Value {
    each_text(value, &|own| if own == "{text}" { text.into() } else { own })
}

fn each_text(value: Value, change: &impl Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(list) => list.into_iter().map(|each| each_text(each, change)).collect(),
        Value::Object(fields) => {
            let each = |(name, value)| (name, each_text(value, change));
            Value::Object(fields.into_iter().map(each).collect::<Map<_, _>>())
        }
        other => other,
    }
}
