//! The patterns of permission rules: `*` is any text, `?` any sign, a backslash takes the next sign as it is.

/// Returns whether `pattern` matches the whole of `text`. `x *` matches a bare `x` too.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let tokens = tokens(pattern);
    let bare = match tokens.as_slice() {
        [front @ .., Token::Sign(' '), Token::Any] => whole(front, text),
        _ => false,
    };
    bare || whole(&tokens, text)
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Sign(char),
    One,
    Any,
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        tokens.push(match sign {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Sign(signs.next().unwrap_or('\\')),
            other => Token::Sign(other),
        });
    }
    tokens
}

/// The usual two cursors: after a mismatch the last `*` takes one sign more.
fn whole(tokens: &[Token], text: &str) -> bool {
    let (mut rest, mut at) = (text.chars(), 0);
    let mut star: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = rest.clone();
        match (tokens.get(at), ahead.next()) {
            (Some(Token::Any), _) => {
                star = Some((at, rest.clone()));
                at += 1;
            }
            (Some(Token::One), Some(_)) => (rest, at) = (ahead, at + 1),
            (Some(Token::Sign(sign)), Some(next)) if *sign == next => (rest, at) = (ahead, at + 1),
            (None, None) => return true,
            _ => {
                let Some((back, mut from)) = star.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                star = Some((back, from.clone()));
                (rest, at) = (from, back + 1);
            }
        }
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
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert!(matches(&escape("a*?\\b"), "a*?\\b") && !matches(&escape("a*"), "ab"));
    }
}
