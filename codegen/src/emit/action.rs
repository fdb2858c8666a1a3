//! The actions a quirk can take, from the schema's list: a new kind does not build until code handles it.

use super::text::{camel, doc, line, snake};
use serde_json::Value;

/// Emits `enum Action` from the properties of a rule's `do` in `rules.schema.json`.
pub(super) fn emit(out: &mut String, rules: &Value) {
    let actions = &rules["properties"]["rules"]["items"]["properties"]["do"]["properties"];
    let mut structs = String::new();
    doc(out, "", "What a quirk makes the client do.");
    line(out, "#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]");
    line(out, "#[serde(rename_all = \"snake_case\")]\npub enum Action {");
    for (name, schema) in actions.as_object().into_iter().flatten() {
        doc(out, "    ", schema["description"].as_str().unwrap_or("See the schema."));
        let kind = rust_type(&camel(name), schema, &mut structs);
        line(out, &format!("    {}({kind}),", camel(name)));
    }
    line(out, "}");
    out.push_str(&structs);
    let fixes = actions["fail"]["properties"]["fix"]["enum"].as_array();
    let fixes: Vec<&str> = fixes.into_iter().flatten().filter_map(Value::as_str).collect();
    super::names::emit(out, "Fix", "A repair of a request that a server refused.", &fixes);
}

fn rust_type(name: &str, schema: &Value, structs: &mut String) -> String {
    match schema["type"].as_str() {
        Some("integer") => "i64".into(),
        Some("number") => "f64".into(),
        Some("boolean") => "bool".into(),
        Some("array") => format!("Vec<{}>", rust_type(name, &schema["items"], structs)),
        Some("object") if schema["properties"].is_object() => {
            object(name, schema, structs);
            name.into()
        }
        Some("object") => "serde_json::Map<String, serde_json::Value>".into(),
        Some("string") => "String".into(),
        _ => "serde_json::Value".into(),
    }
}

fn object(name: &str, schema: &Value, structs: &mut String) {
    let mut out = String::new();
    doc(&mut out, "", schema["description"].as_str().unwrap_or("See the schema."));
    line(
        &mut out,
        "#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]",
    );
    line(&mut out, &format!("pub struct {name} {{"));
    let required = schema["required"].as_array();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        doc(&mut out, "    ", property["description"].as_str().unwrap_or("See the schema."));
        let kind = rust_type(&format!("{name}{}", camel(key)), property, structs);
        let needed = required.is_some_and(|all| all.iter().any(|each| each == key));
        let kind = if needed {
            kind
        } else {
            line(&mut out, "    #[serde(default, skip_serializing_if = \"Option::is_none\")]");
            format!("Option<{kind}>")
        };
        line(&mut out, &format!("    pub {}: {kind},", snake(key)));
    }
    line(&mut out, "}");
    structs.push_str(&out);
}
