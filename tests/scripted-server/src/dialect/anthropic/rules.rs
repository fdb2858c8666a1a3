//! The rules of a messages request, as strict as the strictest servers in use. It only reads.

use super::THOUGHT;
use crate::dialect::rule::{
    self, Checked, filled, image, is_name, list, name, need, object, only, said, sign, text,
};
use crate::http::Incoming;
use serde_json::Value;

/// Checks a request.
///
/// # Errors
/// The first rule it breaks, with the place.
pub(super) fn check(request: &Incoming) -> Checked {
    let body = object(request)?;
    let version = request.header("anthropic-version").unwrap_or_default();
    need(!version.is_empty(), || "anthropic-version: is missing".to_owned())?;
    filled(&body, "model", "")?;
    need(body.get("stream") == Some(&Value::Bool(true)), || "stream: is not true".to_owned())?;
    let most = body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    need(most > 0, || "max_tokens: is no number above 0".to_owned())?;
    thinking(&body, most)?;
    system(&body)?;
    messages(&body)?;
    end(&body)?;
    tools(&body)?;
    let marks = marks(&body);
    need(marks <= 4, || {
        format!("a maximum of 4 blocks with cache_control may be provided, found {marks}")
    })
}

fn thinking(body: &Value, most: u64) -> Checked {
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    let kind = text(thinking, "type");
    let known = ["enabled", "adaptive", "disabled"].contains(&kind);
    need(known, || format!("thinking.type: \"{kind}\" is none"))?;
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let fits = budget.is_some_and(|budget| (1024..most).contains(&budget));
    need(kind != "enabled" || fits, || {
        format!("thinking.budget_tokens: is not from 1024 to below {most}")
    })
}

fn system(body: &Value) -> Checked {
    match body.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => blocks.iter().enumerate().try_for_each(|(index, block)| {
            need(text(block, "type") == "text", || format!("system[{index}].type: is not text"))?;
            said(block, "text", &format!("system[{index}]"))
        }),
        Some(_) => Err("system: is neither a text nor a list".to_owned()),
    }
}

/// Checks every message: roles alternate, and each call has exactly one result, first in the message behind it.
fn messages(body: &Value) -> Checked {
    let messages = list(body, "messages");
    need(!messages.is_empty(), || "messages: is no list with a message in it".to_owned())?;
    let (mut open, mut all): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        let wanted = if index % 2 == 0 { "user" } else { "assistant" };
        let role = text(message, "role");
        need(role == wanted, || format!("{place}.role: is \"{role}\" and not \"{wanted}\""))?;
        only(message, &["role", "content"], &place)?;
        let blocks = content(message, &place)?;
        match role {
            "user" => user(blocks, &place, &mut open)?,
            _ => open = assistant(blocks, &place, &mut all)?,
        }
    }
    need(open.is_empty(), || format!("messages: end before the results of {}", open.join(", ")))?;
    let last = messages.last().and_then(|last| list(last, "content").last());
    let end = last.map_or("", |block| text(block, "text"));
    need(messages.len() % 2 == 1 || end.trim_end() == end, || {
        "messages: final assistant content cannot end with trailing whitespace".to_owned()
    })
}

/// Returns the blocks of a message; none for one that is a text.
fn content<'v>(message: &'v Value, place: &str) -> Result<&'v [Value], String> {
    match message.get("content") {
        Some(Value::String(_)) => said(message, "content", place).map(|()| &[][..]),
        Some(Value::Array(blocks)) if !blocks.is_empty() => Ok(blocks),
        _ => Err(format!("{place}.content: is neither a text nor a list with a block in it")),
    }
}

fn user(blocks: &[Value], place: &str, open: &mut Vec<&str>) -> Checked {
    let mut other = false;
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        if text(block, "type") != "tool_result" {
            other = true;
            shown(block, &place)?;
            continue;
        }
        need(!other, || format!("{place}: a result stands behind other content"))?;
        only(block, &["type", "tool_use_id", "content", "is_error", "cache_control"], &place)?;
        let id = text(block, "tool_use_id");
        let at = open.iter().position(|known| *known == id);
        let at = at.ok_or_else(|| format!("{place}: unexpected tool_use_id \"{id}\""))?;
        open.remove(at);
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        match block.get("content") {
            None if failed => {
                return Err(format!("{place}: content cannot be empty if `is_error` is true"));
            }
            None | Some(Value::String(_)) => {}
            Some(Value::Array(parts))
                if failed && parts.iter().any(|it| text(it, "type") != "text") =>
            {
                return Err(format!(
                    "{place}: all content must be type `text` if `is_error` is true"
                ));
            }
            Some(Value::Array(parts)) if !parts.is_empty() => {
                parts.iter().try_for_each(|part| shown(part, &place))?;
            }
            Some(_) => return Err(format!("{place}.content: is neither a text nor a list")),
        }
    }
    need(open.is_empty(), || format!("{place}: comes before the results of {}", open.join(", ")))
}

/// Checks a text or an image.
fn shown(block: &Value, place: &str) -> Checked {
    match text(block, "type") {
        "text" => {
            only(block, &["type", "text", "cache_control"], place)?;
            said(block, "text", place)
        }
        "image" => {
            only(block, &["type", "source", "cache_control"], place)?;
            let source = block.get("source").unwrap_or(&Value::Null);
            need(text(source, "type") == "base64", || format!("{place}.source: is no base64"))?;
            image(text(source, "media_type"), text(source, "data"), place)
        }
        other => Err(format!("{place}.type: \"{other}\" is not for a user")),
    }
}

/// Checks an assistant message and returns the ids it calls.
fn assistant<'v>(
    blocks: &'v [Value],
    place: &str,
    all: &mut Vec<&'v str>,
) -> Result<Vec<&'v str>, String> {
    let (mut open, mut thought) = (Vec::new(), false);
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        match text(block, "type") {
            "text" => shown(block, &place)?,
            "thinking" => {
                thought = true;
                only(block, &["type", "thinking", "signature"], &place)?;
                let signed = text(block, "signature") == sign("anthropic", text(block, "thinking"));
                need(signed, || format!("{place}: Invalid `signature` in `thinking` block"))?;
            }
            "redacted_thinking" => {
                thought = true;
                only(block, &["type", "data"], &place)?;
                filled(block, "data", &place)?;
            }
            "tool_use" => {
                let id = call(block, &place)?;
                need(!all.contains(&id), || format!("{place}.id: \"{id}\" is there twice"))?;
                need(thought || !id.starts_with(THOUGHT), || {
                    format!("{place}: the thinking before \"{id}\" did not come back")
                })?;
                all.push(id);
                open.push(id);
            }
            other => return Err(format!("{place}.type: \"{other}\" is not for an assistant")),
        }
        need(block.get("cache_control").is_none() || text(block, "type") != "thinking", || {
            format!("{place}: thinking cannot be marked")
        })?;
    }
    need(!blocks.last().is_some_and(is_thought), || {
        format!("{place}: The final block in an assistant message cannot be `thinking`.")
    })?;
    Ok(open)
}

fn is_thought(block: &Value) -> bool {
    ["thinking", "redacted_thinking"].contains(&text(block, "type"))
}

/// Checks that the last message, if it is the model's, fits whether the model thinks.
fn end(body: &Value) -> Checked {
    let last = list(body, "messages").last().filter(|last| text(last, "role") == "assistant");
    let Some(blocks) = last.map(|last| list(last, "content")) else { return Ok(()) };
    let thinking = body.get("thinking").map_or("disabled", |thinking| text(thinking, "type"));
    need(thinking != "disabled" || !blocks.iter().any(is_thought), || {
        "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.".to_owned()
    })?;
    need(thinking != "enabled" || blocks.first().is_some_and(is_thought), || {
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
            .to_owned()
    })
}

/// Checks one call and returns its id.
fn call<'v>(block: &'v Value, place: &str) -> Result<&'v str, String> {
    let id = text(block, "id");
    only(block, &["type", "id", "name", "input", "cache_control"], place)?;
    need(is_name(id), || format!("{place}.id: \"{id}\" does not match ^[a-zA-Z0-9_-]+$"))?;
    name(block, "name", place)?;
    need(block.get("input").is_some_and(Value::is_object), || {
        format!("{place}.input: is no object")
    })?;
    Ok(id)
}

fn tools(body: &Value) -> Checked {
    for (place, tool) in rule::tools(body)? {
        let schema = tool.get("input_schema").unwrap_or(&Value::Null);
        need(text(schema, "type") == "object", || {
            format!("{place}.input_schema: is no schema of an object")
        })?;
        let root = ["oneOf", "anyOf", "allOf"].iter().all(|name| schema.get(name).is_none());
        need(root, || format!("{place}.input_schema: has alternatives at the top level"))?;
        let names = schema.get("properties").and_then(Value::as_object);
        let named = |name: &String| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            (1..=64).contains(&name.len()) && name.bytes().all(fits)
        };
        need(names.is_none_or(|names| names.keys().all(named)), || {
            format!("{place}.input_schema.properties: Property keys should match pattern")
        })?;
    }
    Ok(())
}

/// Counts the marks for the cache.
fn marks(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(marks).sum(),
        Value::Object(object) => {
            object.values().map(marks).sum::<usize>()
                + usize::from(object.contains_key("cache_control"))
        }
        _ => 0,
    }
}
