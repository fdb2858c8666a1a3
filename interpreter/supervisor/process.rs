//! The supervisor itself: this program started anew, the parent of one command. It adopts whatever the command leaves
//! behind, says how the command ended, and ends everything below it when it is told to or when who started it is gone.

use super::{Order, Report, Request, tree};
use rustix::{
    io::{Errno, pread},
    process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group},
    process::{setsid, wait},
    stdio::dup2_stderr,
};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::{AsFd, AsRawFd},
    os::unix::{net::UnixStream, process::CommandExt},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// How long it is waited between two attempts to kill, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(500));

/// The most bytes of a note.
const NOTE: usize = 8192;

/// Plays the supervisor: standard input is the line to who started it, standard error where the command writes to.
/// Errors have nobody to go to but that line, and end it.
pub(crate) fn run() {
    let _ = supervise();
}

fn supervise() -> io::Result<()> {
    // Its own session: no terminal to ask on, and no signal meant for who started it.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(control.try_clone()?);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    let request: Request = serde_json::from_slice(&line)?;
    let null = File::open("/dev/null")?;
    let started = start(&request);
    // Only the command's own processes hold its output: the end of it can be seen.
    let _ = dup2_stderr(null);
    let (shell, note) = match started {
        Ok(started) => started,
        Err(error) => return tell(&mut control, &Report::Failed { error: error.to_string() }),
    };
    let below = Below { shell, grace: [request.grace_ms, request.orphan_ms] };
    thread::spawn(move || below.listen(reader));
    watch(shell, |status, left| {
        let (code, signal) = (status.exit_status(), status.terminating_signal());
        let note = note.as_ref().and_then(last);
        // Who is gone needs no report; what is below has to end all the same.
        let _ = tell(&mut control, &Report::Ended { code, signal, left, note });
    });
    Ok(())
}

/// A file in memory that the command's shell gets as its start-up file and writes a last note to.
struct Note {
    file: File,
    /// Where the note begins.
    at: u64,
}

/// Starts the command in a process group of its own, so that signals it sends to its group do not reach this process.
fn start(request: &Request) -> io::Result<(Pid, Option<Note>)> {
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let (program, arguments) = request.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let startup = request.startup.as_deref().filter(|_| cfg!(target_os = "linux"));
    let note = startup.map(note).transpose()?;
    if let Some(Note { file, .. }) = &note {
        command.env("BASH_ENV", format!("/dev/fd/{}", file.as_raw_fd()));
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok((pid.ok_or(io::ErrorKind::InvalidData)?, note))
}

/// Makes the start-up file. `{}` in the text stands for the descriptor to write to: what is written comes behind the
/// text, because both share one position.
#[cfg(target_os = "linux")]
fn note(text: &str) -> io::Result<Note> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::io::{FdFlags, fcntl_setfd};
    let mut file = File::from(memfd_create("startup", MemfdFlags::empty())?);
    fcntl_setfd(&file, FdFlags::empty())?;
    let text = text.replace("{}", &file.as_raw_fd().to_string());
    file.write_all(text.as_bytes())?;
    Ok(Note { file, at: u64::try_from(text.len()).unwrap_or(u64::MAX) })
}

/// Only Linux has files in memory that a shell can be told to read.
#[cfg(not(target_os = "linux"))]
fn note(_: &str) -> io::Result<Note> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Waits for every process below this one, the adopted ones too, and says once how the command ended and whether
/// something of it is left. As the adopting parent this process has no child left only when nothing at all is left.
fn watch(shell: Pid, mut ended: impl FnMut(WaitStatus, bool)) {
    let (mut status, mut options) = (None, WaitOptions::empty());
    loop {
        match wait(options) {
            Ok(Some((pid, how))) if pid == shell => {
                status = Some(how);
                // Whether something is left is known at once.
                options = WaitOptions::NOHANG;
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => {
                options = WaitOptions::empty();
                status.take().into_iter().for_each(|status| ended(status, true));
            }
            Err(_) => return status.into_iter().for_each(|status| ended(status, false)),
        }
    }
}

/// What is below this process.
struct Below {
    shell: Pid,
    /// Milliseconds to end in when told to, and when who started it is gone.
    grace: [u64; 2],
}

impl Below {
    /// Hears what who started this wants, and whether it is still there.
    fn listen(&self, mut control: BufReader<UnixStream>) {
        let mut byte = [0];
        let [grace, orphan] = self.grace;
        loop {
            match control.read(&mut byte) {
                Ok(1) if byte == [Order::End.byte()] => self.end(grace),
                Ok(1) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => self.end(orphan),
            }
        }
    }

    /// Asks everything to end, and ends it after `grace` milliseconds. The process ends with the last of it.
    fn end(&self, grace: u64) -> ! {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        thread::sleep(Duration::from_millis(grace));
        let mut pause = AGAIN.0;
        loop {
            self.signal(Signal::KILL);
            thread::sleep(pause);
            pause = AGAIN.1.min(pause * 2);
        }
    }

    fn signal(&self, signal: Signal) {
        let below = tree::below(getpid().as_raw_nonzero().get());
        if below.is_empty() {
            let _ = kill_process_group(self.shell, signal);
        }
        for pid in below.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Returns what a note says; nothing where the command wrote none, or one that is no text.
fn last(note: &Note) -> Option<String> {
    let mut bytes = vec![0; NOTE];
    let count = pread(&note.file, &mut bytes, note.at).ok()?;
    bytes.truncate(count);
    let text = String::from_utf8(bytes).ok()?;
    text.strip_suffix('\n').map(str::to_owned)
}

fn tell(control: &mut UnixStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    control.write_all(&line)
}
