//! The ordered ways an edit may find its place, in `tools/edit.json`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One way an edit may find its place. Tried in order; the first that finds anything decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    /// Its name, reported with every edit.
    pub id: String,
    /// What it overlooks, in one sentence.
    pub about: String,
    /// What is overlooked on both sides.
    pub fold: Vec<Fold>,
    /// Whether it may be used to replace every place.
    pub all: bool,
    /// Whether the hunks of a patch may be found by it.
    pub patch: bool,
    /// How many characters that are no blanks the searched text needs at least.
    pub least: usize,
    /// What the model is told when it was used; empty for nothing.
    #[serde(default)]
    pub note: String,
    /// For `alike`: a plain character, and the characters taken for it.
    #[serde(default)]
    pub alike: BTreeMap<char, String>,
    /// For `numbers`: what may stand between a line number and the line.
    #[serde(default)]
    pub marks: Vec<String>,
    /// For `escapes`: the written form, and the character it stands for.
    #[serde(default)]
    pub escapes: BTreeMap<String, String>,
}

/// A difference that a matcher overlooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// CRLF and LF, and a missing final line ending.
    Endings,
    /// Blanks at the end of a line.
    Trailing,
    /// Characters that look alike.
    Alike,
    /// Line numbers copied from a listing.
    Numbers,
    /// Characters written as escapes.
    Escapes,
    /// Indentation, as long as one rule leads from the given to the found one.
    Indentation,
    /// How many blanks stand between the words of a line.
    Blanks,
    /// Lines with nothing but blanks.
    BlankLines,
}
