//! What a path with globs may name: the entries of directories that fit, where the disk lists them.

use super::real::{Disk, real};
use crate::shell::{Piece, Word};
use crate::spec::PathLimits;
use std::path::{Component, Path, PathBuf};

/// Returns whether a part of a path has a glob sign in it.
pub(super) fn has_glob(text: &str) -> bool {
    memchr::memchr3(b'*', b'?', b'[', text.as_bytes()).is_some()
}

/// Returns whether a value of a word has a glob in it.
pub(super) fn in_word(word: &Word) -> bool {
    let mut pieces = std::iter::once(&word.pieces).chain(&word.also).flatten();
    pieces.any(|piece| matches!(piece, Piece::Glob(_)))
}

/// Returns whether one of some paths has a glob sign in it.
pub(super) fn in_paths(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| has_glob(&path.to_string_lossy()))
}

/// Returns the paths there are that fit a path with globs. Of a directory that cannot be listed, or with more entries
/// than are looked at, none is known.
pub(super) fn listed(path: &Path, disk: &dyn Disk, limits: &PathLimits) -> Vec<PathBuf> {
    if !has_glob(&path.to_string_lossy()) {
        return Vec::new();
    }
    let mut found = vec![PathBuf::from("/")];
    let mut left = limits.max_entries;
    for part in path.components() {
        match part {
            Component::Normal(name) => match name.to_str().filter(|name| has_glob(name)) {
                Some(pattern) => found = entries(&found, pattern, disk, limits, &mut left),
                None => found.iter_mut().for_each(|path| path.push(name)),
            },
            Component::ParentDir => found.iter_mut().for_each(|path| path.push("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    found
}

/// Returns the entries of directories that fit a pattern. `left` is how many entries may still be looked at.
fn entries(
    directories: &[PathBuf],
    pattern: &str,
    disk: &dyn Disk,
    limits: &PathLimits,
    left: &mut usize,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in directories {
        let real = real(directory, disk, limits);
        let names = real.and_then(|real| disk.names(&real, *left)).unwrap_or_default();
        *left = left.saturating_sub(names.len());
        let fitting = names.iter().filter(|name| fits(pattern, name));
        found.extend(fitting.map(|name| directory.join(name)));
    }
    found
}

/// Returns whether a pattern of the shell names an entry of a directory: a hidden one only if it says so.
fn fits(pattern: &str, name: &str) -> bool {
    let hidden = name.starts_with('.') && !pattern.starts_with('.');
    !hidden && matches(pattern, name)
}

/// Returns whether a pattern of the shell matches a name. One with a class in it matches more than it would.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    if !has_glob(pattern) {
        return pattern == name;
    }
    let (signs, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    whole(&tokens(&signs), &name)
}

/// A part of a pattern.
#[derive(Debug)]
enum Token {
    Sign(char),
    One,
    Any,
    /// One sign of, or, if the first is set, outside some ranges.
    Set(bool, Vec<(char, char)>),
}

fn tokens(signs: &[char]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = signs;
    while let [sign, after @ ..] = rest {
        let (token, next) = match sign {
            '*' => (Token::Any, after),
            '?' => (Token::One, after),
            '[' => set(after).unwrap_or((Token::Sign('['), after)),
            other => (Token::Sign(*other), after),
        };
        tokens.push(token);
        rest = next;
    }
    tokens
}

/// Reads a set behind its bracket; `None` if no other one closes it. One with a class in it, `[[:alpha:]]`, is any sign.
fn set(signs: &[char]) -> Option<(Token, &[char])> {
    let (outside, signs) = match signs {
        ['!' | '^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut ranges, mut rest, mut first, mut class) = (Vec::new(), signs, true, false);
    loop {
        rest = match rest {
            [']', after @ ..] if !first => {
                let token = if class { Token::One } else { Token::Set(outside, ranges) };
                return Some((token, after));
            }
            ['[', mark @ (':' | '.' | '='), after @ ..] => {
                let end = after.windows(2).position(|two| two == [*mark, ']'])?;
                class = true;
                after.get(end + 2..)?
            }
            [from, '-', to, after @ ..] if *to != ']' => {
                ranges.push((*from, *to));
                after
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                after
            }
            [] => return None,
        };
        first = false;
    }
}

/// The usual two cursors: after a mismatch the last `*` takes one sign more.
fn whole(tokens: &[Token], name: &[char]) -> bool {
    let (mut token, mut at, mut star) = (0, 0, None);
    loop {
        match (tokens.get(token), name.get(at)) {
            (Some(Token::Any), _) => {
                star = Some((token, at));
                token += 1;
            }
            (Some(one), Some(sign)) if takes(one, *sign) => (token, at) = (token + 1, at + 1),
            (None, None) => return true,
            _ => {
                let Some((back, from)) = star.filter(|(_, from)| *from < name.len()) else {
                    return false;
                };
                star = Some((back, from + 1));
                (token, at) = (back + 1, from + 1);
            }
        }
    }
}

fn takes(token: &Token, sign: char) -> bool {
    match token {
        Token::Any => false,
        Token::One => true,
        Token::Sign(one) => *one == sign,
        Token::Set(outside, ranges) => {
            ranges.iter().any(|(from, to)| (*from..=*to).contains(&sign)) != *outside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn patterns_of_the_shell() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("*", ".a", false),
            (".*", ".a", true),
            ("*.env", "prod.env", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*c", "xaybzc", true),
            ("*a*b*c", "xaybz", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("[[:alpha:]]tc", "etc", true),
            ("[![:digit:]]tc", "etc", true),
            ("[ab", "[ab", true),
            ("[ab", "a", false),
            ("[a-ü]*", "üb", true),
            ("{a,b}", "{a,b}", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// Directories by their path, and one link.
    struct Listed(BTreeMap<&'static str, Vec<&'static str>>);

    impl Disk for Listed {
        fn link(&self, path: &Path) -> Option<PathBuf> {
            (path == Path::new("/p/link")).then(|| PathBuf::from("/out"))
        }

        fn names(&self, directory: &Path, most: usize) -> Option<Vec<String>> {
            let names = self.0.get(directory.to_str()?).filter(|names| names.len() <= most)?;
            Some(names.iter().map(ToString::to_string).collect())
        }
    }

    #[test]
    fn what_fits_is_listed() {
        let disk = Listed(BTreeMap::from([
            ("/p", vec!["a", "b", "link", ".git"]),
            ("/p/a", vec!["x", "y"]),
            ("/out", vec!["x"]),
        ]));
        let limits = PathLimits { max_links: 9, max_bytes: 99, max_entries: 6 };
        let check = |path: &str, limits: &PathLimits, expected: &[&str]| {
            let found = listed(Path::new(path), &disk, limits);
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{path}");
        };
        check("/p/*", &limits, &["/p/a", "/p/b", "/p/link"]);
        check("/p/.g*/x", &limits, &["/p/.git/x"]);
        check("/p/[al]*/../z", &limits, &["/p/a/../z", "/p/link/../z"]);
        check("/p/link/*", &limits, &["/p/link/x"]);
        check("/p/none/*", &limits, &[]);
        check(
            "/p/*/*",
            &PathLimits { max_entries: 9, ..limits },
            &["/p/a/x", "/p/a/y", "/p/link/x"],
        );
        // The first directory leaves too few for the others.
        check("/p/*/*", &PathLimits { max_entries: 5, ..limits }, &["/p/link/x"]);
        check("/p/*", &PathLimits { max_entries: 3, ..limits }, &[]);
    }
}
