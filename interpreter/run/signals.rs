//! Signals of a run, heard on a thread of their own: a reader that takes nothing may block everything else.

use crate::stop::{self, Stop};
use std::{thread, time::Duration};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long everything has to end after a second signal, before the process ends with it.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Lets the first signal stop the turn as it should be stopped (`cancel`) and the second end everything at once
/// (`abort`, and soon after the process).
///
/// # Errors
/// A thread or handlers that cannot be had.
pub(super) fn stop_on_signals(
    cancel: CancellationToken,
    abort: CancellationToken,
) -> Result<(), Stop> {
    let failed =
        |error: std::io::Error| Stop::internal(format!("Signals cannot be caught: {error}."));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let streams = {
        let _guard = runtime.enter();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        kinds.map(signal).into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?
    };
    let heard = async move {
        let mut tasks = Vec::new();
        for mut stream in streams {
            let (cancel, abort) = (cancel.clone(), abort.clone());
            tasks.push(async move {
                while stream.recv().await.is_some() {
                    if cancel.is_cancelled() {
                        abort.cancel();
                        tokio::time::sleep(LAST_MOMENT).await;
                        std::process::exit(stop::INTERRUPTED.into());
                    }
                    cancel.cancel();
                }
            });
        }
        futures_util::future::join_all(tasks).await;
    };
    thread::Builder::new().spawn(move || runtime.block_on(heard)).map_err(failed)?;
    Ok(())
}
