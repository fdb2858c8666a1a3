//! One struct per record of `facts.json`: a new fact does not build until something fills it in.

use super::text::{camel, doc, line, snake};
use crate::{reader::Records, when::Kind};

/// Emits the structs and makes each a record that rules can be asked about.
pub(super) fn emit(out: &mut String, records: &Records) {
    for (about, facts) in records {
        let kind = format!("{}Facts", camel(about));
        doc(out, "", &format!("What rules about a {about} can ask."));
        line(
            out,
            "#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]",
        );
        line(out, &format!("pub struct {kind} {{"));
        for (name, fact) in facts {
            doc(out, "    ", &fact.doc);
            line(out, &format!("    pub {}: {},", snake(name), rust_type(fact.kind)));
        }
        line(out, "}");
        line(out, &format!("impl crate::spec::Record for {kind} {{"));
        line(
            out,
            "    fn fact(&self, name: &str) -> crate::spec::Fact<'_> {\n        match name.as_bytes() {",
        );
        for (name, fact) in facts {
            let field = format!("self.{}", snake(name));
            let value = match fact.kind {
                Kind::String => format!("Text(&{field})"),
                Kind::Strings => format!("Texts(&{field})"),
                Kind::Number => format!("Number({field})"),
                Kind::Bool => format!("Bool({field})"),
                Kind::Json => format!("Json(&{field})"),
            };
            line(out, &format!("            b{name:?} => crate::spec::Fact::{value},"));
        }
        line(out, "            _ => crate::spec::Fact::Missing,\n        }\n    }\n}");
    }
}

fn rust_type(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "compact_str::CompactString",
        Kind::Strings => "Vec<compact_str::CompactString>",
        Kind::Number => "f64",
        Kind::Bool => "bool",
        Kind::Json => "serde_json::Value",
    }
}
