//! The edit engine: finds a text in a file by an ordered table of matchers and puts another in its place.
//! It is a function over bytes. A place is unique or refused, and nothing outside of it changes.

mod compare;
mod find;
mod given;
mod indent;
mod near;
mod report;
mod splice;
mod view;

pub use compare::{CompareLine, differences};
pub(crate) use find::{Folded, Place};
pub(crate) use indent::Reindent;
pub(crate) use near::nearest;
pub use near::{Difference, Near};
pub use report::{changed, edits_made, edits_refused, refused};
pub(crate) use report::{near_values, part_values};
pub(crate) use splice::{Endings, replace};
pub(crate) use view::Folding;

use crate::spec::{EditLimits, Matcher};
use crate::text::{self, Kind};
use given::Given;
use serde::Serialize;

/// What an edit asks for.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The text to look for.
    pub old: &'a str,
    /// The text to put there.
    pub new: &'a str,
    /// Whether every place is meant.
    pub all: bool,
}

/// An edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new content.
    pub bytes: Vec<u8>,
    /// The id of the matcher that found the place.
    pub matcher: String,
    /// The changed lines of the new content, first and last, from 1. Where lines were only taken out, the last is
    /// one less than the first.
    pub lines: Vec<(usize, usize)>,
    /// How many places were replaced.
    pub count: usize,
}

/// An edit that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// The matcher that found something, when the reason lies in what it found.
    pub matcher: Option<String>,
    /// First lines of the places found, from 1.
    pub places: Vec<usize>,
    /// Whether there are more places than listed.
    pub more: bool,
    /// The region of the file most like the searched text.
    pub near: Option<Box<Near>>,
}

/// Why an edit was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The searched text is empty or blank.
    Blank,
    /// Old and new text are the same, or come to the same in this file.
    Same,
    /// The searched text is in the file more than once.
    Ambiguous,
    /// The searched text is not in the file.
    NotFound,
    /// The file already reads as the edit would leave it.
    AlreadyApplied,
    /// The new text was not written the way the old one was (escapes, numbers, indentation).
    Drift,
    /// The file is not UTF-8 and the new text is not ASCII, or the file is UTF-16.
    Encoding,
    /// The file is binary.
    Binary,
    /// The file would grow beyond the limit.
    TooLarge,
}

impl Refused {
    fn new(reason: Reason) -> Refused {
        Refused { reason, matcher: None, places: Vec::new(), more: false, near: None }
    }

    fn at(reason: Reason, file: &[u8], places: &[Place], most: usize) -> Refused {
        let more = places.len() > most;
        let line = |place: &Place| text::line_number(file, place.range.start);
        let places = places.iter().take(most).map(line).collect();
        Refused { places, more, ..Refused::new(reason) }
    }

    fn by(mut self, matcher: &Matcher) -> Refused {
        self.matcher = Some(matcher.id.clone());
        self
    }
}

/// Makes the change in `original`, trying `matchers` in their order; the first that finds a place decides.
///
/// # Errors
/// A refusal with what was seen instead; nothing is changed then.
pub fn edit(
    original: &[u8],
    change: Change<'_>,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Result<Edited, Refused> {
    let (bom, file) =
        original.strip_prefix(text::BOM).map_or((0, original), |rest| (text::BOM.len(), rest));
    let unmarked =
        |text| if bom > 0 { str::strip_prefix(text, '\u{feff}').unwrap_or(text) } else { text };
    let change = Change { old: unmarked(change.old), new: unmarked(change.new), all: change.all };
    check(file, change)?;
    for matcher in matchers.iter().filter(|matcher| may_use(matcher, change)) {
        if let Some(found) = try_matcher(file, change, matcher, matchers, limits) {
            return found.map(|mut edited| {
                edited.bytes.splice(..0, original.iter().take(bom).copied());
                edited
            });
        }
    }
    Err(already_applied(file, change, matchers, limits).unwrap_or_else(|| {
        let near = near::nearest(file, change.old, matchers, limits).map(Box::new);
        Refused { near, ..Refused::new(Reason::NotFound) }
    }))
}

/// What several edits made of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// The whole new content.
    pub bytes: Vec<u8>,
    /// The lines of it that differ, as in [`Edited`].
    pub lines: Vec<(usize, usize)>,
    /// What each of them made, or that the file read so already.
    pub each: Vec<Result<Edited, Refused>>,
}

/// Makes changes one after the other, each in what the ones before left. One that is there already is passed over.
///
/// # Errors
/// The first that cannot be made, counted from 0; none of them is made then.
pub fn edits(
    original: &[u8],
    changes: &[Change<'_>],
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Result<Edits, (usize, Refused)> {
    let mut bytes = original.to_vec();
    let mut each = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        each.push(match edit(&bytes, *change, matchers, limits) {
            Ok(edited) => {
                bytes.clone_from(&edited.bytes);
                Ok(edited)
            }
            Err(refused) if refused.reason == Reason::AlreadyApplied => Err(refused),
            Err(refused) => return Err((index, refused)),
        });
    }
    let lines = splice::changed_lines(original, &bytes);
    Ok(Edits { bytes, lines, each })
}

fn check(file: &[u8], change: Change<'_>) -> Result<(), Refused> {
    let reason = match text::kind(file, false) {
        _ if change.old.trim().is_empty() => Reason::Blank,
        _ if change.old == change.new => Reason::Same,
        Kind::Binary => Reason::Binary,
        Kind::Wide => Reason::Encoding,
        Kind::Foreign(_) if !change.new.is_ascii() => Reason::Encoding,
        Kind::Foreign(_) | Kind::Text => return Ok(()),
    };
    Err(Refused::new(reason))
}

fn may_use(matcher: &Matcher, change: Change<'_>) -> bool {
    (matcher.all || !change.all) && solid(change.old) >= matcher.least
}

/// Returns how many characters of a text are no blanks.
pub(crate) fn solid(text: &str) -> usize {
    text.chars().filter(|one| !one.is_whitespace()).count()
}

/// Returns what one matcher makes of the edit; nothing when it finds no place.
fn try_matcher(
    file: &[u8],
    change: Change<'_>,
    matcher: &Matcher,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Option<Result<Edited, Refused>> {
    let given = given::read(change.old, change.new, matcher)
        .filter(|given| !given.old.trim().is_empty())?;
    let folded = Folded::new(file, Folding::of(matcher));
    let search = folded.search(&given.old);
    if search.is_exact() && given.old == change.old && !matcher.fold.is_empty() {
        return None;
    }
    let places = if change.all { search.apart() } else { search.any(limits.places + 1) };
    if places.is_empty() {
        return None;
    }
    if places.len() > 1 && !change.all {
        return Some(Err(Refused::at(Reason::Ambiguous, file, &places, limits.places).by(matcher)));
    }
    if !change.all
        && let Some(refused) = reads_as_new(file, change, matchers, &places, limits.places)
    {
        return Some(Err(refused.by(matcher)));
    }
    Some(
        put(file, &given, &places, matcher, limits)
            .map_err(|reason| Refused::at(reason, file, &places, limits.places).by(matcher)),
    )
}

fn put(
    file: &[u8],
    given: &Given<'_>,
    places: &[Place],
    matcher: &Matcher,
    limits: &EditLimits,
) -> Result<Edited, Reason> {
    let new = given.new.as_deref().ok_or(Reason::Drift)?;
    if places.len().saturating_mul(new.len()).saturating_add(file.len()) > limits.max_bytes {
        return Err(Reason::TooLarge);
    }
    if places.iter().filter_map(|place| place.reindent.as_ref()).any(|rule| rule.doubts(new)) {
        return Err(Reason::Drift);
    }
    let endings = Endings::of(if new.contains('\n') { file } else { b"" });
    let splices: Option<Vec<_>> = places
        .iter()
        .map(|place| splice::replace(file, &endings, place, &given.old, new, &[]))
        .collect();
    let (bytes, lines) = splice::apply(file, &splices.ok_or(Reason::Drift)?);
    if bytes == file {
        return Err(Reason::Same);
    }
    Ok(Edited { bytes, matcher: matcher.id.clone(), lines, count: places.len() })
}

/// Refuses an edit whose new text holds the old one and stands at the place already: made again it would double.
fn reads_as_new(
    file: &[u8],
    change: Change<'_>,
    matchers: &[Matcher],
    places: &[Place],
    most: usize,
) -> Option<Refused> {
    let place = places.first().filter(|_| change.new.contains(change.old) && !ends_only(change))?;
    let folding = matchers.iter().find(|matcher| !matcher.fold.is_empty()).map(Folding::of)?;
    let made = Folded::new(file, folding).search(change.new).any(most);
    let around =
        |made: &Place| made.range.start <= place.range.start && place.range.end <= made.range.end;
    made.iter().any(around).then(|| Refused::at(Reason::AlreadyApplied, file, places, most))
}

/// Returns whether all that comes is a line ending before or after the old text. Every line has these: that they are
/// there does not say that it was done.
fn ends_only(change: Change<'_>) -> bool {
    let Change { old, new, .. } = change;
    let new = match new.strip_suffix('\n').filter(|_| !old.ends_with('\n')) {
        Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
        None => new,
    };
    let new = new.strip_prefix('\n').filter(|_| !old.starts_with('\n')).unwrap_or(new);
    new == old
}

/// Refuses an edit whose old text is gone and whose new text stands on lines of its own, in one place.
fn already_applied(
    file: &[u8],
    change: Change<'_>,
    matchers: &[Matcher],
    limits: &EditLimits,
) -> Option<Refused> {
    if solid(change.new) < limits.already_least {
        return None;
    }
    let matcher = matchers.iter().find(|matcher| !matcher.fold.is_empty())?;
    let places = Folded::new(file, Folding::of(matcher)).search(change.new).any(2);
    let [place] = places.as_slice() else { return None };
    let before = file.get(text::line_start(file, place.range.start)..place.range.start)?;
    let after =
        file.get(place.range.end..text::line_end(file, place.range.end.saturating_sub(1)))?;
    let alone = [before, after].iter().all(|side| side.trim_ascii().is_empty());
    alone.then(|| Refused::at(Reason::AlreadyApplied, file, &places, limits.places))
}

#[cfg(test)]
mod tests;
