//! The shape of `harness/dialects/<id>.json`: names, places and numbers of a provider's wire, nothing that needs memory.

use crate::reader::Reader;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One provider dialect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Its id, the stem of its file.
    #[serde(skip)]
    pub id: String,
    /// A sentence for a person.
    pub about: String,
    /// How a request is addressed.
    pub http: Http,
    /// How a request is written.
    pub request: RequestNames,
    /// How a reply is cut into frames and where its parts sit.
    pub reply: ReplyPlaces,
    /// The server's words for why a reply ended, and ours.
    pub finish: BTreeMap<String, String>,
    /// How texts are turned into vectors, where the wire can do that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<Embeddings>,
    /// Names of inline tags around reasoning in the text.
    #[serde(default)]
    pub think_tags: Vec<String>,
}

/// How a request for vectors is written, and where they sit in its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embeddings {
    /// The path below the connection's base address; `{model}` stands for the model's name.
    pub path: String,
    /// The request without its texts; `{model}` in a text of it stands for the model's name.
    pub body: Value,
    /// The JSON pointer of the list of texts, a field of the body.
    pub texts: String,
    /// What a text is in that list, where it is not itself: a value that is `{text}` stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Value>,
    /// Most texts of one request, where servers have a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<usize>,
    /// The JSON pointer of the list of vectors in the answer.
    pub all: String,
    /// The JSON pointer of the numbers in an entry of that list; an empty one: the entry is the numbers.
    pub vector: String,
    /// The JSON pointer of the number of the text an entry is of; without it they come in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// JSON pointers of the tokens that were counted.
    #[serde(default)]
    pub tokens: Vec<String>,
}

/// How a request is addressed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The path below the connection's base address; `{model}` stands for the model's name.
    pub path: String,
    /// The header that carries the key.
    pub auth_header: String,
    /// What stands before the key in that header.
    #[serde(default)]
    pub auth_prefix: String,
    /// Headers every request carries.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// How a request is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestNames {
    /// Fields every request carries, first in the body.
    pub fixed: Map<String, Value>,
    /// Fields of a request that offers tools which may not be called.
    #[serde(default)]
    pub withhold_tools: Map<String, Value>,
    /// The field of the output limit, or a JSON pointer to it.
    pub max_output: String,
    /// The output limit of a request that sets none, where the wire wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_output: Option<UsualOutput>,
    /// The field of the reasoning effort, or a JSON pointer to it.
    pub effort: String,
    /// Fields that stand for an effort instead of its word.
    #[serde(default)]
    pub efforts: BTreeMap<String, Map<String, Value>>,
    /// Fields beside the word of an effort.
    #[serde(default)]
    pub with_effort: Map<String, Value>,
    /// A number that must stay below the output limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The field of a word that is the same for requests that begin alike, for a server that keeps beginnings by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// The wire's word for each role of ours.
    #[serde(default)]
    pub roles: Roles,
    /// Whether a conversation must begin with the person.
    #[serde(default)]
    pub user_first: bool,
    /// The field of an assistant message that takes reasoning back.
    #[serde(default)]
    pub reasoning: String,
    /// Fields a part carries that are sent back unchanged.
    #[serde(default)]
    pub carry: Vec<String>,
    /// Whether they go back only to the model they came from.
    #[serde(default)]
    pub carry_to_same_model: bool,
    /// A pattern of the portable subset that ids of calls must fit; others are rewritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ids: Option<String>,
    /// What stands in for the result of a call that has none.
    pub no_result: String,
    /// What stands in for an image that the model cannot take.
    pub no_image: String,
    /// The form of JSON schema that parameters of tools are reduced to.
    #[serde(default)]
    pub schema: SchemaForm,
    /// A pattern of the portable subset that names of parameters must fit in the form `object_root`; others are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_names: Option<String>,
    /// The keys of a schema in the forms `openapi` and `inlined` that the wire knows.
    #[serde(default)]
    pub schema_keys: Vec<String>,
    /// By type: the formats that the wire knows, in those forms.
    #[serde(default)]
    pub schema_formats: BTreeMap<String, Vec<String>>,
    /// The longest name of a tool.
    pub longest_name: usize,
    /// The field of the window that the server shall make room for, or a JSON pointer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// What the first call of a turn carries when it carries nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<StandIn>,
    /// What marks the end of a part of the prompt that a server shall keep, and how many marks it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
}

/// The forms of JSON schema that wires take for the parameters of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaForm {
    /// As it is.
    #[default]
    Full,
    /// The root is an object without `oneOf`, `anyOf` and `allOf`.
    ObjectRoot,
    /// The subset of OpenAPI 3.0.
    Openapi,
    /// No references, and nothing combined but by `anyOf` below the root.
    Inlined,
}

/// What stands in for something a provider wants back and this conversation does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// The field.
    pub field: String,
    /// Its value.
    pub value: Value,
    /// What the names of models begin with that want it, behind any path.
    pub models: Vec<String>,
}

/// An output limit for requests that set none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualOutput {
    /// The limit in tokens.
    pub most: u64,
    /// The share of a known window that it may not exceed.
    pub of_window: f64,
}

/// A number of a request that must stay below the output limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The field that holds it; it is left out where the limit leaves no room.
    pub field: String,
    /// The number's name in that field.
    pub number: String,
    /// The least it may be.
    pub least: u64,
    /// The share of the output limit that it may take: the answer needs the rest.
    pub of_output: f64,
}

/// A mark for a server's cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheMark {
    /// The field of the mark.
    pub field: String,
    /// Its value.
    pub value: Value,
    /// The most marks of one request.
    pub most: usize,
}

/// The wire's word for each role of ours; empty where it has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Roles {
    /// The program's instructions.
    pub system: String,
    /// The person.
    pub user: String,
    /// The model.
    pub assistant: String,
    /// The result of a call.
    pub tool: String,
}

/// Where the parts of a reply sit: each a list of JSON pointers, the first that is there and not null counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplyPlaces {
    /// The data of the frame that ends a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Pieces of the answer: a string, or a list of parts.
    pub text: Vec<String>,
    /// Pieces of a refusal.
    pub refusal: Vec<String>,
    /// Pieces of the reasoning.
    pub reasoning: Vec<String>,
    /// In a list of parts, the key of a part's text and of a part's reasoning.
    pub part: PartKeys,
    /// The list of tool-call pieces.
    pub calls: Vec<String>,
    /// A single tool-call piece, without id or index.
    pub call: Vec<String>,
    /// Where the pieces of a call sit in an entry of the list.
    pub call_piece: CallPiece,
    /// Why the reply ended.
    pub finish: Vec<String>,
    /// A value that is true when the reply is over; it counts as the reason `done` where there is no other.
    pub done: Vec<String>,
    /// A value that stands in a frame that is a whole reply.
    pub whole: Vec<String>,
    /// A value that says that a filter took the prompt; it counts as the reason `blocked`.
    pub blocked: Vec<String>,
    /// The list of parts of a frame; then the places of text, reasoning, calls and images are those in a part.
    pub parts: Vec<String>,
    /// An image in a part.
    pub image: Vec<String>,
    /// What a part, or a frame, carries that the provider wants back; the last step is the field's name.
    pub carried: Vec<String>,
    /// How a list that a frame carries comes in pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_pieces: Option<CarriedPieces>,
    /// How a wire that speaks of items does so; then the places of text, refusal, reasoning, calls and what is carried are
    /// those in an item, a part of it or a piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemPlaces>,
    /// The token counts: an object, or a number of them beside which the others stand.
    pub usage: Vec<String>,
    /// Where the numbers sit in the token counts.
    pub usage_counts: UsagePlaces,
    /// How far the prompt is read.
    pub progress: Vec<String>,
    /// Where the numbers sit in it.
    pub progress_counts: ProgressPlaces,
    /// An error inside a frame.
    pub error: Vec<String>,
    /// Keys under which errors of any server keep their words.
    pub error_keys: ErrorKeys,
}

/// How a list of what the provider wants back comes in pieces, over several frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedPieces {
    /// Keys in which two entries must agree to be pieces of one.
    pub same: Vec<String>,
    /// Keys of texts that are put together; of others the last that is not null counts.
    pub joined: Vec<String>,
}

/// How a wire speaks of items: parts of the reply that are opened, added to and ended, each by frames of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemPlaces {
    /// The kind of a frame.
    pub kind: Vec<String>,
    /// What frames of a kind do; those of other kinds only count where they hold token counts or an error.
    pub frames: BTreeMap<String, FrameRole>,
    /// The item that a frame opens or ends.
    pub item: Vec<String>,
    /// The items of a whole reply.
    pub all: Vec<String>,
    /// Which item a frame is about, by the server's count.
    pub index: Vec<String>,
    /// Which item a frame is about, by its id.
    #[serde(default)]
    pub id: Vec<String>,
    /// Which part of the item a frame is about, by the server's count.
    #[serde(default)]
    pub part: Vec<String>,
    /// The id that an item says of itself.
    #[serde(default)]
    pub item_id: Vec<String>,
    /// The kind of an item, of a part of one or of a piece.
    pub part_kind: Vec<String>,
    /// What items of a kind are; others are passed over.
    pub kinds: BTreeMap<String, ItemRole>,
    /// The lists of parts of an item.
    #[serde(default)]
    pub parts: Vec<String>,
    /// What is added to an item: text, or an object.
    pub piece: Vec<String>,
    /// What parts and pieces of a kind are; a piece that is text is of its frame's kind.
    pub pieces: BTreeMap<String, PieceRole>,
    /// The same for frames that repeat what their pieces were.
    #[serde(default)]
    pub repeated: BTreeMap<String, PieceRole>,
}

/// What a frame does on a wire that speaks of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameRole {
    /// It opens an item.
    Open,
    /// It adds to an item.
    Add,
    /// It ends an item, and may hold all of it.
    Close,
    /// It says why the reply ends.
    Finish,
    /// It ends the reply, and may hold all of it.
    End,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemRole {
    /// A part of the answer.
    Text,
    /// A part of the reasoning.
    Reasoning,
    /// A tool call.
    Call,
}

/// What a part or piece of an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceRole {
    /// Text of the answer.
    Text,
    /// Text of a refusal.
    Refusal,
    /// Reasoning.
    Reasoning,
    /// Nothing yet: a further paragraph of reasoning begins.
    Paragraph,
    /// Arguments of a call.
    Arguments,
    /// More of what the provider wants back.
    Carried,
}

/// Keys under which errors keep their words, wherever in the body they stand; tried in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorKeys {
    /// Text for a person.
    pub text: Vec<String>,
    /// The kind of error.
    pub kind: Vec<String>,
    /// A code, a word or a number.
    pub code: Vec<String>,
    /// The parameter it is about, or a path that ends in it.
    pub param: Vec<String>,
    /// Where in a text the server begins to repeat what it was sent: that says nothing of the error.
    #[serde(default)]
    pub echo: Vec<String>,
}

/// Keys of a part in a list of parts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartKeys {
    /// Text, or a list of parts.
    pub text: String,
    /// Reasoning, or a list of parts.
    pub reasoning: String,
    /// A summary of reasoning, in a list of such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Where the pieces of a call sit in one entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallPiece {
    /// Which call of the reply.
    pub index: Vec<String>,
    /// The provider's id.
    pub id: Vec<String>,
    /// The tool's name.
    pub name: Vec<String>,
    /// The arguments, text or an object.
    pub arguments: Vec<String>,
}

/// Where the numbers sit in the token counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsagePlaces {
    /// The whole prompt.
    pub input: Vec<String>,
    /// The whole reply.
    pub output: Vec<String>,
    /// Prompt tokens from a cache.
    #[serde(default)]
    pub cached: Vec<String>,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_write: Vec<String>,
    /// Reply tokens that were reasoning.
    #[serde(default)]
    pub reasoning: Vec<String>,
    /// Prompt and reply together.
    #[serde(default)]
    pub total: Vec<String>,
    /// Whether the count of the reply leaves the reasoning out; a total that adds it shows so, too.
    #[serde(default)]
    pub reasoning_apart: bool,
    /// Whether the count of the prompt leaves out what came from a cache or went into one.
    #[serde(default)]
    pub cache_apart: bool,
    /// Whether a detail of none says nothing, because the wire always sends it.
    #[serde(default)]
    pub none_is_nothing: bool,
}

/// Where the numbers sit in a progress report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgressPlaces {
    /// Tokens processed.
    #[serde(default)]
    pub done: Vec<String>,
    /// Tokens in all.
    #[serde(default)]
    pub total: Vec<String>,
}

/// Reads every dialect file, in order of id.
pub(super) fn dialects(reader: &mut Reader<'_>) -> Vec<Dialect> {
    let mut dialects = Vec::new();
    for id in reader.files.stems("dialects", "json") {
        let file = format!("dialects/{id}.json");
        let Some(dialect) = reader.typed::<Dialect>(&file, "dialect") else { continue };
        if let Some(pattern) = &dialect.request.call_ids {
            reader.pattern(&file, "/request/call_ids", pattern);
        }
        dialects.push(Dialect { id, ..dialect });
    }
    dialects
}
