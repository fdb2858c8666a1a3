//! The arguments of every tool as a struct, and the trait with one handler per tool.

use super::text::{camel, doc, line, snake};
use crate::spec::Tool;
use serde_json::Value;

/// Emits the argument types and the trait; a tool of the spec without a handler does not build.
pub(super) fn emit(out: &mut String, tools: &[Tool]) {
    for tool in tools {
        let name = format!("{}Args", camel(&tool.id));
        object(out, &name, &format!("Arguments of `{}`.", tool.id), &tool.parameters);
    }
    doc(out, "", "One handler per tool of `harness/tools/`.");
    line(out, "pub trait Tools: Sync {");
    doc(out, "    ", "What a handler gives back.");
    line(out, "    type Output: Send;");
    doc(
        out,
        "    ",
        "What a handler is told besides the arguments: which call it is, how it is stopped.",
    );
    line(out, "    type Context: Sync;");
    for tool in tools {
        doc(out, "    ", &format!("Runs a call of `harness/tools/{}.json`.", tool.id));
        line(
            out,
            &format!(
                "    fn {}(&self, context: &Self::Context, args: {}Args) -> impl Future<Output = Self::Output> + Send;",
                snake(&tool.id),
                camel(&tool.id)
            ),
        );
    }
    doc(
        out,
        "    ",
        "Runs a call with arguments that the tool's schema has accepted.\n\n# Errors\nArguments that do not fit the struct made from the schema.",
    );
    line(
        out,
        "    fn run(&self, tool: Tool, context: &Self::Context, args: serde_json::Value) -> impl Future<Output = Result<Self::Output, serde_json::Error>> + Send {",
    );
    line(out, "        async move {\n            match tool {");
    for tool in tools {
        line(
            out,
            &format!(
                "                Tool::{} => Ok(self.{}(context, serde_json::from_value(args)?).await),",
                camel(&tool.id),
                snake(&tool.id)
            ),
        );
    }
    line(out, "            }\n        }\n    }\n}");
}

fn object(out: &mut String, name: &str, about: &str, schema: &Value) {
    let mut nested = String::new();
    doc(out, "", about);
    line(out, "#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]");
    line(out, &format!("pub struct {name} {{"));
    let required = schema["required"].as_array();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        doc(out, "    ", property["description"].as_str().unwrap_or("See the tool's file."));
        let kind = rust_type(
            &format!("{}{}", name.trim_end_matches("Args"), camel(key)),
            property,
            &mut nested,
        );
        let needed = required.is_some_and(|all| all.iter().any(|each| each == key));
        if needed {
            line(out, &format!("    pub {}: {kind},", snake(key)));
        } else {
            line(out, "    #[serde(default, skip_serializing_if = \"Option::is_none\")]");
            line(out, &format!("    pub {}: Option<{kind}>,", snake(key)));
        }
    }
    line(out, "}");
    out.push_str(&nested);
}

fn rust_type(name: &str, schema: &Value, nested: &mut String) -> String {
    if let Some(options) = schema["enum"].as_array() {
        enumeration(nested, name, schema, options);
        return name.into();
    }
    match schema["type"].as_str() {
        Some("string") => "String".into(),
        Some("integer") => "i64".into(),
        Some("number") => "f64".into(),
        Some("boolean") => "bool".into(),
        Some("array") => format!("Vec<{}>", rust_type(name, &schema["items"], nested)),
        Some("object") => {
            object(
                nested,
                name,
                schema["description"].as_str().unwrap_or("A part of the arguments."),
                schema,
            );
            name.into()
        }
        _ => "serde_json::Value".into(),
    }
}

fn enumeration(out: &mut String, name: &str, schema: &Value, options: &[Value]) {
    doc(out, "", schema["description"].as_str().unwrap_or("One of a fixed list."));
    line(out, "#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]");
    line(out, &format!("pub enum {name} {{"));
    for option in options.iter().filter_map(Value::as_str) {
        doc(out, "    ", &format!("`{option}`"));
        line(out, &format!("    #[serde(rename = {option:?})]\n    {},", camel(option)));
    }
    line(out, "}");
}
