//! The rules of a request of Ollama's chat, as strict as its templates. It only reads.

use crate::dialect::rule::{Checked, filled, image, list, name, names, need, object, only, text};
use crate::http::Incoming;
use serde_json::Value;

/// What a message may hold.
const KEYS: [&str; 7] =
    ["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"];

/// Checks a request.
///
/// # Errors
/// The first rule it breaks, with the place.
pub(super) fn check(request: &Incoming) -> Checked {
    let body = object(request)?;
    filled(&body, "model", "")?;
    need(body.get("stream") == Some(&Value::Bool(true)), || "stream: is not true".to_owned())?;
    need(body.get("options").is_none_or(Value::is_object), || "options: is no object".to_owned())?;
    let think = body.get("think");
    let level = think
        .and_then(Value::as_str)
        .is_some_and(|word| ["low", "medium", "high", "max"].contains(&word));
    need(think.is_none_or(Value::is_boolean) || level, || {
        format!(
            "invalid think value: {think:?} (must be \"high\", \"medium\", \"low\", \"max\", true, or false)"
        )
    })?;
    messages(&body)?;
    tools(&body)
}

/// Checks every message, and that the results of calls stand behind them.
fn messages(body: &Value) -> Checked {
    let messages = list(body, "messages");
    need(!messages.is_empty(), || "messages: is no list with a message in it".to_owned())?;
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        only(message, &KEYS, &place)?;
        need(message.get("content").is_some_and(Value::is_string), || {
            format!("{place}.content: is no text")
        })?;
        for data in list(message, "images") {
            image("image/png", data.as_str().unwrap_or_default(), &place)?;
        }
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            let at = open.iter().position(|known| *known == id);
            open.remove(at.ok_or_else(|| format!("{place}: is a result for no call \"{id}\""))?);
            name(message, "tool_name", &place)?;
            continue;
        }
        need(open.is_empty(), || {
            format!("{place}: comes before the results of {}", open.join(", "))
        })?;
        let known = ["system", "user", "assistant"].contains(&role);
        need(known && (role != "system" || index == 0), || {
            format!("{place}.role: \"{role}\" is none here")
        })?;
        open = calls(message, &place)?;
    }
    need(open.is_empty(), || format!("messages: end before the results of {}", open.join(", ")))
}

fn calls<'v>(message: &'v Value, place: &str) -> Result<Vec<&'v str>, String> {
    let mut open = Vec::new();
    for call in list(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        name(function, "name", place)?;
        need(function.get("arguments").is_some_and(Value::is_object), || {
            format!("{place}: json: cannot unmarshal arguments into an object")
        })?;
        filled(call, "id", place)?;
        open.push(text(call, "id"));
    }
    Ok(open)
}

fn tools(body: &Value) -> Checked {
    let tools = || {
        let tools = list(body, "tools").iter().enumerate();
        tools.map(|(index, tool)| {
            (format!("tools[{index}].function"), tool.get("function").unwrap_or(&Value::Null))
        })
    };
    names(tools())?;
    for (place, tool) in tools() {
        let kind = tool.pointer("/parameters/type").and_then(Value::as_str);
        need(kind == Some("object"), || format!("{place}.parameters: is no schema of an object"))?;
        property(tool.get("parameters").unwrap_or(&Value::Null), &place)?;
    }
    Ok(())
}

/// Checks a schema as it is decoded, into a structure: what it does not know is lost, what does not fit is refused.
fn property(schema: &Value, place: &str) -> Checked {
    let refused = |what: &str| format!("{place}: json: cannot unmarshal {what} into Go value");
    let Some(fields) = schema.as_object() else { return Err(refused("a schema")) };
    for (key, value) in fields {
        let fits = match key.as_str() {
            "type" => value.is_string() || value.is_array(),
            "description" => value.is_string(),
            "enum" | "required" | "anyOf" => value.is_array(),
            "properties" => value.is_object(),
            "items" => true,
            _ => return Err(format!("{place}.{key}: is lost")),
        };
        need(fits, || refused(key))?;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let inner = properties.into_iter().flat_map(|properties| properties.values());
    inner.chain(list(schema, "anyOf")).try_for_each(|inner| property(inner, place))
}
