//! Which item of a reply a frame is about. Gateways count items anew, make their ids anew or leave both out, so each question
//! here has an order: what cannot be chance comes first. It reads no frame and changes no item.

use super::item::Item;
use crate::spec::ItemRole;

/// What a frame says of the item it is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which<'a> {
    /// Its number by the server's count.
    pub(super) index: Option<u64>,
    /// Its id; empty for none.
    pub(super) id: &'a str,
    /// The id of the call that it is; empty for none.
    pub(super) call_id: &'a str,
}

impl Which<'_> {
    fn counts(&self, item: &Item) -> bool {
        self.index.is_some() && item.index == self.index
    }

    fn names(&self, item: &Item) -> bool {
        !self.id.is_empty() && item.id == self.id
    }

    /// How surely an item is meant; 0 where only its number or nothing says so. Two calls with ids of their own are not one,
    /// unless all else is the same.
    fn surely(&self, item: &Item) -> u8 {
        let (counts, names) = (self.counts(item), self.names(item));
        let calls = !self.call_id.is_empty() && self.call_id == item.call_id;
        match (calls, names) {
            (true, _) => 4 + u8::from(names) * 2 + u8::from(counts),
            (false, true) if counts || self.may_be(item) => 2 + u8::from(counts),
            _ => 0,
        }
    }

    /// Whether nothing says that an item is another.
    fn may_be(&self, item: &Item) -> bool {
        self.call_id.is_empty() || item.call_id.is_empty() || self.call_id == item.call_id
    }
}

/// Returns the item that a frame opens, when it is there already: told twice, or begun by pieces that came first.
pub(super) fn opened(open: &[Item], role: Option<ItemRole>, which: Which<'_>) -> Option<usize> {
    let again =
        |item: &Item| !item.done && item.role == role && which.names(item) && which.may_be(item);
    let begun = |item: &Item| !item.told && item.role == role;
    let unnamed =
        |item: &Item| which.index.is_none() && (which.id.is_empty() || item.id.is_empty());
    last(open, again)
        .or_else(|| last(open, |item| begun(item) && which.counts(item)))
        .or_else(|| last(open, |item| begun(item) && !item.done && unnamed(item)))
}

/// Returns the item that a piece of this kind is of. One that is passed over takes whatever comes for it.
pub(super) fn of_piece(open: &[Item], role: Option<ItemRole>, which: Which<'_>) -> Option<usize> {
    let fits = |item: &Item| role.is_none() || item.role.is_none() || item.role == role;
    let named = |item: &Item| fits(item) && which.names(item);
    let counted =
        |item: &Item| fits(item) && which.counts(item) && (!item.done || which.id.is_empty());
    // A number that nothing has is drift, but arguments in the wrong call are worse than none.
    let goes_on = |item: &Item| {
        let unknown = item.told || which.id.is_empty() || item.id.is_empty();
        let drifts = item.told && role != Some(ItemRole::Call);
        fits(item) && !item.done && unknown && (which.index.is_none() || drifts)
    };
    let open_call = |item: &Item| item.role == role && !item.done && which.index.is_none();
    last(open, |item| named(item) && which.counts(item))
        .or_else(|| last(open, named))
        .or_else(|| last(open, counted))
        .or_else(|| open.len().checked_sub(1).filter(|at| open.get(*at).is_some_and(goes_on)))
        .or_else(|| (role == Some(ItemRole::Call)).then(|| last(open, open_call)).flatten())
}

/// Returns the item that a frame ends. `fits` says whether an item is of its kind, `says` whether one has said what it says.
pub(super) fn ended(
    open: &[Item],
    which: Which<'_>,
    fits: impl Fn(&Item) -> bool,
    says: impl Fn(&Item) -> bool,
) -> Option<usize> {
    let is_open = |item: &Item| !item.done && fits(item) && which.may_be(item);
    surest(open, which, &fits)
        .or_else(|| last(open, |item| is_open(item) && which.counts(item)))
        .or_else(|| last(open, |item| is_open(item) && which.index.is_none()))
        .or_else(|| {
            let here = |item: &Item| which.index.is_none() || which.counts(item);
            last(open, |item| fits(item) && here(item) && which.may_be(item) && says(item))
        })
}

/// Returns the item that one of a whole reply is by its number, or by its place among those of its kind.
pub(super) fn placed(
    open: &[Item],
    which: Which<'_>,
    fits: impl Fn(&Item) -> bool,
) -> Option<usize> {
    let left = |item: &Item| fits(item) && which.may_be(item);
    open.iter()
        .position(|item| left(item) && which.counts(item))
        .or_else(|| open.iter().position(left))
}

/// Returns the item that is meant for sure, by its ids.
pub(super) fn surest(
    open: &[Item],
    which: Which<'_>,
    fits: impl Fn(&Item) -> bool,
) -> Option<usize> {
    let sure = open.iter().enumerate().filter(|(_, item)| fits(item));
    let sure = sure.map(|(at, item)| (which.surely(item), at)).max()?;
    (sure.0 > 0).then_some(sure.1)
}

fn last(open: &[Item], is: impl Fn(&Item) -> bool) -> Option<usize> {
    open.iter().rposition(is)
}
