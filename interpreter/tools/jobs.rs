//! The jobs of a session: commands that go on after the call that started them, by their names. It says how they are.

use super::job::{End, Job, Phase};
use super::{Outcome, Shared};
use lembas_core::spec::{BashLimits, BashListSay, BashOutputSay};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How much longer than the time it has a job may take to end before it is given up.
const LONGER: Duration = Duration::from_secs(3);

/// What the name of a job begins with; its number follows.
const PREFIX: &str = "job";

/// The jobs of a session.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    known: Mutex<Known>,
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.all().iter().for_each(|(_, job)| job.end());
    }
}

#[derive(Debug, Default)]
struct Known {
    /// By name, in the order they became jobs.
    jobs: Vec<(String, Arc<Job>)>,
    count: u32,
}

impl Jobs {
    /// Gives a command a name, unless too many run already.
    pub(super) fn take(&self, job: &Arc<Job>, limits: &BashLimits) -> Option<String> {
        let mut known = self.known();
        let over = |job: &Job| matches!(job.phase(), Phase::Over(_));
        let ended = known.jobs.iter().filter(|(_, job)| over(job)).count();
        if known.jobs.len() - ended >= limits.jobs {
            return None;
        }
        let mut forgotten = ended.saturating_sub(limits.ended_jobs);
        known.jobs.retain(|(_, job)| {
            let forget = forgotten > 0 && over(job);
            forgotten -= usize::from(forget);
            !forget
        });
        known.count += 1;
        let name = format!("{PREFIX}{}", known.count);
        known.jobs.push((name.clone(), Arc::clone(job)));
        Some(name)
    }

    /// Returns whether no more jobs may run.
    pub(super) fn are_full(&self, limits: &BashLimits) -> bool {
        let over = |job: &Job| matches!(job.phase(), Phase::Over(_));
        self.known().jobs.iter().filter(|(_, job)| !over(job)).count() >= limits.jobs
    }

    /// Returns all jobs by name.
    pub(super) fn all(&self) -> Vec<(String, Arc<Job>)> {
        self.known().jobs.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has jobs ended, and waits until they are, as long as that may take.
pub(super) async fn end(jobs: &[(String, Arc<Job>)], limits: &BashLimits) {
    jobs.iter().for_each(|(_, job)| job.end());
    let all = async {
        for (_, job) in jobs {
            job.over().await;
        }
    };
    let _ = timeout(Duration::from_millis(limits.grace_ms) + LONGER, all).await;
}

impl Shared {
    /// Returns a job under its name, or the answer that there is none of this one.
    pub(super) fn job(&self, name: &str) -> Result<(String, Arc<Job>), Outcome> {
        let jobs = self.jobs.all();
        // Some leave out the word.
        let number = |known: &str| known.strip_prefix(PREFIX) == Some(name);
        let found = jobs.iter().find(|(known, _)| known == name || number(known));
        found.cloned().ok_or_else(|| {
            let jobs: Vec<&String> = jobs.iter().map(|(name, _)| name).collect();
            self.fails(BashOutputSay::Unknown, &json!({"job": name, "jobs": jobs}))
        })
    }

    /// Returns how a job is, in a few words.
    pub(super) fn job_state(&self, job: &Job) -> String {
        let phase = job.phase();
        let mut values = json!({
            "running": phase == Phase::Runs,
            "lost": phase.end() == Some(&End::Lost),
            "seconds": job.began.elapsed().as_secs(),
            "processes": if let Phase::Left(_) = phase { self.processes(job) } else { Vec::new() },
        });
        known(&mut values, phase.end());
        self.say(BashListSay::State, &values)
    }

    /// Returns the first of the processes of a job, each as one short line.
    pub(super) fn processes(&self, job: &Job) -> Vec<String> {
        let limits = &self.limits().bash;
        let lines = job.processes().into_iter().take(limits.shown_processes);
        lines.map(|line| short(&line, limits)).collect()
    }
}

/// Puts the code or signal of a shell into the values of a sentence.
pub(super) fn known(values: &mut Value, end: Option<&End>) {
    let (code, signal) = match end {
        Some(End::Known { code, signal, .. }) => (*code, *signal),
        Some(End::Failed(_) | End::Lost) | None => (None, None),
    };
    (values["code"], values["signal"]) = (json!(code), json!(signal));
}

/// Returns a command line as one line that is not too long.
pub(super) fn short(command: &str, limits: &BashLimits) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limits.shown_chars) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
