//! How the indentation the model wrote leads to the file's, learnt from the lines it gave and applied to the new ones.
//! It is a rule that holds for every given line, or nothing.

use crate::text;
use std::collections::BTreeMap;

/// A rule from the given indentation to the file's.
#[derive(Debug, Clone)]
pub(crate) struct Reindent {
    /// What the given lines showed.
    known: BTreeMap<String, String>,
    shift: Shift,
    /// Columns of one level where blanks have to stand for tabs or the other way round.
    unit: usize,
    least_given: usize,
    least_found: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shift {
    /// The file has this much more at the front of each line.
    More(String),
    /// The file has this much less.
    Less(String),
    /// Both indent by a character of their own: `(given - at.0) * up / down + at.1` of the file's.
    Scale { from: char, to: char, at: (usize, usize), up: usize, down: usize },
}

/// Returns the rule that leads from the lines of `given` to those of `found`, when there is one.
pub(crate) fn learn(given: &str, found: &[u8]) -> Option<Reindent> {
    let mut known = BTreeMap::new();
    // Empty lines have no depth, and need not be the same.
    let solid = |line: &(&[u8], &[u8])| !line.0.trim_ascii().is_empty();
    let given = text::lines(given.as_bytes()).filter(solid);
    for ((given, _), (found, _)) in given.zip(text::lines(found).filter(solid)) {
        let ((given, _), (found, _)) = (text::indentation(given), text::indentation(found));
        let (given, found) = (std::str::from_utf8(given).ok()?, std::str::from_utf8(found).ok()?);
        if known.insert(given.to_owned(), found.to_owned()).is_some_and(|before| before != found) {
            return None;
        }
    }
    let shift = more(&known).or_else(|| less(&known)).or_else(|| scale(&known))?;
    let unit = known
        .iter()
        .flat_map(|(given, found)| [given, found])
        .filter_map(|indent| level(indent))
        .min();
    let least_given = known.keys().map(String::len).min()?;
    let least_found = known.values().map(String::len).min()?;
    Some(Reindent { known, shift, unit: unit.unwrap_or(4), least_given, least_found })
}

fn more(known: &BTreeMap<String, String>) -> Option<Shift> {
    let (given, found) = known.first_key_value()?;
    let more = found.strip_suffix(given.as_str())?;
    let holds = known.iter().all(|(given, found)| found.strip_prefix(more) == Some(given));
    holds.then(|| Shift::More(more.to_owned()))
}

fn less(known: &BTreeMap<String, String>) -> Option<Shift> {
    let (given, found) = known.first_key_value()?;
    let less = given.strip_suffix(found.as_str())?;
    let holds = known.iter().all(|(given, found)| given.strip_prefix(less) == Some(found));
    holds.then(|| Shift::Less(less.to_owned()))
}

fn scale(known: &BTreeMap<String, String>) -> Option<Shift> {
    let from = only(known.keys())?.unwrap_or(' ');
    let to = only(known.values())?.unwrap_or(' ');
    let mut counts: Vec<_> =
        known.iter().map(|(given, found)| (given.len(), found.len())).collect();
    counts.sort_unstable();
    let (first, last) = (*counts.first()?, *counts.last()?);
    let (at, up, down) = if first.0 == last.0 {
        ((0, 0), first.1, first.0)
    } else {
        (first, last.1.checked_sub(first.1)?, last.0 - first.0)
    };
    let whole = up != 0 && down != 0 && (up % down == 0 || down % up == 0);
    let holds = counts
        .iter()
        .all(|(given, found)| (given - at.0) * up == (found - at.1.min(*found)) * down);
    (whole && holds).then_some(Shift::Scale { from, to, at, up, down })
}

/// Returns the one character all of `indents` are made of; `None` inside when they are all empty.
fn only<'a>(indents: impl Iterator<Item = &'a String>) -> Option<Option<char>> {
    let mut characters = indents.flat_map(|indent| indent.chars());
    let first = characters.next();
    characters.all(|other| Some(other) == first).then_some(first)
}

/// Returns the columns of an indentation of blanks only.
fn level(indent: &str) -> Option<usize> {
    (!indent.is_empty() && indent.bytes().all(|byte| byte == b' ')).then_some(indent.len())
}

impl Reindent {
    /// Returns whether the new text seems to stand at the file's indentation already, while the old one did not:
    /// then nobody can tell what was meant.
    pub(crate) fn doubts(&self, new: &str) -> bool {
        let indents = text::lines(new.as_bytes()).map(|(content, _)| text::indentation(content));
        let least =
            indents.filter(|(_, rest)| !rest.is_empty()).map(|(indent, _)| indent.len()).min();
        self.least_given != self.least_found && least == Some(self.least_found)
    }

    /// Returns the file's indentation for a line that the model indented by `indent`; nothing when the rule has no answer.
    pub(crate) fn apply(&self, indent: &str) -> Option<String> {
        if let Some(found) = self.known.get(indent) {
            return Some(found.clone());
        }
        match &self.shift {
            Shift::More(more) => Some(format!("{more}{}", self.in_style_of(more, indent))),
            Shift::Less(less) => indent.strip_prefix(less.as_str()).map(str::to_owned),
            Shift::Scale { from, to, at, up, down } => {
                let steps = indent.len().checked_sub(at.0)? * up;
                let count = (steps % down == 0).then_some(steps / down)? + at.1;
                indent.chars().all(|one| one == *from).then(|| to.to_string().repeat(count))
            }
        }
    }

    /// Returns `indent` in the character that `more` is made of.
    fn in_style_of(&self, more: &str, indent: &str) -> String {
        let tabs = more.contains('\t');
        match (tabs, indent.len()) {
            (true, blanks) if level(indent).is_some() && blanks % self.unit == 0 => {
                "\t".repeat(blanks / self.unit)
            }
            (false, _) if !more.is_empty() => indent.replace('\t', &" ".repeat(self.unit)),
            _ => indent.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, found: &str, new: &[(&str, Option<&str>)]) {
        let rule = learn(given, found.as_bytes()).unwrap();
        for (indent, expected) in new {
            assert_eq!(rule.apply(indent).as_deref(), *expected, "{rule:?} on {indent:?}");
        }
    }

    #[test]
    fn one_rule_for_all_lines() {
        check("a\n  b", "    a\n      b", &[("", Some("    ")), ("    ", Some("        "))]);
        check("    a\n      b", "a\n  b", &[("    ", Some("")), ("  ", None)]);
        check("a\n    b", "a\n\tb", &[("        ", Some("\t\t")), ("   ", None)]);
        check("\ta\n\t\tb", "    a\n        b", &[("\t\t\t", Some("            "))]);
        check("a\n  b", "a\n    b", &[("    ", Some("        "))]);
        check("a", "\ta", &[("    ", Some("\t\t"))]);
        check("    a", "\ta", &[("        ", Some("\t\t"))]);
    }

    #[test]
    fn no_rule_no_match() {
        assert!(learn("a\n  b", b"  a\n  b").is_none());
        assert!(learn("a\nb", b"a\n    b").is_none());
        assert!(learn("\ta\n  b", b"a\n    b").is_none());
    }
}
