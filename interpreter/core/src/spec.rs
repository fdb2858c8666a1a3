//! The spec this build was made from: the types that codegen wrote, and the texts packed into the binary.

pub use lembas_codegen::{
    files::{Briefs, Files},
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
    let briefs = Briefs { texts: BRIEFS, wrappers: Some(&OUTLINE) };
    Spec::load(&Files::packed(PACK).with(briefs), None)
}

/// Returns all files of the spec packed into the binary, its cases too.
pub fn files() -> Files {
    Files::packed(PACK).inflated(REST)
}

/// Returns the schemas packed into the binary, named `<kind>.schema.json`.
pub fn schemas() -> Files {
    Files::default().inflated(SCHEMAS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_late_is_what_was_checked() {
        let late = packed().unwrap();
        let checked = Spec::load(&files(), Some(&schemas())).unwrap();
        // A run has no examples of quirks: nobody explains those by them.
        let plain =
            |rule: &Rule| format!("{} {} {:?} {:?}", rule.id, rule.about, rule.when, rule.action);
        let parts = |spec: &Spec| {
            [
                format!("{:?}", spec.records),
                format!("{:?}", spec.hardline),
                spec.quirks.iter().map(plain).collect(),
                format!("{:?}", spec.modes),
                format!("{:?}", spec.defaults),
                format!("{:?}", spec.prompts),
                format!("{:?}", spec.arity),
                format!("{:?}", spec.wrappers),
                format!("{:?}", spec.servers),
            ]
        };
        for (late, checked) in parts(&late).iter().zip(parts(&checked)) {
            assert!(late.len() > 100 && *late == checked, "{late}\nis not\n{checked}");
        }
    }
}
