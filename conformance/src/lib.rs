//! Asks the spec's cases and compares the answers. It knows core, never the program.

#[cfg_attr(not(test), expect(dead_code, reason = "the runner that asks the areas is not here yet"))]
mod areas;
