//! Patterns and globs that are compiled when first used, so that start-up pays for none of them.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::Regex;
use std::sync::OnceLock;

/// What means different things in Rust, Python and JavaScript, and so has no place in a shared spec.
const NOT_PORTABLE: [&str; 15] = [
    "\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\b", "\\B", "\\p", "\\P", "(?=", "(?!", "(?<",
    "\\A", "\\z",
];

/// A regular expression of the portable subset.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// What every text it matches starts with.
    head: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Reads a pattern without compiling it.
    ///
    /// # Errors
    /// A construct outside the portable subset, named.
    pub fn new(text: &str) -> Result<Pattern, String> {
        let unescaped = text.replace("\\\\", "");
        match NOT_PORTABLE.iter().find(|part| unescaped.contains(*part)) {
            Some(part) => Err(format!(
                "{part} is not in the portable subset of patterns; write a class such as [a-z0-9_]"
            )),
            None => Ok(Pattern {
                text: text.to_string(),
                head: head(text).to_string(),
                compiled: OnceLock::new(),
            }),
        }
    }

    /// Compiles the pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        // The error draws the pattern over several lines; the last one says what is wrong.
        Regex::new(&self.text).map(drop).map_err(|error| {
            let drawn = error.to_string();
            let last = drawn.lines().last().unwrap_or_default();
            format!("a pattern that does not compile: {}", last.trim_start_matches("error: "))
        })
    }

    /// Returns whether it matches somewhere in `text`. Most texts are told by how they start, before it is compiled.
    pub fn hit(&self, text: &str) -> bool {
        text.starts_with(&self.head) && self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Returns the compiled pattern, `None` for one that [`Pattern::check`] refuses.
    pub fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.text).ok()).as_ref()
    }
}

/// Returns the letters, digits and slashes that every text starts with which the pattern matches.
fn head(pattern: &str) -> &str {
    let Some(rest) = pattern.strip_prefix('^').filter(|rest| !branches(rest)) else { return "" };
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '/';
    let plain = rest.find(|sign| !is_plain(sign)).unwrap_or(rest.len());
    let (head, behind) = rest.split_at(plain);
    // What may stand there any number of times may be missing.
    let may_miss = behind.starts_with(['*', '?', '{']);
    head.get(..head.len().saturating_sub(may_miss.into())).unwrap_or_default()
}

/// Returns whether a pattern has a `|` outside groups and classes, or flags or classes in classes, which are not looked into.
fn branches(pattern: &str) -> bool {
    let (mut depth, mut class, mut signs) = (0_usize, false, pattern.chars().peekable());
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => _ = signs.next(),
            '[' if class => return true,
            ']' => class = false,
            _ if class => {}
            '(' if signs.peek() == Some(&'?') => return true,
            '[' => {
                class = true;
                signs.next_if_eq(&'^');
                signs.next_if_eq(&']');
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// A list of globs: `*` and `?` stay inside a component, `**` crosses them.
#[derive(Debug, Clone)]
pub struct Globs {
    texts: Vec<String>,
    compiled: OnceLock<Option<GlobSet>>,
}

impl Globs {
    /// Keeps the globs without compiling them.
    pub(super) fn new(texts: Vec<String>) -> Globs {
        Globs { texts, compiled: OnceLock::new() }
    }

    /// Compiles the globs, or says which is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        self.compile().map(drop).map_err(|e| format!("a glob that does not compile: {e}"))
    }

    /// Returns whether `path` is matched by one of them.
    pub(super) fn hit(&self, path: &str) -> bool {
        let set = self.compiled.get_or_init(|| self.compile().ok());
        set.as_ref().is_some_and(|set| set.is_match(path))
    }

    fn compile(&self) -> Result<GlobSet, globset::Error> {
        let mut set = GlobSetBuilder::new();
        for text in &self.texts {
            set.add(GlobBuilder::new(text).literal_separator(true).build()?);
        }
        set.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn heads_are_what_every_match_starts_with() {
        for (pattern, expected) in [
            ("^/dev/(sd|hd)[a-z]", "/dev/"),
            ("^ab*c", "a"),
            ("^ab{0,2}", "a"),
            ("^ab+c", "ab"),
            ("^a?", ""),
            ("^a|b", ""),
            ("^a[]|(]b", "a"),
            ("^a[(]|b", ""),
            ("^a[^]]|b", ""),
            (r"^a\||b", ""),
            ("^(a|b)", ""),
            ("^a[b[c](]|d", ""),
            ("^a(?i)b", ""),
            ("ab", ""),
            ("^", ""),
        ] {
            assert_eq!(head(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn a_head_changes_no_answer(pattern in r"\^?[ab/|()\[\]^*?+{}1]{0,9}", text in "[ab/|()]{0,6}") {
            let pattern = Pattern::new(&pattern).unwrap();
            let matches = pattern.regex().is_some_and(|regex| regex.is_match(&text));
            prop_assert_eq!(pattern.hit(&text), matches);
        }
    }
}
