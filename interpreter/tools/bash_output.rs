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
    let job = shared.job(&args.job)?;
    let place = args.cursor.and_then(|at| u64::try_from(at).ok());
    let place = place.unwrap_or_else(|| job.state().shown);
    let most = shared.limits().bash.max_wait_ms;
    // Who waits for a text without a time waits as long as may be.
    let asked = args.wait_ms.and_then(|ms| u64::try_from(ms).ok());
    let asked = asked.unwrap_or(if args.until.is_some() { most } else { 0 });
    let until = args.until.as_deref();
    let done = job.until(|state| {
        let over = matches!(state.phase, Phase::Over(_));
        over || until.is_some_and(|text| state.output.holds(place, text))
    });
    tokio::select! {
        biased;
        () = done => {}
        () = grant.stop.cancelled() => {}
        () = sleep(Duration::from_millis(asked.min(most))) => {}
    }
    let (kept, cursor) = {
        let mut state = job.state();
        let kept = state.output.since(place);
        state.shown = state.output.end();
        (kept, state.shown)
    };
    let output = bash::text(shared, &kept);
    let values = json!({
        "before": bash::before(&output), "output": output, "job": args.job, "cursor": cursor,
        "state": shared.job_state(&job),
    });
    Ok(shared.tells(BashOutputSay::Shown, &values))
}
