//! The rules of a generateContent request, as strict as the strictest models in use. It only reads.

use crate::dialect::rule::{Checked, image, list, name, names, need, object, only, sign, text};
use crate::http::Incoming;
use serde_json::Value;

/// What stands for the signature of a call that another model made.
const STAND_IN: &str = "skip_thought_signature_validator";
/// The keys of a schema that are known.
const KEYS: [&str; 21] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "propertyOrdering",
    "default",
];

/// The types of a schema, with their formats.
const TYPES: [(&str, &[&str]); 6] = [
    ("string", &["enum", "date-time"]),
    ("integer", &["int32", "int64"]),
    ("number", &["float", "double"]),
    ("boolean", &[]),
    ("array", &[]),
    ("object", &[]),
];

/// Checks a request.
///
/// # Errors
/// The first rule it breaks, with the place.
pub(super) fn check(request: &Incoming) -> Checked {
    let body = object(request)?;
    need(request.path.contains("alt=sse"), || "path: alt=sse is missing".to_owned())?;
    need(body.get("model").is_none(), || "model: is part of the path".to_owned())?;
    if let Some(system) = body.get("systemInstruction") {
        parts(system, "systemInstruction", &["text"])?;
        let empty = list(system, "parts").iter().any(|part| text(part, "text").is_empty());
        need(!empty, || "systemInstruction: it has an empty text parameter".to_owned())?;
    }
    let signs = request.path.contains("/models/gemini-3");
    contents(&body, signs)?;
    tools(&body)?;
    let thinking = body.pointer("/generationConfig/thinkingConfig");
    let level = thinking.map_or("", |thinking| text(thinking, "thinkingLevel"));
    need(["", "minimal", "low", "medium", "high"].contains(&level), || {
        format!("Invalid value at 'generation_config.thinking_config.thinking_level', \"{level}\"")
    })?;
    let both = thinking.is_some_and(|thinking| {
        thinking.get("thinkingBudget").is_some() && thinking.get("thinkingLevel").is_some()
    });
    need(!both, || "You can only set only one of thinking budget and thinking level.".to_owned())
}

/// Checks every content, and that each turn of calls is answered in the next one, call by call.
fn contents(body: &Value, signs: bool) -> Checked {
    let contents = list(body, "contents");
    need(!contents.is_empty(), || "contents: is no list with a content in it".to_owned())?;
    let asked = contents.iter().rposition(is_question).unwrap_or_default();
    let mut open: Vec<&str> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let place = format!("contents[{index}]");
        only(content, &["role", "parts"], &place)?;
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        match text(content, "role") {
            "user" => {
                parts(content, &place, &["text", "inlineData", "functionResponse"])?;
                answers(content, &std::mem::take(&mut open), &place)?;
            }
            "model" => {
                parts(content, &place, &["text", "functionCall"])?;
                need(open.is_empty(), || format!("{place}: comes before the responses"))?;
                open = called(content).map(|call| text(call, "name")).collect();
                let after = before.is_some_and(|before| text(before, "role") == "user");
                need(open.is_empty() || after, || {
                    format!(
                        "{place}: Please ensure that function call turn comes immediately after a user turn or after a function response turn."
                    )
                })?;
                if signs && index > asked {
                    signature(content, &place)?;
                }
            }
            other => return Err(format!("{place}.role: \"{other}\" is no role")),
        }
    }
    need(open.is_empty(), || "contents: end before the responses".to_owned())
}

/// Tells whether a content is what a person said, and not only results.
fn is_question(content: &Value) -> bool {
    let answers = list(content, "parts").iter().any(|part| part.get("functionResponse").is_some());
    text(content, "role") == "user" && !answers
}

fn called(content: &Value) -> impl Iterator<Item = &Value> {
    list(content, "parts").iter().filter_map(|part| part.get("functionCall"))
}

fn answers(content: &Value, open: &[&str], place: &str) -> Checked {
    let answers = list(content, "parts").iter().filter_map(|part| part.get("functionResponse"));
    let answers: Vec<&str> = answers.map(|answer| text(answer, "name")).collect();
    need(answers == open, || {
        format!(
            "{place}: Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn ({answers:?} for {open:?})"
        )
    })
}

/// Checks that the first call of a turn that is going on is signed: by us, as it was sent, or by the stand-in.
fn signature(content: &Value, place: &str) -> Checked {
    let first = list(content, "parts").iter().find(|part| part.get("functionCall").is_some());
    let Some(part) = first else { return Ok(()) };
    let arguments = part.pointer("/functionCall/args").unwrap_or(&Value::Null);
    let signature = text(part, "thoughtSignature");
    need(!signature.is_empty(), || {
        format!("{place}: Function call is missing a thought_signature in functionCall parts.")
    })?;
    need(signature == STAND_IN || signature == sign("gemini", &arguments.to_string()), || {
        format!("{place}: Thought signature is not valid")
    })
}

/// Checks that a content has parts, each of one of these kinds.
fn parts(content: &Value, place: &str, kinds: &[&str]) -> Checked {
    let parts = list(content, "parts");
    need(!parts.is_empty(), || format!("{place}.parts: is no list with a part in it"))?;
    for (index, part) in parts.iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        let kind = kinds.iter().find(|kind| part.get(**kind).is_some());
        let kind = kind.ok_or_else(|| format!("{place}: is none of {}", kinds.join(", ")))?;
        let value = part.get(*kind).unwrap_or(&Value::Null);
        only(part, &[*kind, "thought", "thoughtSignature"], &place)?;
        match *kind {
            "text" => need(value.is_string(), || format!("{place}.text: is no text"))?,
            "inlineData" => image(text(value, "mimeType"), text(value, "data"), &place)?,
            "functionCall" => object_of(value, "args", &place)?,
            _ => object_of(value, "response", &place)?,
        }
    }
    Ok(())
}

fn object_of(value: &Value, key: &str, place: &str) -> Checked {
    name(value, "name", place)?;
    only(value, &["id", "name", key, "parts"], place)?;
    need(value.get(key).is_some_and(Value::is_object), || format!("{place}.{key}: is no object"))
}

fn tools(body: &Value) -> Checked {
    let declared = || {
        let tools = list(body, "tools").iter().enumerate();
        tools.flat_map(|(group, tools)| {
            let tools = list(tools, "functionDeclarations").iter().enumerate();
            tools.map(move |(index, tool)| {
                (format!("tools[{group}].function_declarations[{index}]"), tool)
            })
        })
    };
    names(declared())?;
    for (place, tool) in declared() {
        if let Some(parameters) = tool.get("parameters") {
            let filled = parameters.get("properties").and_then(Value::as_object);
            need(filled.is_some_and(|properties| !properties.is_empty()), || {
                format!("{place}.parameters: should be non-empty for OBJECT type")
            })?;
            schema(parameters, &format!("{place}.parameters"))?;
        }
    }
    Ok(())
}

/// Checks a schema: keys that are known, one type, texts to choose from, items for lists, and nothing required that is not there.
fn schema(schema: &Value, place: &str) -> Checked {
    let Some(fields) = schema.as_object() else { return Err(format!("{place}: is no schema")) };
    for key in fields.keys() {
        need(KEYS.contains(&key.as_str()), || {
            format!("{place}: Invalid JSON payload received. Unknown name \"{key}\"")
        })?;
    }
    need(schema.get("type").is_none_or(Value::is_string), || {
        format!("{place}.type: Proto field is not repeating, cannot start list.")
    })?;
    need(schema.get("anyOf").is_none() || fields.len() == 1, || {
        format!("{place}: When using any_of, it must be the only field set.")
    })?;
    let kind = text(schema, "type");
    need(kind.is_empty() || TYPES.iter().any(|(known, _)| *known == kind), || {
        format!("{place}.type: Invalid value \"{kind}\"")
    })?;
    let formats = TYPES.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, all)| all);
    let format = text(schema, "format");
    need(format.is_empty() || formats.contains(&format), || {
        format!("{place}.format: only {formats:?} are supported for {kind}")
    })?;
    need(list(schema, "enum").iter().all(Value::is_string), || {
        format!("{place}.enum: only texts are allowed")
    })?;
    need(text(schema, "type") != "array" || schema.get("items").is_some(), || {
        format!("{place}.items: missing field")
    })?;
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        properties.is_some_and(|properties| properties.contains_key(name))
    };
    need(list(schema, "required").iter().all(known), || {
        format!("{place}.required: property is not defined")
    })?;
    let inner = properties.into_iter().flat_map(|properties| properties.values());
    let inner = inner.chain(schema.get("items")).chain(list(schema, "anyOf"));
    inner.into_iter().try_for_each(|inner| self::schema(inner, place))
}
