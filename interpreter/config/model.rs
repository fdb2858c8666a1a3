//! What a connection says about a model of its own, in the words of `harness/models/schema.json`. What it does not say the
//! server is asked.

use lembas_core::discover;
use serde::Deserialize;

/// A model as a connection lists it. What is `None` is asked of the server or taken from the spec.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Model {
    /// The id the server knows.
    pub(crate) id: String,
    /// What a person calls it.
    pub(crate) name: Option<String>,
    /// The family its prompt is chosen by, where the id does not show it.
    pub(crate) family: Option<String>,
    /// The context window in tokens.
    pub(crate) context: Option<u64>,
    /// The most tokens of one reply.
    pub(crate) max_output: Option<u64>,
    /// Whether it takes images.
    pub(crate) vision: Option<bool>,
    /// Whether it can call tools.
    pub(crate) tools: Option<bool>,
    /// How its reasoning is chosen.
    pub(crate) effort: Option<Effort>,
    /// Whether its template opens the reasoning tag, so that a reply begins inside it.
    pub(crate) opens_in_think: Option<bool>,
    /// The ways in which it writes tool calls as text, names of quirks.
    pub(crate) text_calls: Option<Vec<String>>,
}

/// How the amount of reasoning is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenEffort")]
pub(crate) struct Effort {
    /// The levels the server takes, least first; empty where nobody listed them.
    pub(crate) levels: Vec<String>,
    /// The level when none is asked for.
    pub(crate) default: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenEffort {
    Level(String),
    Levels {
        levels: Vec<String>,
        #[serde(default)]
        default: Option<String>,
    },
}

impl From<WrittenEffort> for Effort {
    fn from(written: WrittenEffort) -> Effort {
        match written {
            WrittenEffort::Level(level) => Effort { levels: Vec::new(), default: Some(level) },
            WrittenEffort::Levels { levels, default } => Effort { levels, default },
        }
    }
}

impl Model {
    /// Returns a model of which nothing but its id is known.
    pub(crate) fn named(id: &str) -> Model {
        Model { id: id.into(), ..Model::default() }
    }

    /// Returns the model with what a server said of it where the configuration says nothing. Its window is another matter:
    /// who said how large it is counts there.
    pub(crate) fn completed(self, found: Option<&discover::Model>) -> Model {
        let Some(found) = found else { return self };
        let mut effort = self.effort.unwrap_or_default();
        if effort.levels.is_empty() {
            effort.levels.clone_from(&found.efforts);
        }
        Model {
            name: self.name.or_else(|| found.name.clone()),
            max_output: self.max_output.or(found.max_output),
            vision: self.vision.or(found.vision),
            tools: self.tools.or(found.tools),
            effort: Some(effort),
            text_calls: self.text_calls.or_else(|| Some(found.text_calls.clone())),
            ..self
        }
    }
}
