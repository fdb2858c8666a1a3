//! How file systems that do not tell cases apart read a name: without signs they ignore, short forms written out.
//! Protected names are compared like this; nothing that is allowed is.

use crate::spec::{Folding, Wrappers};
use std::path::{Component, Path, PathBuf};

/// Returns a name as such a file system reads it.
pub(super) fn folded(folding: &Folding, name: &str) -> String {
    let kept: String = name.chars().filter(|sign| !folding.ignored.contains(*sign)).collect();
    let kept = kept.trim_end_matches(|sign| folding.trailing.contains(sign));
    // Some letters are the same only in upper case.
    let folded = kept.to_uppercase().to_lowercase();
    folding.short.get(&folded).cloned().unwrap_or(folded)
}

/// Returns a path, each of its parts folded.
pub(super) fn folded_path(folding: &Folding, path: &Path) -> String {
    let part = |part: Component<'_>| folded(folding, &part.as_os_str().to_string_lossy());
    path.components().map(part).collect::<Vec<_>>().join("/")
}

/// Returns whether folding leaves a text as it is but for its case.
fn is_plain(folding: &Folding, text: &str) -> bool {
    let mut parts = text.split('/');
    text.is_ascii()
        && !text.contains('~')
        && !parts.any(|part| part.ends_with(|sign| folding.trailing.contains(sign)))
}

/// Returns whether two names are the same there.
fn same(folding: &Folding, one: &str, other: &str) -> bool {
    one == other
        || match is_plain(folding, one) && is_plain(folding, other) {
            true => one.eq_ignore_ascii_case(other),
            false => folded(folding, one) == folded(folding, other),
        }
}

/// Returns what is left of a path below a directory that may be spelled otherwise.
pub(super) fn below<'p>(folding: &Folding, directory: &Path, path: &'p Path) -> Option<&'p Path> {
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

/// Returns a path whose protected names are spelled otherwise, as they are usually spelled; `None` if there are none.
pub(super) fn protected(wrappers: &Wrappers, path: &Path) -> Option<PathBuf> {
    let folding = &wrappers.folding;
    // Landmarks are in lower case, so what is too has no other spelling of one.
    if path.to_str().is_some_and(|text| {
        is_plain(folding, text) && !text.bytes().any(|sign| sign.is_ascii_uppercase())
    }) {
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
