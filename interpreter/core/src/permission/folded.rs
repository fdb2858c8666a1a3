//! How file systems that do not tell cases apart read a name: without signs they ignore, short forms written out.
//! Protected names are compared like this; nothing that is allowed is.

use super::globs::has_glob;
use crate::spec::{Folding, Wrappers};
use std::path::{Component, Path, PathBuf};

/// Returns a name as such a file system reads it.
pub(super) fn folded(folding: &Folding, name: &str) -> String {
    let kept: String = name.chars().filter(|sign| !folding.ignored.contains(*sign)).collect();
    let kept = kept.trim_end_matches(|sign| folding.trailing.contains(sign));
    // Some letters are the same only in upper case.
    let folded = match kept.is_ascii() {
        true => kept.to_ascii_lowercase(),
        false => kept.to_uppercase().to_lowercase(),
    };
    folding.short.get(&folded).cloned().unwrap_or(folded)
}

/// Returns a path without dots and doubled slashes, each of its parts folded.
pub(super) fn folded_path(folding: &Folding, path: &Path) -> String {
    if let Some(text) = plain(folding, path) {
        return text.to_ascii_lowercase();
    }
    let part = |part: Component<'_>| folded(folding, &part.as_os_str().to_string_lossy());
    path.components().map(part).collect::<Vec<_>>().join("/")
}

/// Returns the text of a path that folding leaves as it is but for its case.
pub(super) fn plain<'p>(folding: &Folding, path: &'p Path) -> Option<&'p str> {
    path.to_str().filter(|text| is_plain(folding, text))
}

/// Returns whether folding leaves a text as it is but for its case.
fn is_plain(folding: &Folding, text: &str) -> bool {
    let trails = |sign: u8| folding.trailing.as_bytes().contains(&sign);
    let mut last = b'/';
    let whole = text.bytes().all(|sign| {
        let before = std::mem::replace(&mut last, sign);
        sign.is_ascii() && sign != b'~' && (sign != b'/' || !trails(before))
    });
    whole && !trails(last)
}

/// Returns whether a path, where it is really there, has no other spelling: no file system reads it another way, and it
/// has no glob.
pub(super) fn is_usual(wrappers: &Wrappers, path: &Path) -> bool {
    plain(&wrappers.folding, path).is_some_and(|text| is_lower(text) && !has_glob(text))
}

/// Returns whether a text is no landmark in another case: those are in lower case.
fn is_lower(text: &str) -> bool {
    !text.bytes().any(|sign| sign.is_ascii_uppercase())
}

/// Returns whether two names are the same there.
fn same(folding: &Folding, one: &str, other: &str) -> bool {
    one == other
        || match is_plain(folding, one) && is_plain(folding, other) {
            true => one.eq_ignore_ascii_case(other),
            false => folded(folding, one) == folded(folding, other),
        }
}

/// Returns what is left of a path below a directory that may be spelled otherwise. Both are without dots and doubled
/// slashes.
pub(super) fn below<'p>(folding: &Folding, directory: &Path, path: &'p Path) -> Option<&'p Path> {
    if let (Some(one), Some(other)) = (plain(folding, directory), plain(folding, path)) {
        return plain_below(one, other).map(Path::new);
    }
    let mut rest = path.components();
    for part in directory.components() {
        let (one, other) =
            (part.as_os_str().to_string_lossy(), rest.next()?.as_os_str().to_string_lossy());
        if !same(folding, &one, &other) {
            return None;
        }
    }
    Some(rest.as_path())
}

/// The same for texts in which folding changes nothing but the case.
pub(super) fn plain_below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    let (front, rest) = path.split_at_checked(directory.len())?;
    let apart = || directory.ends_with('/') || rest.is_empty() || rest.starts_with('/');
    let below = front.eq_ignore_ascii_case(directory) && apart();
    below.then(|| rest.strip_prefix('/').unwrap_or(rest))
}

/// Returns whether a landmark is on a path in another spelling than its own.
fn is_disguised(wrappers: &Wrappers, path: &Path) -> bool {
    if let Some(text) = plain(&wrappers.folding, path) {
        return is_in_capitals(&wrappers.landmarks, text);
    }
    let relative = path.strip_prefix("/").unwrap_or(path).to_string_lossy();
    let folded = folded_path(&wrappers.folding, Path::new(&*relative));
    let named = |folded: &str| wrappers.landmarks.iter().any(|known| known == folded);
    let place = |known: &String| {
        known.strip_prefix('/').is_some_and(|known| {
            plain_below(known, &folded).is_some() && !relative.starts_with(known)
        })
    };
    let mut parts = relative.split('/').zip(folded.split('/'));
    parts.any(|(part, folded)| part != folded && named(folded))
        || wrappers.landmarks.iter().any(place)
}

/// The same for a text in which folding changes nothing but the case.
fn is_in_capitals(landmarks: &[String], path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !is_lower(part));
    parts.any(|part| landmarks.iter().any(|known| known.eq_ignore_ascii_case(part)))
        || landmarks.iter().any(|known| {
            known.starts_with('/')
                && !path.starts_with(known.as_str())
                && plain_below(known, path).is_some()
        })
}

/// Returns a path whose protected names are spelled otherwise, as they are usually spelled; `None` if there are none.
pub(super) fn protected(wrappers: &Wrappers, path: &Path) -> Option<PathBuf> {
    let folding = &wrappers.folding;
    if plain(folding, path).is_some_and(is_lower) || !is_disguised(wrappers, path) {
        return None;
    }
    let (places, names): (Vec<&str>, Vec<&str>) =
        wrappers.landmarks.iter().map(String::as_str).partition(|known| known.starts_with('/'));
    let usual = |part: Component<'_>| {
        let text = part.as_os_str().to_string_lossy();
        let folded = folded(folding, &text);
        match names.contains(&folded.as_str()) {
            true => folded,
            false => text.into_owned(),
        }
    };
    let named: PathBuf = path.components().map(usual).collect();
    let holding = places.into_iter().filter_map(|place| {
        let place = Path::new(place);
        Some((place, below(folding, place, &named)?))
    });
    let deepest = holding.min_by_key(|(_, rest)| rest.components().count());
    let spelled: PathBuf = match deepest {
        Some((place, rest)) => place.components().chain(rest.components()).collect(),
        None => named,
    };
    (spelled.components().ne(path.components())).then_some(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::packed;

    #[test]
    fn protected_names_in_other_spellings() {
        let wrappers = packed().unwrap().wrappers;
        for (path, expected) in [
            ("/p/.git/config", None),
            ("/p/src/Main.rs", None),
            ("/p/.gitignore", None),
            ("/p/.GIT/Config", Some("/p/.git/Config")),
            ("/p/.g\u{200c}it/x", Some("/p/.git/x")),
            ("/p/GIT~1/x", Some("/p/.git/x")),
            ("/p/.git. /x", Some("/p/.git/x")),
            ("/p/.lemba\u{17f}/x", Some("/p/.lembas/x")),
            ("/p/.ENV", Some("/p/.env")),
            ("/ETC/passwd", Some("/etc/passwd")),
            ("/Etc/Passwd", Some("/etc/passwd")),
            ("/p/ETC/passwd", None),
        ] {
            let found = protected(&wrappers, Path::new(path));
            // As text: a slash at the end counts for rules.
            assert_eq!(found.as_deref().and_then(Path::to_str), expected, "{path}");
        }
    }
}
