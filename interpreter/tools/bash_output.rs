//! `bash_output`: what a job has printed since it was last shown, and whether it still runs.

use super::job::Phase;
use super::{Outcome, Shared, bash};
use crate::engine::Grant;
use lembas_core::spec::{BashOutputArgs, BashOutputSay};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

pub(super) async fn run(
    shared: &Shared,
    grant: &Grant,
    args: &BashOutputArgs,
) -> Result<Outcome, Outcome> {
    let (name, job) = shared.job(&args.job)?;
    let place = args.cursor.and_then(|at| u64::try_from(at).ok());
    let place = place.unwrap_or_else(|| job.state().shown);
    let limits = &shared.limits().bash;
    let (until, wait) = (args.until.as_deref(), args.wait_ms.and_then(|ms| u64::try_from(ms).ok()));
    // Who waits for a text without a time waits as long as may be; who does not wait at all is spared asking in a circle.
    let otherwise = if until.is_some() { limits.max_wait_ms } else { limits.poll_ms };
    let time = Duration::from_millis(wait.unwrap_or(otherwise).min(limits.max_wait_ms));
    let done = job.until(|state| {
        let over = matches!(state.phase, Phase::Over(_));
        let new = wait.is_none() && until.is_none() && state.output.end() > place;
        over || new || until.is_some_and(|text| state.output.holds(place, text))
    });
    tokio::select! {
        biased;
        () = done => {}
        () = grant.stop.cancelled() => {}
        () = sleep(time) => {}
    }
    let (kept, cursor) = {
        let mut state = job.state();
        let kept = state.output.since(place);
        state.shown = state.output.end();
        (kept, state.shown)
    };
    let output = bash::text(shared, &kept);
    let values = json!({
        "before": bash::before(&output), "output": output, "job": name, "cursor": cursor,
        "state": shared.job_state(&job),
    });
    Ok(shared.tells(BashOutputSay::Shown, &values))
}
