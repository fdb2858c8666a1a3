//! What a script in a command's arguments says: one tiny reader for each language. A reader names parts and signs that
//! are no data; which of them are dangerous is for rules to say.

mod awk;
mod cursor;
mod jq;
mod sed;
#[cfg(test)]
mod tests;

use super::paths::is_known;
use crate::shell::Word;
use crate::spec::{Language, Script};
use compact_str::CompactString;

/// Stands for a script, or the rest of one, that cannot be read.
const UNREAD: &str = "?";

/// A script breaks off or is not of its language as far as can be told.
struct Unread;

/// Returns what the parts of a script say together, in order; [`UNREAD`] where the line does not show all of it.
pub(super) fn parts(script: &Script, words: &[&Word]) -> Vec<CompactString> {
    if words.is_empty() {
        return Vec::new();
    }
    if !words.iter().all(|word| is_known(word)) {
        return vec![UNREAD.into()];
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("\n");
    let said = match script.language {
        Language::Sed => sed::read(&text, &script.streams),
        Language::Awk => awk::read(&text, &script.streams),
        Language::Jq => jq::read(&text),
    };
    said.into_iter().map(CompactString::from).collect()
}

/// Returns what was found, with a sign behind it that not all was read.
fn ended(mut found: Vec<String>, end: Result<(), Unread>) -> Vec<String> {
    if end.is_err() {
        found.push(UNREAD.to_string());
    }
    found
}
