//! Asks the spec's cases and compares the answers. It knows core, never the program.

mod areas;
mod compare;
mod error;
pub mod harness;
mod json;
mod lines;
mod peer;
mod record;
mod reply;
mod report;
mod run;
mod serve;
mod source;

pub use areas::Here;
pub use error::{Error, Outcome};
pub use run::{Options, Record, check, run};
pub use serve::serve;
