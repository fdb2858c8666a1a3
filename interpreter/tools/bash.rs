//! `bash`: a command line in a session and process group of its own. The call ends when the shell does; nothing it
//! started in its group outlives the call, and nothing it prints can make the call wait.

use super::output::{Kept, Output};
use super::{Outcome, Shared, file};
use crate::engine::{Grant, Target};
use crate::project::safe;
use lembas_core::spec::{BashArgs, BashLimits, BashSay};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde_json::{Value, json};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether a group that was asked to end has ended.
const LOOK: Duration = Duration::from_millis(10);

/// How long processes that the shell left behind get to end by themselves when the call is over.
const LEFTOVERS: Duration = Duration::from_millis(100);

/// The program that starts the shell in a session of its own, so that no command can ask on the terminal.
static SETSID: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join("setsid")).find(|path| path.is_file())
});

/// How a command came to its end.
enum End {
    Exited,
    TimedOut,
    Stopped,
}

pub(super) async fn run(
    shared: &Shared,
    grant: &Grant,
    args: &BashArgs,
) -> Result<Outcome, Outcome> {
    let (limits, stop) = (&shared.limits().bash, &grant.stop);
    let target = shared.target(grant, None)?;
    let folder = safe::directory(&target.real).map_err(|error| {
        let shown = shared.shown(&target.named);
        match safe::is_moved(&error) {
            true => shared.moved(&shown),
            false => shared.fails(BashSay::Workdir, &json!({"path": shown})),
        }
    })?;
    let asked = args.timeout_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(limits.timeout_ms);
    let ms = asked.min(limits.max_timeout_ms);
    let mut job = start(&args.command, &folder, target, limits)
        .map_err(|error| shared.fails(BashSay::Failed, &json!({"error": file::words(&error)})))?;
    let end = job.wait(Duration::from_millis(ms), stop).await;
    let status = job.end(&end, limits).await;
    let kept = std::mem::replace(&mut job.output, Output::new(0, 0)).finish();
    let output = text(shared, &kept);
    // What a note follows ends its line; an output that is all there is does not.
    let before = if output.is_empty() { String::new() } else { format!("{output}\n") };
    let most = limits.max_timeout_ms;
    let mut values =
        json!({"output": output, "before": before, "code": null, "ms": ms, "most": most});
    let key = match (end, status) {
        (End::TimedOut, _) => BashSay::Timeout,
        (End::Stopped, _) => BashSay::Cancelled,
        (End::Exited, Some(status)) => exited(&mut values, status),
        (End::Exited, None) => BashSay::Ended,
    };
    let failed = key != BashSay::Ended || values["code"] != 0;
    Ok(Outcome { text: shared.say(key, &values), error: failed })
}

fn exited(values: &mut Value, status: ExitStatus) -> BashSay {
    values["code"] = json!(status.code());
    values["signal"] = json!(status.signal());
    if status.signal().is_some() { BashSay::Signal } else { BashSay::Ended }
}

/// Returns the output as the model gets it.
fn text(shared: &Shared, kept: &Kept) -> String {
    let mut text = kept.head.clone();
    if kept.left > 0 {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&shared.say(BashSay::LeftOut, &json!({"bytes": kept.left})));
        text.push('\n');
        text.push_str(&kept.tail);
    }
    let mut text = text.trim_end_matches('\n').to_owned();
    if kept.foreign {
        text.push('\n');
        text.push_str(&shared.say(BashSay::Foreign, &json!({})));
    }
    text
}

fn start(line: &str, folder: &OwnedFd, target: &Target, limits: &BashLimits) -> io::Result<Job> {
    let (reader, writer) = io::pipe()?;
    let mut command = match SETSID.as_ref() {
        Some(setsid) => {
            let mut command = Command::new(setsid);
            command.arg("bash");
            command
        }
        None => {
            let mut command = Command::new("bash");
            command.process_group(0);
            command
        }
    };
    command
        .args(["-c", line])
        .current_dir(safe::pinned(folder, &target.real))
        .envs(&limits.env)
        .env("PWD", &target.real)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .kill_on_drop(true);
    let child = command.spawn()?;
    // INVARIANT: the ends of the pipe for writing go with `command`, so that only the children hold one.
    drop(command);
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let pipe = pipe::Receiver::from_owned_fd(reader.into())?;
    Ok(Job {
        child,
        group,
        pipe,
        open: true,
        output: Output::new(limits.head_bytes, limits.tail_bytes),
    })
}

/// A running command. Dropped before its end, it takes its group along.
struct Job {
    child: Child,
    group: Option<Pid>,
    pipe: pipe::Receiver,
    /// Whether more output may come.
    open: bool,
    output: Output,
}

impl Job {
    /// Reads output until the shell ends, the time is over or the call is stopped.
    async fn wait(&mut self, time: Duration, stop: &CancellationToken) -> End {
        let deadline = Instant::now() + time;
        let mut piece = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return End::Stopped,
                () = sleep_until(deadline) => return End::TimedOut,
                _ = self.child.wait() => return End::Exited,
                read = self.pipe.read(&mut piece), if self.open => self.take(read, &piece),
            }
        }
    }

    fn take(&mut self, read: io::Result<usize>, piece: &[u8]) {
        let count = read.unwrap_or(0);
        self.open = count > 0;
        self.output.push(piece.get(..count).unwrap_or_default());
    }

    /// Ends what is left of the group, reads what it still had to say, and returns the shell's status.
    async fn end(&mut self, end: &End, limits: &BashLimits) -> Option<ExitStatus> {
        let drain = Duration::from_millis(limits.drain_ms);
        match end {
            End::Exited => {
                self.drain(drain).await;
                self.end_group(LEFTOVERS).await;
            }
            End::TimedOut | End::Stopped => {
                self.end_group(Duration::from_millis(limits.grace_ms)).await;
                self.drain(drain).await;
            }
        }
        self.group = None;
        self.child.try_wait().ok().flatten()
    }

    /// Reads until nobody holds the pipe any more, or for `time`.
    async fn drain(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        let mut piece = vec![0; 64 * 1024];
        while self.open {
            match timeout_at(deadline, self.pipe.read(&mut piece)).await {
                Ok(read) => self.take(read, &piece),
                Err(_) => return,
            }
        }
    }

    /// Asks the group to end, and ends it after `grace`.
    async fn end_group(&mut self, grace: Duration) {
        let Some(group) = self.group else { return };
        let _ = kill_process_group(group, Signal::TERM);
        let deadline = Instant::now() + grace;
        while self.is_alive(group) && Instant::now() < deadline {
            self.read_some().await;
        }
        if self.is_alive(group) {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.start_kill();
            let _ = self.child.wait().await;
        }
    }

    /// Waits a moment, taking in what comes, so that a full pipe keeps nobody from ending.
    async fn read_some(&mut self) {
        let mut piece = [0; 4096];
        tokio::select! {
            read = self.pipe.read(&mut piece), if self.open => self.take(read, &piece),
            () = sleep(LOOK) => {}
        }
    }

    fn is_alive(&mut self, group: Pid) -> bool {
        let running = matches!(self.child.try_wait(), Ok(None));
        running || test_kill_process_group(group).is_ok() && has_living(group)
    }
}

/// Whether a process of the group still runs. One that has ended and waits for its parent to notice answers signals
/// too, but there is nothing left of it to wait for. Where `/proc` does not tell, the group counts as running.
fn has_living(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let stats = processes
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let mut known = false;
    for stat in stats {
        known = true;
        // The name stands in brackets and may hold anything; state, parent and group follow the last one.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut fields = fields.split_whitespace();
        let ended = matches!(fields.next(), Some("Z" | "X"));
        let same =
            fields.nth(1).and_then(|pgrp| pgrp.parse().ok()) == Some(group.as_raw_nonzero().get());
        if same && !ended {
            return true;
        }
    }
    !known
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
