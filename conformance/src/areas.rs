//! The answers this build gives: one small file per area, each of which only reads the question and calls core.

mod always;
mod arity;
mod discover;
mod edit;
mod embed;
mod envelope;
mod hardline;
mod hex;
mod patch_report;
mod patching;
mod permission;
mod plain;
mod prompt;
mod reply;
mod request;
mod split;
mod stream;
mod think;
mod tool;
mod toolcall_index;
mod unidiff;

use crate::reply::Reply;
use lembas_core::spec::{Answers, Area, Spec};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a question gets that no area of this build answers.
pub(crate) const NO_AREA: &str = "no such area in this build";

/// Returns `out` as far as `expect` asks for it. Only the area of streams leaves something open: an id that no case relies on.
pub(crate) fn asked_for(area: &str, expect: &Value, out: &Value) -> Value {
    match Area::named(area) {
        Some(Area::Stream) => stream::asked_for(expect, out),
        _ => out.clone(),
    }
}

/// This build, answering by one spec.
#[derive(Debug)]
pub struct Here {
    spec: Spec,
}

impl Answers for Here {
    fn always(&self, input: &Value) -> Result<Value, String> {
        always::answer(&self.spec, input)
    }

    fn arity(&self, input: &Value) -> Result<Value, String> {
        arity::answer(&self.spec, input)
    }

    fn edit(&self, input: &Value) -> Result<Value, String> {
        edit::answer(&self.spec, input)
    }

    fn embed(&self, input: &Value) -> Result<Value, String> {
        embed::answer(&self.spec, input)
    }

    fn envelope(&self, input: &Value) -> Result<Value, String> {
        envelope::answer(&self.spec, input)
    }

    fn discover(&self, input: &Value) -> Result<Value, String> {
        discover::answer(&self.spec, input)
    }

    fn hardline(&self, input: &Value) -> Result<Value, String> {
        hardline::answer(&self.spec, input)
    }

    fn patch_report(&self, input: &Value) -> Result<Value, String> {
        patch_report::answer(&self.spec, input)
    }

    fn permission(&self, input: &Value) -> Result<Value, String> {
        permission::answer(&self.spec, input)
    }

    fn plain(&self, input: &Value) -> Result<Value, String> {
        plain::answer(&self.spec, input)
    }

    fn prompt(&self, input: &Value) -> Result<Value, String> {
        prompt::answer(&self.spec, input)
    }

    fn reply(&self, input: &Value) -> Result<Value, String> {
        reply::answer(&self.spec, input)
    }

    fn request(&self, input: &Value) -> Result<Value, String> {
        request::answer(&self.spec, input)
    }

    fn split(&self, input: &Value) -> Result<Value, String> {
        split::answer(&self.spec, input)
    }

    fn stream(&self, input: &Value) -> Result<Value, String> {
        stream::answer(&self.spec, input)
    }

    fn think(&self, input: &Value) -> Result<Value, String> {
        think::answer(&self.spec, input)
    }

    fn tool(&self, input: &Value) -> Result<Value, String> {
        tool::answer(&self.spec, input)
    }

    fn toolcall_index(&self, input: &Value) -> Result<Value, String> {
        toolcall_index::answer(&self.spec, input)
    }

    fn unidiff(&self, input: &Value) -> Result<Value, String> {
        unidiff::answer(&self.spec, input)
    }
}

impl Here {
    /// Returns this build with `spec`.
    pub fn new(spec: Spec) -> Here {
        Here { spec }
    }

    /// Returns the spec it answers by.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Answers a question; a panic is a bug, but one that must not take the other cases with it.
    pub(crate) fn ask(&self, area: &str, input: &Value) -> Reply {
        let Some(area) = Area::named(area) else { return Reply::Pending(NO_AREA.into()) };
        match catch_unwind(AssertUnwindSafe(|| self.answer(area, input))) {
            Ok(Ok(out)) => Reply::Out(out),
            Ok(Err(error)) => Reply::Error(error),
            Err(_) => Reply::Error("it panicked; the reason is on standard error".into()),
        }
    }
}
