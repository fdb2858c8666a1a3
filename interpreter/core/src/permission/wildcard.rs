//! The patterns of permission rules: `*` is any text, `?` any sign, a backslash takes the next sign as it is.

/// Returns whether `pattern` matches the whole of `text`. `x *` matches a bare `x` too.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    // Most patterns begin or end with what stands for itself.
    if !ends_alike(pattern, text) {
        return false;
    }
    match pattern.strip_prefix('*') {
        _ if is_literal(pattern) => pattern == text,
        Some(end) if is_literal(end) => text.ends_with(end),
        _ => whole(pattern, text) || bare(pattern).is_some_and(|bare| whole(bare, text)),
    }
}

/// Returns whether a text may end as a pattern does: most are told by that.
fn ends_alike(pattern: &str, text: &str) -> bool {
    match pattern.bytes().next_back() {
        None | Some(b'*' | b'?') => true,
        last => text.bytes().next_back() == last,
    }
}

/// Returns whether a pattern stands for nothing but its own text.
fn is_literal(pattern: &str) -> bool {
    !pattern.bytes().any(|sign| matches!(sign, b'*' | b'?' | b'\\'))
}

/// Returns what stands in front of a pattern's last ` *`, if it ends so.
fn bare(pattern: &str) -> Option<&str> {
    let front = pattern.strip_suffix(" *")?;
    let escapes = front.len() - front.trim_end_matches('\\').len();
    // An escaped blank is a blank.
    if escapes % 2 == 1 { front.strip_suffix('\\') } else { Some(front) }
}

/// Returns `text` as a pattern that matches nothing else.
pub(super) fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern
}

/// The usual two cursors, over bytes: after a mismatch the last `*` takes more.
fn whole(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut here) = (0, 0);
    // Behind the last `*`, and how much of the text is before that.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, here));
                Some((at + 1, here))
            }
            Some(b'?') => sign_at(text, here).map(|length| (at + 1, here + length)),
            Some(_) => {
                let (sign, width) = literal(pattern, at);
                (text.get(here) == sign).then_some((at + width, here + 1))
            }
            None if here == text.len() || star == Some((at, here)) => return true,
            None => None,
        };
        (at, here) = match step {
            Some(next) => next,
            None => {
                let Some((behind, from)) = star else { return false };
                let Some(next) = retry(pattern, behind, text, from) else { return false };
                star = Some((behind, next));
                (behind, next)
            }
        };
    }
}

/// Returns the byte that a pattern stands for at a place, and how many it takes there.
fn literal(pattern: &[u8], at: usize) -> (Option<&u8>, usize) {
    match pattern.get(at) {
        Some(b'\\') if at + 1 < pattern.len() => (pattern.get(at + 1), 2),
        sign => (sign, 1),
    }
}

/// Returns how many bytes the sign at a place of a text takes.
fn sign_at(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    Some(1 + rest.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count())
}

/// Returns where a `*` may end next, that took all before `from` already.
fn retry(pattern: &[u8], behind: usize, text: &[u8], from: usize) -> Option<usize> {
    let next = from + sign_at(text, from)?;
    match (pattern.get(behind), literal(pattern, behind)) {
        (Some(b'?' | b'*') | None, _) => Some(next),
        (_, (Some(sign), _)) => memchr::memchr(*sign, text.get(next..)?).map(|more| next + more),
        (_, (None, _)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("ls *", "ls", true),
            ("ls *", "ls -la", true),
            ("ls *", "lsof", false),
            ("ls *", "LS", false),
            ("*", "", true),
            ("git * push", "git a b push", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*.env", "src/.env", true),
            ("*.env", ".env.example", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("*a*b*c", "xaybzc", true),
            ("*a*b*c", "xaybz", false),
            ("a\\ *", "a", true),
            ("a\\ *", "a b", true),
            ("a\\\\ *", "a\\", true),
            ("a\\", "a\\", true),
            ("?*", "", false),
            ("é?", "éé", true),
            ("*?é", "éé", true),
            ("*é", "aé", true),
            ("*??é", "éé", false),
            ("**", "", true),
            ("a*b*", "a b c", true),
            ("a*b*", "a c", false),
            ("*\\*c", "a*b*c", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert!(matches(&escape("a*?\\b"), "a*?\\b") && !matches(&escape("a*"), "ab"));
    }
}
