//! Reads `harness/`, checks it, and writes the Rust it implies. It knows no tool, rule or method by name.
