//! The rules of a responses request, as strict as the strictest servers in use. It only reads.

use super::THOUGHT;
use crate::dialect::rule::{
    self, Checked, data_url, filled, list, name, need, object, only, sign, text,
};
use crate::http::Incoming;
use serde_json::Value;

/// Checks a request.
///
/// # Errors
/// The first rule it breaks, with the place.
pub(super) fn check(request: &Incoming) -> Checked {
    let body = object(request)?;
    filled(&body, "model", "")?;
    need(body.get("stream") == Some(&Value::Bool(true)), || "stream: is not true".to_owned())?;
    need(body.get("store") == Some(&Value::Bool(false)), || "store: is not false".to_owned())?;
    for (field, instead) in
        [("reasoning_effort", "reasoning.effort"), ("max_tokens", "max_output_tokens")]
    {
        need(body.get(field).is_none(), || {
            format!("Unsupported parameter: '{field}'. It has moved to '{instead}'")
        })?;
    }
    need(body.get("instructions").is_none_or(Value::is_string), || {
        "instructions: is no text".to_owned()
    })?;
    input(&body)?;
    tools(&body)
}

/// Checks every item, and that each call has exactly one output behind it.
fn input(body: &Value) -> Checked {
    let input = list(body, "input");
    need(!input.is_empty(), || "input: is no list with an item in it".to_owned())?;
    let (mut open, mut all): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut thought = false;
    for (index, item) in input.iter().enumerate() {
        let place = format!("input[{index}]");
        only(item, keys(text(item, "type")), &place)?;
        match text(item, "type") {
            "message" => {
                message(item, &place)?;
                need(open.is_empty(), || {
                    format!("No tool output found for function call {}", open.join(", "))
                })?;
                thought &= text(item, "role") == "assistant";
            }
            "reasoning" => {
                reasoning(item, input.get(index + 1), &place)?;
                thought = true;
            }
            "function_call" => {
                let id = call(item, &place)?;
                need(!all.contains(&id), || format!("{place}.call_id: \"{id}\" is there twice"))?;
                need(thought || !id.starts_with(THOUGHT), || {
                    format!(
                        "'{id}' of type 'function_call' was provided without its required 'reasoning' item"
                    )
                })?;
                open.push(id);
                all.push(id);
            }
            "function_call_output" => {
                let id = output(item, &place)?;
                let at = open.iter().position(|known| *known == id);
                let at = at.ok_or_else(|| {
                    format!("No tool call found for function call output with call_id {id}")
                })?;
                open.remove(at);
                thought = false;
            }
            other => return Err(format!("{place}.type: \"{other}\" is no item")),
        }
    }
    need(open.is_empty(), || format!("No tool output found for function call {}", open.join(", ")))
}

/// What an item of a kind may hold. Ids are of no use where nothing is stored.
fn keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "reasoning" => &["type", "summary", "encrypted_content", "content", "status"],
        "function_call" => &["type", "call_id", "name", "arguments", "status"],
        "function_call_output" => &["type", "call_id", "output", "status"],
        _ => &["type", "role", "content", "status"],
    }
}

fn message(item: &Value, place: &str) -> Checked {
    let kinds: &[&str] = match text(item, "role") {
        "user" => &["input_text", "input_image"],
        "system" | "developer" => &["input_text"],
        "assistant" => &["output_text", "refusal"],
        other => return Err(format!("{place}.role: \"{other}\" is no role")),
    };
    parts(list(item, "content"), kinds, place)
}

fn parts(parts: &[Value], kinds: &[&str], place: &str) -> Checked {
    need(!parts.is_empty(), || format!("{place}: has no list with a part in it"))?;
    for part in parts {
        let kind = text(part, "type");
        need(kinds.contains(&kind), || {
            format!("{place}: Invalid value: '{kind}'. Supported values are: {}", kinds.join(", "))
        })?;
        match kind {
            "input_image" => data_url(text(part, "image_url"), place)?,
            "refusal" => filled(part, "refusal", place)?,
            _ => need(part.get("text").is_some_and(Value::is_string), || {
                format!("{place}: a part has no text")
            })?,
        }
    }
    Ok(())
}

/// Checks an item of reasoning: it is as it was sent, and what it led to stands behind it.
fn reasoning(item: &Value, next: Option<&Value>, place: &str) -> Checked {
    let summary: String = list(item, "summary").iter().map(|part| text(part, "text")).collect();
    need(item.get("summary").is_some_and(Value::is_array), || {
        format!("{place}.summary: is no list")
    })?;
    need(text(item, "encrypted_content") == sign("responses", &summary), || {
        format!("{place}: The encrypted content could not be verified")
    })?;
    let follows = next.is_some_and(|next| {
        text(next, "role") == "assistant"
            || ["function_call", "reasoning"].contains(&text(next, "type"))
    });
    need(follows, || {
        format!("{place}: 'reasoning' was provided without its required following item")
    })
}

/// Checks one call and returns its id.
fn call<'v>(item: &'v Value, place: &str) -> Result<&'v str, String> {
    name(item, "name", place)?;
    let arguments = text(item, "arguments");
    let object = serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object());
    need(object, || format!("{place}.arguments: is no JSON object in a string: {arguments}"))?;
    id(item, place)
}

fn id<'v>(item: &'v Value, place: &str) -> Result<&'v str, String> {
    let id = text(item, "call_id");
    need((1..=64).contains(&id.len()), || {
        format!("{place}.call_id: \"{id}\" is not from 1 to 64 characters long")
    })?;
    Ok(id)
}

/// Checks the output of a call and returns the call's id.
fn output<'v>(item: &'v Value, place: &str) -> Result<&'v str, String> {
    match item.get("output") {
        Some(Value::String(_)) => {}
        Some(Value::Array(list)) => parts(list, &["input_text", "input_image"], place)?,
        _ => return Err(format!("{place}.output: is neither a text nor a list")),
    }
    id(item, place)
}

fn tools(body: &Value) -> Checked {
    for (place, tool) in rule::tools(body)? {
        need(text(tool, "type") == "function", || format!("{place}.type: is not \"function\""))?;
        let strict = tool.get("strict") != Some(&Value::Bool(false));
        need(!strict, || {
            format!("{place}: 'additionalProperties' is required to be supplied and to be false")
        })?;
        let schema = tool.get("parameters").unwrap_or(&Value::Null);
        need(text(schema, "type") == "object", || {
            format!("{place}.parameters: is no schema of an object")
        })?;
    }
    Ok(())
}
