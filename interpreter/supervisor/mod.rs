//! Starts commands so that nothing of them outlives this program. Each gets a supervisor: this program started anew, in
//! a session of its own, which is the command's parent and adopts what the command leaves behind. The two hold the ends
//! of one line; when this end closes, however this program ends, the supervisor ends everything below it. It judges
//! nothing and knows no tool.
//!
//! Why a process of its own: a group is left with `setsid`, a death signal reaches children only and is not inherited,
//! and both need code between fork and exec. An adopting parent keeps every descendant, it can tell that none is left
//! (it has no child any more), and what sets it up runs as an ordinary program.

mod process;
pub(crate) mod tree;

pub(crate) use process::run;

use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    os::unix::net::UnixStream as Line,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    },
    process::{Child, Command},
};

/// The first argument of a supervisor.
pub(crate) const VERB: &str = "supervise";

/// What `ps` shows. It does not hold the program's name: who ends this program by its name must not end its supervisors.
const NAME: &str = "command-supervisor";

/// What a supervisor is asked to start.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// What bash reads before it begins, with `{}` for a descriptor on which it may leave a note.
    pub(crate) startup: Option<String>,
    /// Milliseconds between asking to end and ending, when told to end.
    pub(crate) grace_ms: u64,
    /// The same, when who started it is gone.
    pub(crate) orphan_ms: u64,
}

/// What a supervisor says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Report {
    /// The command could not be started.
    Failed {
        /// Why.
        error: String,
    },
    /// The command has ended.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Whether processes that it started still run.
        left: bool,
        /// What it wrote to the descriptor of `startup`.
        note: Option<String>,
    },
}

/// What a supervisor is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Everything is to end.
    End,
}

impl Order {
    fn byte(self) -> u8 {
        match self {
            Order::End => b'e',
        }
    }
}

/// A supervisor at work. Dropped, it ends all that is below it.
#[derive(Debug)]
pub(crate) struct Supervised {
    child: Child,
    reports: BufReader<OwnedReadHalf>,
    orders: OwnedWriteHalf,
}

/// Starts a command in a directory, with these variables and no others. Returns what it writes, too, both streams in one.
///
/// # Errors
/// What the system said of the supervisor; what it says of the command follows as a report.
pub(crate) async fn start(
    request: &Request,
    folder: &Path,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> io::Result<(Supervised, pipe::Receiver)> {
    let (reader, writer) = io::pipe()?;
    let (ours, theirs) = Line::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(program());
    command.arg0(NAME).args(ARGUMENTS).current_dir(folder).env_clear().envs(variables);
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(writer);
    let child = command.spawn()?;
    // INVARIANT: the other ends go with `command`, so that only the supervisor and the command hold them.
    drop(command);
    let (reports, mut orders) = UnixStream::from_std(ours)?.into_split();
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    orders.write_all(&line).await?;
    let output = pipe::Receiver::from_owned_fd(reader.into())?;
    Ok((Supervised { child, reports: BufReader::new(reports), orders }, output))
}

impl Supervised {
    /// Waits for the next report; `None` once nothing is left of the command.
    pub(crate) async fn report(&mut self, line: &mut Vec<u8>) -> Option<Report> {
        let read = self.reports.read_until(b'\n', line).await;
        let report = read.ok().and_then(|_| serde_json::from_slice(line).ok());
        line.clear();
        report
    }

    /// Tells it something. One that is gone needs no telling.
    pub(crate) fn tell(&self, order: Order) {
        let _ = self.orders.try_write(&[order.byte()]);
    }

    /// Returns the process id, as long as it runs.
    pub(crate) fn id(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// Waits for its end.
    pub(crate) async fn end(&mut self) {
        let _ = self.child.wait().await;
    }
}

/// This program, as it is even if its file was replaced.
fn program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return running;
    }
    std::env::current_exe().unwrap_or(running)
}

/// What makes this program a supervisor.
#[cfg(not(test))]
const ARGUMENTS: [&str; 1] = [VERB];
/// In a test this program is a list of tests, one of which is the supervisor.
#[cfg(test)]
const ARGUMENTS: [&str; 4] = ["supervisor::tests::supervise", "--exact", "--nocapture", VERB];

#[cfg(test)]
mod tests;
