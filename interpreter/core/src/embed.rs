//! Vectors of texts: the request for them in a dialect, and what its answer holds. It makes no request.

use crate::spec::{Dialect, Embeddings};
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Vectors {
    /// The vector of each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens of all texts, if the server counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
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
    Ok(Request { path: places.path.replace("{model}", model), body })
}

/// Reads the answer to a request with so many texts.
///
/// # Errors
/// A sentence for an answer that has not one vector for each text, all of one length.
pub fn read(dialect: &Dialect, answer: &Value, texts: usize) -> Result<Vectors, String> {
    let places = places(dialect)?;
    let all = answer.pointer(&places.all).and_then(Value::as_array);
    let all = all.ok_or_else(|| format!("The answer has no vectors at {}.", places.all))?;
    let mut vectors = vec![Vec::new(); texts];
    for (at, entry) in all.iter().enumerate() {
        let index = places.index.as_ref().and_then(|index| entry.pointer(index)?.as_u64());
        let index = index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let place = vectors.get_mut(index).filter(|place| place.is_empty());
        let vector = entry.pointer(&places.vector).and_then(numbers);
        let (Some(place), Some(vector)) = (place, vector) else {
            return Err(format!("Entry {at} of the answer is no vector of a text."));
        };
        *place = vector;
    }
    let length = vectors.first().map_or(0, Vec::len);
    if let Some(at) = vectors.iter().position(|vector| vector.is_empty() || vector.len() != length)
    {
        let has = vectors.get(at).map_or(0, Vec::len);
        return Err(format!(
            "The vector of text {at} has {has} numbers, that of the first {length}."
        ));
    }
    let tokens = places.tokens.iter().find_map(|place| answer.pointer(place)?.as_u64());
    Ok(Vectors { vectors, tokens })
}

fn places(dialect: &Dialect) -> Result<&Embeddings, String> {
    let none = || format!("The dialect {} has no vectors of texts.", dialect.id);
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
