//! Errands about a spec as such: check it, compare two, write its reference.

mod check;
mod diff;
mod doc;

pub use check::check;
pub use diff::diff;
pub use doc::doc;
