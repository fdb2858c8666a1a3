//! Text of models, tools, servers and files as a terminal may have it: control characters are shown, not obeyed.

use std::borrow::Cow;

/// Returns text with its line ends and tabs, and every other control character shown.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Returns text as one line: every control character is shown.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

fn escaped(text: &str, obeyed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&obeyed) {
        return Cow::Borrowed(text);
    }
    let show = |c: char| if obeyed(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(show).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("plain\n\ttext"), "plain\n\ttext");
        assert_eq!(shown("a\x1b[2Jb\u{9b}c\r"), "a\\u{1b}[2Jb\\u{9b}c\\r");
        assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
    }
}
