//! A command at work: what it has printed, whether it still runs, and how it is ended. A task beside the loop reads what
//! it prints, however much that is, so that nobody has to wait for it.

use super::output::{Output, Sizes};
use crate::outputs::Outputs;
use crate::supervisor::{self, Order, Report, Request, Supervised, tree};
use lembas_core::spec::BashLimits;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;

/// How far a command is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It runs.
    #[default]
    Runs,
    /// Its shell has ended, but processes that it started run.
    Left(End),
    /// Nothing of it is left, and all that it printed was read.
    Over(End),
}

/// How a shell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// With a code, or by a signal. The note says where it stood.
    Known { code: Option<i32>, signal: Option<i32>, note: Option<String> },
    /// It could not be started, for this reason.
    Failed(String),
    /// Its supervisor was killed.
    Lost,
}

impl Phase {
    /// Returns how the shell ended, if it did.
    pub(super) fn end(&self) -> Option<&End> {
        match self {
            Phase::Runs => None,
            Phase::Left(end) | Phase::Over(end) => Some(end),
        }
    }
}

/// A command and what is known of it.
#[derive(Debug)]
pub(super) struct Job {
    /// The command line.
    pub(super) command: String,
    /// When it was started.
    pub(super) began: Instant,
    state: Mutex<State>,
    /// Counts what has happened.
    changed: watch::Sender<u64>,
    orders: mpsc::UnboundedSender<Order>,
    /// The process id of its supervisor.
    supervisor: Option<i32>,
}

#[derive(Debug)]
pub(super) struct State {
    /// What it has printed.
    pub(super) output: Output,
    /// How far it is.
    pub(super) phase: Phase,
    /// The place up to which the model was shown what it printed.
    pub(super) shown: u64,
}

impl Job {
    /// Starts a command line in a directory. `startup` is what its shell runs before it.
    ///
    /// # Errors
    /// What the system said of the supervisor; a shell that cannot be started ends at once.
    pub(super) async fn start(
        line: &str,
        startup: bool,
        folder: &Path,
        variables: Vec<(OsString, OsString)>,
        limits: &BashLimits,
        outputs: Arc<Outputs>,
    ) -> io::Result<Arc<Job>> {
        let request = Request {
            argv: ["bash", "-c", line].map(str::to_owned).to_vec(),
            startup: startup.then(|| limits.startup.clone()),
            grace_ms: limits.grace_ms,
            orphan_ms: limits.orphan_ms,
        };
        let (supervised, pipe) = supervisor::start(&request, folder, variables).await?;
        let (orders, told) = mpsc::unbounded_channel();
        let state = State {
            output: Output::new(Sizes::from(limits), outputs),
            phase: Phase::Runs,
            shown: 0,
        };
        let job = Arc::new(Job {
            command: line.to_owned(),
            began: Instant::now(),
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            orders,
            supervisor: supervised.id(),
        });
        let drain = Duration::from_millis(limits.drain_ms);
        tokio::spawn(Pump { job: Arc::clone(&job), supervised, pipe, drain, open: true }.run(told));
        Ok(job)
    }

    /// Returns what is known now. It is not to be held over an await.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how far it is.
    pub(super) fn phase(&self) -> Phase {
        self.state().phase.clone()
    }

    /// Waits until something holds, for as long as it takes.
    pub(super) async fn until(&self, mut holds: impl FnMut(&State) -> bool) {
        let mut changed = self.changed.subscribe();
        loop {
            if holds(&self.state()) {
                return;
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until nothing of it is left.
    pub(super) async fn over(&self) {
        self.until(|state| matches!(state.phase, Phase::Over(_))).await;
    }

    /// Has everything of it ended: asked first, then without asking.
    pub(super) fn end(&self) {
        let _ = self.orders.send(Order::End);
    }

    /// Returns the command lines of the processes that still run.
    pub(super) fn processes(&self) -> Vec<String> {
        let below = self.supervisor.map(tree::below).unwrap_or_default();
        below.into_iter().map(tree::command).filter(|line| !line.is_empty()).collect()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.send_modify(|count| *count += 1);
    }
}

/// What reads for a job.
struct Pump {
    job: Arc<Job>,
    supervised: Supervised,
    pipe: pipe::Receiver,
    /// How long output is still read when nothing is left that may print.
    drain: Duration,
    /// Whether more output may come.
    open: bool,
}

impl Pump {
    async fn run(mut self, mut told: mpsc::UnboundedReceiver<Order>) {
        let (mut piece, mut line) = (vec![0; PIECE], Vec::new());
        let mut end = End::Lost;
        loop {
            tokio::select! {
                biased;
                Some(order) = told.recv() => self.supervised.tell(order),
                report = self.supervised.report(&mut line) => match report {
                    Some(report) => end = self.reported(report),
                    None => break,
                },
                read = self.pipe.read(&mut piece), if self.open => self.take(read, &piece),
            }
        }
        if end == End::Lost {
            self.kill();
        }
        let deadline = Instant::now() + self.drain;
        while self.open {
            match timeout_at(deadline, self.pipe.read(&mut piece)).await {
                Ok(read) => self.take(read, &piece),
                Err(_) => break,
            }
        }
        self.job.change(|state| {
            state.output.finish();
            state.phase = Phase::Over(end);
        });
        self.supervised.end().await;
    }

    fn reported(&mut self, report: Report) -> End {
        match report {
            Report::Failed { error } => End::Failed(error),
            Report::Ended { code, signal, left, note } => {
                let end = End::Known { code, signal, note };
                if left {
                    self.job.change(|state| state.phase = Phase::Left(end.clone()));
                }
                end
            }
        }
    }

    fn take(&mut self, read: io::Result<usize>, piece: &[u8]) {
        let count = read.unwrap_or(0);
        self.open = count > 0;
        let bytes = piece.get(..count).unwrap_or_default();
        self.job.change(|state| state.output.push(bytes));
    }

    /// Ends what a killed supervisor leaves. All that did not leave its session is found.
    fn kill(&self) {
        let left = self.job.supervisor.map(tree::session).unwrap_or_default();
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
