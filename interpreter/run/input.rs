//! What a run is asked: the words of the command line and what is piped in. It never waits for a person.

use crate::piped;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::{self, IsTerminal},
    os::{fd::AsFd, unix::fs::FileTypeExt},
    time::Duration,
};

/// Returns the prompt: the words, then what standard input holds. A lone `-` stands for standard input.
///
/// # Errors
/// No prompt at all, or an input that cannot be read: a sentence.
pub(super) fn prompt(words: &[String], wait: Duration) -> Result<String, String> {
    let asked = words.iter().any(|word| word == "-");
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-").collect();
    let words = words.join(" ");
    let piped =
        if asked || has_input(words.is_empty(), wait) { piped::text()? } else { String::new() };
    let parts: Vec<&str> = [words.as_str(), piped.trim_end()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
        return Err("There is no prompt. Write it after `lembas run`, or pipe it in.".into());
    }
    Ok(parts.join("\n\n"))
}

/// Whether standard input is worth reading. Where a prompt is given already, a pipe that stays silent for `wait`
/// is left alone: a parent that never closes it must not hang the run.
fn has_input(needed: bool, wait: Duration) -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    if needed {
        return true;
    }
    let kind = stdin.as_fd().try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata());
    let Ok(kind) = kind.map(|metadata| metadata.file_type()) else { return false };
    if kind.is_file() {
        return true;
    }
    (kind.is_fifo() || kind.is_socket()) && is_ready(&stdin, wait)
}

fn is_ready(stdin: &io::Stdin, wait: Duration) -> bool {
    let timeout = Timespec::try_from(wait).ok();
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    matches!(poll(&mut fds, timeout.as_ref()), Ok(ready) if ready > 0)
}
