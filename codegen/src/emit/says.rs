//! The sentences of every tool as an enum, so that a handler cannot name one that is not there.

use super::{
    names,
    text::{camel, doc, line},
};
use crate::spec::Tool;

/// Emits an enum of sentences per tool that has any, and the trait they share.
pub(super) fn emit(out: &mut String, tools: &[Tool]) {
    doc(out, "", "A sentence of a tool's results.");
    line(out, "pub trait Sentence: Copy {");
    doc(out, "    ", "Returns the tool whose file has it.");
    line(out, "    fn tool(self) -> Tool;");
    doc(out, "    ", "Returns its key there.");
    line(out, "    fn key(self) -> &'static str;\n}");
    for tool in tools.iter().filter(|tool| !tool.says.is_empty()) {
        let kind = format!("{}Say", camel(&tool.id));
        let keys: Vec<&str> = tool.says.keys().map(String::as_str).collect();
        let about = format!("A sentence of `harness/tools/{}.json`.", tool.id);
        names::emit(out, &kind, &about, &keys);
        line(out, &format!("impl Sentence for {kind} {{"));
        line(out, &format!("    fn tool(self) -> Tool {{ Tool::{} }}", camel(&tool.id)));
        line(out, "    fn key(self) -> &'static str { self.name() }\n}");
    }
}
