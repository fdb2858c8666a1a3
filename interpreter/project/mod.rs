//! What a session knows of its project: instructions it ships and where git stands. It runs no program.

mod disk;
mod git;
mod instructions;
mod path;
pub(crate) mod safe;

pub(crate) use disk::RealDisk;
pub(crate) use git::head;
pub(crate) use instructions::{Looked, instructions};
pub(crate) use path::{located, marked};
