//! Whatever a line is, reader and judge come to an end, and what they make of it stays within the limits of the spec.

use crate::{Entry, pieces::GRAMMAR, verdict::judged};
use lembas_core::shell::{self, Piece};
use lembas_core::spec::{self, ShellLimits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::sync::LazyLock;

static LIMITS: LazyLock<ShellLimits> = LazyLock::new(|| spec::packed().unwrap().limits.shell);

static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rows = include_str!("lines.txt").lines();
    rows.filter(|row| !row.starts_with("# ")).map(|row| Entry::of(row).line).collect()
});

/// Pieces beside those of the grammar: most run something.
const RUNNERS: [&str; 11] = [
    " ",
    " }",
    "x+=",
    "eval ",
    "bash -c ",
    "env A=B ",
    "sudo ",
    "xargs ",
    "timeout 5 ",
    "find . -exec ",
    "trap ",
];

fn all() -> Vec<&'static str> {
    [GRAMMAR.as_slice(), &RUNNERS].concat()
}

/// Reads and judges a line; what comes of it lies in the line, and is no larger than the limits say.
fn check(line: &str) {
    let limits = &*LIMITS;
    let read = shell::read(line, limits);
    if read.unseen.is_empty() {
        let inside = |command: &shell::Command| {
            command.span.start <= command.span.end && command.span.end <= line.len()
        };
        assert!(read.commands.iter().all(inside), "{read:?} of {line:?}");
    }
    let pieces = |word: &shell::Word| word.pieces.iter().map(length).sum::<usize>();
    let made: usize = read.commands.iter().flat_map(|command| &command.words).map(pieces).sum();
    let most = 2 * (limits.max_expanded + limits.max_bytes);
    assert!(made <= most, "{made} bytes of words in {line:?}");
    judged(line, &json!({ "bash": { "*": "allow", "a *": "deny", "git push *": "ask" } }));
}

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text)
        | Piece::Glob(text)
        | Piece::Tilde(text)
        | Piece::Variable(text)
        | Piece::Hidden(_, text) => text.len(),
        Piece::Doubt => 0,
    }
}

/// Puts `token` into a text at a share of its length, or takes as many signs away there.
fn mutated(line: &str, share: usize, token: Option<&str>) -> String {
    let signs: Vec<char> = line.chars().collect();
    let at = signs.len() * share / 100;
    let (front, back) = signs.split_at(at);
    let skipped = if token.is_some() { 0 } else { 1 + share % 3 };
    let middle = token.unwrap_or_default().chars();
    front.iter().copied().chain(middle).chain(back.iter().skip(skipped).copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn bytes(bytes in vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn signs(line in "[ab=1~*?$(){}\\[\\]<>|&;#!'\"`\\\\ \\n\\-,.:@%/^-]{0,120}") {
        check(&line);
    }

    #[test]
    fn tokens(tokens in vec(select(all()), 0..60)) {
        check(&tokens.concat());
    }

    #[test]
    fn mutations(
        line in select(LINES.as_slice()),
        more in select(LINES.as_slice()),
        changes in vec((0usize..100, proptest::option::of(select(all()))), 1..5),
    ) {
        let line = changes.into_iter().fold(line, |line, (share, token)| mutated(&line, share, token));
        check(&line);
        check(&format!("{line}{more}"));
    }
}
