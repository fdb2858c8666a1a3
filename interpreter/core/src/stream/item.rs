//! One item of a reply while it comes, and what sits in an item, a part of it or a piece. It knows no frames.

use super::draft::Draft;
use super::json::{NotJson, elements, string};
use super::pairing::Which;
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::spec::{ItemPlaces, ItemRole, PieceRole, ReplyPlaces};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What parts paragraphs of reasoning.
const PARAGRAPH: &str = "\n\n";

/// An item while it comes.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// What it is; nothing for one that is passed over.
    pub(super) role: Option<ItemRole>,
    /// Its number by the server's count.
    pub(super) index: Option<u64>,
    /// Its id.
    pub(super) id: String,
    /// The id of the call that it is.
    pub(super) call_id: String,
    /// What the provider wants back with it.
    pub(super) carried: Map<String, Value>,
    /// Whether a frame told the item itself, not only pieces of it.
    pub(super) told: bool,
    /// Whether it ended.
    pub(super) done: bool,
    /// Whether one of the whole reply's is it.
    pub(super) repeated: bool,
    text: Said,
    refusal: Said,
    reasoning: Said,
    /// Which call of the reply it is.
    call: Option<usize>,
    /// Whether pieces of arguments came.
    pieces: bool,
    /// Pieces of arguments of a call that has no name yet.
    early: String,
    /// Arguments that stood in the call when it began.
    begun: String,
    /// Arguments as the server says them at the end.
    whole: String,
}

/// What an item has said in one of the ways it can.
#[derive(Debug, Default)]
struct Said {
    text: String,
    /// Which part of the item spoke last, by the server's count.
    part: Option<u64>,
    /// Where that part begins in the text.
    start: usize,
    /// Whether all of it stood in the item when it began.
    at_begin: bool,
}

impl Said {
    /// Whether another part of the item speaks now.
    fn moves(&self, part: Option<u64>) -> bool {
        part.is_some() && self.part.is_some() && self.part != part
    }
}

impl Item {
    /// Returns an item of which nothing came.
    pub(super) fn new(role: Option<ItemRole>, Which { index, id, call_id }: Which<'_>) -> Item {
        Item { role, index, id: id.into(), call_id: call_id.into(), ..Item::default() }
    }

    /// Whether a text or reasoning of it was passed on.
    pub(super) fn spoke(&self) -> bool {
        [&self.text, &self.refusal, &self.reasoning].iter().any(|said| !said.text.is_empty())
    }

    fn said(&mut self, role: PieceRole) -> Option<&mut Said> {
        match role {
            PieceRole::Text => Some(&mut self.text),
            PieceRole::Refusal => Some(&mut self.refusal),
            PieceRole::Reasoning | PieceRole::Paragraph => Some(&mut self.reasoning),
            PieceRole::Arguments | PieceRole::Carried => None,
        }
    }

    fn say(&mut self, role: PieceRole, text: &str, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        if let Some(said) = self.said(role).filter(|_| !text.is_empty()) {
            said.text.push_str(text);
            match role {
                PieceRole::Text => draft.text(text, out),
                PieceRole::Refusal => draft.refusal(text, out),
                _ => draft.reasoning(text, out),
            }
        }
    }

    /// Takes a piece of one of its parts.
    pub(super) fn piece(
        &mut self,
        role: PieceRole,
        part: Option<u64>,
        text: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) {
        if role == PieceRole::Arguments {
            return self.more(text, draft, out);
        }
        self.part(role, part, draft, out);
        let Some(said) = self.said(role) else { return };
        // Some servers begin with what an item held when it began.
        let again = std::mem::take(&mut said.at_begin) && said.text == text;
        if !again {
            self.say(role, text, draft, out);
        }
    }

    /// Takes the whole text of one of its parts, of which pieces may have come.
    pub(super) fn repeat(
        &mut self,
        role: PieceRole,
        part: Option<u64>,
        text: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) {
        if role == PieceRole::Arguments {
            keep(&mut self.whole, text);
            return;
        }
        let Some(said) = self.said(role).filter(|said| part.is_none() || said.part <= part) else {
            return;
        };
        said.at_begin = false;
        self.part(role, part, draft, out);
        let came = self.said(role).and_then(|said| said.text.get(said.start..));
        if let Some(rest) = came.and_then(|came| text.strip_prefix(came)) {
            self.say(role, rest, draft, out);
        }
    }

    /// Goes on to a part. What follows is parted from reasoning that came before.
    pub(super) fn part(
        &mut self,
        role: PieceRole,
        part: Option<u64>,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) {
        let Some(said) = self.said(role) else { return };
        let reasons = matches!(role, PieceRole::Reasoning | PieceRole::Paragraph);
        let moves = said.moves(part);
        let begins =
            moves || (role == PieceRole::Paragraph && (part.is_none() || said.part != part));
        let parted = said.text.is_empty() || said.text.ends_with(PARAGRAPH);
        said.part = part.or(said.part);
        if begins && reasons && !parted {
            self.say(PieceRole::Reasoning, PARAGRAPH, draft, out);
        }
        if let Some(said) = self.said(role).filter(|_| begins) {
            said.start = said.text.len();
        }
    }

    /// Takes more of the arguments.
    fn more(&mut self, text: &str, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        self.pieces = true;
        match self.call {
            Some(call) => draft.arguments(call, text, out),
            None => self.early.push_str(text),
        }
    }

    /// Passes arguments on that came whole, in the place of their pieces.
    pub(super) fn arguments(&mut self, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        let Some(call) = self.call else { return };
        let (begun, whole) = (std::mem::take(&mut self.begun), std::mem::take(&mut self.whole));
        if self.pieces {
            draft.settle(call, &whole);
        } else {
            self.more(if whole.is_empty() { &begun } else { &whole }, draft, out);
        }
    }
}

/// What an item says as a whole.
pub(super) enum Words {
    /// A text, or reasoning.
    Text(String),
    /// A call: its tool and its arguments.
    Call(String, String),
}

impl Words {
    /// Whether an item of the same kind has said this, more or less of it at the end.
    pub(super) fn are_of(&self, item: &Item, draft: &Draft<'_>) -> bool {
        match self {
            Words::Call(name, arguments) => {
                item.call.is_some_and(|call| draft.is_call(call, name, arguments))
            }
            Words::Text(text) => {
                let text_item = item.role == Some(ItemRole::Text);
                let said = if text_item { &item.text.text } else { &item.reasoning.text };
                let some = !text.is_empty() && !said.is_empty();
                some && (text.starts_with(said) || said.starts_with(text))
            }
        }
    }
}

/// Keeps arguments that say something.
fn keep(kept: &mut String, arguments: &str) {
    if !arguments.is_empty() {
        *kept = arguments.into();
    }
}

/// Where things sit in an item, a part of it or a piece.
#[derive(Debug)]
pub(super) struct PartPlaces<'s> {
    words: &'s ItemPlaces,
    places: Places,
    kind: Group,
    item_id: Group,
    lists: Vec<Group>,
    text: Group,
    refusal: Group,
    reasoning: Group,
    id: Group,
    name: Group,
    arguments: Group,
    /// The fields that go back, with their places.
    carried: Vec<(String, Group)>,
}

/// An item, a part of it or a piece, read.
pub(super) struct Part<'a, 's> {
    places: &'a PartPlaces<'s>,
    found: Found<'a>,
}

impl<'s> PartPlaces<'s> {
    /// Compiles the places of a dialect.
    pub(super) fn new(reply: &ReplyPlaces, words: &'s ItemPlaces) -> PartPlaces<'s> {
        let mut places = Places::default();
        let name = |place: &String| place.rsplit('/').next().unwrap_or_default().to_string();
        let mut each = |list: &[String]| -> Vec<Group> {
            list.iter().map(|place| places.group(std::slice::from_ref(place))).collect()
        };
        let (lists, carried) = (each(&words.parts), each(&reply.carried));
        PartPlaces {
            words,
            lists,
            carried: reply.carried.iter().map(name).zip(carried).collect(),
            kind: places.group(&words.part_kind),
            item_id: places.group(&words.item_id),
            text: places.group(&reply.text),
            refusal: places.group(&reply.refusal),
            reasoning: places.group(&reply.reasoning),
            id: places.group(&reply.call_piece.id),
            name: places.group(&reply.call_piece.name),
            arguments: places.group(&reply.call_piece.arguments),
            places,
        }
    }

    /// Reads an item, a part of it or a piece. Errors when it is not JSON.
    pub(super) fn read<'a>(&'a self, raw: &'a str) -> Result<Part<'a, 's>, NotJson> {
        Ok(Part { places: self, found: self.places.read(raw)? })
    }
}

impl Part<'_, '_> {
    /// Returns its kind in the wire's words.
    pub(super) fn kind(&self) -> Cow<'_, str> {
        self.found.text(self.places.kind).unwrap_or_default()
    }

    /// Returns what an item of its kind is.
    pub(super) fn role(&self) -> Option<ItemRole> {
        self.places.words.kinds.get(self.kind().as_ref()).copied()
    }

    /// Returns the id it says of itself.
    pub(super) fn id(&self) -> Cow<'_, str> {
        self.found.text(self.places.item_id).unwrap_or_default()
    }

    /// Returns its own text, as what it is.
    pub(super) fn text(&self, role: PieceRole) -> Cow<'_, str> {
        let group = match role {
            PieceRole::Text => self.places.text,
            PieceRole::Refusal => self.places.refusal,
            PieceRole::Reasoning => self.places.reasoning,
            PieceRole::Arguments => self.places.arguments,
            PieceRole::Paragraph | PieceRole::Carried => return Cow::Borrowed(""),
        };
        self.found.first(group).and_then(string).unwrap_or_default()
    }

    /// Returns the id of the call that an item of this kind is.
    pub(super) fn call_id(&self) -> Cow<'_, str> {
        let call = self.role() == Some(ItemRole::Call);
        self.found.text(self.places.id).filter(|_| call).unwrap_or_default()
    }

    /// Returns what an item says in one of the ways it can, itself and in its parts.
    fn whole(&self, own: PieceRole, role: PieceRole) -> Result<String, NotJson> {
        let mut texts = Vec::new();
        if own == role {
            texts.push(self.text(role).into_owned());
        }
        let lists = self.places.lists.iter().filter_map(|list| self.found.first(*list));
        for list in lists.filter(|raw| raw.starts_with('[')) {
            for raw in elements(list)? {
                let part = self.places.read(raw)?;
                if self.places.words.pieces.get(part.kind().as_ref()) == Some(&role) {
                    texts.push(part.text(role).into_owned());
                }
            }
        }
        texts.retain(|text| !text.is_empty());
        Ok(texts.join(if role == PieceRole::Reasoning { PARAGRAPH } else { "" }))
    }

    /// Returns all that it says, to know it by.
    pub(super) fn words(&self) -> Words {
        let role = match self.role() {
            Some(ItemRole::Text) => PieceRole::Text,
            Some(ItemRole::Reasoning) => PieceRole::Reasoning,
            Some(ItemRole::Call) => {
                let name = self.found.text(self.places.name).unwrap_or_default();
                return Words::Call(name.into(), self.text(PieceRole::Arguments).into());
            }
            None => return Words::Text(String::new()),
        };
        Words::Text(self.whole(role, role).unwrap_or_default())
    }

    /// Adds what the provider wants back. Of a piece, texts go on with those that came before.
    pub(super) fn carry(&self, piece: bool, into: &mut Map<String, Value>) {
        for (name, group) in &self.places.carried {
            let Some(raw) = self.found.first(*group) else { continue };
            let more = string(raw);
            match (into.get_mut(name), more) {
                (_, Some(more)) if more.is_empty() => {}
                (Some(Value::String(before)), Some(more)) if piece => before.push_str(&more),
                (_, Some(more)) => drop(into.insert(name.clone(), more.into())),
                (_, None) => {
                    let value = serde_json::from_str(raw).unwrap_or_default();
                    into.insert(name.clone(), value);
                }
            }
        }
    }

    /// Opens a call that an item is, and keeps the arguments it brings.
    fn call(&self, begins: bool, item: &mut Item, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        let text = |group| self.found.text(group).unwrap_or_default();
        let (id, name) = (text(self.places.id), text(self.places.name));
        match item.call {
            Some(call) => draft.identify(call, &id, &name),
            None => {
                let call = draft.begin_call(&id, &name, out);
                item.call = Some(call);
                let early = std::mem::take(&mut item.early);
                if !early.is_empty() {
                    draft.arguments(call, &early, out);
                }
            }
        }
        let kept = if begins { &mut item.begun } else { &mut item.whole };
        let Some(raw) = self.found.first(self.places.arguments) else { return };
        match string(raw) {
            Some(text) => keep(kept, &text),
            // An empty object stands where the pieces are still to come.
            None if raw.len() > 2 => keep(kept, raw),
            None => {}
        }
    }

    /// Takes an item that begins, as far as it has come.
    pub(super) fn begin(
        &self,
        item: &mut Item,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        let blank = !item.spoke();
        self.take(true, true, item, draft, out)?;
        for said in [&mut item.text, &mut item.refusal, &mut item.reasoning] {
            said.at_begin = blank && !said.text.is_empty();
        }
        Ok(())
    }

    /// Takes an item at its end: what its pieces did not bring. Where others spoke behind it (`last` is false), only all of a
    /// kind that did not come: the rest of a text would stand in the wrong place.
    pub(super) fn end(
        &self,
        last: bool,
        item: &mut Item,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        self.take(false, last, item, draft, out)?;
        item.arguments(draft, out);
        Ok(())
    }

    fn take(
        &self,
        begins: bool,
        last: bool,
        item: &mut Item,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        item.told = true;
        let own = match item.role {
            None => return Ok(()),
            Some(ItemRole::Call) => {
                self.call(begins, item, draft, out);
                return Ok(());
            }
            Some(ItemRole::Text) => PieceRole::Text,
            Some(ItemRole::Reasoning) => PieceRole::Reasoning,
        };
        self.carry(false, &mut item.carried);
        for role in [PieceRole::Reasoning, PieceRole::Text, PieceRole::Refusal] {
            let (whole, Some(said)) = (self.whole(own, role)?, item.said(role)) else { continue };
            let rest =
                whole.strip_prefix(said.text.as_str()).filter(|_| last || said.text.is_empty());
            item.say(role, rest.unwrap_or_default(), draft, out);
        }
        Ok(())
    }
}
