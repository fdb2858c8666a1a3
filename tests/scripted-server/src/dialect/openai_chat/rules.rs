//! The rules of a chat completions request, as strict as the strictest servers in use. It only reads.
//!
//! Each rule is one that some server answers with an error; a client that keeps all of them is safe with any.

use super::{THOUGHT, role};
use crate::dialect::rule::{
    Checked, choice, filled, is_name, list, need, object, only, sign, text,
};
use crate::http::Incoming;
use serde_json::Value;
use std::collections::HashSet;

/// What a message may hold.
const KEYS: [&str; 9] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "refusal",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
];

/// Checks a request.
///
/// # Errors
/// The first rule it breaks, with the place.
pub(crate) fn check(request: &Incoming) -> Checked {
    let body = object(request)?;
    filled(&body, "model", "")?;
    need(body.get("stream") == Some(&Value::Bool(true)), || "stream: is not true".to_owned())?;
    messages(&body)?;
    tools(&body)
}

/// Checks every message, and that each call has exactly one result directly after the message that made it.
fn messages(body: &Value) -> Checked {
    let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    need(!messages.is_empty(), || "messages: is no list with a message in it".to_owned())?;
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        only(message, &KEYS, &place)?;
        match role(message) {
            "tool" => result(message, &place, &mut open)?,
            role => {
                need(open.is_empty(), || {
                    format!("{place}: comes before the results of {}", open.join(", "))
                })?;
                match role {
                    "system" | "developer" => {
                        need(index == 0, || {
                            format!("{place}: only the first message can be a {role} message")
                        })?;
                        content(message, &place, &["text"])?;
                    }
                    "user" => {
                        content(message, &place, &["text", "image_url", "input_audio", "file"])?
                    }
                    "assistant" => open = assistant(message, &place)?,
                    other => return Err(format!("{place}.role: \"{other}\" is no role")),
                }
            }
        }
    }
    need(open.is_empty(), || format!("messages: end before the results of {}", open.join(", ")))
}

fn result<'a>(message: &'a Value, place: &str, open: &mut Vec<&'a str>) -> Checked {
    content(message, place, &["text"])?;
    let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
    let at = open.iter().position(|known| *known == id);
    let at = at.ok_or_else(|| {
        format!("{place}: is a result for \"{id}\", which the message before did not call")
    })?;
    open.remove(at);
    Ok(())
}

/// Checks an assistant message and returns the ids it calls.
fn assistant<'a>(message: &'a Value, place: &str) -> Result<Vec<&'a str>, String> {
    let thought = reasoning(message, place)?;
    let calls = match message.get("tool_calls") {
        None => {
            content(message, place, &["text", "refusal"])?;
            return Ok(Vec::new());
        }
        Some(calls) => calls.as_array().map_or(&[][..], Vec::as_slice),
    };
    need(!calls.is_empty(), || format!("{place}.tool_calls: is no list with a call in it"))?;
    if message.get("content").is_some_and(|content| !content.is_null()) {
        content(message, place, &["text", "refusal"])?;
    }
    let mut ids = Vec::new();
    for (index, entry) in calls.iter().enumerate() {
        let id = call(entry, &format!("{place}.tool_calls[{index}]"))?;
        need(!ids.contains(&id), || {
            format!("{place}.tool_calls[{index}].id: \"{id}\" is there twice")
        })?;
        need(thought || !id.starts_with(THOUGHT), || {
            format!("{place}: the reasoning_details before \"{id}\" did not come back")
        })?;
        ids.push(id);
    }
    Ok(ids)
}

/// Checks that signed reasoning is as it was sent, and tells whether there is some.
fn reasoning(message: &Value, place: &str) -> Result<bool, String> {
    let details = list(message, "reasoning_details");
    for detail in details {
        let place = format!("{place}.reasoning_details");
        only(detail, &["type", "index", "text", "signature"], &place)?;
        let signed = text(detail, "signature") == sign("openai-chat", text(detail, "text"));
        need(signed, || format!("{place}: Invalid signature"))?;
    }
    Ok(!details.is_empty())
}

/// Checks one call and returns its id.
fn call<'a>(call: &'a Value, place: &str) -> Result<&'a str, String> {
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| format!("{place}.id: is no text"))?;
    need(call.get("type") == Some(&Value::from("function")), || {
        format!("{place}.type: is not \"function\"")
    })?;
    only(call, &["id", "type", "function"], place)?;
    let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
    need(is_name(name), || format!("{place}.function.name: \"{name}\" is no name"))?;
    let arguments = call.pointer("/function/arguments").and_then(Value::as_str);
    let arguments = arguments.ok_or_else(|| format!("{place}.function.arguments: is no string"))?;
    let object = serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object());
    need(object, || {
        format!("{place}.function.arguments: is no JSON object in a string: {arguments}")
    })?;
    Ok(id)
}

/// Checks a message's content: a string, or a list of parts of the kinds given.
fn content(message: &Value, place: &str, kinds: &[&str]) -> Checked {
    let place = format!("{place}.content");
    let parts = match message.get("content") {
        Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        _ => return Err(format!("{place}: is neither a string nor a list with a part in it")),
    };
    for (index, part) in parts.iter().enumerate() {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        need(kinds.contains(&kind), || {
            format!("{place}[{index}].type: \"{kind}\" is none of {}", kinds.join(", "))
        })?;
        let fits = match part.get(kind) {
            Some(Value::String(_)) => kind == "text" || kind == "refusal",
            Some(Value::Object(_)) => kind != "text" && kind != "refusal",
            _ => false,
        };
        need(fits, || format!("{place}[{index}].{kind}: is missing or of the wrong type"))?;
    }
    Ok(())
}

fn tools(body: &Value) -> Checked {
    choice(body)?;
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
    need(!tools.is_empty(), || "tools: is no list with a tool in it".to_owned())?;
    let mut names = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let place = format!("tools[{index}]");
        need(tool.get("type") == Some(&Value::from("function")), || {
            format!("{place}.type: is not \"function\"")
        })?;
        let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        need(is_name(name), || format!("{place}.function.name: \"{name}\" is no name"))?;
        need(names.insert(name), || format!("{place}.function.name: \"{name}\" is there twice"))?;
        let parameters = tool.pointer("/function/parameters/type").and_then(Value::as_str);
        need(parameters == Some("object"), || {
            format!("{place}.function.parameters: is no schema of an object")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(body: &Value) -> Incoming {
        Incoming {
            headers: vec![(
                "Content-Type".to_owned(),
                "application/json; charset=utf-8".to_owned(),
            )],
            body: body.to_string().into_bytes(),
            ..Incoming::default()
        }
    }

    /// Asserts that a good request with some of its fields replaced (null removes one) breaks a rule, or none.
    fn check(fields: Value, broken: Option<&str>) {
        let mut body = json!({
            "model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}],
        });
        for (key, value) in fields.as_object().unwrap() {
            body[key] = value.clone();
            if value.is_null() {
                body.as_object_mut().unwrap().remove(key);
            }
        }
        match (super::check(&request(&body)), broken) {
            (Ok(()), None) => {}
            (Err(error), Some(part)) => assert!(error.contains(part), "{body}: {error}"),
            (got, _) => panic!("{body}: expected {broken:?}, got {got:?}"),
        }
    }

    #[test]
    fn top_level() {
        check(json!({}), None);
        check(json!({"model": ""}), Some("model:"));
        check(json!({"stream": false}), Some("stream:"));
        check(json!({"messages": []}), Some("messages:"));
        check(json!({"messages": null}), Some("messages:"));
        let mut request = request(&json!([]));
        assert!(super::check(&request).unwrap_err().contains("no object"));
        request.body = b"\xff{".to_vec();
        assert!(super::check(&request).unwrap_err().contains("no JSON"));
        request.headers.clear();
        assert!(super::check(&request).unwrap_err().starts_with("content-type:"));
    }

    #[test]
    fn offered_tools() {
        let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        check(json!({"tools": null}), None);
        check(json!({"tools": null, "tool_choice": "auto"}), Some("tool_choice:"));
        check(json!({"tools": [tool("a"), tool("b-1_Z")], "tool_choice": "auto"}), None);
        check(json!({"tools": []}), Some("tools:"));
        check(
            json!({"tools": [tool("a"), tool("a")]}),
            Some("tools[1].function.name: \"a\" is there twice"),
        );
        check(json!({"tools": [tool("mcp.a")]}), Some("\"mcp.a\" is no name"));
        check(json!({"tools": [tool(&"x".repeat(65))]}), Some("is no name"));
        check(json!({"tools": [{"name": "a"}]}), Some("tools[0].type"));
        check(
            json!({"tools": [{"type": "function", "function": {"name": "a"}}]}),
            Some("parameters"),
        );
    }

    #[test]
    fn contents() {
        let message = |role: &str, content: Value, broken| {
            check(json!({"messages": [{"role": role, "content": content}]}), broken)
        };
        for role in ["system", "developer", "user", "assistant"] {
            message(role, json!("hi"), None);
            message(role, json!([{"type": "text", "text": "hi"}]), None);
            message(role, json!([]), Some("messages[0].content:"));
            message(role, json!(null), Some("messages[0].content:"));
            message(role, json!([{"type": "text"}]), Some("messages[0].content[0].text"));
            message(role, json!([{"type": "image", "image": {}}]), Some("\"image\" is none of"));
        }
        message("user", json!([{"type": "image_url", "image_url": {"url": "data:"}}]), None);
        message("user", json!([{"type": "image_url", "image_url": "data:"}]), Some("image_url"));
        message("system", json!([{"type": "image_url", "image_url": {}}]), Some("is none of"));
        message("robot", json!("hi"), Some("\"robot\" is no role"));
    }

    #[test]
    fn conversations() {
        let user = json!({"role": "user", "content": "hi"});
        let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        let calls =
            |calls: Value| json!({"role": "assistant", "content": null, "tool_calls": calls});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "done"});
        let messages = |messages: Value, broken| check(json!({ "messages": messages }), broken);
        let (one, two) =
            (calls(json!([call("a", "{}")])), calls(json!([call("a", "{}"), call("b", "{}")])));
        messages(json!([user, one, result("a")]), None);
        messages(json!([user, two, result("b"), result("a"), user]), None);
        messages(json!([user, one, result("a"), one, result("a")]), None);
        messages(json!([user, one]), Some("end before the results of a"));
        messages(
            json!([user, two, result("a"), user]),
            Some("messages[3]: comes before the results of b"),
        );
        messages(json!([user, one, user, result("a")]), Some("messages[2]: comes before"));
        messages(json!([user, result("a")]), Some("messages[1]: is a result for \"a\""));
        messages(
            json!([user, one, result("a"), result("a")]),
            Some("messages[3]: is a result for \"a\""),
        );
        messages(
            json!([user, calls(json!([call("a", "{}"), call("a", "{}")]))]),
            Some("there twice"),
        );
        messages(json!([user, calls(json!([]))]), Some("messages[1].tool_calls:"));
        messages(json!([user, calls(json!([call("", "{}")]))]), Some("tool_calls[0].id"));
        messages(json!([user, calls(json!([call("a", "")]))]), Some("no JSON object"));
        messages(json!([user, calls(json!([call("a", "[]")]))]), Some("no JSON object"));
        messages(
            json!([user, calls(json!([{"id": "a", "type": "function"}]))]),
            Some("function.name"),
        );
        messages(json!([user, {"role": "assistant"}]), Some("messages[1].content"));
        messages(
            json!([user, {"role": "system", "content": "late"}]),
            Some("only the first message"),
        );
        messages(
            json!([user, one, {"role": "tool", "tool_call_id": "a", "content": null}]),
            Some("messages[2].content"),
        );
    }
}
