//! `lembas run`: one prompt, answered without a person. The answer goes to standard output, or every event does.

mod input;
mod json;
mod signals;
mod text;

use crate::{
    app::{self, Options, Session},
    bus::Bus,
    engine::{Ended, Unattended},
    stop::{self, Stop},
};
use json::JsonPrinter;
use signals::stop_on_signals;
use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};
use text::TextPrinter;
use tokio_util::sync::CancellationToken;

/// Answers one prompt and ends. Nothing waits for a person: what would need an approval is refused.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The prompt. What is piped in is added to it; `-` waits for that.
    #[arg(value_name = "PROMPT")]
    words: Vec<String>,
    /// The permission mode, instead of the configured one.
    #[arg(long)]
    mode: Option<String>,
    /// Allow this command line and its like for this run; may be given more than once.
    #[arg(long, value_name = "LINE")]
    allow: Vec<String>,
    /// The model, as <connection>/<model>.
    #[arg(long, short, conflicts_with = "replay")]
    model: Option<String>,
    /// Print every event as a line of JSON.
    #[arg(long)]
    json: bool,
    /// Keep the server's replies, byte for byte, in a file that --replay can answer from.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Answer from a recording instead of a server.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Use the spec in this directory instead of the one in the program.
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// What ended it before the first request.
pub(crate) fn run(args: RunArgs) -> Result<u8, Stop> {
    // It is needed to the end, and nobody waits for it to be taken apart then.
    let spec = Box::leak(Box::new(Arc::new(app::spec(args.harness.as_deref())?)));
    let wait = Duration::from_millis(spec.limits.run.stdin_wait_ms);
    let prompt = input::prompt(&args.words, wait).map_err(Stop::usage)?;
    let options = Options {
        mode: args.mode,
        model: args.model,
        allow: args.allow,
        record: args.record,
        replay: args.replay,
        interactive: false,
    };
    let mut session = Session::open(spec, options)?;
    let mut bus = Bus::default();
    if args.json {
        let printer = JsonPrinter::new();
        bus.subscribe(Box::new(move |event| printer.see(event)));
    } else {
        let printer = TextPrinter::new();
        bus.subscribe(Box::new(move |event| printer.see(event)));
    }
    let runtime = app::runtime()?;
    let code = runtime.block_on(answer(&mut session, &bus, &prompt));
    // File work that was given up must not keep the program from ending.
    runtime.shutdown_background();
    code
}

/// Answers until it is done or a second signal comes. What is left then is dropped, and takes its processes along.
async fn answer<'s>(session: &mut Session<'s>, bus: &'s Bus, prompt: &str) -> Result<u8, Stop> {
    let (cancel, abort) = (CancellationToken::new(), CancellationToken::new());
    stop_on_signals(cancel.clone(), abort.clone())?;
    tokio::select! {
        biased;
        () = abort.cancelled() => Ok(stop::INTERRUPTED),
        code = work(session, bus, prompt, cancel) => code,
    }
}

async fn work<'s>(
    session: &mut Session<'s>,
    bus: &'s Bus,
    prompt: &str,
    cancel: CancellationToken,
) -> Result<u8, Stop> {
    // Fetching a key may take as long as a person needs to unlock it.
    let made = tokio::select! {
        biased;
        () = cancel.cancelled() => return Ok(stop::INTERRUPTED),
        made = session.engine(bus, &Unattended, cancel.clone()) => made,
    };
    warn(&session.warnings, made.as_ref().err());
    let mut engine = made?;
    let ended = engine.prompt(prompt).await;
    engine.toolbox.close().await;
    Ok(match ended {
        Ended::Answered => 0,
        Ended::Limit => stop::LIMIT,
        Ended::Refused => stop::REFUSED,
        Ended::Failed(_) => stop::PROVIDER,
        Ended::Cancelled => stop::INTERRUPTED,
    })
}

/// Tells what was left out, except what the reason to stop tells anyway.
fn warn(warnings: &[String], stop: Option<&Stop>) {
    let told = |warning: &str| {
        stop.is_some_and(|stop| stop.lines.iter().any(|line| line.contains(warning)))
    };
    for warning in warnings.iter().filter(|warning| !told(warning)) {
        // Without standard error there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "lembas: {warning}");
    }
}
