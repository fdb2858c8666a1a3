//! What `${x#…}`, `${x%…}`, `${x/…/…}`, `${x:1:2}`, `${x,,}` and their like make of a text. Knows texts and patterns, no
//! variables.

use super::Piece;

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Sign(char),
    One,
    Any,
}

/// Returns what an operation makes of a text, and how many steps that took or would take; `None` if the operation is not
/// one of those above, or its pattern is more than signs, `*` and `?`. `most` is how many steps may be taken.
pub(super) fn applied(value: &str, operation: &[Piece], most: usize) -> Option<String> {
    let (Piece::Text(first), more) = operation.split_first()? else { return None };
    let signs: Vec<char> = value.chars().collect();
    let rest = |skip: usize| {
        let head = Piece::Text(first.get(skip..).unwrap_or_default().into());
        parts(std::iter::once(&head).chain(more))
    };
    let within = |parts: Vec<Part>| {
        let steps = (signs.len() + 1).saturating_mul(parts.len() + 1);
        (steps <= most).then_some(parts)
    };
    let whole = more.is_empty();
    match first.as_str() {
        "," if whole => Some(first_as(&signs, |sign| sign.to_lowercase().collect())),
        "^" | "@u" if whole => Some(first_as(&signs, |sign| sign.to_uppercase().collect())),
        ",," | "@L" if whole => Some(value.to_lowercase()),
        "^^" | "@U" if whole => Some(value.to_uppercase()),
        _ if first.starts_with("##") => front(&signs, &within(rest(2)?)?, true),
        _ if first.starts_with('#') => front(&signs, &within(rest(1)?)?, false),
        _ if first.starts_with("%%") => back(&signs, within(rest(2)?)?, true),
        _ if first.starts_with('%') => back(&signs, within(rest(1)?)?, false),
        _ if first.starts_with(':') && whole => slice(&signs, first.get(1..)?),
        _ if first.starts_with('/') => replaced(&signs, operation, most),
        _ => None,
    }
}

fn parts<'p>(pieces: impl Iterator<Item = &'p Piece>) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    for piece in pieces {
        match piece {
            // A sign that came from a value may be a pattern or none: who can tell, knows the quotes.
            Piece::Text(text) if text.contains(['*', '?', '[']) => return None,
            Piece::Text(text) => found.extend(text.chars().map(Part::Sign)),
            Piece::Glob(sign) if sign == "*" => found.push(Part::Any),
            Piece::Glob(sign) if sign == "?" => found.push(Part::One),
            _ => return None,
        }
    }
    Some(found)
}

fn first_as(signs: &[char], change: impl Fn(char) -> String) -> String {
    let first = signs.first().map(|sign| change(*sign)).unwrap_or_default();
    first.chars().chain(signs.iter().skip(1).copied()).collect()
}

/// Returns how many signs from the start the pattern can take, shortest first.
fn lengths(signs: impl Iterator<Item = char>, parts: &[Part]) -> Vec<usize> {
    let mut reached = vec![false; parts.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    let stars = |reached: &mut Vec<bool>| {
        for (at, part) in parts.iter().enumerate() {
            if *part == Part::Any && reached.get(at) == Some(&true) {
                reached.iter_mut().skip(at + 1).take(1).for_each(|next| *next = true);
            }
        }
    };
    stars(&mut reached);
    let mut found = Vec::new();
    let all = |reached: &[bool]| reached.last() == Some(&true);
    if all(&reached) {
        found.push(0);
    }
    for (taken, sign) in signs.enumerate() {
        let mut next = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| reached.get(*at) == Some(&true))
        {
            let to = match part {
                Part::Any => Some(at),
                Part::One => Some(at + 1),
                Part::Sign(own) => (*own == sign).then_some(at + 1),
            };
            to.into_iter()
                .for_each(|to| next.iter_mut().skip(to).take(1).for_each(|each| *each = true));
        }
        stars(&mut next);
        if all(&next) {
            found.push(taken + 1);
        }
        reached = next;
    }
    found
}

fn front(signs: &[char], parts: &[Part], longest: bool) -> Option<String> {
    let lengths = lengths(signs.iter().copied(), parts);
    let cut = if longest { lengths.last() } else { lengths.first() }.copied().unwrap_or(0);
    Some(signs.iter().skip(cut).collect())
}

fn back(signs: &[char], mut parts: Vec<Part>, longest: bool) -> Option<String> {
    parts.reverse();
    let lengths = lengths(signs.iter().rev().copied(), &parts);
    let cut = if longest { lengths.last() } else { lengths.first() }.copied().unwrap_or(0);
    Some(signs.iter().take(signs.len() - cut).collect())
}

/// Takes `1`, `1:2`, ` -1` or `1:-1` of a text.
fn slice(signs: &[char], numbers: &str) -> Option<String> {
    let length = i64::try_from(signs.len()).ok()?;
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
    let mut each = numbers.split(':').map(|text| number(text.trim()));
    let from = each.next()??;
    let from = if from < 0 { length + from } else { from };
    let to = match each.next() {
        None => length,
        Some(count) => match count? {
            count if count < 0 => length + count,
            count => from.saturating_add(count),
        },
    };
    let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
    (each.next().is_none()).then(|| signs.iter().take(to).skip(from).collect())
}

/// Puts the text behind the second `/` in place of what the pattern takes: `/`, `//`, `/#`, `/%`.
fn replaced(signs: &[char], operation: &[Piece], most: usize) -> Option<String> {
    let mut raw = String::new();
    for piece in operation {
        match piece {
            Piece::Text(text) | Piece::Glob(text) => raw.push_str(text),
            _ => return None,
        }
    }
    let raw = raw.get(1..)?;
    let all = raw.starts_with('/');
    if raw.starts_with(['#', '%']) || raw.contains(['*', '?', '[', '&']) {
        return None;
    }
    let raw = raw.strip_prefix('/').unwrap_or(raw);
    let (pattern, by) = raw.split_once('/').unwrap_or((raw, ""));
    let value: String = signs.iter().collect();
    match (pattern.is_empty(), value.len().saturating_mul(by.len() + 1) > most) {
        (true, _) => Some(value),
        (_, true) => None,
        _ if all => Some(value.replace(pattern, by)),
        _ => Some(value.replacen(pattern, by, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, operation: &[Piece], expected: Option<&str>) {
        assert_eq!(
            applied(value, operation, 1 << 16).as_deref(),
            expected,
            "{value:?} {operation:?}"
        );
    }

    #[test]
    fn operations() {
        let text = |text: &str| Piece::Text(text.into());
        let any = || Piece::Glob("*".into());
        check("abcabc", &[text("#a")], Some("bcabc"));
        check("abcabc", &[text("#"), any(), text("b")], Some("cabc"));
        check("abcabc", &[text("##"), any(), text("b")], Some("c"));
        check("abcabc", &[text("%b"), any()], Some("abca"));
        check("abcabc", &[text("%%b"), any()], Some("a"));
        check("abc", &[text("%"), Piece::Glob("?".into())], Some("ab"));
        check("abc", &[text("#x")], Some("abc"));
        check("abc", &[text("#"), Piece::Glob("[".into()), text("a]")], None);
        check("abcd", &[text(":1:2")], Some("bc"));
        check("abcd", &[text(": -2")], Some("cd"));
        check("abcd", &[text(":1:-1")], Some("bc"));
        check("abcd", &[text("::2")], Some("ab"));
        check("abcd", &[text(":x")], None);
        check("aBc", &[text(",,")], Some("abc"));
        check("aBc", &[text("^")], Some("ABc"));
        check("abab", &[text("/a/x")], Some("xbab"));
        check("abab", &[text("//a/x")], Some("xbxb"));
        check("abab", &[text("//a")], Some("bb"));
        check("abab", &[text("/#a/x")], None);
    }
}
