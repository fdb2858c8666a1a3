//! Reads wires that speak of items: parts of the reply that frames open, add to and end. What a frame of a kind does, and where
//! things sit, is the dialect file's business.

use super::Taken;
use super::common::{Counts, UsageCounts, fails, reason};
use super::draft::Draft;
use super::item::{Item, PartPlaces};
use super::json::{NotJson, elements, string};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::message::Carry;
use crate::spec::{Dialect, FrameRole, ItemPlaces, ItemRole, PieceRole};

/// The reader of one reply's frames.
#[derive(Debug)]
pub(super) struct Items<'s> {
    dialect: &'s Dialect,
    model: &'s str,
    words: &'s ItemPlaces,
    frame: FramePlaces,
    part: PartPlaces<'s>,
    counts: UsageCounts<'s>,
    seen: Counts,
    open: Vec<Item>,
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
    piece: Group,
    finish: Group,
    usage: Group,
    error: Group,
}

/// Which item a frame is about.
#[derive(Debug, Clone, Copy)]
struct Which<'a> {
    index: Option<u64>,
    id: &'a str,
}

type Read<T> = Result<T, NotJson>;

impl<'s> Items<'s> {
    /// Compiles the places of a dialect.
    pub(super) fn new(dialect: &'s Dialect, words: &'s ItemPlaces, model: &'s str) -> Items<'s> {
        let (mut places, reply) = (Places::default(), &dialect.reply);
        Items {
            dialect,
            model,
            words,
            frame: FramePlaces {
                kind: places.group(&words.kind),
                item: places.group(&words.item),
                all: places.group(&words.all),
                index: places.group(&words.index),
                id: places.group(&words.id),
                piece: places.group(&words.piece),
                finish: places.group(&reply.finish),
                usage: places.group(&reply.usage),
                error: places.group(&reply.error),
                places,
            },
            part: PartPlaces::new(reply, words),
            counts: UsageCounts::new(reply),
            seen: Counts::default(),
            open: Vec::new(),
        }
    }

    /// Takes one frame. Errors when it is not JSON.
    pub(super) fn frame(
        &mut self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<Taken> {
        let found = self.frame.places.read(json)?;
        if fails(&found, self.frame.error) {
            return Ok(Taken::Error);
        }
        if let Some(raw) = found.first(self.frame.usage)
            && let Some(counts) = self.counts.counts(raw)
        {
            self.seen = counts.or(self.seen);
            draft.usage = self.counts.usage(self.seen);
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
        let id = part.id();
        let same = |item: &Item| !item.done && !id.is_empty() && item.id == id;
        let at = self.open.iter().rposition(same).unwrap_or_else(|| {
            let index = found.count(self.frame.index);
            begin(&mut self.open, part.role(), Which { index, id: &id })
        });
        self.open.get_mut(at).map_or(Ok(()), |item| part.take(item, draft, out))
    }

    /// Takes a piece. One for an item that nobody opened opens it, unless it is of a call, which has no name then.
    fn added(
        &mut self,
        found: &Found<'_>,
        kind: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Read<()> {
        let part = match found.first(self.frame.piece) {
            Some(raw) if raw.starts_with('{') => Some(self.part.read(raw)?),
            _ => None,
        };
        let kind = part.as_ref().map_or(kind.into(), |part| part.kind());
        let known = self.words.pieces.get(kind.as_ref()).map(|role| (*role, false));
        let repeated = || self.words.repeated.get(kind.as_ref()).map(|role| (*role, true));
        let Some((role, repeats)) = known.or_else(repeated) else { return Ok(()) };
        let id = found.text(self.frame.id).unwrap_or_default();
        let which = Which { index: found.count(self.frame.index), id: &id };
        let at = at(&self.open, which);
        let at = at.unwrap_or_else(|| begin(&mut self.open, of_piece(role), which));
        let Some(item) = self.open.get_mut(at).filter(|item| item.role.is_some()) else {
            return Ok(());
        };
        match role {
            _ if repeats && item.has(role) => {}
            PieceRole::Paragraph => item.paragraph(PieceRole::Reasoning, draft, out),
            PieceRole::Carried => {
                part.iter().for_each(|part| part.carry(true, &mut item.carried));
            }
            _ => {
                let own = found.first(self.frame.piece).and_then(string).unwrap_or_default();
                let text = part.as_ref().map_or(own, |part| part.text(role));
                item.say(role, &text, draft, out);
            }
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
        let own = part.as_ref().map(|part| part.id()).unwrap_or_default();
        let id = found.text(self.frame.id).unwrap_or(own);
        let which = Which { index: found.count(self.frame.index), id: &id };
        let known = at(&self.open, which);
        let open = known.filter(|at| self.open.get(*at).is_some_and(|item| !item.done));
        let at = match (open, &part) {
            (Some(at), _) => at,
            (None, Some(part)) => begin(&mut self.open, part.role(), which),
            (None, None) => return Ok(()),
        };
        let Some(item) = self.open.get_mut(at) else { return Ok(()) };
        if let Some(part) = &part {
            part.take(item, draft, out)?;
        }
        close(item, self.dialect, self.model, draft, out);
        Ok(())
    }

    /// Takes the items of a whole reply that did not come before: known by id, by number, or by their place and kind.
    fn rest(&mut self, found: &Found<'_>, draft: &mut Draft<'_>, out: &mut Vec<Event>) -> Read<()> {
        let Some(all) = found.first(self.frame.all).filter(|raw| raw.starts_with('[')) else {
            return Ok(());
        };
        let came = self.open.len();
        for (number, raw) in elements(all)?.iter().enumerate() {
            let part = self.part.read(raw)?;
            let (role, id) = (part.role(), part.id());
            let same = |item: &Item| {
                (!id.is_empty() && item.id == id) || item.index == Some(number as u64)
            };
            let placed = |item: &Item| item.index.is_none() && item.role == role;
            let known = self.open.iter().take(came).position(same).or_else(|| {
                self.open.iter().take(came).nth(number).filter(|item| placed(item)).map(|_| number)
            });
            let at = known
                .unwrap_or_else(|| begin(&mut self.open, role, Which { index: None, id: &id }));
            if let Some(item) = self.open.get_mut(at).filter(|item| !item.done) {
                part.take(item, draft, out)?;
                close(item, self.dialect, self.model, draft, out);
            }
        }
        Ok(())
    }

    fn finish(&mut self, found: &Found<'_>, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        for item in &mut self.open {
            close(item, self.dialect, self.model, draft, out);
        }
        if let Some(word) = reason(self.dialect, found, self.frame.finish) {
            draft.finish = Some(word);
        }
    }
}

fn begin(open: &mut Vec<Item>, role: Option<ItemRole>, which: Which<'_>) -> usize {
    open.push(Item::new(role, which.index, which.id));
    open.len() - 1
}

/// Finds the item a frame is about: by its number, by its id, or the last one when the frame has neither.
fn at(open: &[Item], Which { index, id }: Which<'_>) -> Option<usize> {
    let numbered = index.and_then(|_| open.iter().rposition(|item| item.index == index));
    let named = || open.iter().rposition(|item| !id.is_empty() && item.id == id);
    let last = || if index.is_none() { open.len().checked_sub(1) } else { None };
    numbered.or_else(named).or_else(last)
}

/// What an item is that only a piece shows.
fn of_piece(role: PieceRole) -> Option<ItemRole> {
    match role {
        PieceRole::Text | PieceRole::Refusal => Some(ItemRole::Text),
        PieceRole::Reasoning => Some(ItemRole::Reasoning),
        PieceRole::Paragraph | PieceRole::Arguments | PieceRole::Carried => None,
    }
}

fn close(
    item: &mut Item,
    dialect: &Dialect,
    model: &str,
    draft: &mut Draft<'_>,
    out: &mut Vec<Event>,
) {
    if std::mem::replace(&mut item.done, true) {
        return;
    }
    item.arguments(draft, out);
    let fields = std::mem::take(&mut item.carried);
    // A list alone is worth nothing to the provider: what it wants back is a text that only it can read.
    if item.role == Some(ItemRole::Reasoning) && fields.values().any(|value| value.is_string()) {
        let carry = Carry { dialect: dialect.id.clone(), model: model.into(), fields };
        draft.carry(true, carry, out);
    }
}
