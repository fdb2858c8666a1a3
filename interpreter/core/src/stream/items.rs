//! Reads wires that speak of items: parts of the reply that frames open, add to and end. What a frame of a kind does, and where
//! things sit, is the dialect file's business.

use super::Taken;
use super::common::{Counts, UsageCounts, fails, reason};
use super::draft::Draft;
use super::item::{Item, Part, PartPlaces};
use super::json::{NotJson, elements, string};
use super::pairing::{self, Which};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::message::Carry;
use crate::spec::{Dialect, FrameRole, ItemPlaces, ItemRole, PieceRole};

/// The reader of one reply's frames.
#[derive(Debug)]
pub(super) struct Items<'s> {
    whose: Whose<'s>,
    words: &'s ItemPlaces,
    frame: FramePlaces,
    part: PartPlaces<'s>,
    counts: UsageCounts<'s>,
    seen: Counts,
    most: usize,
    open: Vec<Item>,
}

/// Whose reply it is, for what the provider wants back.
#[derive(Debug, Clone, Copy)]
struct Whose<'s> {
    dialect: &'s Dialect,
    model: &'s str,
}

/// Where things sit in a frame.
#[derive(Debug)]
struct FramePlaces {
    places: Places,
    kind: Group,
    item: Group,
    all: Group,
    index: Group,
    id: Group,
    part: Group,
    piece: Group,
    finish: Group,
    usage: Group,
    error: Group,
}

type Read<T> = Result<T, NotJson>;

impl<'s> Items<'s> {
    /// Compiles the places of a dialect. Of a whole reply one item more than `most` is read, which shows that there are too many.
    pub(super) fn new(
        dialect: &'s Dialect,
        words: &'s ItemPlaces,
        model: &'s str,
        most: usize,
    ) -> Items<'s> {
        let (mut places, reply) = (Places::default(), &dialect.reply);
        Items {
            whose: Whose { dialect, model },
            words,
            frame: FramePlaces {
                kind: places.group(&words.kind),
                item: places.group(&words.item),
                all: places.group(&words.all),
                index: places.group(&words.index),
                id: places.group(&words.id),
                part: places.group(&words.part),
                piece: places.group(&words.piece),
                finish: places.group(&reply.finish),
                usage: places.group(&reply.usage),
                error: places.group(&reply.error),
                places,
            },
            part: PartPlaces::new(reply, words),
            counts: UsageCounts::new(reply),
            seen: Counts::default(),
            most,
            open: Vec::new(),
        }
    }

    /// Returns how many items came.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes one frame. Errors when it is not JSON.
    pub(super) fn frame(
        &mut self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<Taken> {
        let found = self.frame.places.read(json)?;
        if let Some(raw) = found.first(self.frame.usage)
            && let Some(counts) = self.counts.counts(raw)
        {
            self.seen = counts.or(self.seen);
            draft.usage = self.counts.usage(self.seen);
        }
        if fails(&found, self.frame.error) {
            return Ok(Taken::Error);
        }
        let kind = found.text(self.frame.kind).unwrap_or_default();
        match self.words.frames.get(kind.as_ref()) {
            Some(FrameRole::Open) => self.opened(&found, draft, out)?,
            Some(FrameRole::Add) => self.added(&found, &kind, draft, out)?,
            Some(FrameRole::Close) => self.closed(&found, draft, out)?,
            Some(FrameRole::Finish) => self.finish(&found, draft, out),
            Some(FrameRole::End) => {
                self.rest(&found, draft, out)?;
                self.finish(&found, draft, out);
                return Ok(Taken::End);
            }
            None => return Ok(Taken::Nothing),
        }
        Ok(Taken::Known)
    }

    fn opened(
        &mut self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<()> {
        let Some(raw) = found.first(self.frame.item) else { return Ok(()) };
        let part = self.part.read(raw)?;
        let (id, call_id) = (part.id(), part.call_id());
        let which = Which { index: found.count(self.frame.index), id: &id, call_id: &call_id };
        let at = pairing::opened(&self.open, part.role(), which);
        let at = at.unwrap_or_else(|| begin(&mut self.open, part.role(), which));
        let Some(item) = self.open.get_mut(at) else { return Ok(()) };
        learn(item, which);
        part.begin(item, draft, out)
    }

    /// Takes a piece. One for an item that nobody opened opens it.
    fn added(
        &mut self,
        found: &Found<'_>,
        kind: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<()> {
        let piece = match found.first(self.frame.piece) {
            Some(raw) if raw.starts_with('{') => Some(self.part.read(raw)?),
            _ => None,
        };
        let kind = piece.as_ref().map_or(kind.into(), |piece| piece.kind());
        let known = self.words.pieces.get(kind.as_ref()).map(|role| (*role, false));
        let repeated = || self.words.repeated.get(kind.as_ref()).map(|role| (*role, true));
        let Some((role, repeats)) = known.or_else(repeated) else { return Ok(()) };
        let id = found.text(self.frame.id).unwrap_or_default();
        let which = Which { index: found.count(self.frame.index), id: &id, call_id: "" };
        let at = pairing::of_piece(&self.open, of_piece(role), which);
        let at = at.unwrap_or_else(|| begin(&mut self.open, of_piece(role), which));
        let Some(item) = self.open.get_mut(at).filter(|item| item.role.is_some()) else {
            return Ok(());
        };
        let part = found.count(self.frame.part);
        let own = || found.first(self.frame.piece).and_then(string).unwrap_or_default();
        let text = || piece.as_ref().map_or_else(own, |piece| piece.text(role));
        match role {
            PieceRole::Paragraph => item.part(role, part, draft, out),
            PieceRole::Carried => {
                piece.iter().for_each(|piece| piece.carry(true, &mut item.carried));
            }
            _ if repeats => item.repeat(role, part, &text(), draft, out),
            _ => item.piece(role, part, &text(), draft, out),
        }
        Ok(())
    }

    fn closed(
        &mut self,
        found: &Found<'_>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<()> {
        let part = found.first(self.frame.item).map(|raw| self.part.read(raw)).transpose()?;
        let own = part.as_ref().map(|part| (part.id(), part.call_id())).unwrap_or_default();
        let id = found.text(self.frame.id).unwrap_or(own.0);
        let which = Which { index: found.count(self.frame.index), id: &id, call_id: &own.1 };
        let fits = |item: &Item| part.as_ref().is_none_or(|part| item.role == part.role());
        let words = part.as_ref().map(Part::words);
        let says = |item: &Item| words.as_ref().is_some_and(|words| words.are_of(item, draft));
        let known = pairing::ended(&self.open, which, fits, says);
        let at = match (known, &part) {
            (Some(at), _) => at,
            (None, Some(part)) => begin(&mut self.open, part.role(), which),
            (None, None) => return Ok(()),
        };
        end(&mut self.open, at, which, part.as_ref(), self.whose, draft, out)
    }

    /// Takes the items of a whole reply: of those that came before what is new in them.
    fn rest(&mut self, found: &Found<'_>, draft: &mut Draft<'_>, out: &mut Vec<Event>) -> Read<()> {
        let Some(all) = found.first(self.frame.all).filter(|raw| raw.starts_with('[')) else {
            return Ok(());
        };
        let parts = elements(all)?.into_iter().take(self.most + 1).map(|raw| self.part.read(raw));
        let parts = parts.collect::<Read<Vec<_>>>()?;
        let mut ends = vec![None; parts.len()];
        for by in [By::Ids, By::Words, By::Place] {
            repeat(by, &mut self.open, &parts, &mut ends, draft);
        }
        for (part, at) in parts.iter().zip(ends) {
            let (Some(at), id, call_id) = (at, part.id(), part.call_id()) else { continue };
            let which = Which { index: None, id: &id, call_id: &call_id };
            end(&mut self.open, at, which, Some(part), self.whose, draft, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, found: &Found<'_>, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        for item in &mut self.open {
            close(item, self.whose, draft, out);
        }
        if let Some(word) = reason(self.whose.dialect, found, self.frame.finish) {
            draft.finish = Some(word);
        }
    }
}

fn begin(open: &mut Vec<Item>, role: Option<ItemRole>, which: Which<'_>) -> usize {
    open.push(Item::new(role, which));
    open.len() - 1
}

/// Notes what an item was not known by before.
fn learn(item: &mut Item, which: Which<'_>) {
    item.index = item.index.or(which.index);
    for (own, said) in [(&mut item.id, which.id), (&mut item.call_id, which.call_id)] {
        if own.is_empty() {
            own.push_str(said);
        }
    }
}

/// What an item is that only a piece shows.
fn of_piece(role: PieceRole) -> Option<ItemRole> {
    match role {
        PieceRole::Text | PieceRole::Refusal => Some(ItemRole::Text),
        PieceRole::Reasoning | PieceRole::Paragraph => Some(ItemRole::Reasoning),
        PieceRole::Arguments => Some(ItemRole::Call),
        PieceRole::Carried => None,
    }
}

/// How an item of a whole reply is known.
#[derive(Debug, Clone, Copy)]
enum By {
    /// Its ids.
    Ids,
    /// What it says.
    Words,
    /// Its place; without one it is new.
    Place,
}

/// Says which items those of a whole reply are, as far as they are known by this.
fn repeat(
    by: By,
    open: &mut Vec<Item>,
    parts: &[Part<'_, '_>],
    ends: &mut [Option<usize>],
    draft: &Draft<'_>,
) {
    for (number, (part, end)) in parts.iter().zip(ends).enumerate() {
        let role = part.role();
        if end.is_some() || role.is_none() {
            continue;
        }
        let (id, call_id) = (part.id(), part.call_id());
        let which = Which { index: Some(number as u64), id: &id, call_id: &call_id };
        let fits = |item: &Item| !item.repeated && item.role == role;
        *end = match by {
            By::Ids => pairing::surest(open, which, fits),
            By::Words => {
                let words = part.words();
                open.iter().position(|item| fits(item) && words.are_of(item, draft))
            }
            By::Place => pairing::placed(open, which, fits)
                .or_else(|| Some(begin(open, role, Which { index: None, ..which }))),
        };
        if let Some(item) = end.and_then(|at| open.get_mut(at)) {
            item.repeated = true;
        }
    }
}

/// Ends an item; a frame may hold all of it.
fn end(
    open: &mut [Item],
    at: usize,
    which: Which<'_>,
    part: Option<&Part<'_, '_>>,
    whose: Whose<'_>,
    draft: &mut Draft<'_>,
    out: &mut Vec<Event>,
) -> Read<()> {
    let last = !open.iter().skip(at + 1).any(Item::spoke);
    let Some(item) = open.get_mut(at) else { return Ok(()) };
    learn(item, which);
    if let Some(part) = part {
        part.end(last, item, draft, out)?;
    }
    close(item, whose, draft, out);
    Ok(())
}

fn close(item: &mut Item, whose: Whose<'_>, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
    if std::mem::replace(&mut item.done, true) {
        return;
    }
    item.arguments(draft, out);
    let fields = std::mem::take(&mut item.carried);
    // A list alone is worth nothing to the provider: what it wants back is a text that only it can read.
    if item.role == Some(ItemRole::Reasoning) && fields.values().any(|value| value.is_string()) {
        let carry = Carry { dialect: whose.dialect.id.clone(), model: whose.model.into(), fields };
        draft.carry(true, carry, out);
    }
}
