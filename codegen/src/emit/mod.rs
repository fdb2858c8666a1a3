//! Writes the Rust that a spec implies: a closed type for every name the interpreter's code must know.
//! What is emitted is never committed; a name that code must handle and does not stops the build.

pub mod acp;
mod action;
mod args;
mod brief;
mod facts;
mod names;
mod pack;
mod says;
pub mod text;

use crate::{files::Files, whole::Whole};
use std::io;

/// Returns the Rust source for a spec: enums of tools, modes and areas, argument and fact structs, the enum of
/// a quirk's actions, and one trait per closed set that code must handle.
pub fn rust(whole: &Whole) -> String {
    let Whole { spec, cases, rules, .. } = whole;
    let mut out =
        String::from("// Written by build.rs from harness/. Change the spec, not this.\n");
    let tools: Vec<&str> = spec.tools.iter().map(|tool| tool.id.as_str()).collect();
    let modes: Vec<&str> = spec.modes.iter().map(|mode| mode.id.as_str()).collect();
    let areas: Vec<&str> = cases.iter().map(|file| file.area.as_str()).collect();
    names::emit(&mut out, "Tool", "A tool of the spec.", &tools);
    names::emit(&mut out, "Mode", "A permission mode, strictest first.", &modes);
    let texts = spec.prompts.texts.keys().map(|path| path.trim_end_matches(".md"));
    names::emit(&mut out, "PromptText", "A text of the prompts.", &texts.collect::<Vec<_>>());
    names::emit(&mut out, "Area", "A conformance area.", &areas);
    let dialects: Vec<&str> = spec.dialects.iter().map(|dialect| dialect.id.as_str()).collect();
    names::emit(&mut out, "DialectName", "A dialect of the spec.", &dialects);
    names::answers(&mut out, &areas);
    action::emit(&mut out, rules);
    facts::emit(&mut out, &spec.records);
    args::emit(&mut out, &spec.tools);
    says::emit(&mut out, &spec.tools);
    out
}

/// Returns the Rust source of the packed spec: every file's name and text, and what a run reads of some in their place.
///
/// # Errors
/// A text that cannot be deflated; for one in memory there is none.
pub fn pack(whole: &Whole, files: &Files, schemas: &Files) -> io::Result<String> {
    let mut out = String::new();
    pack::emit(&mut out, files, schemas)?;
    brief::emit(&mut out, files, &whole.spec.wrappers)?;
    Ok(out)
}
