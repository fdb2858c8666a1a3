//! The template language of prompt texts and tool descriptions: the engine's settings, and which variables a text uses where.
//! It renders nothing.

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, filters};
use std::collections::HashSet;

/// Tags a text may use; other implementations of the language must follow them.
const TAGS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
/// Filters a text may use.
const FILTERS: [&str; 3] = ["trim", "join", "length"];
/// Comment delimiters. The usual `{#` would start inside shell text such as `${#name}`.
const COMMENT: (&str, &str) = ("{{!--", "--}}");

/// A mistake in a text, at a byte of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A variable a text uses.
#[derive(Debug, PartialEq, Eq)]
pub struct Use {
    /// Its name.
    pub name: String,
    /// Byte offset of its first use.
    pub offset: usize,
}

/// Returns the engine every text is rendered with: strict about undefined values, without escaping, tests and functions.
///
/// # Errors
/// When the engine refuses the delimiters, which no input can cause.
pub fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder()
        .comment_delimiters(COMMENT.0, COMMENT.1)
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("join", filters::join);
    environment.add_filter("length", filters::length);
    Ok(environment)
}

/// Returns the variables `text` uses, each once, in the order of their first use.
///
/// # Errors
/// The first mistake of syntax, or the first tag, filter or test outside the language.
pub fn uses(text: &str) -> Result<Vec<Use>, Fault> {
    let engine = |error: &minijinja::Error| Fault {
        offset: error.range().map_or(0, |range| range.start),
        message: error.detail().map_or_else(|| error.kind().to_string(), str::to_string),
    };
    let environment = environment().map_err(|error| engine(&error))?;
    let template = environment.template_from_str(text).map_err(|error| engine(&error))?;
    let mut undeclared = template.undeclared_variables(false);
    let mut uses = Vec::new();
    for tag in tags(text) {
        tag.check()?;
        uses.extend(tag.names(&mut undeclared));
    }
    Ok(uses)
}

/// The inside of one `{{ … }}` or `{% … %}`, as words.
struct Tag<'a> {
    block: bool,
    words: Vec<(usize, &'a str)>,
}

impl Tag<'_> {
    fn check(&self) -> Result<(), Fault> {
        let fault = |offset, message| Err(Fault { offset, message });
        if let (true, Some(&(offset, word))) = (self.block, self.words.first())
            && !TAGS.contains(&word)
        {
            return fault(
                offset,
                format!("a text has no {{% {word} %}}; there are: {}", TAGS.join(", ")),
            );
        }
        for (before, &(offset, word)) in self.words.iter().zip(self.words.iter().skip(1)) {
            if before.1 == "|" && !FILTERS.contains(&word) {
                return fault(
                    offset,
                    format!("a text has no filter \"{word}\"; there are: {}", FILTERS.join(", ")),
                );
            }
            if word == "is" {
                return fault(
                    offset,
                    "a text has no tests with \"is\"; compare with == instead".to_string(),
                );
            }
        }
        Ok(())
    }

    /// Takes the names of this tag out of `undeclared`.
    fn names(&self, undeclared: &mut HashSet<String>) -> Vec<Use> {
        let mut found = Vec::new();
        let mut before = "";
        for &(offset, word) in &self.words {
            if before != "." && before != "|" && undeclared.remove(word) {
                found.push(Use { name: word.to_string(), offset });
            }
            before = word;
        }
        found
    }
}

/// Returns the tags of a text that the engine could parse, without comments.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some((start, block)) = next_tag(text, at) {
        let rest = text.get(start..).unwrap_or_default();
        if rest.starts_with(COMMENT.0) {
            at = end_of(rest, COMMENT.1).map_or(text.len(), |length| start + length);
            continue;
        }
        let words = words(text, start + 2, if block { "%}" } else { "}}" });
        at = words.last().map_or(start + 2, |(offset, word)| offset + word.len());
        tags.push(Tag { block, words });
    }
    tags
}

/// Returns the offset of the next tag and whether it is a block.
fn next_tag(text: &str, from: usize) -> Option<(usize, bool)> {
    let rest = text.get(from..)?;
    let (variable, block) = (rest.find("{{"), rest.find("{%"));
    match (variable, block) {
        (Some(v), Some(b)) if b < v => Some((from + b, true)),
        (Some(v), _) => Some((from + v, false)),
        (None, b) => b.map(|b| (from + b, true)),
    }
}

fn end_of(text: &str, end: &str) -> Option<usize> {
    text.find(end).map(|offset| offset + end.len())
}

/// Splits the inside of a tag into names, string literals and single signs, up to `end`.
fn words<'a>(text: &'a str, from: usize, end: &str) -> Vec<(usize, &'a str)> {
    let mut words = Vec::new();
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty() && !rest.starts_with(end))
    {
        let length = word_length(rest);
        let word = rest.get(..length).unwrap_or(rest);
        let trimming = words.is_empty() && (word == "-" || word == "+");
        if !word.trim().is_empty() && !trimming {
            words.push((at, word));
        }
        at += length.max(1);
    }
    words
}

fn word_length(rest: &str) -> usize {
    let first = rest.chars().next().unwrap_or(' ');
    let part = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        '"' | '\'' => rest
            .get(1..)
            .and_then(|inner| inner.find(first))
            .map_or(rest.len(), |length| length + 2),
        c if part(c) => rest.find(|c| !part(c)).unwrap_or(rest.len()),
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&[(&str, usize)], (usize, &str)>) {
        let got = uses(text);
        match expect {
            Ok(names) => {
                let got: Vec<_> =
                    got.expect(text).into_iter().map(|each| (each.name, each.offset)).collect();
                let names: Vec<_> =
                    names.iter().map(|&(name, offset)| (name.to_string(), offset)).collect();
                assert_eq!(got, names, "{text}");
            }
            Err((offset, part)) => {
                let fault = got.expect_err(text);
                assert_eq!(fault.offset, offset, "{text}: {}", fault.message);
                assert!(fault.message.contains(part), "{text}: {}", fault.message);
            }
        }
    }

    #[test]
    fn finds_variables_and_their_places() {
        check("plain", Ok(&[]));
        check("a {{ x }} b {{y}} {{ x }}", Ok(&[("x", 5), ("y", 14)]));
        check(
            "{% for f in files %}{{ f.path }} {{ loop.index }}{% endfor %}",
            Ok(&[("files", 12)]),
        );
        check(
            "{%- if \"x\" in tools and mode == 'y' -%}z{% endif %}",
            Ok(&[("tools", 14), ("mode", 24)]),
        );
        check("{{ a.b | trim }}{{ b }}", Ok(&[("a", 3), ("b", 19)]));
        check("{{!-- {{ x }} --}}{{ y }}", Ok(&[("y", 21)]));
    }

    #[test]
    fn leaves_shell_text_alone() {
        check("echo ${#list} ${x%.txt} $(( ${#a} )) {{ x }}", Ok(&[("x", 40)]));
    }

    #[test]
    fn refuses_what_other_implementations_need_not_have() {
        check("a\n{% set x = 1 %}", Err((5, "no {% set %}")));
        check("{{ x | upper }}", Err((7, "no filter \"upper\"")));
        check("{% if x is defined %}{% endif %}", Err((8, "no tests")));
        check("{{ x", Err((3, "end of")));
        check("{% if x %}", Err((8, "end of")));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "([a-z.|\"' é]|\\{\\{|\\}\\}|\\{%|%\\}|if |!--|--){0,24}") {
            let _ = uses(&text);
        }
    }
}
