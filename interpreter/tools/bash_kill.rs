//! `bash_kill`: ends a job with everything it started.

use super::job::Phase;
use super::{Outcome, Shared, jobs};
use lembas_core::spec::{BashKillArgs, BashKillSay};
use serde_json::json;

pub(super) async fn run(shared: &Shared, args: &BashKillArgs) -> Result<Outcome, Outcome> {
    let (name, job) = shared.job(&args.job)?;
    let said = |key, state: String, processes: Vec<String>| {
        shared.say(key, &json!({"job": name, "state": state, "processes": processes}))
    };
    if let Phase::Over(_) = job.phase() {
        return Ok(Outcome::done(said(BashKillSay::Over, shared.job_state(&job), Vec::new())));
    }
    jobs::end(&[(name.clone(), job.clone())], &shared.limits().bash).await;
    match job.phase() {
        Phase::Over(_) => Ok(Outcome::done(said(BashKillSay::Ended, String::new(), Vec::new()))),
        Phase::Runs | Phase::Left(_) => {
            let processes = shared.processes(&job);
            Err(Outcome::failed(said(BashKillSay::Stays, String::new(), processes)))
        }
    }
}
