//! Any text through the splitter of inline reasoning: how it is cut does not matter, and nothing is lost or doubled but
//! the tags and blanks beside them. The first byte chooses how the text is cut and whether the prompt opened a tag.
#![no_main]

use lembas_core::spec;
use lembas_core::think::{Piece, Splitter};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static TAGS: LazyLock<Vec<String>> =
    LazyLock::new(|| spec::packed().unwrap().dialect("openai-chat").unwrap().think_tags.clone());

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let (inside, step) = (first % 2 == 1, 1 + usize::from(first / 2 % 32));
    let whole = split(&[text], inside);
    assert_eq!(joined(&whole), joined(&split(&cut(text, step), inside)), "cut at {step}");
    let parts: String = whole.iter().map(|(_, part)| part.as_str()).collect();
    assert!(is_all_but_tags(text, &parts), "{text:?} became {whole:?}");
});

/// The pieces of a text, each as long as `step` or up to the end of the sign there.
fn cut(text: &str, step: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(step));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The parts in order, and whether each is reasoning.
fn split(pieces: &[&str], inside: bool) -> Vec<(bool, String)> {
    let mut parts = Vec::new();
    let mut keep = |piece: Piece<'_>| match piece {
        Piece::Text(text) => parts.push((false, text.to_string())),
        Piece::Reasoning(text) => parts.push((true, text.to_string())),
    };
    let mut splitter = Splitter::new(&TAGS, inside);
    pieces.iter().for_each(|piece| splitter.push(piece, &mut keep));
    splitter.end(&mut keep);
    parts
}

fn joined(parts: &[(bool, String)]) -> Vec<(bool, String)> {
    let mut out: Vec<(bool, String)> = Vec::new();
    for (reasoning, part) in parts {
        match out.last_mut() {
            Some((kind, before)) if kind == reasoning => before.push_str(part),
            _ => out.push((*reasoning, part.clone())),
        }
    }
    out
}

/// Whether `parts` is `text` with nothing but tags and blanks taken out.
fn is_all_but_tags(text: &str, parts: &str) -> bool {
    let (text, parts) = (solid(text), solid(parts));
    let tags: Vec<String> =
        TAGS.iter().flat_map(|name| [format!("<{name}>"), format!("</{name}>")]).collect();
    // How far into the text one can have come, having left out whole tags only; a way is its place there and in the parts.
    let (mut open, mut seen) = (vec![(0, 0)], BTreeSet::new());
    while let Some((at, kept)) = open.pop() {
        let (rest, left) = (&text[at..], &parts[kept..]);
        if rest.is_empty() && left.is_empty() {
            return true;
        }
        if !seen.insert((at, kept)) {
            continue;
        }
        let begins = |tag: &String| {
            rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
        };
        open.extend(tags.iter().filter(|tag| begins(tag)).map(|tag| (at + tag.len(), kept)));
        if let (Some(sign), Some(same)) = (rest.chars().next(), left.chars().next())
            && sign == same
        {
            open.push((at + sign.len_utf8(), kept + sign.len_utf8()));
        }
    }
    false
}

fn solid(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}
