//! The program's configuration: where it is, what it says, which model is meant, which projects are trusted.
//! It reads files and the environment; it knows no engine, no provider and no terminal.

pub(crate) mod approvals;
pub(crate) mod check;
pub(crate) mod connections;
pub(crate) mod entry;
pub(crate) mod fill;
pub(crate) mod hardline;
pub(crate) mod kept;
pub(crate) mod key;
pub(crate) mod learned;
pub(crate) mod load;
pub(crate) mod model;
pub(crate) mod offered;
pub(crate) mod paths;
pub(crate) mod place;
pub(crate) mod problem;
pub(crate) mod refs;
pub(crate) mod secret;
pub(crate) mod settings;
pub(crate) mod trust;
pub(crate) mod yaml;

#[cfg(test)]
mod tests;
