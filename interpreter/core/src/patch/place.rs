//! Where the hunks of one file go. A hunk goes where its context is: numbers decide only between places that are alike,
//! an anchor and a mark at the end of the file are kept to, and what fits in more than one place is refused.

use super::anchor::{self, Scope};
use super::hunk::{Hunk, Sign};
use super::{Reason, Refused};
use crate::edit::{Folded, Folding, Place, Reindent, nearest, solid};
use crate::spec::{EditLimits, Matcher};
use crate::text;
use std::collections::BTreeMap;
use std::ops::Range;

/// A file with the beginnings of its lines.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) bytes: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> File<'a> {
        let after = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
        let starts = std::iter::once(0).chain(after).filter(|start| *start < bytes.len());
        File { bytes, starts: starts.collect() }
    }

    /// Returns how many lines it has.
    pub(super) fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Returns the offset where a line begins, or the length after the last one.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.bytes.len())
    }

    /// Returns the content of a line without its ending.
    pub(super) fn line(&self, line: usize) -> &'a [u8] {
        let bytes = self.bytes.get(self.start(line)..self.start(line + 1)).unwrap_or_default();
        text::lines(bytes).next().map(|(content, _)| content).unwrap_or_default()
    }

    fn line_at(&self, offset: usize) -> Option<usize> {
        self.starts.binary_search(&offset).ok()
    }
}

/// A place where a hunk fits.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// The first line of the file that it is found by, from 0; for lines only added the one they come before.
    pub(super) first: usize,
    /// The lines that it changes.
    pub(super) core: Range<usize>,
    /// How its indentation becomes that of the file.
    pub(super) reindent: Option<Reindent>,
}

/// A hunk and the places where it fits.
#[derive(Debug)]
pub(super) struct Found<'m> {
    pub(super) hunk: Hunk,
    /// The matcher that found it; nothing where an anchor, a number or a mark says where lines are added.
    pub(super) matcher: Option<&'m Matcher>,
    spots: Vec<Spot>,
}

/// Finds the places of hunks in one file.
#[derive(Debug)]
pub(super) struct Placer<'a> {
    file: &'a File<'a>,
    matchers: &'a [Matcher],
    limits: &'a EditLimits,
    views: BTreeMap<usize, Folded<'a>>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(
        file: &'a File<'a>,
        matchers: &'a [Matcher],
        limits: &'a EditLimits,
    ) -> Placer<'a> {
        Placer { file, matchers, limits, views: BTreeMap::new() }
    }

    /// Returns every hunk with the one place where it goes, in the order of the hunks.
    pub(super) fn place(&mut self, hunks: &[Hunk]) -> Result<Vec<(Found<'a>, Spot)>, Refused> {
        let told = |index: usize| {
            move |refused| Refused { hunk: Some(index + 1), hunks: hunks.len(), ..refused }
        };
        let mut found = Vec::new();
        for (index, hunk) in hunks.iter().enumerate() {
            let each = self.find(hunk).map_err(told(index))?;
            found.push(Found { spots: said(&each, |spot, at| spot.first == at), ..each });
        }
        let spots = settle(&found).or_else(|_| {
            found.iter_mut().for_each(|each| each.spots = self.nearest_said(each));
            settle(&found)
        });
        let spots = spots.map_err(|(index, reason)| {
            let spots = found.get(index).map(|each| each.spots.as_slice()).unwrap_or_default();
            told(index)(self.places(reason, spots))
        })?;
        for (index, (each, spot)) in found.iter().zip(&spots).enumerate() {
            self.reads_as_new(each, spot).map_err(told(index))?;
        }
        Ok(found.into_iter().zip(spots).collect())
    }

    fn places(&self, reason: Reason, spots: &[Spot]) -> Refused {
        Refused::new(reason).at(spots.iter().map(|spot| spot.first), self.limits.places)
    }

    fn find(&mut self, hunk: &Hunk) -> Result<Found<'a>, Refused> {
        let scopes = anchor::scopes(self.file, &hunk.anchors)?;
        if hunk.old_lines() == 0 {
            return self.insertion(hunk, &scopes);
        }
        let blank = solid(&hunk.given()) == 0;
        if blank && scopes.is_empty() && !hunk.end && hunk.at().is_none() {
            return Err(Refused::new(Reason::Unanchored));
        }
        let (mut elsewhere, marked) = (Vec::new(), hunk.end);
        let matchers = self.matchers;
        let all_of_it = std::iter::once(hunk.clone()).chain(hunk.trimmed());
        for hunk in all_of_it.chain(hunk.without_end().filter(|_| !blank)) {
            for (index, matcher) in matchers.iter().enumerate().filter(|(_, matcher)| matcher.patch)
            {
                if solid(&hunk.given()).max(usize::from(blank)) < matcher.least {
                    continue;
                }
                let all = self.search(index, &hunk);
                let mut spots = self.kept_to(&hunk, &scopes, &all);
                if blank && scopes.is_empty() && !hunk.end {
                    spots.retain(|spot| hunk.at() == Some(spot.first));
                }
                if !spots.is_empty() {
                    return Ok(Found { hunk, matcher: Some(matcher), spots });
                }
                if elsewhere.is_empty() && hunk.end == marked {
                    elsewhere = all;
                }
            }
        }
        Err(self.nowhere(hunk, &elsewhere))
    }

    /// Returns where lines go that are only added.
    fn insertion(&mut self, hunk: &Hunk, scopes: &[Scope]) -> Result<Found<'a>, Refused> {
        let lines = self.file.lines();
        let first = match (scopes, hunk.at()) {
            ([scope], _) => scope.line + 1,
            ([_, ..], _) => {
                let refused = Refused::new(Reason::AnchorAmbiguous);
                let anchor = hunk.anchors.last().map(String::as_str).unwrap_or_default();
                return Err(refused
                    .text(anchor)
                    .at(scopes.iter().map(|scope| scope.line), self.limits.places));
            }
            ([], _) if hunk.end || lines == 0 => lines,
            ([], Some(at)) if at <= lines => at,
            ([], Some(_)) => return Err(self.nowhere(hunk, &[])),
            ([], None) => return Err(Refused::new(Reason::Unanchored)),
        };
        let spot = Spot { first, core: first..first, reindent: None };
        let there = hunk.lines.iter().enumerate().all(|(index, line)| {
            first + index < lines && self.file.line(first + index) == line.text.as_bytes()
        });
        if there && hunk.at().is_none() {
            return Err(self.places(Reason::AlreadyApplied, &[spot]));
        }
        Ok(Found { hunk: hunk.clone(), matcher: None, spots: vec![spot] })
    }

    fn view(&mut self, index: usize) -> Option<&Folded<'a>> {
        let matcher = self.matchers.get(index)?;
        let bytes = self.file.bytes;
        Some(self.views.entry(index).or_insert_with(|| Folded::new(bytes, Folding::of(matcher))))
    }

    /// Returns every place where a hunk fits by one matcher.
    fn search(&mut self, index: usize, hunk: &Hunk) -> Vec<Spot> {
        let (file, most) = (self.file, self.limits.candidates);
        let (before, after) = hunk.context();
        let lines = hunk.old_lines();
        let places = self.view(index).map(|view| view.search(&hunk.given()).lines(most));
        let spot = |place: Place| {
            let first = file.line_at(place.range.start)?;
            let ends = first + lines == file.lines();
            let whole = place.range.end == file.start(first + lines) || hunk.open_old && ends;
            let core = first + before..(first + lines).saturating_sub(after);
            (whole && (ends || !hunk.open_old)).then_some(Spot {
                first,
                core,
                reindent: place.reindent,
            })
        };
        places.into_iter().flatten().filter_map(spot).collect()
    }

    /// Returns those of the places that the hunk's anchors and its mark at the end leave.
    fn kept_to(&self, hunk: &Hunk, scopes: &[Scope], spots: &[Spot]) -> Vec<Spot> {
        let lines = hunk.old_lines();
        let last = |spot: &&Spot| {
            let mut rest = spot.first + lines..self.file.lines();
            !hunk.end || rest.all(|line| self.file.line(line).trim_ascii().is_empty())
        };
        let below =
            |spot: &&Spot| scopes.is_empty() || scopes.iter().any(|scope| spot.first >= scope.line);
        let within = |spot: &&Spot| {
            let inside = |scope: &Scope| {
                spot.first >= scope.line
                    && spot.core.start < scope.end + usize::from(spot.core.is_empty())
            };
            scopes.iter().any(inside)
        };
        let spots: Vec<&Spot> = spots.iter().filter(last).filter(below).collect();
        let inside: Vec<Spot> = spots.iter().copied().filter(within).cloned().collect();
        if inside.is_empty() { spots.into_iter().cloned().collect() } else { inside }
    }

    /// Says why a hunk has no place.
    fn nowhere(&mut self, hunk: &Hunk, elsewhere: &[Spot]) -> Refused {
        if !elsewhere.is_empty() {
            let reason = match hunk.anchors.is_empty() {
                false => Reason::NotUnder,
                true if hunk.end => Reason::NotEnd,
                true => Reason::Unanchored,
            };
            let refused = self.places(reason, elsewhere);
            return match hunk.anchors.last() {
                Some(anchor) => refused.text(anchor),
                None => refused,
            };
        }
        if let Some(line) = self.applied(hunk) {
            return Refused::new(Reason::AlreadyApplied).at(std::iter::once(line), 1);
        }
        let near = nearest(self.file.bytes, &hunk.given(), self.matchers, self.limits);
        Refused { near: near.map(Box::new), ..Refused::new(Reason::NotFound) }
    }

    /// Returns the line from which on the file reads as the hunk would leave it, where enough of it says so.
    fn applied(&mut self, hunk: &Hunk) -> Option<usize> {
        let solid_in = |sign| {
            let lines = hunk.lines.iter().filter(|line| line.sign == sign);
            lines.map(|line| solid(&line.text)).sum::<usize>()
        };
        let (before, after) = hunk.context();
        let telling = match hunk.count(Sign::Added) {
            // What was around lines that are gone stands side by side.
            0 if before > 0 && after > 0 => solid_in(Sign::Kept),
            _ => solid_in(Sign::Added),
        };
        match self.made(hunk).as_slice() {
            [lines] if telling >= self.limits.already_least => Some(lines.start),
            _ => None,
        }
    }

    /// Returns the lines of the file that read as the hunk would leave them.
    fn made(&mut self, hunk: &Hunk) -> Vec<Range<usize>> {
        let (file, most, new) = (self.file, self.limits.candidates, hunk.made());
        let lines = hunk.count(Sign::Kept) + hunk.count(Sign::Added);
        let loose =
            self.matchers.iter().position(|matcher| matcher.patch && !matcher.fold.is_empty());
        let places =
            loose.and_then(|index| self.view(index)).map(|view| view.search(&new).lines(most));
        let range =
            |place: Place| file.line_at(place.range.start).map(|first| first..first + lines);
        places.into_iter().flatten().filter_map(range).collect()
    }

    /// Refuses a hunk whose lines stand at the place already: made again it would double them. A hunk with all the
    /// context that a program gives, at the line it says, is not doubted.
    fn reads_as_new(&mut self, found: &Found<'_>, spot: &Spot) -> Result<(), Refused> {
        let hunk = &found.hunk;
        let end = spot.first + hunk.old_lines();
        let made = hunk.is_made(spot.first == 0, end == self.file.lines());
        let sure = made && hunk.at() == Some(spot.first);
        let (given, new) = (hunk.given(), hunk.made());
        if sure || hunk.old_lines() == 0 || given == new || !new.contains(&given) {
            return Ok(());
        }
        let around = |made: &Range<usize>| made.start <= spot.first && end <= made.end;
        match self.made(hunk).iter().any(around) {
            true => Err(self.places(Reason::AlreadyApplied, std::slice::from_ref(spot))),
            false => Ok(()),
        }
    }

    /// Returns the place nearest to the line the hunk says it begins at, if it is much nearer than the next.
    fn nearest_said(&self, found: &Found<'_>) -> Vec<Spot> {
        let Some(at) = found.hunk.at() else { return found.spots.clone() };
        let mut away: Vec<usize> = found.spots.iter().map(|spot| spot.first.abs_diff(at)).collect();
        away.sort_unstable();
        match away.as_slice() {
            [first, second, ..]
                if first.saturating_mul(self.limits.nearer) <= *second && first < second =>
            {
                said(found, |spot, at| spot.first.abs_diff(at) == *first)
            }
            _ => found.spots.clone(),
        }
    }
}

/// Returns the places that agree with the line the hunk says it begins at; all of them when none does.
fn said(found: &Found<'_>, agrees: impl Fn(&Spot, usize) -> bool) -> Vec<Spot> {
    let at = found.hunk.at();
    let agreeing = found.spots.iter().filter(|spot| at.is_some_and(|at| agrees(spot, at)));
    let agreeing: Vec<Spot> = agreeing.cloned().collect();
    if agreeing.is_empty() { found.spots.clone() } else { agreeing }
}

/// Returns a place for every hunk so that they follow each other, when there is only one way to do that; where there is
/// none, the only place of each in any order. Otherwise the first hunk that has no place, or more than one.
fn settle(found: &[Found<'_>]) -> Result<Vec<Spot>, (usize, Reason)> {
    let (early, late) = (forwards(found), backwards(found));
    if let (Ok(early), Some(late)) = (&early, late) {
        let differs = early.iter().zip(&late).position(|(early, late)| early.first != late.first);
        return match differs {
            Some(index) => Err((index, Reason::Ambiguous)),
            None => Ok(early.clone()),
        };
    }
    let single: Option<Vec<&Spot>> = found
        .iter()
        .map(|each| match each.spots.as_slice() {
            [spot] => Some(spot),
            _ => None,
        })
        .collect();
    let mut sorted = single.clone().unwrap_or_default();
    sorted.sort_by_key(|spot| spot.core.start);
    let apart = sorted.windows(2).all(|pair| matches!(pair, [a, b] if a.core.end <= b.core.start));
    match (single, early) {
        (Some(single), _) if apart => Ok(single.into_iter().cloned().collect()),
        (_, Err(index)) => Err((index, Reason::Overlap)),
        (_, Ok(_)) => Err((0, Reason::Ambiguous)),
    }
}

/// Returns the first place of each hunk after the one before it, or which hunk has none.
fn forwards(found: &[Found<'_>]) -> Result<Vec<Spot>, usize> {
    let mut from = 0;
    let each = |(index, each): (usize, &Found<'_>)| {
        let spot = each.spots.iter().find(|spot| spot.core.start >= from).ok_or(index)?;
        from = spot.core.end;
        Ok(spot.clone())
    };
    found.iter().enumerate().map(each).collect()
}

/// Returns the last place of each hunk before the one after it.
fn backwards(found: &[Found<'_>]) -> Option<Vec<Spot>> {
    let mut to = usize::MAX;
    let each = |each: &Found<'_>| {
        let spot = each.spots.iter().rev().find(|spot| spot.core.end <= to)?;
        to = spot.core.start;
        Some(spot.clone())
    };
    let mut spots: Vec<Spot> = found.iter().rev().map(each).collect::<Option<_>>()?;
    spots.reverse();
    Some(spots)
}
