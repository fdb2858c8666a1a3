//! The provider-neutral conversation. It knows no dialect; a dialect module turns it into a request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The program's own instructions; only ever the first message.
    System,
    /// The person, or a note the program adds on the person's side.
    User,
    /// The model.
    Assistant,
    /// Results of the tool calls of the assistant message before it.
    Tool,
}

/// One message of a conversation; a history is append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its parts, in the order they came.
    pub parts: Vec<Part>,
}

impl Message {
    /// Returns a message of one text part.
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, parts: vec![Part::said(text)] }
    }

    /// Returns the text parts joined, without reasoning, calls or results.
    pub fn plain(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text a person can read.
    Text {
        /// The text.
        text: String,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carry: Option<Carry>,
    },
    /// The model's reasoning.
    Reasoning {
        /// The readable part, possibly empty.
        text: String,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carry: Option<Carry>,
    },
    /// An image, for models that can see.
    Image(Image),
    /// A call the model made.
    ToolCall(ToolCall),
    /// What a call gave back.
    ToolResult(ToolResult),
}

impl Part {
    /// Returns a part of text that nothing goes back with.
    pub fn said(text: impl Into<String>) -> Part {
        Part::Text { text: text.into(), carry: None }
    }

    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Part::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// What a provider wants back unchanged with a part: signatures, encrypted items. No provider of another dialect can take it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Carry {
    /// The id of the dialect it came in.
    pub dialect: String,
    /// The model it came from; empty when that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The fields, by the provider's own names.
    pub fields: Map<String, Value>,
}

impl Carry {
    /// Returns the fields if they came in that dialect.
    pub fn of(&self, dialect: &str) -> Option<&Map<String, Value>> {
        (self.dialect == dialect).then_some(&self.fields)
    }
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub mime: String,
    /// Its bytes in base64.
    pub data: String,
}

/// A tool call as it stands in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, or one made here when it gave none.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments; empty when they could not be read.
    pub arguments: Map<String, Value>,
    /// The arguments as they came, kept only when they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Why the call must not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// What the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<Carry>,
}

/// Why the arguments of a call could not be read; such a call never runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Broken {
    /// The text is no JSON.
    NotJson,
    /// It is JSON, but no object.
    NotObject,
    /// The reply was cut at the output limit inside the call.
    Cut,
}

/// The result of a call, as the model gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The name the call was made under.
    pub name: String,
    /// The text for the model.
    pub text: String,
    /// Whether the call failed or was refused.
    #[serde(default)]
    pub error: bool,
    /// Images beside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}
