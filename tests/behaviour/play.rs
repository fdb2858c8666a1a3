//! Plays a case: calls of tools and what a person does between them as one run of the program, every other operation as
//! one of its own.

use crate::case::Case;
use crate::place::Place;
use crate::session::{self, Run};
use crate::tree::Tree;
use lembas_scripted_server::{Reply, Step};
use serde_json::Value;
use std::time::Duration;

/// What was seen of a step.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The tool that was called.
    pub(crate) tool: Option<String>,
    /// Whether the call was done; nothing for what is no call.
    pub(crate) ok: Option<bool>,
    /// What the model got.
    pub(crate) result: Option<String>,
    /// The project afterwards.
    pub(crate) tree: Tree,
    /// How long it took.
    pub(crate) took: Duration,
    /// The exit code of a command of the program.
    pub(crate) exit: Option<i32>,
    /// Its output.
    pub(crate) stdout: Option<String>,
    /// Its error output.
    pub(crate) stderr: Option<String>,
    /// What would become of a call.
    pub(crate) decision: Option<String>,
}

/// A case that was played.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// The project before.
    pub(crate) before: Tree,
    /// What was seen, step by step.
    pub(crate) steps: Vec<Seen>,
    /// Whether the program went on after all of it, and nothing panicked.
    pub(crate) alive: bool,
    /// The most memory it has had, in KiB, as far as that could be seen.
    pub(crate) peak_kb: u64,
}

impl Played {
    /// Returns what a person wants to see of a failure.
    pub(crate) fn shown(&self) -> String {
        let part = |text: &str| text.chars().take(1500).collect::<String>();
        let steps = self.steps.iter().enumerate().map(|(number, step)| {
            let Seen { ok, result, exit, stdout, stderr, .. } = step;
            let texts = [("result", result), ("stdout", stdout), ("stderr", stderr)];
            let texts = texts.iter().filter_map(|(name, text)| {
                text.as_ref().map(|text| format!("\n  {name}: {}", part(text)))
            });
            format!("step {}: ok {ok:?}, exit {exit:?}{}\n", number + 1, texts.collect::<String>())
        });
        steps.collect()
    }
}

/// Plays a case in its place.
///
/// # Errors
/// What kept it from being played to its end.
pub(crate) fn play(case: &Case, place: &Place) -> Result<Played, String> {
    place.set_up(case)?;
    let mut played = Played { before: place.tree()?, alive: true, ..Played::default() };
    steps(case, place, &mut played)?;
    Ok(played)
}

fn steps(case: &Case, place: &Place, played: &mut Played) -> Result<(), String> {
    let steps = case.steps();
    let mut rest = steps.as_slice();
    while let Some(first) = rest.first() {
        let calls = rest.iter().take_while(|step| step.get("op").is_none()).count();
        if let (Some(session), Some(after)) = (rest.get(..calls), rest.get(calls..))
            && calls > 0
        {
            session::play(session, case, place, played)?;
            rest = after;
            continue;
        }
        let seen = match first.get("op").and_then(Value::as_str) {
            Some("permission") => permission(first, case, place)?,
            _ => command(first, case, place, played)?,
        };
        played.steps.push(seen);
        rest = rest.get(1..).unwrap_or_default();
    }
    Ok(())
}

/// Runs the program with the arguments of a step, against what its script says.
fn command(step: &Value, case: &Case, place: &Place, played: &mut Played) -> Result<Seen, String> {
    let argv = texts(step.get("argv"));
    let replies = step.get("script").and_then(Value::as_array).into_iter().flatten().map(reply);
    let mut replies = replies.collect::<Vec<_>>().into_iter();
    let run = Run {
        arguments: argv.iter().map(String::as_str).collect(),
        input_open: step.get("stdin_open") == Some(&Value::Bool(true)),
    };
    let ended = session::run(run, case, place, move |_, _| replies.next())?;
    played.peak_kb = played.peak_kb.max(ended.peak_kb);
    played.alive &= !ended.panicked();
    Ok(Seen {
        ok: Some(ended.code == Some(0)),
        exit: ended.code,
        took: ended.took,
        tree: place.tree()?,
        stdout: Some(ended.stdout),
        stderr: Some(ended.stderr),
        ..Seen::default()
    })
}

/// Returns the reply that a line of a script stands for.
fn reply(line: &Value) -> Reply {
    let number = |key: &str| line.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut steps = Vec::new();
    for piece in texts(line.get("stream")) {
        steps.extend([Step::Text(piece), Step::DelayMs(number("gap_ms"))]);
    }
    if let Some(call) = line.get("call") {
        let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
        steps.push(Step::call(tool, call.get("args").cloned().unwrap_or_default()));
    }
    steps.extend(line.get("text").and_then(Value::as_str).map(|text| Step::Text(text.into())));
    Reply { delay_ms: number("delay_ms"), ..Reply::steps(steps) }
}

/// Asks what would become of a call.
fn permission(step: &Value, case: &Case, place: &Place) -> Result<Seen, String> {
    let tool = step.get("tool").and_then(Value::as_str).unwrap_or("bash");
    let args = step.get("args");
    let what = ["command", "path"].iter().find_map(|name| args?.get(name)?.as_str());
    let what = what.ok_or_else(|| format!("{step} names neither a command nor a path"))?;
    let arguments = vec!["permission", "explain", "--json", "--tool", tool, "--", what];
    let ended = session::run(Run { arguments, input_open: false }, case, place, |_, _| None)?;
    let explained: Value = serde_json::from_str(&ended.stdout)
        .map_err(|error| format!("{error}: {}{}", ended.stdout, ended.stderr))?;
    let decision = explained.get("decision").and_then(Value::as_str).map(String::from);
    Ok(Seen { decision, took: ended.took, tree: place.tree()?, ..Seen::default() })
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(String::from).collect()
}
