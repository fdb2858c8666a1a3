//! `bash_list`: the jobs of this session and how they are.

use super::jobs::short;
use super::{Outcome, Shared};
use lembas_core::spec::BashListSay;
use serde_json::json;

pub(super) fn run(shared: &Shared) -> Outcome {
    let jobs = shared.jobs.all();
    if jobs.is_empty() {
        return shared.tells(BashListSay::None, &json!({}));
    }
    let line = |(name, job): &(String, std::sync::Arc<super::job::Job>)| {
        let values = json!({
            "job": name, "state": shared.job_state(job), "bytes": job.state().output.end(),
            "command": short(&job.command, &shared.limits().bash),
        });
        shared.say(BashListSay::Job, &values)
    };
    Outcome::done(jobs.iter().map(line).collect::<Vec<_>>().join("\n"))
}
