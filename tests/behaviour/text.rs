//! Predicates of a text. Each says what is wrong with it.

use regex::Regex;
use serde_json::{Map, Value};

/// The predicates there are.
pub(crate) const KNOWN: [&str; 8] = [
    "contains",
    "lacks",
    "matches",
    "lacks_matches",
    "starts_with",
    "max_bytes",
    "count_max",
    "equals",
];

/// Checks a text, called `what`.
///
/// # Errors
/// The first predicate that does not hold.
pub(crate) fn check(what: &str, wanted: &Map<String, Value>, text: &str) -> Result<(), String> {
    let wrong = wanted.iter().find_map(|(predicate, value)| wrong(predicate, value, text));
    wrong.map_or(Ok(()), |wrong| Err(format!("{what} {wrong}")))
}

fn wrong(predicate: &str, value: &Value, text: &str) -> Option<String> {
    let each = |wrong: &dyn Fn(&str) -> Option<String>| {
        let one = value.as_str().into_iter();
        let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        one.chain(list).find_map(wrong)
    };
    match predicate {
        "contains" => each(&|part| (!text.contains(part)).then(|| format!("has no {part:?}"))),
        "lacks" => each(&|part| text.contains(part).then(|| format!("has {part:?}"))),
        "matches" => each(&|pattern| searched(pattern, text, true)),
        "lacks_matches" => each(&|pattern| searched(pattern, text, false)),
        "starts_with" => {
            each(&|part| (!text.starts_with(part)).then(|| format!("does not start with {part:?}")))
        }
        "equals" => each(&|whole| (text != whole).then(|| format!("is not {whole:?}"))),
        "max_bytes" => value
            .as_u64()
            .filter(|most| text.len() as u64 > *most)
            .map(|most| format!("has {} bytes, more than {most}", text.len())),
        "count_max" => value.as_object().into_iter().flatten().find_map(|(part, most)| {
            let count = text.matches(part.as_str()).count() as u64;
            (count > most.as_u64()?).then(|| format!("has {part:?} {count} times"))
        }),
        _ => Some(format!("was asked for {predicate:?}, which is no predicate")),
    }
}

fn searched(pattern: &str, text: &str, wanted: bool) -> Option<String> {
    match Regex::new(pattern) {
        Err(error) => Some(format!("cannot be asked for {pattern:?}: {error}")),
        Ok(regex) if regex.is_match(text) == wanted => None,
        Ok(_) if wanted => Some(format!("does not match {pattern:?}")),
        Ok(_) => Some(format!("matches {pattern:?}")),
    }
}
