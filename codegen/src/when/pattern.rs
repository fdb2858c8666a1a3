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
            None => Ok(Pattern { text: text.to_string(), compiled: OnceLock::new() }),
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

    /// Returns the compiled pattern, `None` for one that [`Pattern::check`] refuses.
    pub fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.text).ok()).as_ref()
    }
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
