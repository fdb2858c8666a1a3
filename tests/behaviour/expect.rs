//! What must hold after a case was played: predicates of its end, of each of its steps, or of one of several outcomes.

use crate::place::{self, Place};
use crate::play::{Played, Seen};
use crate::processes;
use crate::text;
use crate::tree::{self, Node, Tree, difference};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// The predicates there are.
pub(crate) const KNOWN: [&str; 16] = [
    "ok",
    "result",
    "files",
    "files_unchanged",
    "any_of",
    "each",
    "alive",
    "elapsed_ms_max",
    "rss_mb_max",
    "no_process",
    "no_dir",
    "absent",
    "exit",
    "stdout",
    "stderr",
    "decision",
];

/// What the predicates are asked of: the steps, and what was there before and after them.
struct View<'a> {
    steps: &'a [Seen],
    before: &'a Tree,
    after: &'a Tree,
    played: &'a Played,
    place: &'a Place,
}

/// Checks a whole case.
///
/// # Errors
/// What does not hold.
pub(crate) fn whole(
    wanted: &Map<String, Value>,
    played: &Played,
    place: &Place,
) -> Result<(), String> {
    let Some(last) = played.steps.last() else { return Err("nothing was done".into()) };
    let (steps, before, after) = (&played.steps, &played.before, &last.tree);
    View { steps, before, after, played, place }.check(wanted)
}

impl View<'_> {
    fn check(&self, wanted: &Map<String, Value>) -> Result<(), String> {
        wanted.iter().try_for_each(|(predicate, value)| self.holds(predicate, value))
    }

    fn holds(&self, predicate: &str, value: &Value) -> Result<(), String> {
        let (last, texts) = (self.steps.last(), value.as_object());
        let said = |what, text: Option<&String>| match (texts, text) {
            (Some(wanted), Some(text)) => text::check(what, wanted, text),
            _ => Err(format!("there is no {what}")),
        };
        let truth = |good: bool, why: String| if good { Ok(()) } else { Err(why) };
        match predicate {
            "ok" => self.ok(value == &Value::Bool(true)),
            "result" => self.results().try_for_each(|text| said("the result", text)),
            "files" => texts.into_iter().flatten().try_for_each(|file| self.file(file)),
            "files_unchanged" => match difference(self.before, self.after) {
                Some(difference) => Err(difference),
                None => Ok(()),
            },
            "any_of" => self.any(value),
            "each" => self.each(value),
            "alive" => truth(self.played.alive, "it did not go on".into()),
            "elapsed_ms_max" => {
                let took: Duration = self.steps.iter().map(|step| step.took).sum();
                let most = Duration::from_millis(value.as_u64().unwrap_or(0));
                truth(took <= most, format!("it took {took:?}"))
            }
            "rss_mb_max" => {
                let peak = self.played.peak_kb / 1024;
                truth(peak <= value.as_u64().unwrap_or(0), format!("it took {peak} MB"))
            }
            "no_process" => {
                let part = value.as_str().unwrap_or_default();
                truth(processes::end(&self.place.base, part), format!("{part:?} still runs"))
            }
            "no_dir" => {
                let made = self.place.root.join(value.as_str().unwrap_or_default());
                truth(!made.is_dir(), format!("{} was made", made.display()))
            }
            "absent" => {
                let mut paths = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                let found = paths.find(|path| Path::new(path).exists());
                found.map_or(Ok(()), |path| Err(format!("{path} is there")))
            }
            "exit" => {
                let exit = last.and_then(|step| step.exit);
                truth(exit.map(i64::from) == value.as_i64(), format!("the exit code is {exit:?}"))
            }
            "stdout" => said("the output", last.and_then(|step| step.stdout.as_ref())),
            "stderr" => said("the error output", last.and_then(|step| step.stderr.as_ref())),
            "decision" => {
                let decision = last.and_then(|step| step.decision.as_deref());
                truth(decision == value.as_str(), format!("the decision is {decision:?}"))
            }
            _ => Err(format!("{predicate:?} is no predicate")),
        }
    }

    /// A case is well if all its steps are, and not if the last is not.
    fn ok(&self, wanted: bool) -> Result<(), String> {
        let ok = |step: &Seen| step.ok == Some(true);
        let steps = || self.steps.iter().filter(|step| step.ok.is_some());
        match wanted {
            true if steps().all(ok) => Ok(()),
            true => Err("a call failed".into()),
            false if steps().next_back().is_some_and(ok) => Err("the call was done".into()),
            false => Ok(()),
        }
    }

    /// Returns the results that are meant: of every call if all are of one tool, otherwise the last.
    fn results(&self) -> impl Iterator<Item = Option<&String>> {
        let calls = || self.steps.iter().filter(|step| step.tool.is_some());
        let tool = calls().next().and_then(|step| step.tool.as_ref());
        let alike = calls().all(|step| step.tool.as_ref() == tool);
        let meant = calls().count().saturating_sub(if alike { usize::MAX } else { 1 });
        let results: Vec<_> = calls().skip(meant).map(|step| step.result.as_ref()).collect();
        let none = results.is_empty().then_some(None);
        results.into_iter().chain(none)
    }

    fn any(&self, alternatives: &Value) -> Result<(), String> {
        let mut wrong = Vec::new();
        for each in alternatives.as_array().into_iter().flatten().filter_map(Value::as_object) {
            match self.check(each) {
                Ok(()) => return Ok(()),
                Err(why) => wrong.push(why),
            }
        }
        Err(format!("none of these ways: {}", wrong.join("; ")))
    }

    fn each(&self, wanted: &Value) -> Result<(), String> {
        let wanted: Vec<_> =
            wanted.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        if wanted.len() != self.steps.len() {
            return Err(format!("{} steps, {} expectations", self.steps.len(), wanted.len()));
        }
        let mut before = self.before;
        for (number, (step, wanted)) in self.steps.iter().zip(wanted).enumerate() {
            let (steps, after) = (std::slice::from_ref(step), &step.tree);
            let view = View { steps, before, after, played: self.played, place: self.place };
            view.check(wanted).map_err(|why| format!("step {}: {why}", number + 1))?;
            before = after;
        }
        Ok(())
    }

    fn file(&self, (written, wanted): (&String, &Value)) -> Result<(), String> {
        let found = self.after.get(Path::new(&place::name(written)));
        let wrong = |why: String| Err(format!("{written} {why}"));
        if wanted.get("absent").is_some() {
            return if found.is_none() { Ok(()) } else { wrong("is there".into()) };
        }
        if let Some(to) = wanted.get("symlink").or(wanted.get("link")).and_then(Value::as_str) {
            let good = matches!(found, Some(Node::Link(found)) if found == Path::new(to));
            return if good { Ok(()) } else { wrong(format!("is no link to {to}: {found:?}")) };
        }
        let content = match found {
            Some(Node::File { bytes, .. }) => Ok(bytes.clone()),
            // A link stands for its file when nothing else is asked of it.
            Some(Node::Link(_)) => {
                std::fs::read(self.place.root.join(place::name(written))).map(tree::bounded)
            }
            _ => return wrong(format!("is no file: {found:?}")),
        };
        let content = content.map_err(|error| format!("{written}: {error}"))?;
        if place::bytes(wanted).is_some_and(|wanted| tree::bounded(wanted) != content) {
            return wrong(format!("holds {:?}", String::from_utf8_lossy(&content)));
        }
        match (place::mode(wanted), found) {
            (Some(wanted), Some(Node::File { mode, .. })) if wanted != *mode => {
                wrong(format!("has mode {mode:o}"))
            }
            _ => Ok(()),
        }
    }
}
