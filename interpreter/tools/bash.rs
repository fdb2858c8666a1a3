//! `bash`: a command line in a shell of its own. The call ends when the shell does, when its time is over or when it is
//! stopped; what then still runs becomes a job or is ended, and is told. Nothing it prints can make the call wait.

use super::job::{End, Job, Phase};
use super::jobs::{self, known};
use super::output::Kept;
use super::{Outcome, Shared, file};
use crate::engine::{Grant, Target};
use crate::project::safe;
use lembas_core::spec::{BashArgs, BashLimits, BashSay};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, interval_at, sleep, timeout};

/// Why a command is not waited for any longer.
enum Why {
    Ended,
    TimeOver,
    Stopped,
}

pub(super) async fn run(
    shared: &Shared,
    grant: &Grant,
    args: &BashArgs,
) -> Result<Outcome, Outcome> {
    let limits = &shared.limits().bash;
    let background = args.background == Some(true);
    if background && shared.jobs.are_full(limits) {
        let values = json!({"before": "", "most": limits.jobs});
        return Err(shared.fails(BashSay::TooMany, &values));
    }
    let target = shared.target(grant, None)?;
    let job = start(shared, target, args).await?;
    let asked = args.timeout_ms.and_then(|ms| u64::try_from(ms).ok());
    let asked = asked.map(|ms| ms.min(limits.max_timeout_ms));
    let ms = if background { limits.background_ms } else { asked.unwrap_or(limits.timeout_ms) };
    let mut call = Call { shared, limits, job, ms, name: None };
    let key = match (call.watch(grant).await, asked) {
        (Why::Ended, _) => call.ended().await,
        (Why::Stopped, _) => call.end(BashSay::Cancelled).await,
        (Why::TimeOver, asked) if background => {
            asked.into_iter().for_each(|ms| end_later(&call.job, ms));
            call.becomes(BashSay::Started).await
        }
        (Why::TimeOver, None) => call.becomes(BashSay::Became).await,
        (Why::TimeOver, Some(_)) => call.end(BashSay::Timeout).await,
    };
    call.outcome(key, target)
}

async fn start(shared: &Shared, target: &Target, args: &BashArgs) -> Result<Arc<Job>, Outcome> {
    let limits = &shared.limits().bash;
    let folder = safe::directory(&target.real).map_err(|error| {
        let shown = shared.shown(&target.named);
        match safe::is_moved(&error) {
            true => shared.moved(&shown),
            false => shared.fails(BashSay::Workdir, &json!({"path": shown})),
        }
    })?;
    let moves = shared.spec.wrappers.movers.iter().any(|mover| args.command.contains(mover));
    let pinned = safe::pinned(&folder, &target.real);
    let outputs = Arc::clone(&shared.outputs);
    let started =
        Job::start(&args.command, moves, &pinned, variables(limits, target), limits, outputs);
    started
        .await
        .map_err(|error| shared.fails(BashSay::Failed, &json!({"error": file::words(&error)})))
}

/// Returns the variables of a command: what the spec lets it inherit, and what the spec sets.
fn variables(limits: &BashLimits, target: &Target) -> Vec<(OsString, OsString)> {
    let any = |names: &[String], name: &str| names.iter().any(|known| fits(known, name));
    let inherited = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        any(&limits.env_kept, &name) && !any(&limits.env_dropped, &name)
    });
    let set = limits.env.iter().map(|(name, value)| (name.into(), value.into()));
    let here = ("PWD".into(), target.real.clone().into_os_string());
    inherited.chain(set).chain([here]).collect()
}

/// Whether a name is one that a pattern means; `*` at its ends stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// Ends a job when its time is over.
fn end_later(job: &Arc<Job>, ms: u64) {
    let job = Arc::clone(job);
    tokio::spawn(async move {
        if timeout(Duration::from_millis(ms), job.over()).await.is_err() {
            job.end();
        }
    });
}

/// A call and its command. Dropped before that has a name as a job, it takes the command along.
struct Call<'c> {
    shared: &'c Shared,
    limits: &'c BashLimits,
    job: Arc<Job>,
    /// Milliseconds it is waited for.
    ms: u64,
    /// What it is called as a job.
    name: Option<String>,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.name.is_none() {
            self.job.end();
        }
    }
}

impl Call<'_> {
    /// Waits for the shell, and tells what it prints meanwhile.
    async fn watch(&self, grant: &Grant) -> Why {
        let ended = self.job.until(|state| state.phase != Phase::Runs);
        let over = sleep(Duration::from_millis(self.ms));
        let pause = Duration::from_millis(self.limits.live_ms);
        let mut told = interval_at(Instant::now() + pause, pause);
        let mut place = 0;
        tokio::pin!(ended, over);
        loop {
            tokio::select! {
                biased;
                () = grant.stop.cancelled() => return Why::Stopped,
                () = &mut ended => return Why::Ended,
                () = &mut over => return Why::TimeOver,
                _ = told.tick() => self.tell(grant, &mut place),
            }
        }
    }

    /// Tells the last of the lines that came since `place`.
    fn tell(&self, grant: &Grant, place: &mut u64) {
        let state = self.job.state();
        if state.output.end() > *place {
            grant.tell(state.output.last(*place, self.limits.live_bytes));
            *place = state.output.end();
        }
    }

    /// Makes the command a job, or ends it where there are too many.
    async fn becomes(&mut self, key: BashSay) -> BashSay {
        self.name = self.shared.jobs.take(&self.job, self.limits);
        if self.name.is_none() { self.end(BashSay::TooMany).await } else { key }
    }

    /// Ends the command with all that it started.
    async fn end(&self, key: BashSay) -> BashSay {
        jobs::end(&[(String::new(), Arc::clone(&self.job))], self.limits).await;
        key
    }

    /// Gives what the shell left behind a moment to end by itself.
    async fn ended(&mut self) -> BashSay {
        let moment = Duration::from_millis(self.limits.drain_ms);
        match timeout(moment, self.job.over()).await {
            Ok(()) => BashSay::Ended,
            Err(_) => self.becomes(BashSay::Left).await,
        }
    }

    fn outcome(&self, key: BashSay, target: &Target) -> Result<Outcome, Outcome> {
        let (kept, phase) = {
            let mut state = self.job.state();
            // What is started as a job is shown by the tool for that.
            if key != BashSay::Started {
                state.shown = state.output.end();
            }
            (state.output.since(0), state.phase.clone())
        };
        if let Some(End::Failed(error)) = phase.end() {
            return Err(self.shared.fails(BashSay::Failed, &json!({"error": error})));
        }
        let output = text(self.shared, &kept);
        let mut values = json!({
            "output": output, "before": before(&output), "ms": self.ms, "most": self.limits.max_timeout_ms,
            "job": self.name,
        });
        if key == BashSay::Left {
            values["processes"] = json!(self.shared.processes(&self.job));
        }
        known(&mut values, phase.end());
        let key = match (key, phase.end()) {
            (BashSay::TooMany, _) => {
                values["most"] = json!(self.limits.jobs);
                key
            }
            (BashSay::Ended, Some(End::Lost)) => BashSay::Lost,
            (BashSay::Ended, _) if !values["signal"].is_null() => BashSay::Signal,
            _ => key,
        };
        let fine = match key {
            BashSay::Ended | BashSay::Left => values["code"] == 0,
            _ => matches!(key, BashSay::Started | BashSay::Became),
        };
        let mut outcome = Outcome { error: !fine, ..Outcome::done(self.shared.say(key, &values)) };
        if let Some(End::Known { note: Some(note), .. }) = phase.end() {
            self.stands(Path::new(note), target, &mut outcome);
        }
        Ok(outcome)
    }

    /// Puts into the outcome where the next command starts, if that is elsewhere than this one did.
    fn stands(&self, path: &Path, target: &Target, outcome: &mut Outcome) {
        if path == target.real {
            return;
        }
        let Shared { root, cwd, .. } = self.shared;
        let (key, next) = match path.starts_with(root) {
            true => (BashSay::Stands, path),
            false => (BashSay::Outside, cwd.as_path()),
        };
        let values = json!({"path": self.shared.shown(next), "was": path});
        outcome.text = format!("{}\n{}", outcome.text, self.shared.say(key, &values));
        outcome.stands = Some(PathBuf::from(next));
    }
}

/// Returns what is put before a note: the output with its line ended. One that is all there is stays as it is.
pub(super) fn before(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!("{output}\n") }
}

/// Returns an output as the model gets it.
pub(super) fn text(shared: &Shared, kept: &Kept) -> String {
    let mut text = kept.head.clone();
    if kept.left > 0 {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let values = json!({"bytes": kept.left, "file": kept.file, "whole": kept.whole});
        text.push_str(&shared.say(BashSay::LeftOut, &values));
        text.push('\n');
        text.push_str(&kept.tail);
    }
    let mut lines = vec![text.trim_end_matches('\n').to_owned()];
    if kept.foreign {
        lines.push(shared.say(BashSay::Foreign, &json!({})));
    }
    if kept.binary > 0 {
        lines.push(shared.say(BashSay::Binary, &json!({"bytes": kept.binary})));
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn names_of_variables() {
        for (pattern, name, expected) in [
            ("PATH", "PATH", true),
            ("PATH", "MANPATH", false),
            ("LC_*", "LC_ALL", true),
            ("LC_*", "LANG", false),
            ("*_proxy", "https_proxy", true),
            ("*_proxy", "_proxy_x", false),
            ("*TOKEN*", "GITHUB_TOKEN", true),
            ("*TOKEN*", "TOKENS_OF", true),
            ("*TOKEN*", "TOKE", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
