//! Asks every case here and, if there is one, a peer, and reports what differs.

use crate::{
    areas::{Here, asked_for},
    compare::{accepts, differ},
    error::{Error, Outcome},
    peer::Peer,
    record,
    reply::Reply,
    report::{Report, Tally},
    source::{Source, Suite},
};
use lembas_core::spec::Case;
use std::{io::Write, path::PathBuf, time::Duration};

/// What a run asks, and whom.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only cases of this area.
    pub area: Option<String>,
    /// Only cases whose name contains this.
    pub name: Option<String>,
    /// A spec directory; without it, the spec packed into the binary.
    pub harness: Option<PathBuf>,
    /// Files of cases to ask instead of the spec's.
    pub cases: Vec<PathBuf>,
    /// A command that starts another implementation to ask, too.
    pub peer: Option<String>,
    /// How long the peer has for each answer; at zero it never answers.
    pub timeout: Duration,
    /// Report JSON lines instead of text.
    pub json: bool,
    /// Write answers into the files the cases stand in.
    pub record: Option<Record>,
}

/// Which expectations are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// Those that are missing.
    Missing,
    /// Those too that our answer no longer meets.
    All,
}

/// What became of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// Everybody asked gave what is expected.
    Passed,
    /// Somebody did not: a bounded line about it.
    Failed(String),
    /// Nobody failed, but somebody could not answer, and why.
    Skipped(String),
    /// Our answer is the expectation from now on: a bounded line about it.
    Recorded(String),
}

/// A case that was asked.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// Its area.
    pub area: &'a str,
    /// The case.
    pub case: &'a Case,
    /// Our reply.
    pub here: Reply,
    /// The peer's.
    pub peer: Option<Reply>,
    /// What follows.
    pub verdict: Verdict,
}

/// Runs the cases and writes the report to `out`.
///
/// # Errors
/// A spec, case file or option that is wrong, before anything is written; or the report could not be written.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Outcome, Error> {
    let Source { spec, suites } = Source::load(options.harness.as_deref(), &options.cases)?;
    if !suites.iter().any(|suite| selected(suite, options).next().is_some()) {
        return Err(nothing(options, &suites));
    }
    if options.record.is_some() {
        record::possible(&suites)?;
    }
    let here = Here::new(spec);
    let mut peer = options.peer.as_ref().map(|command| Peer::new(command, options.timeout));
    let mut report = Report::new(out, options.json);
    if let Some(peer) = &mut peer {
        report.peer(peer.about(), &here.spec().version)?;
    }
    let mut tally = Tally::default();
    let mut changed = Vec::new();
    for suite in &suites {
        let mut changes = Vec::new();
        for (index, case) in selected(suite, options) {
            let asked = ask(&here, peer.as_mut(), &suite.file.area, case, options.record);
            if let (Verdict::Recorded(_), Reply::Out(out)) = (&asked.verdict, &asked.here) {
                changes.push((index, out.clone()));
            }
            tally.count(&asked.verdict);
            report.case(&asked)?;
        }
        changed.push((suite, changes));
    }
    record::save(&changed)?;
    report.end(&tally)?;
    Ok(Outcome::of(tally.failed == 0))
}

fn selected<'a>(suite: &'a Suite, options: &'a Options) -> impl Iterator<Item = (usize, &'a Case)> {
    let area = options.area.as_ref().is_none_or(|area| *area == suite.file.area);
    let wanted = move |case: &Case| {
        area && options.name.as_ref().is_none_or(|name| case.name.contains(name.as_str()))
    };
    suite.file.cases.iter().enumerate().filter(move |(_, case)| wanted(case))
}

/// A filter that hits nothing would pass for the wrong reason.
fn nothing(options: &Options, suites: &[Suite]) -> Error {
    let areas: Vec<&str> = suites.iter().map(|suite| suite.file.area.as_str()).collect();
    let area = options.area.as_ref().map(|area| format!(" in area {area:?}")).unwrap_or_default();
    let name = options.name.as_ref().map(|name| format!(" named {name:?}")).unwrap_or_default();
    Error::input(format!("no case{area}{name}; areas with cases: {}", areas.join(", ")))
}

fn ask<'a>(
    here: &Here,
    peer: Option<&mut Peer>,
    area: &'a str,
    case: &'a Case,
    record: Option<Record>,
) -> Asked<'a> {
    let ours = here.ask(area, &case.input);
    let theirs = peer.map(|peer| peer.ask(area, &case.input));
    let verdict = match (&ours, record) {
        (Reply::Out(out), Some(which)) => recorded(area, case, out, which),
        _ => None,
    };
    let verdict = verdict.unwrap_or_else(|| judge(area, case, &ours, theirs.as_ref()));
    Asked { area, case, here: ours, peer: theirs, verdict }
}

fn recorded(area: &str, case: &Case, out: &serde_json::Value, which: Record) -> Option<Verdict> {
    match &case.expect {
        None => Some(Verdict::Recorded(format!("is now {}", crate::json::brief(out, 160)))),
        Some(expect) if which == Record::All && !accepts(expect, &asked_for(area, expect, out)) => {
            Some(Verdict::Recorded(differ(expect, "now", out)))
        }
        Some(_) => None,
    }
}

fn judge(area: &str, case: &Case, here: &Reply, peer: Option<&Reply>) -> Verdict {
    let who = if peer.is_some() { "here" } else { "got" };
    let sides = [Some((who, here)), peer.map(|reply| ("peer", reply))];
    let mut wrong = Vec::new();
    let mut pending = Vec::new();
    for (who, reply) in sides.into_iter().flatten() {
        match (reply, &case.expect) {
            (Reply::Pending(why), _) if who == "peer" => pending.push(format!("peer: {why}")),
            (Reply::Pending(why), _) => pending.push(why.clone()),
            (Reply::Error(error), _) => wrong.push(format!("{who} no answer: {error}")),
            (Reply::Out(out), None) => {
                wrong.push(format!("not recorded; {who} {}", crate::json::brief(out, 160)));
            }
            (Reply::Out(out), Some(expect)) => {
                let out = asked_for(area, expect, out);
                if !accepts(expect, &out) {
                    wrong.push(differ(expect, who, &out));
                }
            }
        }
    }
    if !wrong.is_empty() {
        return Verdict::Failed(wrong.join("; "));
    }
    if pending.is_empty() { Verdict::Passed } else { Verdict::Skipped(pending.join("; ")) }
}

/// Runs one case here, as a test does.
///
/// # Errors
/// A line about what differs. A case that nobody here can answer passes.
pub fn check(here: &Here, area: &str, case: &Case) -> Result<(), String> {
    match ask(here, None, area, case, None).verdict {
        Verdict::Failed(line) => Err(line),
        _ => Ok(()),
    }
}
