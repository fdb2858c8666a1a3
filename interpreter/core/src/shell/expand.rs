//! Makes words of a word's parts: braces multiplied out, values of the line's own variables put in and split.

use super::reader::Out;
use super::variables::Values;
use super::{Parts, Piece, Unseen, Word};
use foldhash::fast::RandomState;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::LazyLock;

/// One state for all: words are compared by their hashes.
static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// A part of a word before expansion.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Atom {
    Piece(Piece),
    /// Unquoted `{`, `,` and `}`.
    Open,
    Comma,
    Close,
    /// An unquoted `$IFS`: the word splits here.
    Space,
    /// A variable's values; split at blanks unless quoted.
    Splice(Values, bool),
    /// The elements of an array, a word each; split at blanks unless quoted.
    Fields(Values, bool),
}

/// The parts of one word in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Atoms {
    list: Vec<Atom>,
    pub(super) quoted: bool,
    /// An unquoted `{` stands in it.
    pub(super) opened: bool,
}

impl Atoms {
    pub(super) fn push(&mut self, piece: Piece) {
        self.list.push(Atom::Piece(piece));
    }

    pub(super) fn mark(&mut self, atom: Atom) {
        self.list.push(atom);
    }

    /// Notes an unquoted `{`. Braces go before variables: in `$x{a,b}` the names are `xa` and `xb`.
    pub(super) fn open(&mut self) {
        let behind_value = |atom: &Atom| {
            !matches!(
                atom,
                Atom::Piece(Piece::Text(_) | Piece::Glob(_))
                    | Atom::Comma
                    | Atom::Close
                    | Atom::Open
            )
        };
        if self.list.last().is_some_and(behind_value) {
            self.push(Piece::Doubt);
        }
        self.list.push(Atom::Open);
        self.opened = true;
    }

    pub(super) fn space(&mut self) {
        self.list.push(Atom::Space);
    }

    pub(super) fn sign(&mut self, sign: char) {
        self.text(sign.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn text(&mut self, text: &str) {
        match self.list.last_mut() {
            Some(Atom::Piece(Piece::Text(last))) => last.push_str(text),
            _ => self.push(Piece::Text(text.into())),
        }
    }

    /// Puts a variable's values in; returns false if that would be more than the limit.
    pub(super) fn splice(&mut self, values: Values, quoted: bool, out: &mut Out) -> bool {
        let fits = charge(out, values.iter().flatten().map(size).sum());
        if fits {
            self.list.push(Atom::Splice(values, quoted));
        }
        fits
    }

    /// Puts the elements of an array in; returns false if that would be more than the limit.
    pub(super) fn splice_fields(&mut self, fields: Values, quoted: bool, out: &mut Out) -> bool {
        let fits = charge(out, fields.len() + fields.iter().flatten().map(size).sum::<usize>());
        if fits {
            self.list.push(Atom::Fields(fields, quoted));
        }
        fits
    }

    /// Returns the pieces, those of values included.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.list.iter().flat_map(|atom| match atom {
            Atom::Piece(piece) => std::slice::from_ref(piece).iter().chain(&[]),
            Atom::Splice(values, _) => {
                [].iter().chain(values.first().map(Vec::as_slice).unwrap_or_default())
            }
            Atom::Fields(fields, _) => {
                [].iter().chain(fields.first().map(Vec::as_slice).unwrap_or_default())
            }
            _ => [].iter().chain(&[]),
        })
    }
}

pub(super) fn size(piece: &Piece) -> usize {
    1 + match piece {
        Piece::Text(text)
        | Piece::Glob(text)
        | Piece::Tilde(text)
        | Piece::Variable(text)
        | Piece::Hidden(_, text) => text.len(),
        Piece::Doubt => 0,
    }
}

/// Returns how many bytes may still be expanded.
pub(super) fn left(out: &Out) -> usize {
    out.limits.max_expanded.saturating_sub(out.expanded)
}

/// Takes `bytes` off what may still be expanded; false if there is not that much left.
pub(super) fn charge(out: &mut Out, bytes: usize) -> bool {
    out.expanded = out.expanded.saturating_add(bytes);
    let fits = out.expanded <= out.limits.max_expanded;
    if !fits {
        out.unseen(Unseen::TooLarge);
    }
    fits
}

/// Adds the words that the parts of one word become.
pub(super) fn words(atoms: Atoms, out: &mut Out, words: &mut Vec<Word>) {
    let quoted = atoms.quoted;
    if !atoms.opened {
        return counted(atoms.list, quoted, out, words);
    }
    for list in braces(&atoms.list, out) {
        counted(list, quoted, out, words);
    }
}

/// Adds the word that a text is in which no sign means anything.
pub(super) fn plain(text: &str, out: &mut Out, words: &mut Vec<Word>) {
    if one_more(out) {
        words.push(finish(vec![Piece::Text(text.into())], Vec::new(), false));
    }
}

/// Counts one more word; false if there are too many.
fn one_more(out: &mut Out) -> bool {
    out.words += 1;
    let fits = out.words <= out.limits.max_words;
    if !fits {
        out.unseen(Unseen::TooLarge);
    }
    fits
}

fn counted(list: Vec<Atom>, quoted: bool, out: &mut Out, words: &mut Vec<Word>) {
    if !one_more(out) {
        return;
    }
    match <[Atom; 1]>::try_from(list) {
        // Most words are one text.
        Ok([Atom::Piece(piece)]) if quoted || says(&piece) => {
            words.push(finish(vec![piece], Vec::new(), quoted));
        }
        Ok(one) => assemble(one, quoted, words),
        Err(list) => assemble(list, quoted, words),
    }
}

/// Returns whether a piece makes a word, without quotes too.
fn says(piece: &Piece) -> bool {
    match piece {
        Piece::Doubt => false,
        Piece::Text(text) => !text.is_empty(),
        _ => true,
    }
}

/// Returns the parts as one word, whatever they hold.
pub(super) fn single(atoms: Atoms, _: &mut Out) -> Word {
    let mut word = Assembly::default();
    for atom in atoms.list {
        match atom {
            Atom::Splice(values, _) => word.add_values(&values, true),
            Atom::Fields(fields, _) => {
                word.add_values(&vec![joined(&fields)], true);
            }
            other => word.add(other),
        }
    }
    word.take(atoms.quoted)
}

fn assemble(list: impl IntoIterator<Item = Atom>, quoted: bool, words: &mut Vec<Word>) {
    let before = words.len();
    let mut word = Assembly::default();
    let mut vanishes = false;
    for atom in list {
        match atom {
            Atom::Fields(fields, whole) => {
                vanishes |= fields.is_empty();
                add_fields(fields, whole, &mut word, words);
            }
            Atom::Space if word.begun => words.push(word.take(quoted)),
            Atom::Space => {}
            Atom::Splice(values, false) if values.len() == 1 => {
                for piece in values.into_iter().flatten() {
                    split(piece, &mut word, words, quoted);
                }
            }
            Atom::Splice(values, quoted) => word.add_values(&values, quoted),
            other => word.add(other),
        }
    }
    if word.begun || (quoted && words.len() == before && !vanishes) {
        words.push(word.take(quoted));
    }
}

/// Adds the elements of an array, each of which but the first begins a word.
fn add_fields(fields: Values, whole: bool, word: &mut Assembly, words: &mut Vec<Word>) {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 && word.begun {
            words.push(word.take(whole));
        }
        for piece in field {
            match whole {
                true => word.add(Atom::Piece(piece)),
                false => split(piece, word, words, false),
            }
        }
        word.begun |= whole;
    }
}

/// Returns the elements of an array as one value, as `"${a[*]}"` gives them.
pub(super) fn joined(fields: &Values) -> Vec<Piece> {
    let blank = [Piece::Text(" ".into())];
    let each: Vec<&[Piece]> = fields.iter().map(Vec::as_slice).collect();
    each.join(blank.as_slice())
}

/// Returns the words that unquoted pieces become.
pub(super) fn unquoted(pieces: &[Piece]) -> Vec<Word> {
    let (mut word, mut words) = (Assembly::default(), Vec::new());
    pieces.iter().for_each(|piece| split(piece.clone(), &mut word, &mut words, false));
    if word.begun {
        words.push(word.take(false));
    }
    words
}

/// Adds a piece of an unquoted value: blanks end a word, glob signs count.
fn split(piece: Piece, word: &mut Assembly, words: &mut Vec<Word>, quoted: bool) {
    let Piece::Text(text) = piece else { return word.add(Atom::Piece(piece)) };
    let mut parts = text.split([' ', '\t', '\n']).peekable();
    while let Some(part) = parts.next() {
        word.add_globs(part);
        if parts.peek().is_some() && word.begun {
            words.push(word.take(quoted));
        }
    }
}

/// A word being put together, with its other values beside it.
#[derive(Default)]
struct Assembly {
    pieces: Vec<Piece>,
    also: Vec<Vec<Piece>>,
    begun: bool,
}

impl Assembly {
    fn add(&mut self, atom: Atom) {
        let piece = match atom {
            Atom::Piece(piece) => piece,
            Atom::Open => Piece::Text("{".into()),
            Atom::Comma => Piece::Text(",".into()),
            Atom::Close => Piece::Text("}".into()),
            Atom::Space => Piece::Text(" ".into()),
            Atom::Splice(values, quoted) => return self.add_values(&values, quoted),
            Atom::Fields(fields, quoted) => return self.add_values(&vec![joined(&fields)], quoted),
        };
        self.begun |= says(&piece);
        for variant in &mut self.also {
            push(variant, piece.clone());
        }
        push(&mut self.pieces, piece);
    }

    fn add_globs(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '[']) {
            let (before, from) = rest.split_at(at);
            let (sign, after) = from.split_at(1);
            self.add(Atom::Piece(Piece::Text(before.into())));
            self.add(Atom::Piece(Piece::Glob(sign.into())));
            rest = after;
        }
        self.add(Atom::Piece(Piece::Text(rest.into())));
    }

    /// Adds values that are not split; one that a blank would split is only likely.
    fn add_values(&mut self, values: &Values, quoted: bool) {
        let Some((first, others)) = values.split_first() else { return };
        while self.also.len() < others.len() {
            self.also.push(self.pieces.clone());
        }
        for (index, variant) in self.also.iter_mut().enumerate() {
            let value = others.get(index).unwrap_or(first);
            value.iter().for_each(|piece| push(variant, piece.clone()));
        }
        first.iter().for_each(|piece| push(&mut self.pieces, piece.clone()));
        let splits = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains([' ', '\t', '\n', '*', '?', '[']));
        if !quoted && values.iter().flatten().any(splits) {
            self.pieces.push(Piece::Doubt);
        }
        self.begun = true;
    }

    fn take(&mut self, quoted: bool) -> Word {
        let also = std::mem::take(&mut self.also);
        self.begun = false;
        finish(std::mem::take(&mut self.pieces), also, quoted)
    }
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(last)), Piece::Text(more)) => last.push_str(&more),
        (Some(Piece::Doubt), Piece::Doubt) => {}
        (_, piece) => pieces.push(piece),
    }
}

/// Returns the word of these pieces and other values.
pub(super) fn finish(pieces: Vec<Piece>, also: Vec<Vec<Piece>>, quoted: bool) -> Word {
    let text = match pieces.as_slice() {
        [Piece::Text(text)] => text.clone(),
        pieces => Piece::written(pieces),
    };
    let hash = HASH.hash_one(text.as_bytes());
    Word(Rc::new(Parts { pieces, also, text, quoted, hash }))
}

/// A brace's end, and the commas of its own level, by the position of the opening one.
struct Brace {
    close: usize,
    commas: Vec<usize>,
}

fn pair_braces(list: &[Atom], most: usize) -> Option<Vec<Option<Brace>>> {
    let mut pairs: Vec<Option<Brace>> = list.iter().map(|_| None).collect();
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, atom) in list.iter().enumerate() {
        match atom {
            Atom::Open => open.push((index, Vec::new())),
            Atom::Comma => open.last_mut().into_iter().for_each(|(_, commas)| commas.push(index)),
            Atom::Close => {
                if let Some((start, commas)) = open.pop() {
                    if open.len() >= most {
                        return None;
                    }
                    if let Some(slot) = pairs.get_mut(start) {
                        *slot = Some(Brace { close: index, commas });
                    }
                }
            }
            _ => {}
        }
    }
    Some(pairs)
}

fn braces(list: &[Atom], out: &mut Out) -> Vec<Vec<Atom>> {
    match pair_braces(list, out.limits.max_depth) {
        Some(pairs) => multiply(list, 0, list.len(), &pairs, out),
        None => {
            out.unseen(Unseen::TooDeep);
            vec![list.to_vec()]
        }
    }
}

/// Multiplies the braces of `list[from..to]` out. Recursion is as deep as braces nest, which `pair_braces` limits.
fn multiply(
    list: &[Atom],
    from: usize,
    to: usize,
    pairs: &[Option<Brace>],
    out: &mut Out,
) -> Vec<Vec<Atom>> {
    let mut results: Vec<Vec<Atom>> = vec![Vec::new()];
    let mut at = from;
    while at < to {
        let Some(atom) = list.get(at) else { break };
        let brace = pairs.get(at).and_then(Option::as_ref).filter(|brace| brace.close < to);
        match brace.and_then(|brace| {
            alternatives(list, at, brace, pairs, out).map(|found| (brace.close, found))
        }) {
            Some((close, found)) => {
                let bytes = results.len().saturating_mul(found.len());
                if out.words.saturating_add(bytes) > out.limits.max_words
                    || !charge(out, bytes * (to - from))
                {
                    out.unseen(Unseen::TooLarge);
                    return results;
                }
                results = results
                    .iter()
                    .flat_map(|left| {
                        found.iter().map(move |right| [left.as_slice(), right].concat())
                    })
                    .collect();
                at = close + 1;
            }
            None => {
                results.iter_mut().for_each(|result| result.push(atom.clone()));
                at += 1;
            }
        }
    }
    results
}

fn alternatives(
    list: &[Atom],
    open: usize,
    brace: &Brace,
    pairs: &[Option<Brace>],
    out: &mut Out,
) -> Option<Vec<Vec<Atom>>> {
    if brace.commas.is_empty() {
        let inner = list.get(open + 1..brace.close)?;
        return match inner {
            [Atom::Piece(Piece::Text(text))] => sequence(text, out.limits.max_words),
            _ => None,
        };
    }
    let mut found = Vec::new();
    let mut from = open + 1;
    for end in brace.commas.iter().copied().chain([brace.close]) {
        found.extend(multiply(list, from, end, pairs, out));
        from = end + 1;
    }
    Some(found)
}

/// Returns the words of `{1..5}`, `{a..e}` and `{1..9..2}`.
fn sequence(text: &str, most: usize) -> Option<Vec<Vec<Atom>>> {
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    let letters = |text: &str| {
        text.chars().next().filter(|sign| sign.is_ascii_alphabetic() && text.len() == 1)
    };
    let (from, to, is_letter) =
        match (first.parse::<i64>(), last.parse::<i64>(), letters(first), letters(last)) {
            (Ok(from), Ok(to), ..) => (from, to, false),
            (_, _, Some(from), Some(to)) => {
                (i64::from(u32::from(from)), i64::from(u32::from(to)), true)
            }
            _ => return None,
        };
    let count = usize::try_from(from.abs_diff(to) / step).ok()?.saturating_add(1);
    let step = i64::try_from(step).ok()? * if from <= to { 1 } else { -1 };
    let value = |index: usize| from.checked_add(i64::try_from(index).ok()?.checked_mul(step)?);
    let shown = |number: i64| match u8::try_from(number) {
        Ok(letter) if is_letter => char::from(letter).to_string(),
        _ => number.to_string(),
    };
    (0..count.min(most.saturating_add(1)))
        .map(|index| Some(vec![Atom::Piece(Piece::Text(shown(value(index)?).into()))]))
        .collect()
}
