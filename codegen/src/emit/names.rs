//! Closed sets of names: an enum with its names, and the trait that answers each.

use super::text::{camel, doc, line, snake};

/// Emits an enum of `names` with `ALL`, `name` and `named`, ordered as given.
pub(super) fn emit(out: &mut String, kind: &str, about: &str, names: &[&str]) {
    doc(out, "", about);
    line(out, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    line(out, &format!("pub enum {kind} {{"));
    for name in names {
        doc(out, "    ", &format!("`{name}`"));
        line(out, &format!("    {},", camel(name)));
    }
    line(out, "}");
    lookups(out, kind, names);
}

/// Emits `ALL`, `name` and `named` of an enum whose variants are `names`.
pub(super) fn lookups(out: &mut String, kind: &str, names: &[&str]) {
    line(out, &format!("impl {kind} {{"));
    let variants: Vec<String> =
        names.iter().map(|name| format!("{kind}::{}", camel(name))).collect();
    doc(out, "    ", "All of them, in the spec's order.");
    line(out, &format!("    pub const ALL: &'static [{kind}] = &[{}];", variants.join(", ")));
    doc(out, "    ", "Returns its name in the spec.");
    line(out, "    pub fn name(self) -> &'static str {\n        match self {");
    for (name, variant) in names.iter().zip(&variants) {
        line(out, &format!("            {variant} => {name:?},"));
    }
    line(out, "        }\n    }");
    doc(out, "    ", "Returns the one with this name.");
    line(out, &format!("    pub fn named(name: &str) -> Option<{kind}> {{\n        match name {{"));
    for (name, variant) in names.iter().zip(&variants) {
        line(out, &format!("            {name:?} => Some({variant}),"));
    }
    line(out, "            _ => None,\n        }\n    }\n}");
}

/// Emits the trait with one answer per conformance area.
pub(super) fn answers(out: &mut String, areas: &[&str]) {
    doc(
        out,
        "",
        "One answer per conformance area; an area of the spec without one does not build.",
    );
    line(out, "pub trait Answers {");
    for area in areas {
        doc(out, "    ", &format!("Answers a case of `harness/conformance/{area}.json`."));
        let name = snake(area);
        line(
            out,
            &format!(
                "    fn {name}(&self, input: &serde_json::Value) -> Result<serde_json::Value, String>;"
            ),
        );
    }
    doc(out, "    ", "Answers a case of `area`.");
    line(
        out,
        "    fn answer(&self, area: Area, input: &serde_json::Value) -> Result<serde_json::Value, String> {",
    );
    line(out, "        match area {");
    for area in areas {
        line(out, &format!("            Area::{} => self.{}(input),", camel(area), snake(area)));
    }
    line(out, "        }\n    }\n}");
}
