//! What a run tells: a line per case that did not simply pass, or a JSON line per case.

use crate::{
    peer::About,
    reply::Reply,
    run::{Asked, Verdict},
};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// How many cases ended how.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// As expected.
    pub passed: usize,
    /// Otherwise.
    pub failed: usize,
    /// Not answered yet.
    pub skipped: usize,
    /// With a new expectation.
    pub recorded: usize,
}

impl Tally {
    /// Counts a case.
    pub(crate) fn count(&mut self, verdict: &Verdict) {
        let counter = match verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed(_) => &mut self.failed,
            Verdict::Skipped(_) => &mut self.skipped,
            Verdict::Recorded(_) => &mut self.recorded,
        };
        *counter += 1;
    }
}

/// Writes a run's lines.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    json: bool,
}

impl<'a> Report<'a> {
    /// Returns a report to `out`.
    pub(crate) fn new(out: &'a mut dyn Write, json: bool) -> Report<'a> {
        Report { out, json }
    }

    /// Tells which peer is asked; nothing if it does not say.
    pub(crate) fn peer(&mut self, about: &About, version: &str) -> io::Result<()> {
        let (Some(theirs), false) = (&about.version, self.json) else { return Ok(()) };
        let name = about.name.as_deref().unwrap_or("unnamed");
        writeln!(self.out, "peer {name}: spec {theirs}, here {version}")
    }

    /// Tells what became of a case.
    pub(crate) fn case(&mut self, asked: &Asked<'_>) -> io::Result<()> {
        if self.json {
            return writeln!(self.out, "{}", line(asked));
        }
        let (word, text) = match &asked.verdict {
            Verdict::Passed => return Ok(()),
            Verdict::Failed(text) => ("fail", text),
            Verdict::Skipped(text) => ("skip", text),
            Verdict::Recorded(text) => ("record", text),
        };
        writeln!(self.out, "{word} {}/{}: {text}", asked.area, asked.case.name)
    }

    /// Tells how many ended how.
    pub(crate) fn end(&mut self, tally: &Tally) -> io::Result<()> {
        let Tally { passed, failed, skipped, recorded } = tally;
        if self.json {
            let mut all = json!({ "passed": passed, "failed": failed, "skipped": skipped });
            if *recorded > 0 {
                all["recorded"] = json!(recorded);
            }
            return writeln!(self.out, "{all}");
        }
        if *recorded > 0 {
            writeln!(self.out, "{recorded} recorded")?;
        }
        writeln!(self.out, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// `{"area","name","ok"}`, and `expected`, `got`, `error`, `peer` or `skipped` where they tell something. `ok` is
/// null for a case that was skipped.
fn line(asked: &Asked<'_>) -> Value {
    let mut line = Map::new();
    line.insert("area".into(), json!(asked.area));
    line.insert("name".into(), json!(asked.case.name));
    line.insert("ok".into(), json!(true));
    match &asked.verdict {
        Verdict::Passed => {}
        Verdict::Failed(_) => {
            line.insert("ok".into(), json!(false));
            line.extend(asked.case.expect.clone().map(|expect| ("expected".into(), expect)));
            replies(&mut line, asked);
        }
        Verdict::Skipped(why) => {
            line.insert("ok".into(), Value::Null);
            line.insert("skipped".into(), json!(why));
        }
        Verdict::Recorded(_) => {
            line.insert("recorded".into(), json!(true));
            replies(&mut line, asked);
        }
    }
    Value::Object(line)
}

fn replies(line: &mut Map<String, Value>, asked: &Asked<'_>) {
    match &asked.here {
        Reply::Out(out) => line.insert("got".into(), out.clone()),
        Reply::Error(error) => line.insert("error".into(), json!(error)),
        Reply::Pending(why) => line.insert("skipped".into(), json!(why)),
    };
    line.extend(asked.peer.as_ref().map(|reply| ("peer".into(), reply.to_json())));
}
