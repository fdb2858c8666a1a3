//! The ids of calls as a wire takes them: those of another provider may be too long, hold odd letters or be there twice, and one
//! that is refused would be refused on every request. An id depends only on what stands before it.

use super::{Ask, request_facts};
use crate::quirk;
use crate::spec::{Action, Dialect, Fix, Rule};
use lembas_codegen::when::Pattern;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The lengths that ids made here may have; the first that the wire takes is used.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=24;
/// What ids made here consist of.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ids of one conversation.
pub(super) struct Ids {
    pattern: Option<Pattern>,
    given: HashSet<String>,
    /// How often an id was made anew.
    made: HashMap<String, u64>,
}

impl Ids {
    /// Returns the ids that a dialect, or a quirk of the server, takes.
    pub(super) fn new(rules: &[Rule], dialect: &Dialect, ask: &Ask<'_>) -> Ids {
        let facts = request_facts(dialect, ask);
        let of_server =
            quirk::hits(rules, "request", &facts).find_map(|(_, action)| match action {
                Action::CallIds(pattern) => Some(pattern),
                _ => None,
            });
        let strict = ask.mending.repairs.has(Fix::ToolIds);
        let strict = strict.then(|| ask.mending.limits.call_ids.clone());
        let pattern = strict.or(of_server).or_else(|| dialect.request.call_ids.clone());
        Ids {
            pattern: pattern.and_then(|text| Pattern::new(&text).ok()),
            given: HashSet::new(),
            made: HashMap::new(),
        }
    }

    /// Returns what a call's id is on the wire.
    pub(super) fn next<'i>(&mut self, id: &'i str) -> Cow<'i, str> {
        if self.fits(id) && self.given.insert(id.into()) {
            return Cow::Borrowed(id);
        }
        let longest = LENGTHS.rev().find(|length| self.fits(&made(id, 0, *length)));
        let length = longest.unwrap_or(*LENGTHS.end());
        let salt = self.made.entry(id.into()).or_default();
        let mut fresh =
            (*salt..).inspect(|next| *salt = next + 1).map(|salt| made(id, salt, length));
        Cow::Owned(fresh.find(|made| self.given.insert(made.clone())).unwrap_or_default())
    }

    fn fits(&self, id: &str) -> bool {
        let regex = self.pattern.as_ref().and_then(Pattern::regex);
        !id.is_empty() && regex.is_none_or(|regex| regex.is_match(id))
    }
}

/// Makes a word of letters and digits from a text: the same from the same, and hardly ever the same from others.
pub(super) fn made(id: &str, salt: u64, length: usize) -> String {
    const PRIME: u64 = 0x0100_0000_01b3;
    let seed = 0xcbf2_9ce4_8422_2325 ^ salt.wrapping_mul(PRIME);
    let mut state =
        id.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let mut letter = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        LETTERS.get(((mixed ^ (mixed >> 31)) % 62) as usize).copied().map_or('0', char::from)
    };
    (0..length).map(|_| letter()).collect()
}
