//! Takes a command's arguments apart by what the spec says of its options: bundles, glued values, abbreviations.

use crate::shell::Word;
use crate::spec::Options;

/// A command's arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    /// Options in order: single letters, and long names in full.
    pub(super) flags: Vec<String>,
    /// Options with their values.
    pub(super) values: Vec<(String, Word)>,
    /// Everything else.
    pub(super) operands: Vec<Word>,
    /// Options as they were typed, beside their names.
    pub(super) typed: Vec<(String, String)>,
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
}

impl<'s> Known<'s> {
    /// Returns what a wrapper's or an unknown program's grammar says.
    pub(super) fn only(options: &'s Options) -> Known<'s> {
        Known { options, valued: [&[], &[]], risky: &[], signal: false }
    }

    fn takes_value(&self, name: &str) -> bool {
        contains(&self.options.value, name) || self.valued.iter().any(|list| contains(list, name))
    }

    /// Returns whether the grammar names the option.
    pub(super) fn names(&self, name: &str) -> bool {
        let letter = name.chars().count() == 1 && self.options.letters.contains(name);
        letter || self.all().any(|known| known == name)
    }

    fn all(&self) -> impl Iterator<Item = &'s str> {
        let Options { names, value, maybe, .. } = self.options;
        let [first, second] = self.valued;
        let lists = [names.as_slice(), value, maybe, first, second, self.risky];
        lists.into_iter().flatten().map(String::as_str)
    }

    /// Returns the full name of a long option: an abbreviation that fits a dangerous one is taken for it.
    fn full(&self, typed: &str) -> String {
        if typed.is_empty() || self.names(typed) {
            return typed.to_string();
        }
        let fits = |name: &&str| name.len() > 1 && name.starts_with(typed);
        let risky = self.risky.iter().map(String::as_str).find(|name| fits(name));
        risky.or_else(|| self.all().find(fits)).unwrap_or(typed).to_string()
    }
}

fn contains(list: &[String], name: &str) -> bool {
    list.iter().any(|each| each == name)
}

/// Takes the words behind a program's name apart.
pub(super) fn arguments(known: Known<'_>, words: &[Word]) -> Arguments {
    let mut found = Arguments::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        let single = known.options.single_dash;
        if text == "--" && !single {
            found.operands.extend(words.get(at..).unwrap_or_default().iter().cloned());
            break;
        } else if known.signal && is_target(text, &found) {
            found.operands.push(word.clone());
        } else if let Some(long) = text.strip_prefix("--").filter(|long| !long.is_empty()) {
            at += long_option(known, word, long, 2, words.get(at), &mut found);
        } else if let Some(long) = text.strip_prefix('-').filter(|long| single && !long.is_empty())
        {
            at += long_option(known, word, long, 1, words.get(at), &mut found);
        } else if text.len() > 1 && text.starts_with('-') {
            at += letters(known, word, words.get(at), &mut found);
        } else {
            found.operands.push(word.clone());
            if known.options.stop {
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
    number && !found.flags.is_empty()
}

/// Reads one long option; returns how many words its value takes beyond its own.
fn long_option(
    known: Known<'_>,
    word: &Word,
    long: &str,
    dashes: usize,
    next: Option<&Word>,
    found: &mut Arguments,
) -> usize {
    let (typed, glued) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
    let name = known.full(typed);
    found.typed.push((name.clone(), word.text.clone()));
    found.flags.push(name.clone());
    if glued {
        found.values.push((name, word.skip(dashes + typed.len() + 1)));
        return 0;
    }
    match next.filter(|_| known.takes_value(&name)) {
        Some(value) => {
            found.values.push((name, value.clone()));
            1
        }
        None => 0,
    }
}

/// Reads a bundle of letters; returns how many words a value takes beyond its own.
fn letters(known: Known<'_>, word: &Word, next: Option<&Word>, found: &mut Arguments) -> usize {
    let text = word.text.as_str();
    for (at, letter) in text.char_indices().skip(1) {
        let name = letter.to_string();
        found.typed.push((name.clone(), word.text.clone()));
        found.flags.push(name.clone());
        let rest = at + letter.len_utf8();
        let glued = rest < text.len();
        if known.takes_value(&name) || (glued && contains(&known.options.maybe, &name)) {
            if glued {
                found.values.push((name, word.skip(rest)));
                return 0;
            }
            if let Some(value) = next {
                found.values.push((name, value.clone()));
            }
            return usize::from(next.is_some());
        }
    }
    0
}

impl Arguments {
    /// Returns whether one of the options stands here.
    pub(super) fn has(&self, names: &[String]) -> bool {
        self.flags.iter().any(|flag| contains(names, flag))
    }
}
