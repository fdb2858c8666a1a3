//! Reads `harness/`, checks it, and writes the Rust it implies. It knows no tool, rule or method by name.

pub mod acp;
pub mod emit;
pub mod files;
pub mod place;
pub mod problem;
pub mod reader;
pub mod schema;
pub mod spec;
pub mod template;
pub mod when;
pub mod whole;
