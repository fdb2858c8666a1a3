//! The scenario file: what the server says, as data. It reads and checks; it renders and sends nothing.

use crate::dialect::Dialect;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// A whole scenario: the dialect spoken and the replies given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// The dialect; `openai-chat` when left out.
    pub dialect: Dialect,
    /// What the list of models shows: ids, or whole entries as the dialect writes them.
    pub models: Vec<Value>,
    /// What other paths answer, by path.
    pub answers: BTreeMap<String, Value>,
    /// Whether a request that breaks the dialect's rules is answered with 400 and recorded as a violation.
    pub validate: bool,
    /// The replies, in the order they are given.
    pub replies: Vec<Reply>,
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            dialect: Dialect::default(),
            models: vec![Value::from("test-model")],
            answers: BTreeMap::new(),
            validate: true,
            replies: Vec::new(),
        }
    }
}

impl Scenario {
    /// Returns a scenario without replies that offers `test-model` and validates.
    pub fn new() -> Scenario {
        Scenario::default()
    }

    /// Adds a reply after the others.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Scenario {
        self.replies.push(reply);
        self
    }

    /// Reads a scenario file's text.
    ///
    /// # Errors
    /// A sentence that names the place, if the text is no scenario or contradicts itself.
    pub fn parse(text: &str) -> Result<Scenario, String> {
        let scenario: Scenario =
            serde_json::from_str(text).map_err(|error| format!("this is no scenario: {error}"))?;
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), String> {
        if let Some(odd) = self.models.iter().find(|model| !model.is_string() && !model.is_object())
        {
            return Err(format!("models: {odd} is neither an id nor an entry"));
        }
        for (index, reply) in self.replies.iter().enumerate() {
            if reply.body.is_some() != reply.steps.is_empty() {
                return Err(format!("replies[{index}] needs either steps or a body"));
            }
            if reply.status.is_some_and(|status| !(100..600).contains(&status)) {
                return Err(format!("replies[{index}].status: is none"));
            }
            if reply.repeat && reply.asked.is_none() && index + 1 < self.replies.len() {
                return Err(format!(
                    "replies[{index}] repeats, so the replies after it are never given; put it last"
                ));
            }
        }
        Ok(())
    }
}

/// One reply: a stream written as steps, or a whole body.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// What is streamed, in order; empty when there is a body.
    pub steps: Vec<Step>,
    /// The body instead of a stream: a string as it is, anything else as JSON.
    pub body: Option<Value>,
    /// The status, 200 when left out.
    pub status: Option<u16>,
    /// Headers besides, or instead of, those the server writes; names in any case.
    pub headers: BTreeMap<String, String>,
    /// Silence before the first byte, in milliseconds.
    pub delay_ms: u64,
    /// Splits the body into HTTP chunks of this many bytes, wherever that cuts.
    pub chunk_bytes: Option<NonZeroUsize>,
    /// Splits text, reasoning and arguments into one delta a word.
    pub words: bool,
    /// Whether the dialect's end of a reply (finish reason and end mark) is added.
    pub end: bool,
    /// Picks the reply out of order for the requests that fit.
    #[serde(rename = "match")]
    pub asked: Option<Match>,
    /// Gives the reply again for every further request.
    pub repeat: bool,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply {
            steps: Vec::new(),
            body: None,
            status: None,
            headers: BTreeMap::new(),
            delay_ms: 0,
            chunk_bytes: None,
            words: false,
            end: true,
            asked: None,
            repeat: false,
        }
    }
}

impl Reply {
    /// Returns a reply of these steps.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Reply {
        Reply { steps: steps.into_iter().collect(), ..Reply::default() }
    }

    /// Returns a reply of one text.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::steps([Step::Text(text.into())])
    }

    /// Returns a reply of one tool call; `arguments` as in [`Call::arguments`].
    pub fn call(name: impl Into<String>, arguments: Value) -> Reply {
        Reply::steps([Step::call(name, arguments)])
    }

    /// Returns a reply that is no stream: a string as it is, anything else as JSON.
    pub fn body(status: u16, body: Value) -> Reply {
        Reply { status: Some(status), body: Some(body), ..Reply::default() }
    }
}

/// Which requests a reply is for; all that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// A part of the text after the model's last message (user messages and tool results).
    pub text: Option<String>,
    /// Tools that must be among those offered; an empty list means that none is offered.
    pub tools: Option<Vec<String>>,
}

/// One step of a streamed reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Step {
    /// A piece of the answer.
    Text(String),
    /// A piece of reasoning.
    Reasoning(String),
    /// The same piece of the answer many times, a delta each.
    Repeat(Repeat),
    /// A tool call.
    Call(Call),
    /// The tokens used.
    Usage(Usage),
    /// Why the reply ends; added before the end when left out.
    Finish(Finish),
    /// Bytes of the body as they are, written as text.
    Raw(String),
    /// Bytes of the body as they are, written in base64.
    #[serde(deserialize_with = "base64_bytes")]
    RawB64(Vec<u8>),
    /// A pause, in milliseconds.
    DelayMs(u64),
    /// Silence for so many milliseconds, after which the connection is closed in the middle of the reply.
    Stall(u64),
    /// The connection ends in the middle of the reply.
    Cut(Cut),
}

impl Step {
    /// Returns a tool call step; `arguments` as in [`Call::arguments`].
    pub fn call(name: impl Into<String>, arguments: Value) -> Step {
        Step::Call(Call { name: name.into(), arguments, id: None })
    }
}

impl<'de> Deserialize<'de> for Step {
    /// Two spellings are no plain `{"name": value}`: `"cut"`, and `repeat`, which stands beside its text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Step, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value == "cut" {
            return Ok(Step::Cut(Cut::Close));
        }
        let step = match value.get("repeat") {
            Some(_) => Repeat::deserialize(value).map(Step::Repeat),
            None => Step::deserialize(value),
        };
        step.map_err(de::Error::custom)
    }
}

/// The same text many times.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How many deltas.
    pub repeat: usize,
    /// The text of each.
    pub text: String,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The arguments: a string as it is (even if it is no JSON), anything else as JSON.
    pub arguments: Value,
    /// The call's id; one that is new to the conversation when left out.
    pub id: Option<String>,
}

/// The tokens used by a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The whole prompt, cached or not.
    pub input: u64,
    /// The whole reply, reasoning included.
    pub output: u64,
    /// How much of the input came from a cache.
    pub cached: Option<u64>,
    /// How much of the output was reasoning.
    pub reasoning: Option<u64>,
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model is done.
    Stop,
    /// The model waits for results of its calls.
    ToolCalls,
    /// The output limit is reached.
    Length,
}

/// How a connection ends in the middle of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// An orderly close (FIN).
    Close,
    /// A reset (RST).
    Reset,
}

fn base64_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Asserts that the file's schema and its reader agree about a document.
    fn check(scenario: Value, good: bool) {
        let schema = serde_json::from_str(include_str!("../scenario.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let read = Scenario::parse(&scenario.to_string());
        assert_eq!(read.is_ok(), good, "{scenario}: {read:?}");
        assert_eq!(validator.is_valid(&scenario), good, "the schema differs about {scenario}");
    }

    #[test]
    fn schema_and_reader_agree() {
        let step = |step: Value, good| check(json!({"replies": [{"steps": [step]}]}), good);
        let reply = |reply: Value, good| check(json!({ "replies": [reply] }), good);
        check(json!({}), true);
        check(
            json!({"dialect": "openai-chat", "models": ["a", {"id": "b"}], "validate": false}),
            true,
        );
        check(json!({"dialect": "openai"}), false);
        check(json!({"models": [1]}), false);
        check(json!({"reply": []}), false);
        step(json!({"text": "a"}), true);
        step(json!({"reasoning": "a"}), true);
        step(json!({"repeat": 3, "text": "a"}), true);
        step(json!({"repeat": 3}), false);
        step(json!({"repeat": 3, "text": "a", "call": {}}), false);
        step(json!({"call": {"name": "bash", "arguments": {"command": "ls"}}}), true);
        step(json!({"call": {"name": "bash", "arguments": "{", "id": "c1"}}), true);
        step(json!({"call": {"name": "bash"}}), false);
        step(json!({"call": {"name": "bash", "args": {}}}), false);
        step(json!({"usage": {"input": 1, "output": 2, "cached": 1, "reasoning": 0}}), true);
        step(json!({"usage": {"input": 1}}), false);
        step(json!({"usage": {"prompt_tokens": 1}}), false);
        step(json!({"finish": "length"}), true);
        step(json!({"finish": "end"}), false);
        step(json!({"raw": "data: x"}), true);
        step(json!({"raw_b64": "//4="}), true);
        step(json!({"raw_b64": "//4"}), false);
        step(json!({"delay_ms": 5}), true);
        step(json!({"delay_ms": -5}), false);
        step(json!({"stall": 5}), true);
        step(json!("cut"), true);
        step(json!({"cut": "reset"}), true);
        step(json!({"cut": "close"}), true);
        step(json!({"cut": "later"}), false);
        step(json!("reset"), false);
        step(json!({"text": "a", "raw": "b"}), false);
        step(json!({}), false);
        reply(json!({"body": {"a": 1}, "status": 429, "headers": {"Retry-After": "1"}}), true);
        reply(json!({"body": ""}), true);
        reply(json!({"body": "a", "steps": [{"text": "b"}]}), false);
        reply(json!({}), false);
        reply(json!({"steps": []}), false);
        reply(json!({"steps": ["cut"], "chunk_bytes": 0}), false);
        reply(
            json!({"steps": ["cut"], "chunk_bytes": 1, "delay_ms": 1, "words": true, "end": false}),
            true,
        );
        reply(json!({"steps": ["cut"], "match": {"text": "a", "tools": []}, "repeat": true}), true);
        reply(json!({"steps": ["cut"], "match": {"text": "a", "tool": "b"}}), false);
        reply(json!({"steps": ["cut"], "status": "200"}), false);
        reply(json!({"steps": ["cut"], "status": 99}), false);
        reply(json!({"steps": ["cut"], "stepz": 1}), false);
    }

    #[test]
    fn a_repeating_reply_hides_none() {
        let parse = |replies: Value| Scenario::parse(&json!({ "replies": replies }).to_string());
        let (again, once) = (
            json!({"body": "a", "repeat": true}),
            json!({"body": "b", "repeat": true, "match": {"text": "b"}}),
        );
        assert!(parse(json!([once, again])).is_ok());
        assert!(parse(json!([again, once])).unwrap_err().contains("replies[0] repeats"));
    }

    #[test]
    fn an_error_names_its_place() {
        let error =
            Scenario::parse("{\"replies\": [\n{\"steps\": [{\"txt\": \"a\"}]}]}").unwrap_err();
        assert!(error.contains("txt") && error.contains("line 2"), "{error}");
    }

    #[test]
    fn bytes_are_written_in_base64() {
        let steps = |text: &str| {
            let scenario = Scenario::parse(&format!(
                "{{\"replies\": [{{\"steps\": [{{\"raw_b64\": \"{text}\"}}]}}]}}"
            ));
            scenario.map(|scenario| {
                scenario
                    == Scenario::new().reply(Reply::steps([Step::RawB64(b"\xff\xfe".to_vec())]))
            })
        };
        assert_eq!(steps("//4="), Ok(true));
        assert!(steps("//4").unwrap_err().contains("line 1"));
    }
}
