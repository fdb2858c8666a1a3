//! Who is asked about a call that the rules leave to a person. The engine knows no front end: each brings its own.

use crate::bus::Approval;
use futures_util::future::{LocalBoxFuture, ready};

/// Someone who can be asked.
pub(crate) trait Asker {
    /// Asks about a call and waits for the answer; the bus was told of it before.
    fn ask<'a>(&'a self, approval: &'a Approval) -> LocalBoxFuture<'a, Answer>;
}

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nobody is there to give one: the call does not run.
    Nobody,
}

/// Stands where no person is: it never waits.
#[derive(Debug)]
pub(crate) struct Unattended;

impl Asker for Unattended {
    fn ask<'a>(&'a self, _: &'a Approval) -> LocalBoxFuture<'a, Answer> {
        Box::pin(ready(Answer::Nobody))
    }
}
