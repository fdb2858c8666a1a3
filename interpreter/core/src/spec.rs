//! The spec this build was made from: the types that codegen wrote, and the texts packed into the binary.

pub use lembas_codegen::{
    files::Files,
    place::{Places, escape},
    problem::Problem,
    spec::*,
    spec::{Mode as ModeSpec, Tool as ToolSpec},
    when::{Fact, Record, When},
    whole::Whole,
};

include!(concat!(env!("OUT_DIR"), "/spec.rs"));
include!(concat!(env!("OUT_DIR"), "/pack.rs"));

/// Returns the spec packed into the binary. It was checked when it was packed, so nothing is checked again.
///
/// # Errors
/// Never for a build that succeeded; the problems are passed on rather than hidden.
pub fn packed() -> Result<Spec, Vec<Problem>> {
    Spec::load(&Files::packed(PACK), None)
}

/// Returns the schemas packed into the binary, named `<kind>.schema.json`.
pub fn schemas() -> Files {
    Files::packed(SCHEMAS)
}
