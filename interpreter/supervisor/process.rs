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
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// How long it is waited between two attempts to kill, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(500));

/// The most bytes of a note.
const NOTE: usize = 8192;

/// Something that happened.
enum Event {
    /// A process below has ended and was waited for.
    Ended(Pid, WaitStatus),
    /// Processes below still run.
    Others,
    /// None is left.
    Alone,
    /// Who started this wants something.
    Told(Order),
    /// Who started this is gone.
    Orphaned,
}

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
    let started = start(&request);
    // Only the command's own processes hold its output: the end of it can be seen.
    dup2_stderr(File::open("/dev/null")?)?;
    let (shell, note) = match started {
        Ok(started) => started,
        Err(error) => return tell(&mut control, &Report::Failed { error: error.to_string() }),
    };
    let (sender, events) = channel();
    listen(reader, sender.clone());
    thread::spawn(move || reap(&sender));
    let mut supervisor = Supervisor { request, shell, note, control, events, told: false };
    supervisor.watch()
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

/// Waits for every process below this one, the adopted ones too.
fn reap(events: &Sender<Event>) {
    let mut options = WaitOptions::empty();
    loop {
        let event = match wait(options) {
            Ok(Some((pid, status))) => {
                options = WaitOptions::NOHANG;
                Event::Ended(pid, status)
            }
            Ok(None) => {
                options = WaitOptions::empty();
                Event::Others
            }
            Err(Errno::INTR) => continue,
            Err(_) => Event::Alone,
        };
        let last = matches!(event, Event::Alone);
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// Hears what who started this wants.
fn listen(mut control: BufReader<UnixStream>, events: Sender<Event>) {
    thread::spawn(move || {
        let mut byte = [0];
        loop {
            let event = match control.read(&mut byte) {
                Ok(1) if byte == [Order::End.byte()] => Event::Told(Order::End),
                Ok(1) => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(_) | Err(_) => Event::Orphaned,
            };
            let last = matches!(event, Event::Orphaned);
            if events.send(event).is_err() || last {
                return;
            }
        }
    });
}

struct Supervisor {
    request: Request,
    shell: Pid,
    note: Option<Note>,
    control: UnixStream,
    events: Receiver<Event>,
    /// Whether it was said how the command ended.
    told: bool,
}

impl Supervisor {
    /// Says how the command ends and stays until nothing of it is left.
    fn watch(&mut self) -> io::Result<()> {
        let mut status = None;
        loop {
            // Both threads that send live as long as there is something to say.
            let Ok(event) = self.events.recv() else { return Ok(()) };
            match event {
                Event::Ended(pid, how) if pid == self.shell => status = Some(how),
                Event::Ended(..) => {}
                Event::Others => self.ended(status, true)?,
                Event::Alone => return self.ended(status, false),
                Event::Told(Order::End) => return self.end(self.request.grace_ms, status),
                Event::Orphaned => return self.end(self.request.orphan_ms, status),
            }
        }
    }

    /// Says, once, how the command ended, and whether something of it is left.
    fn ended(&mut self, status: Option<WaitStatus>, left: bool) -> io::Result<()> {
        let Some(status) = status.filter(|_| !self.told) else { return Ok(()) };
        self.told = true;
        let (code, signal) = (status.exit_status(), status.terminating_signal());
        let note = self.note.as_ref().and_then(last);
        tell(&mut self.control, &Report::Ended { code, signal, left, note })
    }

    /// Asks everything below to end, and ends it after `grace` milliseconds. As the adopting parent this process has no
    /// child left only when nothing at all is left.
    fn end(&mut self, grace: u64, mut status: Option<WaitStatus>) -> io::Result<()> {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        let mut deadline = Instant::now() + Duration::from_millis(grace);
        let mut pause = AGAIN.0;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(pid, how)) if pid == self.shell => status = Some(how),
                Ok(Event::Alone) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.signal(Signal::KILL);
                    deadline = Instant::now() + pause;
                    pause = AGAIN.1.min(pause * 2);
                }
            }
        }
        // Who is gone needs no answer.
        let _ = self.ended(status, false);
        Ok(())
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
