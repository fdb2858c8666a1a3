//! What the model gave, put right before it is searched for: escapes and line numbers taken off.
//! Both texts must have been written the same way; otherwise only the reason is kept.

use crate::spec::{Fold, Matcher};
use std::borrow::Cow;

/// The two texts of an edit as a matcher reads them.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    /// The text to look for.
    pub(crate) old: Cow<'a, str>,
    /// The text to put there; nothing when it was not written the way `old` was.
    pub(crate) new: Option<Cow<'a, str>>,
}

/// Returns the texts as `matcher` reads them, or nothing when it has nothing to take off.
pub(crate) fn read<'a>(old: &'a str, new: &'a str, matcher: &Matcher) -> Option<Given<'a>> {
    if matcher.fold.contains(&Fold::Numbers) {
        return numbers(old, new, &matcher.marks);
    }
    if matcher.fold.contains(&Fold::Escapes) {
        return escapes(old, new, matcher);
    }
    Some(Given { old: Cow::Borrowed(old), new: Some(Cow::Borrowed(new)) })
}

fn numbers<'a>(old: &'a str, new: &'a str, marks: &[String]) -> Option<Given<'a>> {
    let mut expected = None;
    let stripped = strip_numbers(old, marks, |number| {
        let fits = expected.is_none_or(|wanted| wanted == number);
        expected = number.checked_add(1);
        fits
    })?;
    let numbered = new.lines().filter(|line| split_number(line, marks).is_some()).count();
    let new = match numbered {
        0 => Some(Cow::Borrowed(new)),
        _ => strip_numbers(new, marks, |_| true).map(Cow::Owned),
    };
    Some(Given { old: Cow::Owned(stripped), new })
}

/// Takes the numbers off; nothing when a line has none or one that does not fit.
fn strip_numbers(
    text: &str,
    marks: &[String],
    mut fits: impl FnMut(u64) -> bool,
) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let (number, rest) = split_number(content, marks)?;
        if !fits(number) {
            return None;
        }
        plain.push_str(rest);
        plain.push_str(line.get(content.len()..).unwrap_or_default());
    }
    Some(plain)
}

/// Splits a listed line into its number and the line itself.
pub(crate) fn split_number<'a>(line: &'a str, marks: &[String]) -> Option<(u64, &'a str)> {
    let line = line.trim_start_matches([' ', '\t']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    if rest.is_empty() {
        return Some((number, rest));
    }
    marks.iter().find_map(|mark| rest.strip_prefix(mark.as_str())).map(|rest| (number, rest))
}

fn escapes<'a>(old: &'a str, new: &'a str, matcher: &Matcher) -> Option<Given<'a>> {
    let (plain, used) = unescape(old, matcher)?;
    let new = match unescape(new, matcher) {
        None => Some(Cow::Borrowed(new)).filter(|_| !has_raw(new, &used, matcher)),
        Some((text, others)) => {
            let same_way =
                others.iter().all(|(form, _)| used.iter().any(|(known, _)| known == form));
            Some(Cow::Owned(text)).filter(|_| same_way && !has_raw(new, &used, matcher))
        }
    };
    Some(Given { old: Cow::Owned(plain), new })
}

type Escape<'m> = (&'m str, &'m str);

/// Returns the text with its escapes read and which were used; nothing when there are none.
fn unescape<'m>(text: &str, matcher: &'m Matcher) -> Option<(String, Vec<Escape<'m>>)> {
    let mut used: Vec<Escape<'m>> = Vec::new();
    let plain = with_escapes(text, matcher, |(form, stands_for)| {
        if used.iter().all(|(known, _)| *known != form) {
            used.push((form, stands_for));
        }
        stands_for
    });
    (!used.is_empty()).then_some((plain, used))
}

/// Returns the text with something in place of each of its escapes.
fn with_escapes<'m>(
    text: &str,
    matcher: &'m Matcher,
    mut put: impl FnMut(Escape<'m>) -> &'m str,
) -> String {
    let begins = |one: char| matcher.escapes.keys().any(|form| form.starts_with(one));
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(begins) {
        let (before, after) = rest.split_at(at);
        made.push_str(before);
        let found = matcher.escapes.iter().find(|(form, _)| after.starts_with(form.as_str()));
        let (piece, length) = match found {
            Some((form, stands_for)) => (put((form, stands_for)), form.len()),
            None => {
                let one = after.chars().next().map_or(after.len(), char::len_utf8);
                made.push_str(after.get(..one).unwrap_or_default());
                ("", one)
            }
        };
        made.push_str(piece);
        rest = after.get(length..).unwrap_or_default();
    }
    made + rest
}

/// Returns whether a character that `old` only has escaped stands in `text` as it is. A backslash alone says nothing.
fn has_raw(text: &str, used: &[Escape<'_>], matcher: &Matcher) -> bool {
    let raw = with_escapes(text, matcher, |_| "");
    used.iter().any(|(_, stands_for)| *stands_for != "\\" && raw.contains(stands_for))
}
