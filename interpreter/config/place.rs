//! Where the keys and values of a YAML text stand: JSON pointer to line and column.
//! Read only where a line is told to a person; it judges nothing.

pub(crate) use lembas_core::spec::escape;

use super::problem::Place;
use saphyr_parser::{Event, Parser, Span};
use std::collections::HashMap;

/// The longest pointer that is kept: what stands deeper is placed by what is around it. Every place keeps its whole
/// pointer, so without a bound a file of brackets or one endless name would fill the memory.
const LONGEST: usize = 1024;

/// The places of one text.
#[derive(Debug, Default)]
pub(crate) struct Places {
    keys: HashMap<String, Place>,
    values: HashMap<String, Place>,
    /// Keys that stand twice in one mapping: pointer, first place, second place.
    pub(crate) repeated: Vec<(String, Place, Place)>,
}

impl Places {
    /// Reads the places of `text`, as far as it is YAML.
    pub(crate) fn of(text: &str) -> Self {
        let mut walk = Walk::default();
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            walk.event(&event, span);
            if matches!(event, Event::DocumentEnd) {
                break;
            }
        }
        walk.found
    }

    /// Returns where the value at `pointer` starts, or the nearest value around it.
    pub(crate) fn value(&self, pointer: &str) -> Place {
        let mut rest = pointer;
        loop {
            if let Some(place) = self.values.get(rest) {
                return *place;
            }
            match rest.rsplit_once('/') {
                Some((around, _)) => rest = around,
                None => return Place { line: 1, column: 1 },
            }
        }
    }

    /// Returns where the key that `pointer` ends in stands; an entry of a list has none and stands for itself.
    pub(crate) fn key(&self, pointer: &str) -> Place {
        self.keys.get(pointer).copied().unwrap_or_else(|| self.value(pointer))
    }
}

/// One open collection.
enum Frame {
    Mapping { base: usize, wants_key: bool },
    Sequence { base: usize, next: usize },
}

#[derive(Default)]
struct Walk {
    found: Places,
    pointer: String,
    frames: Vec<Frame>,
    /// Depth inside a key that is itself a collection; such keys are passed over.
    inside_key: usize,
}

impl Walk {
    fn event(&mut self, event: &Event<'_>, span: Span) {
        let opens = matches!(event, Event::MappingStart(..) | Event::SequenceStart(..));
        let closes = matches!(event, Event::MappingEnd | Event::SequenceEnd);
        if self.inside_key > 0 {
            self.inside_key = (self.inside_key + usize::from(opens)) - usize::from(closes);
            return;
        }
        let place = Place { line: span.start.line(), column: span.start.col() + 1 };
        match event {
            Event::MappingEnd | Event::SequenceEnd => {
                self.frames.pop();
            }
            Event::Alias(_) => self.node(None, place),
            Event::Scalar(text, ..) => self.node(Some(text), place),
            Event::MappingStart(..) if self.opens_value(place) => {
                self.frames.push(Frame::Mapping { base: self.pointer.len(), wants_key: true });
            }
            Event::SequenceStart(..) if self.opens_value(place) => {
                self.frames.push(Frame::Sequence { base: self.pointer.len(), next: 0 });
            }
            _ => {}
        }
    }

    /// Notes a collection that is a value; one that is a key is passed over.
    fn opens_value(&mut self, place: Place) -> bool {
        if let Some(Frame::Mapping { base, wants_key: wants_key @ true }) = self.frames.last_mut() {
            *wants_key = false;
            self.pointer.truncate(*base);
            self.pointer.push('/');
            self.inside_key = 1;
            return false;
        }
        self.value(place);
        true
    }

    fn node(&mut self, text: Option<&str>, place: Place) {
        if let Some(Frame::Mapping { base, wants_key: wants_key @ true }) = self.frames.last_mut() {
            *wants_key = false;
            self.pointer.truncate(*base);
            self.pointer.push('/');
            self.pointer.push_str(&escape(text.unwrap_or_default()));
            if self.pointer.len() <= LONGEST
                && let Some(first) = self.found.keys.insert(self.pointer.clone(), place)
            {
                self.found.repeated.push((self.pointer.clone(), first, place));
            }
            return;
        }
        self.value(place);
    }

    fn value(&mut self, place: Place) {
        match self.frames.last_mut() {
            Some(Frame::Mapping { wants_key, .. }) => *wants_key = true,
            Some(Frame::Sequence { base, next }) => {
                self.pointer.truncate(*base);
                self.pointer.push_str(&format!("/{next}"));
                *next += 1;
            }
            None => self.pointer.clear(),
        }
        if self.pointer.len() <= LONGEST {
            self.found.values.insert(self.pointer.clone(), place);
        }
    }
}
