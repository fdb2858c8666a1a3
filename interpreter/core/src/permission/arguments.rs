//! Takes a command's arguments apart by what the spec says of its options: bundles, glued values, abbreviations.

use crate::shell::{Piece, Word};
use crate::spec::Options;
use compact_str::{CompactString, ToCompactString};

/// A command's arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    /// Options with their values.
    pub(super) values: Vec<(CompactString, Word)>,
    /// Everything else.
    pub(super) operands: Vec<Word>,
    /// Options in order: single letters, and long names in full, with the words they were typed in.
    pub(super) typed: Vec<(CompactString, Word)>,
    /// Words that may turn out to be options, or to be several words: the line does not say what they begin with.
    pub(super) unsure: Vec<CompactString>,
}

/// The options a program knows: those of the grammar, and lists that only say more about some of them.
#[derive(Clone, Copy)]
pub(super) struct Known<'s> {
    pub(super) options: &'s Options,
    /// More options that take a value.
    pub(super) valued: [&'s [String]; 2],
    /// More options, of which the danger is known.
    pub(super) risky: &'s [String],
    /// The first dashed word is a signal; later dashed numbers are operands.
    pub(super) signal: bool,
    /// Three capitals or more behind a dash are a signal's name.
    pub(super) signals: bool,
    /// Options end at the first operand.
    pub(super) stop: bool,
}

impl<'s> Known<'s> {
    /// Returns what a wrapper's or an unknown program's grammar says.
    pub(super) fn only(options: &'s Options) -> Known<'s> {
        Known {
            options,
            valued: [&[], &[]],
            risky: &[],
            signal: false,
            signals: false,
            stop: options.stop,
        }
    }

    fn takes_value(&self, name: &str) -> bool {
        contains(&self.options.value, name) || self.valued.iter().any(|list| contains(list, name))
    }

    /// Returns whether the grammar names the option.
    pub(super) fn names(&self, name: &str) -> bool {
        let letter = name.chars().count() == 1 && self.options.letters.contains(name);
        letter
            || self.lists().iter().any(|list| contains(list, name))
            || self.options.apart.contains_key(name)
    }

    fn lists(&self) -> [&'s [String]; 6] {
        let Options { names, value, maybe, .. } = self.options;
        let [first, second] = self.valued;
        [names, value, maybe, first, second, self.risky]
    }

    fn all(&self) -> impl Iterator<Item = &'s str> {
        let apart = self.options.apart.keys().map(String::as_str);
        self.lists().into_iter().flatten().map(String::as_str).chain(apart)
    }

    /// Returns the full name of a long option: an abbreviation that fits a dangerous one is taken for it, and one that
    /// fits an option without a value rather for that, so that no word behind it is hidden.
    fn full(&self, typed: &str) -> CompactString {
        if typed.is_empty() || self.names(typed) {
            return typed.into();
        }
        let fits = |name: &&str| name.len() > 1 && name.starts_with(typed);
        let risky = self.risky.iter().map(String::as_str).find(|name| fits(name));
        let plain = || self.all().find(|name| fits(name) && self.apart(name) == 0);
        risky.or_else(plain).or_else(|| self.all().find(fits)).unwrap_or(typed).into()
    }

    /// Returns how many of the next words are values of an option without a glued one.
    fn apart(&self, name: &str) -> usize {
        let one = usize::from(self.takes_value(name));
        self.options.apart.get(name).copied().unwrap_or(one)
    }
}

/// Returns whether a name stands in a list of the spec.
pub(super) fn contains(list: &[String], name: &str) -> bool {
    // Most are told by their length or first sign.
    let first = name.bytes().next();
    list.iter().any(|each| each.bytes().next() == first && each == name)
}

/// Takes the words behind a program's name apart.
pub(super) fn arguments(known: Known<'_>, words: &[Word]) -> Arguments {
    let operands = Vec::with_capacity(words.len());
    let mut found = Arguments { operands, ..Arguments::default() };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if may_split(word) {
            found.unsure.push(word.text.clone());
        }
        let text = word.text.as_str();
        let single = known.options.single_dash;
        if known.options.bundle && at == 1 && !text.starts_with('-') {
            at += bundle(known, word, words.get(at..), &mut found);
        } else if text == "--" && !single {
            found.operands.extend(words.get(at..).unwrap_or_default().iter().cloned());
            break;
        } else if known.signal && is_target(text, &found) {
            found.operands.push(word.clone());
        } else if let Some(long) = text.strip_prefix("--").filter(|long| !long.is_empty()) {
            at += long_option(known, word, (long, 2), words.get(at..), &mut found);
        } else if let Some(long) = text.strip_prefix('-').filter(|long| single && !long.is_empty())
        {
            at += long_option(known, word, (long, 1), words.get(at..), &mut found);
        } else if known.signals && is_signal(text) {
            found.option(&SIGNAL.into(), word);
            found.values.push((SIGNAL.into(), word.skip(1)));
        } else if text.len() > 1 && text.starts_with('-') {
            at += letters(known, word, words.get(at..), &mut found);
        } else {
            if is_unsure(word) && !may_split(word) {
                found.unsure.push(word.text.clone());
            }
            found.operands.push(word.clone());
            if known.stop {
                found.operands.extend(words.get(at..).unwrap_or_default().iter().cloned());
                break;
            }
        }
    }
    found
}

/// Returns whether a dashed number is whom to signal rather than the signal.
fn is_target(text: &str, found: &Arguments) -> bool {
    let number = text.strip_prefix('-').is_some_and(|rest| rest.parse::<u32>().is_ok());
    number && !found.typed.is_empty()
}

/// What a signal's name behind a dash is told as.
const SIGNAL: &str = "signal";

/// Returns whether a word is a signal's name behind a dash.
fn is_signal(text: &str) -> bool {
    let name = text.strip_prefix('-').unwrap_or_default();
    let letters = name.chars().take_while(char::is_ascii_uppercase).count();
    letters > 2 && name.chars().skip(letters).all(|sign| sign.is_ascii_digit())
}

/// Returns whether a part of a word is known only when the line runs. The person's own directories never are.
fn is_hidden(piece: &Piece) -> bool {
    match piece {
        Piece::Text(_) | Piece::Glob(_) | Piece::Tilde(_) => false,
        Piece::Variable(name) => !matches!(name.as_str(), "HOME" | "PWD"),
        Piece::Doubt | Piece::Hidden(..) => true,
    }
}

fn values(word: &Word) -> impl Iterator<Item = &Vec<Piece>> {
    std::iter::once(&word.pieces).chain(&word.also)
}

/// Returns whether only running the line tells what a word begins with.
fn is_unsure(word: &Word) -> bool {
    let says = |piece: &&Piece| !matches!(piece, Piece::Text(text) if text.is_empty());
    values(word).filter_map(|value| value.iter().find(says)).any(is_hidden)
}

/// Returns whether a word may become several: something hidden stands in it without quotes.
fn may_split(word: &Word) -> bool {
    !word.quoted && values(word).flatten().any(is_hidden)
}

/// Takes so many words as values of an option and returns how many there were; the last is the one that counts.
fn take(name: &str, count: usize, next: &[Word], found: &mut Arguments) -> usize {
    let values = next.get(..count.min(next.len())).unwrap_or_default();
    found.unsure.extend(values.iter().filter(|word| may_split(word)).map(|word| word.text.clone()));
    if let Some(last) = values.last() {
        found.values.push((name.into(), last.clone()));
    }
    values.len()
}

/// Reads one long option behind so many dashes; returns how many words its values take beyond its own.
fn long_option(
    known: Known<'_>,
    word: &Word,
    (long, dashes): (&str, usize),
    next: Option<&[Word]>,
    found: &mut Arguments,
) -> usize {
    let (typed, glued) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
    let name = known.full(typed);
    found.option(&name, word);
    if glued {
        found.values.push((name, word.skip(dashes + typed.len() + 1)));
        return 0;
    }
    take(&name, known.apart(&name), next.unwrap_or_default(), found)
}

/// Reads a bundle of letters; returns how many words values take beyond its own.
fn letters(known: Known<'_>, word: &Word, next: Option<&[Word]>, found: &mut Arguments) -> usize {
    let text = word.text.as_str();
    let next = next.unwrap_or_default();
    let mut taken = 0;
    for (at, letter) in text.char_indices().skip(1) {
        let name = letter.to_compact_string();
        found.option(&name, word);
        let rest = at + letter.len_utf8();
        let glued = rest < text.len();
        let behind = next.get(taken..).unwrap_or_default();
        if let Some(count) = known.options.apart.get(name.as_str()) {
            taken += take(&name, *count, behind, found);
        } else if glued && (known.takes_value(&name) || contains(&known.options.maybe, &name)) {
            found.values.push((name, word.skip(rest)));
            return taken;
        } else {
            taken += take(&name, known.apart(&name), behind, found);
        }
    }
    taken
}

/// Reads a bundle without a dash; returns how many words values take behind it.
fn bundle(known: Known<'_>, word: &Word, next: Option<&[Word]>, found: &mut Arguments) -> usize {
    let mut taken = 0;
    for letter in word.text.chars() {
        let name = letter.to_compact_string();
        found.option(&name, word);
        let behind = next.and_then(|next| next.get(taken..)).unwrap_or_default();
        taken += take(&name, known.apart(&name), behind, found);
    }
    taken
}

impl Arguments {
    /// Notes an option and the word it was typed in.
    fn option(&mut self, name: &CompactString, word: &Word) {
        self.typed.push((name.clone(), word.clone()));
    }

    /// Returns the options in order.
    pub(super) fn flags(&self) -> impl ExactSizeIterator<Item = &CompactString> {
        self.typed.iter().map(|(name, _)| name)
    }

    /// Returns whether one of the options stands here.
    pub(super) fn has(&self, names: &[String]) -> bool {
        self.flags().any(|flag| contains(names, flag))
    }
}
