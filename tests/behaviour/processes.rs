//! The processes of a case: those that work below its directory or have it in their environment.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a process may take to go once the program has.
const GRACE: Duration = Duration::from_secs(2);

/// Waits until no process of a case is left whose command line contains `part`; tells whether that came.
pub(crate) fn end(base: &Path, part: &str) -> bool {
    let deadline = Instant::now() + GRACE;
    loop {
        if !of(base).any(|(_, line)| line.contains(part)) {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends every process of a case that is left.
pub(crate) fn kill(base: &Path) {
    for (pid, _) in of(base) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Returns the most memory a process has had, in KiB; nothing if it is over.
pub(crate) fn peak_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the processes of a case with their command lines.
fn of(base: &Path) -> impl Iterator<Item = (u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let inside = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(base));
        let environment = || fs::read(entry.path().join("environ")).unwrap_or_default();
        let named = || memchr::memmem::find(&environment(), base.as_os_str().as_bytes()).is_some();
        (pid != std::process::id() && (inside || named())).then_some((pid, line))
    });
    processes.collect::<Vec<_>>().into_iter()
}
