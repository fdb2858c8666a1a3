//! The program's entry: nothing but the exit code.

fn main() {}
