//! A model server for tests and benchmarks: it says what a scenario tells it to and keeps what it was asked.
//!
//! It is a plain listener with its own HTTP, because faults need every byte under control. It calls no model and
//! understands nothing. In a test:
//!
//! ```
//! # use lembas_scripted_server::{Reply, Scenario, Server};
//! # use serde_json::json;
//! # fn main() -> std::io::Result<()> {
//! let scenario = Scenario::new().reply(Reply::call("bash", json!({"command": "ls"}))).reply(Reply::text("two files"));
//! let server = Server::start(scenario)?; // stops when dropped
//! let base_url = format!("{}/v1", server.url());
//! // … run a client …
//! let sent = server.requests(); // headers and body bytes of each
//! let wrong = server.verify(); // violations, unexpected requests, unused replies
//! # Ok(()) }
//! ```
//!
//! As a program: `scripted-server --scenario FILE [--port N] [--log FILE]` prints `listening on http://127.0.0.1:PORT`
//! and serves until it is killed. The log has one JSON line for each request, written when its answer has ended:
//! `request` (from 0), `unix_us` and `at_us` (when it was there, and that from the server's start), `method`, `path`,
//! `headers` (keys masked), `body` (or `body_b64`), one of `reply`, `violation` and `unexpected`, `end` (`complete`,
//! `cut`, `hung_up`) and `end_us`.
//!
//! # The scenario file
//!
//! JSON; `scenario.schema.json` is its schema. All but `replies` can be left out.
//!
//! ```json
//! { "dialect": "openai-chat", "models": ["test-model"], "validate": true, "replies": [
//!   { "steps": [ {"reasoning": "hm"}, {"text": "I look."}, {"call": {"name": "bash", "arguments": {"command": "ls"}}} ] },
//!   { "match": {"text": "Name this", "tools": []}, "steps": [ {"text": "A title"} ] },
//!   { "status": 429, "headers": {"Retry-After": "1"}, "body": {"error": {"message": "slow down"}} },
//!   { "words": true, "steps": [ {"text": "half of it"}, {"delay_ms": 50}, "cut" ] },
//!   { "repeat": true, "steps": [ {"repeat": 20000, "text": "word "}, {"usage": {"input": 10, "output": 20000}} ] } ] }
//! ```
//!
//! Each request to the chat path takes the first reply left whose `match` fits it, else the first left without `match`.
//! `match.text` is a part of what follows the model's last message (user messages and tool results);
//! `match.tools` are tools that must be offered, `[]` means that none is. A reply with `repeat` is never used up.
//! A request beyond the script gets a 500 that says so. `GET` of the model list shows `models` (ids, or whole entries);
//! another path gets what `answers` says of it, by path, or a 404.
//!
//! A reply has `steps` or a `body` (a string as it is, anything else as JSON), and:
//! `status`; `headers`, which replace the server's own of the same name; `delay_ms` before the first byte;
//! `chunk_bytes`, which splits the body into HTTP chunks of that size wherever that cuts (else a chunk is a frame);
//! `words`, which makes a delta of each word of texts, reasoning and arguments; `end: false`, which leaves out the
//! finish reason and the end mark.
//!
//! | step | what happens |
//! |---|---|
//! | `{"text": "…"}`, `{"reasoning": "…"}` | a delta |
//! | `{"repeat": n, "text": "…"}` | the same delta n times, at hardly any cost |
//! | `{"call": {"name", "arguments", "id"?}}` | a tool call; `arguments` as JSON, or a string as it is; ids are made up |
//! | `{"usage": {"input", "output", "cached"?, "reasoning"?}}` | the tokens, in the dialect's names |
//! | `{"finish": "stop" \| "tool_calls" \| "length"}` | the finish reason; added after the last step (but before `usage`) if left out |
//! | `{"raw": "…"}`, `{"raw_b64": "…"}` | these bytes of the body |
//! | `{"delay_ms": n}` | a pause |
//! | `{"stall": n}` | silence for n ms, then the connection closes in the middle of the reply |
//! | `"cut"`, `{"cut": "reset"}` | the connection closes (FIN, RST) in the middle; as the first step, before the head |
//!
//! Bytes between two pauses go out in one write. A pause ends early when the client hangs up.
//!
//! The dialects are `openai-chat`, `responses`, `anthropic`, `gemini` and `ollama`. Reasoning is signed as the dialect's
//! providers sign it. A reply that is cut has no end, and its last item is open.
//!
//! With `validate` a request that breaks a rule of the dialect gets a 400 and is a violation: no JSON, no `stream`,
//! an unknown role, a call without its result directly after it, a result without its call, arguments that are no object,
//! a tool without name or parameters, an empty or odd content, a late system message, an id or a schema that the dialect's
//! provider refuses, signed reasoning that was changed or did not come back with its call, and so on.

mod dialect;
mod http;
mod plan;
mod record;
mod scenario;
mod script;
mod server;

pub use dialect::Dialect;
pub use record::{End, How, Request, Verdict};
pub use scenario::{Call, Cut, Finish, Match, Repeat, Reply, Scenario, Step, Usage};
pub use server::Server;
