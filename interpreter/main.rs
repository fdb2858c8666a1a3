//! The program's entry: nothing but the exit code.

#[expect(dead_code, reason = "wired by the run front end")]
mod config;

fn main() {}
