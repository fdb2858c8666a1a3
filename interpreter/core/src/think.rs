//! Splits reasoning written between inline tags from the answer, piece by piece. It keeps at most one tag's length of text.

use crate::prose::Prose;
use memchr::memchr2;

/// A piece of a reply, told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Answer.
    Text(&'a str),
    /// Reasoning.
    Reasoning(&'a str),
}

/// A splitter for one reply.
///
/// An opening tag counts only at the start of the reply or of a line and outside fenced blocks, because prose may speak about
/// tags. Inside, tags of the same name are counted and dropped. A closing tag that begins the reply closes nothing and is
/// dropped. Blanks directly after a tag are dropped.
#[derive(Debug)]
pub struct Splitter<'t> {
    tags: &'t [String],
    /// What may be the beginning of a tag.
    held: String,
    depth: usize,
    /// The name that opened; none while the template opened and the reply has not said the name.
    name: Option<usize>,
    prose: Prose,
    /// Blanks are dropped until something else comes.
    trim: bool,
}

enum Tag {
    Open(usize, usize),
    Close(usize, usize),
    Half,
    No,
}

impl<'t> Splitter<'t> {
    /// Returns a splitter for `tags` (names without angle brackets, in any case, or in square ones, as written);
    /// `opens_inside` when the prompt already opened one.
    pub fn new(tags: &'t [String], opens_inside: bool) -> Splitter<'t> {
        let depth = usize::from(opens_inside && !tags.is_empty());
        let (held, prose) = (String::new(), Prose::new());
        Splitter { tags, held, depth, name: None, prose, trim: depth > 0 }
    }

    /// Says that the server parts the reasoning itself, so that the text does not begin inside a tag after all.
    pub fn parted_by_server(&mut self) {
        if self.prose.fresh() {
            self.depth = 0;
        }
    }

    /// Takes the next piece and hands on what is certain.
    pub fn push(&mut self, piece: &str, out: &mut dyn FnMut(Piece<'_>)) {
        if self.held.is_empty() {
            self.scan(piece, false, out);
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.push_str(piece);
            self.scan(&all, false, out);
        }
    }

    /// Hands on what was held back; the reply has ended.
    pub fn end(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.scan(&held, true, out);
    }

    fn scan(&mut self, all: &str, last: bool, out: &mut dyn FnMut(Piece<'_>)) {
        let (mut from, mut at) = (0, 0);
        while let Some(found) = all.get(at..).and_then(|rest| memchr2(b'<', b'[', rest.as_bytes()))
        {
            self.prose.see(all.get(at..at + found).unwrap_or_default());
            at += found;
            match self.tag(all.get(at..).unwrap_or_default()) {
                Tag::Half if !last => {
                    self.emit(all.get(from..at).unwrap_or_default(), out);
                    self.held.push_str(all.get(at..).unwrap_or_default());
                    return;
                }
                Tag::Open(name, length) => {
                    self.emit(all.get(from..at).unwrap_or_default(), out);
                    self.open(name);
                    at += length;
                    from = at;
                }
                Tag::Close(name, length) => {
                    self.emit(all.get(from..at).unwrap_or_default(), out);
                    self.close(name);
                    at += length;
                    from = at;
                }
                Tag::Half | Tag::No => {
                    self.prose.see(all.get(at..at + 1).unwrap_or_default());
                    at += 1;
                }
            }
        }
        self.prose.see(all.get(at..).unwrap_or_default());
        self.emit(all.get(from..).unwrap_or_default(), out);
    }

    fn open(&mut self, name: usize) {
        let repeats_the_template = self.depth == 1 && self.name.is_none() && self.prose.fresh();
        self.depth = if repeats_the_template { 1 } else { self.depth + 1 };
        self.name.get_or_insert(name);
        self.prose.begin_line();
        self.trim |= self.depth == 1;
    }

    fn close(&mut self, name: usize) {
        self.name.get_or_insert(name);
        self.prose.begin_line();
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            (self.name, self.trim) = (None, true);
        }
    }

    /// Which tag `rest`, which begins with a bracket, begins with, as far as it counts here.
    fn tag(&self, rest: &str) -> Tag {
        let inside = self.depth > 0;
        if !inside && !self.prose.mark_counts() {
            return Tag::No;
        }
        let closes = inside || self.prose.fresh();
        let mut half = false;
        for (i, name) in self.tags.iter().enumerate() {
            if inside && self.name.is_some_and(|open| open != i) {
                continue;
            }
            match matching(rest, "", name) {
                Some(Some(length)) => return Tag::Open(i, length),
                Some(None) => half = true,
                None => {}
            }
            match matching(rest, "/", name).filter(|_| closes) {
                Some(Some(length)) => return Tag::Close(i, length),
                Some(None) => half = true,
                None => {}
            }
        }
        if half { Tag::Half } else { Tag::No }
    }

    fn emit(&mut self, text: &str, out: &mut dyn FnMut(Piece<'_>)) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        out(if self.depth > 0 { Piece::Reasoning(text) } else { Piece::Text(text) });
    }
}

/// Whether `rest` begins with the tag (its length), could become it (nothing), or neither. `slash` is that of a closing tag.
fn matching(rest: &str, slash: &str, name: &str) -> Option<Option<usize>> {
    let square = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let (open, inner, close) = square.map_or(("<", name, ">"), |inner| ("[", inner, "]"));
    let length = open.len() + slash.len() + inner.len() + close.len();
    let tag = [open, slash, inner, close].into_iter().flat_map(str::bytes);
    let same = |(want, got): (u8, u8)| {
        want == got || (square.is_none() && want.eq_ignore_ascii_case(&got))
    };
    tag.zip(rest.bytes()).all(same).then_some((rest.len() >= length).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::{Piece, Splitter};
    use proptest::prelude::*;

    fn tags() -> Vec<String> {
        ["think", "thinking", "thought", "reasoning"].map(String::from).to_vec()
    }

    /// What came in order, and the answer and the reasoning it amounts to.
    fn split(pieces: &[&str], inside: bool) -> (String, (String, String)) {
        let (tags, mut all, mut text, mut reasoning) =
            (tags(), String::new(), String::new(), String::new());
        let mut splitter = Splitter::new(&tags, inside);
        let mut keep = |piece: Piece<'_>| {
            let (into, piece) = match piece {
                Piece::Text(piece) => (&mut text, piece),
                Piece::Reasoning(piece) => (&mut reasoning, piece),
            };
            into.push_str(piece);
            all.push_str(piece);
        };
        pieces.iter().for_each(|piece| splitter.push(piece, &mut keep));
        splitter.end(&mut keep);
        (all, (text, reasoning))
    }

    /// A text without blanks and tags, and without the tags that this brings together, until there are none.
    fn solid(text: &str) -> String {
        let names = tags();
        let tags = names.iter().flat_map(|name| [format!("<{name}>"), format!("</{name}>")]);
        let tags: Vec<String> = tags.collect();
        let mut text: String = text.chars().filter(|sign| !sign.is_whitespace()).collect();
        while let Some(tag) = tags.iter().find(|tag| text.contains(*tag)) {
            text = text.replace(tag, "");
        }
        text
    }

    proptest! {
        #[test]
        fn any_cut_splits_the_same(parts in prop::collection::vec(prop::sample::select(vec!["<think>", "</think>", "</thinking>", "<thought>",
            "<", "</", "th", "ink>", "\n", " ", "é", "a", "`", "```"]), 0..24), cuts in prop::collection::vec(0usize..200, 0..8), inside: bool) {
            let whole: String = parts.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (whole.len() + 1)).filter(|cut| whole.is_char_boundary(*cut)).collect();
            cuts.extend([0, whole.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
            let (all, split_at_once) = split(&[&whole], inside);
            prop_assert_eq!(split(&pieces, inside).1, split_at_once);
            prop_assert_eq!(solid(&all), solid(&whole), "lost or doubled");
        }
    }

    #[test]
    fn reasoning_parted_by_the_server_means_the_text_is_text() {
        let tags = tags();
        let mut splitter = Splitter::new(&tags, true);
        splitter.parted_by_server();
        let mut got = Vec::new();
        splitter.push("answer", &mut |piece| got.push(format!("{piece:?}")));
        assert_eq!(got, [r#"Text("answer")"#]);
    }

    #[test]
    fn no_more_than_a_tag_is_held_back() {
        let tags = tags();
        let mut splitter = Splitter::new(&tags, false);
        let mut seen = 0;
        for _ in 0..1000 {
            splitter.push("<reasonin", &mut |piece| {
                if let Piece::Text(text) = piece {
                    seen += text.len()
                }
            });
            assert!(splitter.held.len() < "</reasoning>".len());
        }
        assert!(seen > 8000);
    }
}
