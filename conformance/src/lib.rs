//! Asks the spec's cases and compares the answers. It knows core, never the program.
