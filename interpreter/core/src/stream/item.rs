//! One item of a reply while it comes, and what sits in an item, a part of it or a piece. It knows no frames.

use super::draft::Draft;
use super::json::{NotJson, elements, string};
use super::places::{Found, Group, Places};
use crate::event::Event;
use crate::spec::{ItemPlaces, ItemRole, PieceRole, ReplyPlaces};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What parts paragraphs of reasoning.
const PARAGRAPH: &str = "\n\n";

/// An item while it comes.
#[derive(Debug)]
pub(super) struct Item {
    /// What it is; nothing for one that is passed over.
    pub(super) role: Option<ItemRole>,
    /// Its number by the server's count.
    pub(super) index: Option<u64>,
    /// Its id.
    pub(super) id: String,
    /// What the provider wants back with it.
    pub(super) carried: Map<String, Value>,
    /// Whether it ended.
    pub(super) done: bool,
    /// Whether text of the answer came.
    text: bool,
    /// Whether reasoning came.
    reasoning: bool,
    /// Which call of the reply it is.
    call: Option<usize>,
    /// Whether pieces of arguments came.
    pieces: bool,
    /// Arguments that came whole.
    whole: String,
}

impl Item {
    /// Returns an item of which nothing came.
    pub(super) fn new(role: Option<ItemRole>, index: Option<u64>, id: &str) -> Item {
        Item {
            role,
            index,
            id: id.into(),
            carried: Map::new(),
            done: false,
            text: false,
            reasoning: false,
            call: None,
            pieces: false,
            whole: String::new(),
        }
    }

    /// Returns whether something of this kind came.
    pub(super) fn has(&self, role: PieceRole) -> bool {
        match role {
            PieceRole::Text | PieceRole::Refusal => self.text,
            PieceRole::Reasoning | PieceRole::Paragraph => self.reasoning,
            PieceRole::Arguments => self.pieces,
            PieceRole::Carried => false,
        }
    }

    /// Takes a text.
    pub(super) fn say(
        &mut self,
        role: PieceRole,
        text: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) {
        if text.is_empty() {
            return;
        }
        match role {
            PieceRole::Text => draft.text(text, out),
            PieceRole::Refusal => draft.refusal(text, out),
            PieceRole::Reasoning => draft.reasoning(text, out),
            PieceRole::Arguments => {
                if let Some(call) = self.call {
                    draft.arguments(call, text, out);
                }
            }
            PieceRole::Paragraph | PieceRole::Carried => {}
        }
        self.text |= matches!(role, PieceRole::Text | PieceRole::Refusal);
        self.reasoning |= role == PieceRole::Reasoning;
        self.pieces |= role == PieceRole::Arguments;
    }

    /// Parts what follows from reasoning that came before.
    pub(super) fn paragraph(
        &mut self,
        role: PieceRole,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) {
        if role == PieceRole::Reasoning && self.reasoning {
            self.say(role, PARAGRAPH, draft, out);
        }
    }

    /// Passes arguments on that came whole, where no pieces did.
    pub(super) fn arguments(&mut self, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        if !self.pieces {
            let whole = std::mem::take(&mut self.whole);
            self.say(PieceRole::Arguments, &whole, draft, out);
        }
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

    /// Returns the texts of an item: its own, and those of its parts.
    fn texts(&self, role: PieceRole) -> Result<Vec<(PieceRole, String)>, NotJson> {
        let mut texts = vec![(role, self.text(role).into_owned())];
        let lists = self.places.lists.iter().filter_map(|list| self.found.first(*list));
        for list in lists.filter(|raw| raw.starts_with('[')) {
            for raw in elements(list)? {
                let part = self.places.read(raw)?;
                if let Some(&role) = self.places.words.pieces.get(part.kind().as_ref()) {
                    texts.push((role, part.text(role).into_owned()));
                }
            }
        }
        texts.retain(|(_, text)| !text.is_empty());
        Ok(texts)
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
    fn call(&self, item: &mut Item, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        let text = |group| self.found.text(group).unwrap_or_default();
        if item.call.is_none() {
            let (id, name) = (text(self.places.id), text(self.places.name));
            item.call = Some(draft.begin_call(&id, &name, out));
        }
        let Some(raw) = self.found.first(self.places.arguments) else { return };
        match string(raw) {
            Some(text) => item.whole = text.into_owned(),
            // An empty object stands where the pieces are still to come.
            None if raw.len() > 2 => item.whole = raw.into(),
            None => {}
        }
    }

    /// Takes an item as far as it has come, and of its texts those of a kind that did not come before.
    pub(super) fn take(
        &self,
        item: &mut Item,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), NotJson> {
        let own = match item.role {
            None => return Ok(()),
            Some(ItemRole::Call) => {
                self.call(item, draft, out);
                return Ok(());
            }
            Some(ItemRole::Text) => PieceRole::Text,
            Some(ItemRole::Reasoning) => PieceRole::Reasoning,
        };
        self.carry(false, &mut item.carried);
        let came = [PieceRole::Text, PieceRole::Refusal, PieceRole::Reasoning]
            .map(|role| (role, item.has(role)));
        for (role, text) in self.texts(own)? {
            if came.contains(&(role, false)) {
                item.paragraph(role, draft, out);
                item.say(role, &text, draft, out);
            }
        }
        Ok(())
    }
}
