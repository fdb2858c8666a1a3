//! Whether a spec is right and this build can run it. It reads no directory: the files are handed in.

use crate::{
    examples,
    spec::{self, Files, Problem, Spec, Whole},
};
use lembas_codegen::template::uses;

/// Returns everything in `files`, checked: against the schemas, by the examples of its rules, and for the sentences
/// that this build's tools use.
///
/// # Errors
/// Everything that is wrong, with its place.
pub fn whole(files: &Files) -> Result<Whole, Vec<Problem>> {
    let whole = Whole::load(files, &spec::schemas())?;
    let mut problems = examples::problems(&whole.spec);
    problems.extend(sentences(&whole.spec).err().unwrap_or_default());
    problems.sort();
    if problems.is_empty() { Ok(whole) } else { Err(problems) }
}

/// Compares the sentences of tools with those this build was made with: a handler uses each, and gives it the values
/// that are filled in there. A tool that only one side has says nothing.
fn sentences(given: &Spec) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for built in &spec::packed()?.tools {
        let Some(tool) = given.tool(&built.id) else { continue };
        let file = format!("tools/{}.json", built.id);
        for (key, own) in &built.says {
            let (pointer, message) = match tool.says.get(key) {
                None => (
                    "/says".into(),
                    Some(format!("the sentence {key:?} is missing; the tool's handler uses it")),
                ),
                Some(other) => (format!("/says/{key}"), foreign(other, own)),
            };
            if let Some(message) = message {
                let (line, column) = given.place(&file, &pointer);
                problems.push(Problem { file: file.clone(), line, column, message });
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Says which variable of a sentence this build's `own` one does not fill in, if there is one.
fn foreign(sentence: &str, own: &str) -> Option<String> {
    let (used, known) = (uses(sentence).ok()?, uses(own).ok()?);
    let foreign = used.iter().find(|each| known.iter().all(|other| other.name != each.name))?;
    let mut names: Vec<&str> = known.iter().map(|each| each.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let list = if names.is_empty() { "none".into() } else { names.join(", ") };
    Some(format!(
        "the sentence uses {{{{{}}}}}, which this build does not fill in there; it fills in: {list}",
        foreign.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the packed spec with a text of a file replaced, and returns what is wrong.
    fn problems(file: &str, from: &str, to: &str) -> Vec<String> {
        let mut files = spec::files();
        let text = files.text(file).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        let text = text.replacen(from, to, 1);
        files.set(file, text);
        let found = whole(&files).map(drop).err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sentences_are_those_that_the_handlers_use() {
        let file = "tools/read.json";
        assert_eq!(problems(file, "\"name\"", "\"name\""), Vec::<String>::new());
        for (from, to, message) in [
            (
                "\"cut_line\":",
                "\"cut_lines\":",
                "the sentence \"cut_line\" is missing; the tool's handler uses it",
            ),
            (
                "… [{{ left }} more",
                "… [{{ lefd }} more",
                "the sentence uses {{lefd}}, which this build does not fill in there; it fills in: left",
            ),
        ] {
            let found = problems(file, from, to);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with("tools/read.json:") && found[0].ends_with(message),
                "{found:?}"
            );
        }
        assert_eq!(
            problems(file, "[{{ left }} more bytes in this line]", "[more]"),
            Vec::<String>::new()
        );
    }
}
