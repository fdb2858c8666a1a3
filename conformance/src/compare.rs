//! Compares answers with expectations, and says briefly how two of them differ.

use crate::json::{brief, compact};
use lembas_codegen::place::escape;
use serde_json::Value;

/// The most a whole answer may take in a report; beyond it only the differences are shown.
const WHOLE: usize = 160;
/// The most one differing part may take.
const PART: usize = 80;
/// The most differing parts shown.
const PARTS: usize = 4;

/// Returns whether `got` is what a case expects: the same by value, or one of `{"one_of": […]}`.
pub(crate) fn accepts(expect: &Value, got: &Value) -> bool {
    match choices(expect) {
        Some(choices) => choices.iter().any(|each| same(each, got)),
        None => same(expect, got),
    }
}

fn choices(expect: &Value) -> Option<&Vec<Value>> {
    let object = expect.as_object().filter(|object| object.len() == 1)?;
    object.get("one_of")?.as_array()
}

/// Returns whether two values are the same; numbers by value, so that `1` and `1.0` are.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Two integers are never compared as floats: large ones that differ would be the same.
        (Value::Number(a), Value::Number(b)) => {
            a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Says in one bounded line that `expect` was expected and that `who` gave `got`.
pub(crate) fn differ(expect: &Value, who: &str, got: &Value) -> String {
    let (whole, other) = (compact(expect), compact(got));
    if whole.len() + other.len() <= WHOLE || choices(expect).is_some() {
        return format!("expected {}, {who} {}", brief(expect, WHOLE), brief(got, WHOLE));
    }
    let mut parts = Vec::new();
    collect(&mut parts, "", Some(expect), Some(got));
    let more = parts.len().saturating_sub(PARTS);
    parts.truncate(PARTS);
    let told: Vec<String> = parts.iter().map(|part| part.told(who)).collect();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", told.join("; "))
}

/// A place where two values differ; `None` where one has nothing.
struct Part<'a> {
    pointer: String,
    expect: Option<&'a Value>,
    got: Option<&'a Value>,
}

impl Part<'_> {
    fn told(&self, who: &str) -> String {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        let (expect, got) = match (self.expect, self.got) {
            (Some(Value::String(expect)), Some(Value::String(got))) => around(expect, got),
            (expect, got) => (told(expect), told(got)),
        };
        format!("at {place} expected {expect}, {who} {got}")
    }
}

fn told(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), |value| brief(value, PART))
}

/// Two long texts are shown from a little before the first difference.
fn around(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 20;
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let from = if a.len().max(b.len()) > PART { equal.saturating_sub(BEFORE) } else { 0 };
    let cut = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        let shown = brief(&Value::String(rest), PART);
        if from > 0 { format!("…{shown}") } else { shown }
    };
    (cut(a), cut(b))
}

fn collect<'a>(
    parts: &mut Vec<Part<'a>>,
    pointer: &str,
    expect: Option<&'a Value>,
    got: Option<&'a Value>,
) {
    match (expect, got) {
        (Some(a), Some(b)) if same(a, b) => {}
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for i in 0..a.len().max(b.len()) {
                collect(parts, &format!("{pointer}/{i}"), a.get(i), b.get(i));
            }
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let added = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(added) {
                let below = format!("{pointer}/{}", escape(key));
                collect(parts, &below, a.get(key), b.get(key));
            }
        }
        _ => parts.push(Part { pointer: pointer.into(), expect, got }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_compared_by_value() {
        for (expect, got, accepted) in [
            (json!({ "a": 1, "b": [2] }), json!({ "b": [2.0], "a": 1.0 }), true),
            (json!({ "a": 1 }), json!({ "a": 1, "b": null }), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!(9007199254740993u64), json!(9007199254740992u64), false),
            (json!(9007199254740992u64), json!(9007199254740992.0), true),
            (json!(u64::MAX), json!(-1), false),
            (json!({ "one_of": [1, "x"] }), json!("x"), true),
            (json!({ "one_of": [1, "x"] }), json!(2), false),
            (json!({ "one_of": [1], "more": 1 }), json!({ "one_of": [1], "more": 1 }), true),
            (json!({ "one_of": 1 }), json!({ "one_of": 1 }), true),
            (json!(null), json!(null), true),
            (json!("1"), json!(1), false),
        ] {
            assert_eq!(accepts(&expect, &got), accepted, "{expect} {got}");
        }
    }

    fn check(expect: Value, got: Value, told: &str) {
        assert_eq!(differ(&expect, "got", &got), told);
    }

    #[test]
    fn differences_are_brief() {
        check(json!({ "a": 1 }), json!({ "a": 2 }), r#"expected {"a":1}, got {"a":2}"#);
        let (long, longer) = ("x".repeat(200), format!("{}yy", "x".repeat(200)));
        check(
            json!({ "text": long, "n": 1, "gone": 1, "deep": [1, { "k/k": 2 }] }),
            json!({ "text": longer, "n": 1, "new": [], "deep": [1, { "k/k": 3 }] }),
            "at /text expected …\"xxxxxxxxxxxxxxxxxxxx\", got …\"xxxxxxxxxxxxxxxxxxxxyy\"; \
             at /gone expected 1, got nothing; at /deep/1/k~1k expected 2, got 3; \
             at /new expected nothing, got []",
        );
        let (ones, twos) = (vec![1; 100], vec![2; 100]);
        let told = differ(&json!(ones), "got", &json!(twos));
        assert!(told.ends_with("; and 96 more"), "{told}");
        check(
            json!("a".repeat(170)),
            json!({ "b": 1 }),
            &format!("at / expected \"{}…, got {{\"b\":1}}", "a".repeat(79)),
        );
    }
}
