//! Whether a value fits a shape. Examples have to fit exactly; what comes over the wire is read more kindly.

use super::{Base, Field, Kind, Member, Protocol, Shape};
use crate::place::escape;
use serde_json::{Map, Value};

/// What does not fit, by JSON pointer.
pub(super) type Misfits = Vec<(String, String)>;

/// Judges values against the types of a protocol, whose types must not contain themselves.
pub(super) struct Fit<'a> {
    protocol: &'a Protocol,
    found: Misfits,
}

impl<'a> Fit<'a> {
    /// Returns why `value` is no `shape`. With `open`, an object may carry `_meta` unasked.
    pub(super) fn of(protocol: &'a Protocol, shape: &Shape, value: &Value, open: bool) -> Misfits {
        let mut fit = Fit { protocol, found: Vec::new() };
        fit.shape("", shape, value, open);
        fit.found
    }

    fn fields<'s>(&self, members: &'s [Member]) -> Vec<&'s Field>
    where
        'a: 's,
    {
        let mut fields = Vec::new();
        for member in members {
            match member {
                Member::Field(field) => fields.push(field),
                Member::All(spot) => {
                    let inner = self.protocol.named(&spot.name).map(|named| named.shape.members());
                    let inner = inner.into_iter().flatten().flatten();
                    fields.extend(inner.filter_map(|member| match member {
                        Member::Field(field) => Some(field),
                        // Taking in goes one level deep.
                        Member::All(_) => None,
                    }));
                }
            }
        }
        fields
    }

    fn miss(&mut self, pointer: &str, message: String) {
        self.found.push((pointer.to_string(), message));
    }

    fn shape(&mut self, pointer: &str, shape: &Shape, value: &Value, open: bool) {
        if let Shape::Words(words) = shape {
            let words: Vec<&str> = words.iter().map(|word| word.name.as_str()).collect();
            return self.word(pointer, &words, value);
        }
        let Value::Object(object) = value else {
            return self.miss(pointer, format!("an object goes here, not {value}"));
        };
        match shape {
            Shape::Fields(members) => self.object(pointer, members, object, None, open),
            Shape::Choice { by, variants } => {
                let word = object.get(by).and_then(Value::as_str);
                match variants.iter().find(|variant| Some(variant.word.name.as_str()) == word) {
                    Some(variant) => self.object(pointer, &variant.members, object, Some(by), open),
                    None => {
                        let known: Vec<&str> =
                            variants.iter().map(|each| each.word.name.as_str()).collect();
                        self.miss(
                            &format!("{pointer}/{}", escape(by)),
                            format!("the field \"{by}\" is one of: {}", known.join(", ")),
                        );
                    }
                }
            }
            Shape::Words(_) => {}
        }
    }

    fn object(
        &mut self,
        pointer: &str,
        members: &[Member],
        object: &Map<String, Value>,
        by: Option<&str>,
        open: bool,
    ) {
        let fields = self.fields(members);
        for field in &fields {
            match object.get(&field.name) {
                Some(value) => {
                    let pointer = format!("{pointer}/{}", escape(&field.name));
                    self.kind(&pointer, &field.kind, value);
                }
                None if field.optional => {}
                None => self.miss(pointer, format!("the field \"{}\" is missing", field.name)),
            }
        }
        for (key, value) in object {
            let known = fields.iter().any(|field| field.name == *key) || by == Some(key.as_str());
            if known || (open && key == "_meta" && value.is_object()) {
                continue;
            }
            let names: Vec<&str> =
                by.into_iter().chain(fields.iter().map(|field| field.name.as_str())).collect();
            let there = if names.is_empty() {
                "there are none".into()
            } else {
                format!("there are: {}", names.join(", "))
            };
            self.miss(
                &format!("{pointer}/{}", escape(key)),
                format!("no field \"{key}\" goes here; {there}"),
            );
        }
    }

    fn kind(&mut self, pointer: &str, kind: &Kind, value: &Value) {
        if kind.nullable && value.is_null() {
            return;
        }
        if !kind.list {
            return self.base(pointer, &kind.base, value);
        }
        let Value::Array(items) = value else {
            return self.miss(pointer, format!("a list goes here, not {value}"));
        };
        for (index, item) in items.iter().enumerate() {
            self.base(&format!("{pointer}/{index}"), &kind.base, item);
        }
    }

    fn base(&mut self, pointer: &str, base: &Base, value: &Value) {
        let (fits, what) = match base {
            Base::String => (value.is_string(), "a string"),
            Base::Integer => (value.is_i64(), "a whole number"),
            Base::Number => (value.is_number(), "a number"),
            Base::Boolean => (value.is_boolean(), "true or false"),
            Base::Json => (true, "anything"),
            Base::Words(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                return self.word(pointer, &words, value);
            }
            Base::Named(name) => {
                // A name that nothing stands behind has been reported where it is used.
                if let Some(named) = self.protocol.named(name) {
                    self.shape(pointer, &named.shape, value, false);
                }
                return;
            }
        };
        if !fits {
            self.miss(pointer, format!("{what} goes here, not {value}"));
        }
    }

    fn word(&mut self, pointer: &str, words: &[&str], value: &Value) {
        if !value.as_str().is_some_and(|word| words.contains(&word)) {
            self.miss(pointer, format!("{value} is none of: {}", words.join(", ")));
        }
    }
}
