//! Fills the sentences of the spec. It has no words of its own.

use lembas_codegen::template::environment;
use minijinja::Environment;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{LazyLock, RwLock};

/// The engine, with every sentence so far: the spec has a few hundred, and some are said again and again.
static ENGINE: LazyLock<Option<RwLock<Environment<'static>>>> =
    LazyLock::new(|| environment().ok().map(RwLock::new));

/// Returns the sentence `key` of `says` with `values` filled in. A sentence that is missing or cannot be filled
/// in comes out as its key, so that a result is never lost for its words.
pub fn say(says: &BTreeMap<String, String>, key: &str, values: &impl Serialize) -> String {
    says.get(key).and_then(|sentence| filled(sentence, values)).unwrap_or_else(|| key.to_owned())
}

/// Returns a sentence with `values` filled in; `None` for one that cannot be.
pub(crate) fn filled(sentence: &str, values: &impl Serialize) -> Option<String> {
    let values = minijinja::Value::from(minijinja::value::Serde(values));
    let known =
        |engine: &Environment<'_>| Some(engine.get_template(sentence).ok()?.render(&values));
    let engine = ENGINE.as_ref()?;
    let rendered = known(&*engine.read().ok()?);
    if let Some(rendered) = rendered {
        return rendered.ok();
    }
    let mut engine = engine.write().ok()?;
    engine.add_template_owned(sentence.to_string(), sentence.to_string()).ok()?;
    known(&engine)?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_or_names_the_key() {
        let says = BTreeMap::from([
            ("cut".to_owned(), "{{ left }} left".to_owned()),
            ("bad".to_owned(), "{{".to_owned()),
        ]);
        let values = serde_json::json!({"left": 3});
        assert_eq!(say(&says, "cut", &values), "3 left");
        assert_eq!(say(&says, "bad", &values), "bad");
        assert_eq!(say(&says, "none", &values), "none");
    }
}
