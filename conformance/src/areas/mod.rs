//! One answer a conformance area.

pub(crate) mod edit;
