//! JSON as people read it in reports and as it stands in case files.

use serde_json::Value;

/// Returns the value on one line without blanks.
pub(crate) fn compact(value: &Value) -> String {
    value.to_string()
}

/// Returns at most `most` characters of the value on one line.
pub(crate) fn brief(value: &Value, most: usize) -> String {
    let text = compact(value);
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Returns the value on one line as case files write it: `{ "a": 1, "b": [2, 3] }`.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Array(list) if !list.is_empty() => {
            format!("[{}]", list.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) if !object.is_empty() => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), spaced(value));
            format!("{{ {} }}", object.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => compact(other),
    }
}

fn quoted(key: &str) -> String {
    compact(&Value::String(key.into()))
}

/// How many characters a line of a case file may take.
const WIDTH: usize = 110;

/// Returns the value as it stands in a file from a line indented by `indent` on, of which `used` characters
/// are taken already. What does not fit on the line is broken at its members.
pub(crate) fn laid_out(value: &Value, indent: &str, used: usize) -> String {
    let line = spaced(value);
    let empty = value.as_array().is_some_and(Vec::is_empty);
    if used + line.chars().count() <= WIDTH || empty {
        return line;
    }
    let deeper = format!("{indent}  ");
    let broken = |open: char, members: Vec<String>, close: char| {
        format!("{open}\n{deeper}{}\n{indent}{close}", members.join(&format!(",\n{deeper}")))
    };
    match value {
        Value::Array(list) => {
            let member = |each: &Value| laid_out(each, &deeper, deeper.len());
            broken('[', list.iter().map(member).collect(), ']')
        }
        Value::Object(object) if !object.is_empty() => {
            let member = |(key, each): (&String, &Value)| {
                let key = quoted(key);
                format!("{key}: {}", laid_out(each, &deeper, deeper.len() + key.len() + 2))
            };
            broken('{', object.iter().map(member).collect(), '}')
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_case_files_write_them() {
        let value = json!({ "a": 1, "b": [2, {}], "c": [], "d\"": "x\ny" });
        assert_eq!(spaced(&value), r#"{ "a": 1, "b": [2, {}], "c": [], "d\"": "x\ny" }"#);
        assert_eq!(laid_out(&value, "", 0), spaced(&value));
        let long = json!({ "events": ["x".repeat(60), "y".repeat(60)], "n": 1 });
        let (x, y) = ("x".repeat(60), "y".repeat(60));
        let broken = format!(
            "{{\n    \"events\": [\n      \"{x}\",\n      \"{y}\"\n    ],\n    \"n\": 1\n  }}"
        );
        assert_eq!(laid_out(&long, "  ", 10), broken);
        assert_eq!(brief(&json!("äöü"), 3), "\"äö…");
    }
}
