//! Writes answers into the files their cases stand in, and leaves everything else there as it is.

use crate::{
    error::Error,
    json::{laid_out, spaced},
    source::Suite,
};
use lembas_codegen::place::Places;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::{fs, io::Write, path::Path};
use tempfile::NamedTempFile;

/// The answer that a case, by its index in its file, expects from now on.
pub(crate) type Change = (usize, Value);

/// Returns an error if any of the files could not be written.
pub(crate) fn possible(suites: &[Suite]) -> Result<(), Error> {
    let on_disk = suites.iter().all(|suite| suite.on_disk.is_some());
    if on_disk { Ok(()) } else { Err(Error::input(NOT_ON_DISK)) }
}

/// Writes the changes of every file; each is replaced as a whole, and none unless all could be worked out.
pub(crate) fn save(changed: &[(&Suite, Vec<Change>)]) -> Result<(), Error> {
    let mut ready = Vec::new();
    for (suite, changes) in changed.iter().filter(|(_, changes)| !changes.is_empty()) {
        let Some((path, text)) = &suite.on_disk else {
            return Err(Error::input(NOT_ON_DISK));
        };
        let text = spliced(text, changes).map_err(|why| {
            Error::input(format!("{}: {why}; it was left as it is", path.display()))
        })?;
        ready.push((path, text));
    }
    for (path, text) in ready {
        replace(path, &text).map_err(|error| {
            Error::input(format!("{} was not changed: {error}", path.display()))
        })?;
    }
    Ok(())
}

const NOT_ON_DISK: &str = "the cases packed into the program cannot be written; \
    name the files to record into with --harness DIR or --cases FILE";

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let path = path.canonicalize()?;
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(&path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Returns `text` with the changes put in.
///
/// # Errors
/// A text that comes out as anything but the cases with those expectations.
fn spliced(text: &str, changes: &[Change]) -> Result<String, String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let mut json = parse(text)?;
    let layout = Layout { text, places: Places::of(text) };
    let mut edits: Vec<Edit> = Vec::new();
    for (index, answer) in changes {
        let case = json["cases"].get_mut(*index).and_then(Value::as_object_mut);
        let case = case.ok_or("a case is no longer there")?;
        let known = case.insert("expect".into(), answer.clone()).is_some();
        edits.push(layout.edit(*index, answer, known).ok_or("a case was not found")?);
    }
    let mut out = text.to_string();
    edits.sort_by_key(|edit| edit.from);
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for edit in edits.iter().rev() {
        out.replace_range(edit.from..edit.to, &edit.with.replace('\n', ending));
    }
    if parse(&out)? == json { Ok(out) } else { Err("the answers do not fit into the text".into()) }
}

/// A part of the text and what takes its place.
struct Edit {
    from: usize,
    to: usize,
    with: String,
}

struct Layout<'a> {
    text: &'a str,
    places: Places,
}

impl Layout<'_> {
    fn edit(&self, index: usize, answer: &Value, known: bool) -> Option<Edit> {
        let case = format!("/cases/{index}");
        let (from, to) = self.span(&case)?;
        let one_line = !self.text.get(from..to)?.contains('\n');
        if known {
            let (from, to) = self.span(&format!("{case}/expect"))?;
            let before = self.line_before(from)?;
            let with = match one_line {
                true => spaced(answer),
                false => laid_out(answer, indent(before), before.chars().count()),
            };
            return Some(Edit { from, to, with });
        }
        let (start, end) = self.span(&format!("{case}/in"))?;
        let before = self.line_before(start)?;
        let own_line = before.trim_start().strip_prefix("\"in\"").is_some_and(|r| r.trim() == ":");
        let with = match own_line {
            true => {
                let indent = indent(before);
                let answer = laid_out(answer, indent, indent.len() + "\"expect\": ".len());
                format!(",\n{indent}\"expect\": {answer}")
            }
            false => format!(", \"expect\": {}", spaced(answer)),
        };
        Some(Edit { from: end, to: end, with })
    }

    /// The bytes of the value at `pointer`.
    fn span(&self, pointer: &str) -> Option<(usize, usize)> {
        let (line, column) = self.places.get(pointer);
        let start = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let from = start + column - 1;
        let rest = self.text.get(from..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        Some((from, from + values.byte_offset()))
    }

    fn line_before(&self, at: usize) -> Option<&str> {
        self.text.get(..at)?.rsplit('\n').next()
    }
}

fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(text: &str, changes: &[Change], expected: &str) {
        assert_eq!(spliced(text, changes).unwrap(), expected);
        let (text, expected) = (text.replace('\n', "\r\n"), expected.replace('\n', "\r\n"));
        assert_eq!(spliced(&text, changes).unwrap(), expected);
    }

    #[test]
    fn a_case_on_one_line_stays_on_one() {
        check(
            "{ \"cases\": [\n  { \"name\": \"ä\", \"in\": [1], \"why\": \"x\" },\n  { \"in\": 2 ,\"expect\":{\"a\" :1}}\n] }\n",
            &[(1, json!({ "rule": null })), (0, json!({ "rule": "rm-root", "n": [1, 2] }))],
            "{ \"cases\": [\n  { \"name\": \"ä\", \"in\": [1], \"expect\": { \"rule\": \"rm-root\", \"n\": [1, 2] }, \"why\": \"x\" },\n  { \"in\": 2 ,\"expect\":{ \"rule\": null }}\n] }\n",
        );
    }

    #[test]
    fn a_case_on_many_lines_gets_a_line() {
        check(
            "{ \"cases\": [\n  {\n    \"in\": {\n      \"x\": 1\n    }\n  },\n  { \"name\": \"b\",\n    \"in\":\n      1, \"expect\": null }\n] }",
            &[(0, json!([])), (1, json!("y"))],
            "{ \"cases\": [\n  {\n    \"in\": {\n      \"x\": 1\n    },\n    \"expect\": []\n  },\n  { \"name\": \"b\",\n    \"in\":\n      1, \"expect\": \"y\" }\n] }",
        );
        let long = "x".repeat(70);
        check(
            "{ \"cases\": [\n  {\n    \"in\": 1\n  }] }",
            &[(0, json!([long, long]))],
            &format!(
                "{{ \"cases\": [\n  {{\n    \"in\": 1,\n    \"expect\": [\n      \"{long}\",\n      \"{long}\"\n    ]\n  }}] }}"
            ),
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["[a-z\"\\\\{}\\[\\],:]{0,12}", "in|expect|\\PC{0,6}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, move |inner| {
            let key = text.clone();
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(key, inner, 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever a file looks like, it holds the answers afterwards, or is left alone.
        #[test]
        fn answers_are_put_in(
            cases in prop::collection::vec((value(), any::<bool>(), value()), 1..5),
            pretty in any::<bool>(),
            ending in prop_oneof!["\n", "\r\n"],
        ) {
            let mut list = Vec::new();
            let mut changes = Vec::new();
            for (i, (input, known, answer)) in cases.into_iter().enumerate() {
                list.push(if known { json!({ "in": input, "expect": 1 }) } else { json!({ "in": input }) });
                changes.push((i, answer));
            }
            let json = json!({ "cases": list });
            let text = if pretty { serde_json::to_string_pretty(&json).unwrap() } else { json.to_string() };
            let text = text.replace('\n', &ending);
            let after: Value = serde_json::from_str(&spliced(&text, &changes).unwrap()).unwrap();
            for (i, answer) in &changes {
                prop_assert_eq!(&after["cases"][i]["expect"], answer);
                prop_assert_eq!(&after["cases"][i]["in"], &json["cases"][i]["in"]);
            }
        }
    }
}
