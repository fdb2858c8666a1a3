//! Reads the protocol page `acp.md`: a heading is a method, a fence a type, a row a name. Prose stays prose.
//! It knows the page's form and no method, type or capability by name.

mod check;
mod fit;
mod line;
pub(crate) mod names;
mod page;
mod read;

use crate::{place::Place, problem::Problem};

/// The page's name inside the spec.
pub const FILE: &str = "acp.md";

/// Everything the page says that a program can use.
#[derive(Debug, Clone, Default)]
pub struct Protocol {
    /// The methods, in the page's order.
    pub methods: Vec<Method>,
    /// The tables that name numbers.
    pub numbers: Vec<Numbers>,
    /// The `type` fences, and the capability table as `Capability`.
    pub types: Vec<Named>,
    /// The values shown, each of which fits what it is an example of.
    pub examples: Vec<Example>,
}

/// Who sends a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The client; the agent handles it.
    Client,
    /// The agent; it needs a sender.
    Agent,
}

/// One method.
#[derive(Debug, Clone)]
pub struct Method {
    /// Its name on the wire.
    pub name: String,
    /// Who sends it.
    pub from: Sender,
    /// The capability without which it is not used.
    pub capability: Option<Spot>,
    /// What it does, in a sentence or two.
    pub doc: String,
    /// Its parameters.
    pub params: Shape,
    /// Its result; a notification has none.
    pub result: Option<Shape>,
    /// Where its heading stands.
    pub at: Place,
}

/// A name that refers to something else on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub at: Place,
}

/// A name with a sentence: a capability, a word of a closed list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word on the wire.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Where it stands.
    pub at: Place,
}

/// A table of named numbers.
#[derive(Debug, Clone)]
pub struct Numbers {
    /// What the numbers are: the head of the first column.
    pub name: String,
    /// The rows.
    pub rows: Vec<(Word, i64)>,
    /// Where the head stands.
    pub at: Place,
}

/// A named type.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// What values look like.
    pub shape: Shape,
    /// Where its fence opens.
    pub at: Place,
}

/// What a value looks like.
#[derive(Debug, Clone)]
pub enum Shape {
    /// An object with these members.
    Fields(Vec<Member>),
    /// An object whose field `by` holds the name of a variant and decides about the others.
    Choice {
        /// The field.
        by: String,
        /// The variants.
        variants: Vec<Variant>,
    },
    /// One of a closed list of words.
    Words(Vec<Word>),
}

/// One variant of a choice.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its word.
    pub word: Word,
    /// The fields that go with it.
    pub members: Vec<Member>,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub enum Member {
    /// A field of its own.
    Field(Field),
    /// All fields of a named type.
    All(Spot),
}

/// One field.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name on the wire.
    pub name: String,
    /// Whether it may be absent.
    pub optional: bool,
    /// Its type.
    pub kind: Kind,
    /// What it is.
    pub doc: String,
    /// Where it stands.
    pub at: Place,
}

/// The type of a field.
#[derive(Debug, Clone)]
pub struct Kind {
    /// The type without list and null.
    pub base: Base,
    /// Whether it is a list of `base`.
    pub list: bool,
    /// Whether it may be null.
    pub nullable: bool,
    /// Where it stands.
    pub at: Place,
}

/// A type without list and null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A boolean.
    Boolean,
    /// Any value.
    Json,
    /// One of these words.
    Words(Vec<String>),
    /// A type of the page, by name.
    Named(String),
}

/// A value shown on the page.
#[derive(Debug, Clone)]
pub struct Example {
    /// What it is an example of.
    pub of: Target,
    /// The value.
    pub value: serde_json::Value,
}

/// What an example shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The parameters of a method.
    Params(String),
    /// The result of a method.
    Result(String),
    /// A named type.
    Type(String),
}

impl Protocol {
    /// Reads the page.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of line and column.
    pub fn read(text: &str) -> Result<Protocol, Vec<Problem>> {
        let mut problems = Vec::new();
        let draft = read::read(text, &mut problems);
        let protocol = check::check(draft, &mut problems);
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(protocol) } else { Err(problems) }
    }

    /// Returns the type called `name`.
    pub fn named(&self, name: &str) -> Option<&Named> {
        self.types.iter().find(|each| each.name == name)
    }

    /// Returns the method called `name`.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|each| each.name == name)
    }

    /// Returns the words of the closed list `name`, or of the choice `name`: capabilities, kinds of events or updates.
    pub fn words(&self, name: &str) -> Vec<&Word> {
        self.named(name).map(|named| named.shape.words()).unwrap_or_default()
    }
}

impl Shape {
    /// Returns the words of a list or a choice.
    pub fn words(&self) -> Vec<&Word> {
        match self {
            Shape::Fields(_) => Vec::new(),
            Shape::Choice { variants, .. } => variants.iter().map(|each| &each.word).collect(),
            Shape::Words(words) => words.iter().collect(),
        }
    }

    /// Returns every list of members in it: one of an object, one per variant of a choice.
    pub fn members(&self) -> Vec<&[Member]> {
        match self {
            Shape::Fields(members) => vec![members],
            Shape::Choice { variants, .. } => {
                variants.iter().map(|each| each.members.as_slice()).collect()
            }
            Shape::Words(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
