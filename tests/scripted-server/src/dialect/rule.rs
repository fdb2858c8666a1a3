//! What the rules of several dialects have in common. It knows no dialect.

use crate::http::Incoming;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

/// What a rule says: nothing, or how and where it is broken.
pub(super) type Checked = Result<(), String>;

/// Checks that something holds.
pub(super) fn need(holds: bool, say: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(say()) }
}

/// Reads the body of a request: a JSON object, by its content type too.
pub(super) fn object(request: &Incoming) -> Result<Value, String> {
    let kind = request.header("content-type").unwrap_or_default();
    let json = kind.split(';').next().map(str::trim);
    need(json.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")), || {
        format!("content-type: is \"{kind}\", not application/json")
    })?;
    let body: Value = serde_json::from_slice(&request.body)
        .map_err(|error| format!("body: is no JSON: {error}"))?;
    need(body.is_object(), || "body: is no object".to_owned())?;
    Ok(body)
}

/// Checks that a field is a text that is not empty; the place is empty for the top of the body.
pub(super) fn filled(value: &Value, key: &str, place: &str) -> Checked {
    let dot = if place.is_empty() { "" } else { "." };
    need(!text(value, key).is_empty(), || format!("{place}{dot}{key}: is no text"))
}

/// Checks that a field is a text that holds more than blanks.
pub(super) fn said(value: &Value, key: &str, place: &str) -> Checked {
    need(!text(value, key).trim().is_empty(), || {
        format!("{place}.{key}: is no text, or a blank one")
    })
}

/// Returns a list, empty if it is none.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
}

/// Returns a text, empty if it is none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Tells whether a tool can be called this: 1 to 64 letters, digits, `_` and `-`.
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Checks the name of a tool or call.
pub(super) fn name(value: &Value, key: &str, place: &str) -> Checked {
    let name = text(value, key);
    need(is_name(name), || format!("{place}.{key}: \"{name}\" is no name"))
}

/// Checks the names of tools: each is one, and none is there twice.
pub(super) fn names<'v>(tools: impl Iterator<Item = (String, &'v Value)>) -> Checked {
    let mut seen = Vec::new();
    for (place, tool) in tools {
        name(tool, "name", &place)?;
        let name = text(tool, "name");
        need(!seen.contains(&name), || format!("{place}.name: \"{name}\" is there twice"))?;
        seen.push(name);
    }
    Ok(())
}

/// Checks the list of tools, if there is one, and returns each with its place.
pub(super) fn tools(body: &Value) -> Result<Vec<(String, &Value)>, String> {
    choice(body)?;
    let tools = list(body, "tools");
    need(body.get("tools").is_none() || !tools.is_empty(), || {
        "tools: is no list with a tool in it".to_owned()
    })?;
    let placed = tools.iter().enumerate().map(|(index, tool)| (format!("tools[{index}]"), tool));
    let placed: Vec<_> = placed.collect();
    names(placed.iter().map(|(place, tool)| (place.clone(), *tool)))?;
    Ok(placed)
}

/// Checks that a tool is not chosen where there are none.
pub(super) fn choice(body: &Value) -> Checked {
    need(body.get("tools").is_some() || body.get("tool_choice").is_none(), || {
        "tool_choice: there are no tools".to_owned()
    })
}

/// Checks an image: a type that models take, and bytes in base64.
pub(super) fn image(kind: &str, data: &str, place: &str) -> Checked {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&kind);
    need(known, || format!("{place}: \"{kind}\" is no type of image"))?;
    need(!data.is_empty() && BASE64_STANDARD.decode(data).is_ok(), || {
        format!("{place}: the data is no base64")
    })
}

/// Checks an image that is written as a `data:` URL.
pub(super) fn data_url(url: &str, place: &str) -> Checked {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (kind, data) = parts.ok_or_else(|| format!("{place}: is no data: URL"))?;
    image(kind, data, place)
}

/// Checks that an object has no other keys than these.
pub(super) fn only(value: &Value, keys: &[&str], place: &str) -> Checked {
    let mut known = value.as_object().into_iter().flat_map(|object| object.keys());
    match known.find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!("{place}.{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// Signs a text in the name of a dialect, so that what comes back shows whether it was changed, or is another's. It proves
/// nothing to anybody else.
pub(super) fn sign(by: &str, text: &str) -> String {
    let hash = by.bytes().chain(text.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    BASE64_STANDARD.encode(hash.to_be_bytes())
}
