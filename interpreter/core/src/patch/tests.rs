//! Properties that hold for every patch. Single answers are conformance cases.

use super::*;
use crate::spec::{Spec, packed};
use proptest::prelude::*;
use similar::TextDiff;
use std::path::PathBuf;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| packed().unwrap());

/// One file, and nothing else.
struct One<'a>(&'a str);

impl Tree for One<'_> {
    fn key(&self, path: &str) -> PathBuf {
        path.into()
    }

    fn entry(&self, path: &str) -> Entry {
        if path == "x" { Entry::File(self.0.as_bytes().to_vec()) } else { Entry::Missing }
    }
}

fn planned(file: &str, patch: &str) -> Result<Plan, Refused> {
    let matchers = &SPEC.tool("edit").unwrap().matchers;
    plan(&read(patch)?, &One(file), matchers, &SPEC.limits.tools.edit)
}

/// Asserts that the lines outside the reported ones are those of the file before, in runs that were not broken up.
fn only_reported_lines_changed(before: &str, after: &str, lines: &[(usize, usize)]) {
    let [old, new] = [before, after].map(|text| {
        // A byte order mark stays at the file's start, whatever line that is before and after.
        let bare = text.split_inclusive('\n').map(|line| line.trim_end_matches('\n'));
        bare.map(|line| line.trim_start_matches('\u{feff}')).collect::<Vec<_>>()
    });
    let (mut from, mut at) = (0, 0);
    for (index, (first, last)) in lines.iter().enumerate() {
        let run = &new[at..first - 1];
        let found =
            (from..=old.len() - run.len()).find(|start| &old[*start..start + run.len()] == run);
        assert!(index > 0 || old.starts_with(run), "the lines before {first} changed");
        from = found.unwrap_or_else(|| panic!("a line before {first} changed")) + run.len();
        at = *last;
    }
    assert!(old.ends_with(&new[at..]), "a line after {at} changed");
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("}".to_owned()),
        2 => Just(String::new()),
        1 => Just("-- a/x".to_owned()),
        1 => Just("++ b/x".to_owned()),
        1 => Just("\u{feff}x".to_owned()),
        2 => "[ \t]{0,2}[-+ab“技\\\\@]{1,3}[ \t]{0,2}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let ended = (line(), prop_oneof![4 => Just("\n"), 1 => Just("\r\n")]);
    (prop::collection::vec(ended, 0..24), any::<bool>()).prop_map(|(lines, open)| {
        let mut text: String = lines.into_iter().map(|(line, ending)| line + ending).collect();
        if open {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// A text, and what somebody made of it.
fn changed() -> impl Strategy<Value = (String, String)> {
    (text(), text(), 0usize..20, 0usize..6, any::<bool>()).prop_map(
        |(old, other, from, count, whole)| {
            let lines: Vec<_> = old.split_inclusive('\n').collect();
            let from = from.min(lines.len());
            let to = (from + count).min(lines.len());
            let few: String = other.split_inclusive('\n').take(3).collect();
            let new = [lines[..from].concat(), few, lines[to..].concat()].concat();
            (old, if whole { other } else { new })
        },
    )
}

fn diff(old: &str, new: &str, context: usize) -> String {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    diff.unified_diff().context_radius(context).header("a/x", "b/x").to_string()
}

proptest! {
    #[test]
    fn a_diff_of_two_texts_makes_the_second((old, new) in changed(), context in 3usize..6) {
        if old != new {
            let patch = diff(&old, &new, context);
            let plan = planned(&old, &patch).unwrap_or_else(|refused| panic!("{refused:?}\n{patch}"));
            let after = plan.writes[0].after.as_deref().unwrap();
            prop_assert_eq!(std::str::from_utf8(after).unwrap(), new.as_str(), "{}", patch);
            let lines: Vec<_> = plan.landed[0].hunks.iter().flat_map(|hunk| hunk.lines.clone()).collect();
            only_reported_lines_changed(&old, &new, &lines);
        }
    }

    #[test]
    fn a_success_on_another_text_changed_only_what_it_reports((old, new) in changed(), (other, _) in changed()) {
        // A last line without an end gets one from the lines behind it, which is no change of its text.
        let ended = |text: String| if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" };
        let other = ended(other);
        let mixed = ended(format!("{other}{old}"));
        for file in [&other, &mixed] {
            if let Ok(plan) = planned(file, &diff(&old, &new, 1)) {
                let after = plan.writes[0].after.as_deref().unwrap();
                let mut lines: Vec<_> = plan.landed[0].hunks.iter().flat_map(|hunk| hunk.lines.clone()).collect();
                lines.sort_unstable();
                only_reported_lines_changed(file, std::str::from_utf8(after).unwrap(), &lines);
            }
        }
    }

    #[test]
    fn any_text_is_answered(patch in "(\\*\\*\\* (Begin Patch|End Patch|Add File: x|Update File: x|Delete File: x|Move to: y|End of File)\n|@@ ?[-+0-9, ab]{0,9}\n|[-+ ab]{0,4}\n|--- a/x\n|\\+\\+\\+ b/x\n|diff --git [ab/\" ]{0,9}\n|rename from x\n|rename to y\n|\\\\ No\n){0,12}", file in text()) {
        let told = match planned(&file, &patch) {
            Ok(plan) => applied(&SPEC, &plan),
            Err(why) => refused(&SPEC, &why),
        };
        prop_assert!(!told.contains("{{") && told.contains(' '), "{}", told);
    }
}

#[test]
fn many_like_lines_are_answered_without_squares() {
    let file = "ab\n".repeat(60_000);
    let hunk = format!("{}-ab\n+x\n", " ab\n".repeat(2_000));
    let patch = format!("--- a/x\n+++ b/x\n@@ -30000 +30000 @@\n{hunk}");
    assert_eq!(planned(&file, &patch).unwrap().landed[0].hunks[0].lines, [(32_000, 32_000)]);
    let patch = format!("--- a/x\n+++ b/x\n@@ @@\n{hunk}");
    assert_eq!(planned(&file, &patch).unwrap_err().reason, Reason::Ambiguous);
}
