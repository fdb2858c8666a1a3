//! Properties that hold for every edit, and what the model is told. Single answers are conformance cases.

use super::*;
use crate::spec::{Spec, packed};
use proptest::prelude::*;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| packed().unwrap());

fn try_edit(file: &[u8], old: &str, new: &str, all: bool) -> Result<Edited, Refused> {
    let tool = SPEC.tool("edit").unwrap();
    edit(file, Change { old, new, all }, &tool.matchers, &SPEC.limits.tools.edit)
}

/// Asserts that outside the reported lines both contents are the same, line by line and in order.
fn only_reported_lines_changed(before: &[u8], edited: &Edited) {
    let [old, new] = [before, &edited.bytes]
        .map(|bytes| bytes.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>());
    let reported =
        |line: usize| edited.lines.iter().any(|(first, last)| (*first..=*last).contains(&line));
    let kept: Vec<_> =
        (1..).zip(&new).filter(|(line, _)| !reported(*line)).map(|(_, text)| *text).collect();
    let mut rest = old.iter();
    assert!(
        kept.iter().all(|line| rest.any(|other| other == line)),
        "a line outside {:?} changed",
        edited.lines
    );
    assert!(
        edited
            .lines
            .iter()
            .all(|(first, last)| *first >= 1 && *last <= new.len() && *last + 1 >= *first)
    );
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("}".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        Just("\tx".to_owned()),
        "[ \t]{0,4}[abc“\"'’\\-—\\\\é技]{1,6}[ \t]{0,2}",
        Just("12\tfoo".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        (line(), prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")]),
        0..12,
    )
    .prop_map(|lines| {
        lines.into_iter().flat_map(|(line, ending)| [line, ending.to_owned()]).collect()
    })
}

/// A file, a piece of it told slightly differently, and a new text made from that piece.
fn asked() -> impl Strategy<Value = (String, String, String, bool)> {
    (text(), 0usize..12, 1usize..5, 0usize..7, text(), any::<bool>()).prop_map(
        |(file, from, count, how, new, all)| {
            let piece: String = file.split_inclusive('\n').skip(from).take(count).collect();
            let old = match how {
                0 => piece.replace("\r\n", "\n"),
                1 => piece.lines().map(|line| format!("  {line}\n")).collect(),
                2 => piece.lines().map(|line| format!("{}\n", line.trim())).collect(),
                6 => piece.chars().take(2).collect(),
                3 => piece.replace(['“', '’'], "\"").replace('—', "-"),
                4 => piece.replace('"', "\\\""),
                _ => piece,
            };
            let new = if new.len() % 2 == 0 { format!("{old}{new}") } else { new };
            (file, old, new, all)
        },
    )
}

proptest! {
    #[test]
    fn a_success_changed_exactly_what_it_reports((file, old, new, all) in asked()) {
        if let Ok(edited) = try_edit(file.as_bytes(), &old, &new, all) {
            prop_assert_ne!(&edited.bytes[..], file.as_bytes());
            prop_assert!(edited.count >= 1 && !edited.lines.is_empty());
            only_reported_lines_changed(file.as_bytes(), &edited);
            prop_assert!(std::str::from_utf8(&edited.bytes).is_ok());
        }
    }

    #[test]
    fn every_exact_place_is_replaced_as_plain_text((file, old, new, _) in asked()) {
        let [file, old, new] = [file, old, new].map(|text| text.replace('\r', ""));
        let expected = file.replace(&old, &new);
        if !old.trim().is_empty() && expected != file {
            let edited = try_edit(file.as_bytes(), &old, &new, true).unwrap();
            prop_assert_eq!(String::from_utf8(edited.bytes).unwrap(), expected);
            prop_assert_eq!(edited.count, file.matches(&old).count());
        }
    }

    #[test]
    fn any_bytes_are_answered(file in prop::collection::vec(any::<u8>(), 0..300), old in ".{0,8}", new in ".{0,8}", all in any::<bool>()) {
        if let Ok(edited) = try_edit(&file, &old, &new, all) {
            only_reported_lines_changed(&file, &edited);
        }
    }

    #[test]
    fn a_refusal_can_be_told((file, old, new, all) in asked()) {
        let tool = SPEC.tool("edit").unwrap();
        let told = match try_edit(file.as_bytes(), &old, &new, all) {
            Ok(edited) => changed(tool, "a.txt", &edited),
            Err(refusal) => refused(tool, "a.txt", &refusal),
        };
        prop_assert!(told.contains("a.txt") || told.contains("blank"), "{}", told);
    }
}

#[test]
fn large_periodic_text_is_answered_without_squares() {
    let file = "ab\n".repeat(60_000);
    for old in ["ab\n".repeat(20_000) + "c", "  ab\n".repeat(20_000), "a b\n".repeat(20_000)] {
        assert!(try_edit(file.as_bytes(), &old, "x", false).is_err());
    }
    assert_eq!(try_edit(file.as_bytes(), "ab", "ba", true).unwrap().count, 60_000);
}

#[test]
fn what_the_model_is_told() {
    let tool = SPEC.tool("edit").unwrap();
    let told = |file: &str, old: &str, new: &str| match try_edit(file.as_bytes(), old, new, false) {
        Ok(edited) => changed(tool, "a.rs", &edited),
        Err(refusal) => refused(tool, "a.rs", &refusal),
    };
    assert_eq!(told("a\nb\nc\n", "b\n", "x\ny\n"), "Edited a.rs, lines 2-3.");
    assert_eq!(told("a\nb\nc\n", "b\n", ""), "Edited a.rs, lines taken out before 2.");
    assert_eq!(
        told("fn a() {\n\tlet total = 1;\n}\n", "fn a() {\n    let total = 2;\n}", "x"),
        "Nothing changed: `old` is not in a.rs. The nearest place begins at line 1; the text differs:\n\
         file, line 2: \"\\tlet total = 1;\"\nold: \"    let total = 2;\"\nCompared there (`-` is `old`, `+` is the file):\n\
         \x201\tfn a() {\n-\t    let total = 2;\n+2\t\tlet total = 1;\n\x203\t}\n"
    );
    assert_eq!(
        told("x = 0\ny\nx = 0\n", "x = 0", "x = 9"),
        "Nothing changed: `old` fits in 2 places in a.rs, at lines 1, 3. Add lines before or after it so that it fits one, or set `all`."
    );
    assert!(
        told("    fn x() {\n    }\n", "fn x() {\n}", "fn x() {\n    y();\n}")
            .ends_with("indented to fit.")
    );
}

#[test]
fn an_edit_that_would_fill_the_memory_is_refused() {
    let (file, new) = ("a".repeat(1_000_000), "b".repeat(1_000));
    let refused = try_edit(file.as_bytes(), "a", &new, true).unwrap_err();
    assert_eq!(refused.reason, Reason::TooLarge);
}
