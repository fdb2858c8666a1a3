//! A text with some differences folded away, and the way back to the bytes it was made from.
//! It decides nothing: two views are compared, and what is found is a range of the original.

use crate::spec::{Fold, Matcher};
use crate::text;
use std::ops::Range;

/// What a view leaves out or makes equal.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    endings: bool,
    trailing: bool,
    indentation: bool,
    blanks: bool,
    blank_lines: bool,
    /// The bytes of a character and the plain byte it is taken for.
    alike: Vec<(Vec<u8>, u8)>,
}

impl Folding {
    /// Returns what `matcher` folds. Numbers and escapes are no folding: only the given text has them.
    pub(crate) fn of(matcher: &Matcher) -> Folding {
        let alike = matcher.alike.iter().filter(|(plain, _)| plain.is_ascii());
        Folding {
            endings: matcher.fold.contains(&Fold::Endings),
            trailing: matcher.fold.contains(&Fold::Trailing),
            indentation: matcher.fold.contains(&Fold::Indentation),
            blanks: matcher.fold.contains(&Fold::Blanks),
            blank_lines: matcher.fold.contains(&Fold::BlankLines),
            alike: alike
                .flat_map(|(plain, others)| others.chars().map(|other| (*plain, other)))
                .map(|(plain, other)| (other.to_string().into_bytes(), plain as u8))
                .collect(),
        }
    }

    /// Returns whether blanks at the end of lines are left out.
    pub(crate) fn trailing(&self) -> bool {
        self.trailing
    }

    /// Returns whether indentation is left out.
    pub(crate) fn indentation(&self) -> bool {
        self.indentation
    }

    fn is_none(&self) -> bool {
        let Folding { endings, trailing, indentation, blanks, blank_lines, alike } = self;
        ![endings, trailing, indentation, blanks, blank_lines].into_iter().any(|on| *on)
            && alike.is_empty()
    }

    /// Returns whether a line is left out.
    fn leaves_out(&self, content: &[u8]) -> bool {
        self.blank_lines && content.trim_ascii().is_empty()
    }

    /// Returns the plain byte for the character that `bytes` begins with, and that character's length.
    fn plain(&self, bytes: &[u8]) -> Option<(u8, usize)> {
        let (other, plain) = self.alike.iter().find(|(other, _)| bytes.starts_with(other))?;
        Some((*plain, other.len()))
    }
}

/// Bytes of the view, from `at` on, that came from the source at `source`, each from `unit` bytes.
#[derive(Debug, Clone, Copy)]
struct Run {
    at: usize,
    source: usize,
    unit: usize,
}

/// A folded text.
#[derive(Debug)]
pub(crate) struct View<'a> {
    source: &'a [u8],
    folded: Option<Vec<u8>>,
    // INVARIANT: sorted by `at`, the first at 0, unless the view is empty or nothing is folded.
    runs: Vec<Run>,
}

impl<'a> View<'a> {
    /// Makes the view of a text that is searched for.
    pub(crate) fn of_given(source: &'a [u8], folding: &Folding) -> View<'a> {
        View::new(source, folding, false)
    }

    /// Makes the view of a file; a missing final line ending is added to the view when endings are folded.
    pub(crate) fn of_file(source: &'a [u8], folding: &Folding) -> View<'a> {
        View::new(source, folding, folding.endings)
    }

    fn new(source: &'a [u8], folding: &Folding, close: bool) -> View<'a> {
        let mut view = View { source, folded: None, runs: Vec::new() };
        if folding.is_none() {
            return view;
        }
        let mut folded = Vec::with_capacity(source.len() + 1);
        let mut at = 0;
        for (content, ending) in text::lines(source) {
            if folding.leaves_out(content) {
                at += content.len() + ending.len();
                continue;
            }
            view.push_content(&mut folded, content, at, folding);
            at += content.len();
            match ending {
                b"\r\n" if folding.endings => view.push(&mut folded, b"\n", at, 2),
                _ => view.push(&mut folded, ending, at, 1),
            }
            at += ending.len();
        }
        if close && !source.is_empty() && !source.ends_with(b"\n") {
            view.push(&mut folded, b"\n", at, 0);
        }
        view.folded = Some(folded);
        view
    }

    fn push_content(&mut self, folded: &mut Vec<u8>, content: &[u8], at: usize, folding: &Folding) {
        let kept = if folding.trailing { text::trim_trailing(content) } else { content };
        let (indent, rest) = text::indentation(kept);
        let (kept, mut at) =
            if folding.indentation { (rest, at + indent.len()) } else { (kept, at) };
        if folding.alike.is_empty() && !folding.blanks {
            return self.push(folded, kept, at, 1);
        }
        let folds = |byte: &u8| !byte.is_ascii() || folding.blanks && text::is_blank(*byte);
        let mut rest = kept;
        while !rest.is_empty() {
            let same = rest.iter().take_while(|byte| !folds(byte)).count();
            let (plain, other) = rest.split_at(same);
            self.push(folded, plain, at, 1);
            at += same;
            let (blanks, _) = text::indentation(other);
            let taken = match folding.plain(other) {
                _ if !blanks.is_empty() => {
                    self.push(folded, b" ", at, blanks.len());
                    blanks.len()
                }
                Some((byte, length)) => {
                    self.push(folded, &[byte], at, length);
                    length
                }
                None => {
                    self.push(folded, other.get(..1).unwrap_or_default(), at, 1);
                    1
                }
            };
            at += taken;
            rest = other.get(taken..).unwrap_or_default();
        }
    }

    fn push(&mut self, folded: &mut Vec<u8>, bytes: &[u8], source: usize, unit: usize) {
        if bytes.is_empty() {
            return;
        }
        let run = Run { at: folded.len(), source, unit };
        let goes_on = self.runs.last().is_some_and(|last| {
            last.unit == 1 && unit == 1 && last.source + (run.at - last.at) == source
        });
        if !goes_on {
            self.runs.push(run);
        }
        folded.extend_from_slice(bytes);
    }

    /// Returns the folded text.
    pub(crate) fn text(&self) -> &[u8] {
        self.folded.as_deref().unwrap_or(self.source)
    }

    /// Returns whether the view reads the same as its source.
    pub(crate) fn is_source(&self) -> bool {
        self.text() == self.source
    }

    /// Returns the part of the source that the part `found` of the view was made from.
    pub(crate) fn source_of(&self, found: &Range<usize>) -> Range<usize> {
        if self.folded.is_none() || found.is_empty() {
            return found.clone();
        }
        self.byte(found.start).start..self.byte(found.end - 1).end
    }

    fn byte(&self, at: usize) -> Range<usize> {
        let after = self.runs.partition_point(|run| run.at <= at);
        match after.checked_sub(1).and_then(|index| self.runs.get(index)) {
            Some(run) => {
                let start = run.source + (at - run.at) * run.unit;
                start..start + run.unit
            }
            None => at..at + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, fold: &[Fold], folded: &str, piece: &str, from: &str) {
        let alike = [('\'', "‘’".to_owned()), ('-', "–".to_owned())].into();
        let matcher = Matcher { fold: fold.to_vec(), alike, ..Matcher::default() };
        let view = View::of_file(source.as_bytes(), &Folding::of(&matcher));
        assert_eq!(String::from_utf8_lossy(view.text()), folded);
        let at = folded.find(piece).unwrap();
        assert_eq!(&source[view.source_of(&(at..at + piece.len()))], from);
    }

    #[test]
    fn a_piece_of_the_view_leads_back() {
        check("it’s – a", &[], "it's - a", "'s -", "’s –");
        check("a\r\nb\r\nc", &[Fold::Endings], "a\nb\nc\n", "\nb\n", "\r\nb\r\n");
        check("a\r\nb", &[Fold::Endings], "a\nb\n", "b\n", "b");
        check("a  \n b\t\n", &[Fold::Trailing], "a\n b\n", "a\n b", "a  \n b");
        check(
            "\tif\n\t\tx \n",
            &[Fold::Trailing, Fold::Indentation],
            "if\nx\n",
            "if\nx",
            "if\n\t\tx",
        );
        check("技’術", &[], "技'術", "'", "’");
        check("a  =\t1\n", &[Fold::Blanks], "a = 1\n", "= 1", "=\t1");
        check("a\n\n \nb\n", &[Fold::BlankLines], "a\nb\n", "a\nb", "a\n\n \nb");
    }
}
