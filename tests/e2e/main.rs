//! The built program as a person or script meets it: each session runs it against a scripted model server.

#[cfg(test)]
mod program;
#[cfg(test)]
mod support;
