//! `models/schema.json`: what can be said about a model. It is a schema itself, so all there is to check is that it works.

use crate::{problem::Problem, reader::Reader, schema::Schema};
use serde_json::Value;

/// The file, inside the spec.
const NAME: &str = "models/schema.json";

/// Checks that the file is a schema and that its own examples fit it.
pub(super) fn check(reader: &mut Reader<'_>) {
    if !reader.checks() {
        return;
    }
    let Some(text) = reader.files.text(NAME) else {
        reader.problems.push(Problem::whole(NAME, "the file is missing"));
        return;
    };
    let json: Result<Value, String> = serde_json::from_str(text).map_err(|error| error.to_string());
    let examples = json.as_ref().map_or(Value::Null, |json| json["examples"].clone());
    match json.and_then(Schema::new) {
        Ok(schema) => {
            for (i, example) in examples.as_array().into_iter().flatten().enumerate() {
                for (pointer, message) in schema.problems(example) {
                    reader.problem(NAME, &format!("/examples/{i}{pointer}"), message);
                }
            }
        }
        Err(message) => {
            let message = format!("the file is no schema: {message}");
            reader.problems.push(Problem::whole(NAME, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;

    fn check_text(text: &str, expect: &[&str]) {
        let mut files = Files::default();
        files.set(NAME, text.into());
        let schemas = Files::default();
        let mut reader = Reader::new(&files, Some(&schemas));
        check(&mut reader);
        let found: Vec<String> = reader.problems.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (got, expect) in found.iter().zip(expect) {
            assert!(got.contains(expect), "{got}\nshould say: {expect}");
        }
    }

    #[test]
    fn the_schema_of_models_must_work() {
        let examples = |list: &str| {
            format!(
                "{{\"properties\":{{\"context\":{{\"type\":\"integer\"}}}},\n\"examples\":{list}}}"
            )
        };
        check_text(&examples("[{ \"context\": 5 }]"), &[]);
        check_text(&examples("[{ \"context\": \"big\" }]"), &["models/schema.json:2:26: "]);
        check_text("{ \"type\": \"modell\" }", &["no schema"]);
        check_text("{", &["no schema"]);
    }
}
