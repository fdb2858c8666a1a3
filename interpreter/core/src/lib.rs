//! The interpreter's core: types made from the spec and every answer a conformance case can ask.
//!
//! It does no IO: no files, network, environment, clock or process. What it needs of the world is handed in.

pub mod acp;
pub mod call;
pub mod check;
pub mod dialect;
pub mod discover;
pub mod edit;
pub mod embed;
pub mod event;
pub mod examples;
pub mod message;
pub mod patch;
pub mod permission;
pub mod prompt;
mod prose;
pub mod quirk;
pub mod repair;
pub mod say;
pub mod schema;
pub mod shell;
pub mod spec;
pub mod stream;
pub mod text;
pub mod think;
