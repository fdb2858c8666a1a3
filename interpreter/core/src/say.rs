//! Fills the sentences of the spec. It has no words of its own.

use lembas_codegen::template::environment;
use serde::Serialize;
use std::collections::BTreeMap;

/// Returns the sentence `key` of `says` with `values` filled in. A sentence that is missing or cannot be filled
/// in comes out as its key, so that a result is never lost for its words.
pub fn say(says: &BTreeMap<String, String>, key: &str, values: &impl Serialize) -> String {
    says.get(key).and_then(|sentence| filled(sentence, values)).unwrap_or_else(|| key.to_owned())
}

/// Returns a sentence with `values` filled in; `None` for one that cannot be.
pub(crate) fn filled(sentence: &str, values: &impl Serialize) -> Option<String> {
    let values = minijinja::Value::from(minijinja::value::Serde(values));
    environment().and_then(|engine| engine.render_str(sentence, values)).ok()
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
