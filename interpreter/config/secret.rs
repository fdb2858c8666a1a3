//! A value that must not be seen, and how it is taken out of texts.

use std::{borrow::Cow, fmt};

/// What stands in a text in a secret's place.
const HIDDEN: &str = "[redacted]";

/// The fewest bytes a secret has for it to be looked for in texts. Shorter ones (`k`, `none`, which local
/// servers take for a key) would be found in ordinary words and are worth nothing to anyone.
const SHORTEST: usize = 6;

/// A key, a token or a header's value. It prints as a placeholder.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Wraps `value`.
    pub(crate) fn new(value: String) -> Self {
        Self(value)
    }

    /// Returns the value, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Returns the secrets that are looked for in texts, the longest first: one may be the beginning of another.
pub(crate) fn sought(secrets: &[Secret]) -> Vec<&str> {
    let mut found: Vec<&str> =
        secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= SHORTEST).collect();
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
}

/// Returns `text` with every one of `secrets` replaced.
pub(crate) fn redact<'a>(text: &'a str, secrets: &[Secret]) -> Cow<'a, str> {
    sought(secrets).into_iter().fold(Cow::Borrowed(text), |text, secret| {
        if text.contains(secret) { Cow::Owned(text.replace(secret, HIDDEN)) } else { text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, secrets: &[&str], expected: &str) {
        let secrets: Vec<Secret> =
            secrets.iter().map(|secret| Secret::new((*secret).into())).collect();
        assert_eq!(redact(text, &secrets), expected);
    }

    #[test]
    fn redacts() {
        check("nothing here", &["sk-12345"], "nothing here");
        check("key sk-12345, again sk-12345.", &["sk-12345"], "key [redacted], again [redacted].");
        check("sk-12345-long", &["sk-12345", "sk-12345-long"], "[redacted]");
        check("one k in a word", &["k"], "one k in a word");
        check("no secrets", &[], "no secrets");
        check("empty secret", &[""], "empty secret");
        check("schlüssel-größe ok", &["schlüssel-größe"], "[redacted] ok");
    }

    #[test]
    fn does_not_print() {
        assert_eq!(format!("{:?}", Some(Secret::new("sk-12345".into()))), "Some(Secret)");
    }
}
