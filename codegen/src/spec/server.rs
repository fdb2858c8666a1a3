//! The shape of `harness/servers.json`: the kinds of model server, and where each says which models it has.

use crate::{reader::Reader, when::Pattern};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const NAME: &str = "servers.json";

/// A kind of model server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its id.
    pub id: String,
    /// What a person calls it.
    pub name: String,
    /// The dialects it speaks, the one to prefer first.
    pub speaks: Vec<Speaks>,
    /// The path it is known by; `{root}` and `{base}` stand for addresses.
    pub probe: String,
    /// The requests that tell of its models, in order.
    pub asks: Vec<ServerAsk>,
}

/// A dialect that a server speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speaks {
    /// The dialect's id.
    pub dialect: String,
    /// What stands between the server's root and the dialect's own paths.
    pub base: String,
}

/// A request that tells of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerAsk {
    /// The path; `{root}` and `{base}` stand for addresses.
    pub path: String,
    /// A body to post, once for each model; `{model}` in it stands for the model's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Map<String, Value>>,
    /// The list of models in the answer; empty where the answer is about all of them, or about the one asked for.
    #[serde(default)]
    pub each: Vec<String>,
    /// Where something about a model stands.
    pub model: ModelPlaces,
}

/// Where something about a model stands; the first place that is there and not null counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelPlaces {
    /// Its id.
    pub id: Vec<ModelPlace>,
    /// What a person calls it.
    pub name: Vec<ModelPlace>,
    /// The window it has now, in tokens.
    pub context: Vec<ModelPlace>,
    /// The window it was trained with.
    pub trained: Vec<ModelPlace>,
    /// The most tokens of a reply.
    pub max_output: Vec<ModelPlace>,
    /// Whether it takes images.
    pub vision: Vec<ModelPlace>,
    /// Whether it can call tools.
    pub tools: Vec<ModelPlace>,
    /// Whether it reasons before it answers.
    pub reasoning: Vec<ModelPlace>,
    /// Whether it makes vectors and no replies.
    pub embeds: Vec<ModelPlace>,
    /// The efforts it takes, a list of words.
    pub efforts: Vec<ModelPlace>,
    /// The ways in which it writes tool calls as text, a list of names of quirks about `template`.
    pub text_calls: Vec<ModelPlace>,
    /// Its chat template, which those quirks are asked about.
    pub template: Vec<ModelPlace>,
}

/// A place in an answer, and how it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ModelPlace {
    /// What stands there.
    At(String),
    /// What the group `value` of a pattern reads there.
    Matches {
        /// The pointer.
        at: String,
        /// The pattern.
        matches: String,
    },
    /// Whether a list has a word.
    Has {
        /// The pointer.
        at: String,
        /// The word.
        has: String,
    },
    /// Whether a text is this one.
    Is {
        /// The pointer.
        at: String,
        /// The text.
        is: String,
    },
}

#[derive(Default, Deserialize)]
struct File {
    servers: Vec<Server>,
}

/// Reads the kinds of server.
pub(super) fn servers(reader: &mut Reader<'_>) -> Vec<Server> {
    let file: File = reader.typed(NAME, "servers").unwrap_or_default();
    if reader.checks() {
        let dialects = reader.files.stems("dialects", "json");
        for (i, server) in file.servers.iter().enumerate() {
            check(reader, i, server, &dialects);
        }
    }
    file.servers
}

fn check(reader: &mut Reader<'_>, i: usize, server: &Server, dialects: &[String]) {
    for (j, Speaks { dialect, .. }) in server.speaks.iter().enumerate() {
        if !dialects.contains(dialect) {
            let message = format!("no dialect {dialect:?}; there are: {}", dialects.join(", "));
            reader.problem(NAME, &format!("/servers/{i}/speaks/{j}/dialect"), message);
        }
    }
    for (j, ask) in server.asks.iter().enumerate() {
        let json = serde_json::to_value(&ask.model).unwrap_or_default();
        for (name, places) in json.as_object().into_iter().flatten() {
            for (k, place) in places.as_array().into_iter().flatten().enumerate() {
                let Some(pattern) = place["matches"].as_str() else { continue };
                let pointer = format!("/servers/{i}/asks/{j}/model/{name}/{k}/matches");
                match Pattern::new(pattern) {
                    Err(why) => reader.problem(NAME, &pointer, why),
                    Ok(_) if !pattern.contains("(?P<value>") => {
                        reader.problem(NAME, &pointer, "the pattern has no group `value`");
                    }
                    Ok(_) => {}
                }
            }
        }
    }
}
