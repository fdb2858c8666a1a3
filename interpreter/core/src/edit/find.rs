//! Where a text is in a file, by one matcher. It never takes a place whose lines the model did not give.

use super::indent::{self, Reindent};
use super::view::{Folding, View};
use crate::text;
use memchr::memmem::Finder;
use std::ops::Range;

/// A place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The bytes of the file.
    pub(crate) range: Range<usize>,
    /// How indentation of the given text becomes that of the file, when it differs.
    pub(crate) reindent: Option<Reindent>,
}

/// A file as one matcher sees it, for any number of searches.
#[derive(Debug)]
pub(crate) struct Folded<'a> {
    file: &'a [u8],
    view: View<'a>,
    folding: Folding,
}

impl<'a> Folded<'a> {
    /// Folds a file.
    pub(crate) fn new(file: &'a [u8], folding: Folding) -> Folded<'a> {
        Folded { file, view: View::of_file(file, &folding), folding }
    }

    /// Prepares the search for `given`.
    pub(crate) fn search<'f>(&'f self, given: &'f str) -> Search<'f> {
        let Folded { file, view, folding } = self;
        let needle = View::of_given(given.as_bytes(), folding).text().to_vec();
        Search { file, view, needle, given, folding }
    }
}

/// Searches one view of a file for one text.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    file: &'a [u8],
    view: &'a View<'a>,
    needle: Vec<u8>,
    given: &'a str,
    folding: &'a Folding,
}

impl Search<'_> {
    /// Returns whether nothing was folded away on either side, so that an exact search says the same.
    pub(crate) fn is_exact(&self) -> bool {
        self.view.is_source() && self.needle == self.given.as_bytes()
    }

    /// Returns the places that do not overlap, from the start.
    pub(crate) fn apart(&self) -> Vec<Place> {
        if self.needle.is_empty() {
            return Vec::new();
        }
        let found = Finder::new(&self.needle);
        found.find_iter(self.view.text()).filter_map(|at| self.place(at)).collect()
    }

    /// Returns the places, overlapping ones too; at most `most` candidates are looked at, so that the time is bounded.
    pub(crate) fn any(&self, most: usize) -> Vec<Place> {
        let finder = Finder::new(&self.needle);
        let mut places = Vec::new();
        let mut from = 0;
        for _ in 0..most {
            let rest = self.view.text().get(from..).unwrap_or_default();
            match finder.find(rest) {
                Some(found) if !self.needle.is_empty() => {
                    places.extend(self.place(from + found));
                    from += found + 1;
                }
                _ => break,
            }
        }
        places
    }

    /// Returns the places that begin where a line begins, overlapping ones too; at most `most`.
    pub(crate) fn lines(&self, most: usize) -> Vec<Place> {
        let finder = Finder::new(&self.needle);
        let folded = self.view.text();
        let mut places = Vec::new();
        let mut from = 0;
        while places.len() < most && !self.needle.is_empty() {
            let Some(found) = finder.find(folded.get(from..).unwrap_or_default()) else { break };
            let at = from + found;
            if text::line_start(folded, at) == at {
                places.extend(self.place(at));
            }
            // A line without the text is skipped as a whole.
            from = text::line_end(folded, at).max(at + 1);
        }
        places
    }

    fn place(&self, at: usize) -> Option<Place> {
        let folded = self.view.text();
        let end = at + self.needle.len();
        let ends_line =
            self.needle.ends_with(b"\n") || matches!(folded.get(end), None | Some(b'\n'));
        let starts_line = at.checked_sub(1).is_none_or(|before| folded.get(before) == Some(&b'\n'));
        let last = self.given.rsplit('\n').next().unwrap_or_default();
        let trimmed = self.folding.trailing() && last.ends_with([' ', '\t']);
        if trimmed && !ends_line {
            return None;
        }
        let mut range = self.view.source_of(&(at..end));
        if self.folding.trailing() && ends_line && !self.needle.ends_with(b"\n") {
            range.end += blanks(self.file.get(range.end..).unwrap_or_default());
        }
        if self.file.get(..range.start).is_some_and(|before| before.ends_with(b"\r"))
            && self.file.get(range.start) == Some(&b'\n')
        {
            range.start -= 1;
        }
        if !self.folding.indentation() {
            return Some(Place { range, reindent: None });
        }
        if !starts_line || !ends_line {
            return None;
        }
        range.start = text::line_start(self.file, range.start);
        let reindent = indent::learn(self.given, self.file.get(range.clone())?)?;
        Some(Place { range, reindent: Some(reindent) })
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| text::is_blank(**byte)).count()
}
