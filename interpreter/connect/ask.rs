//! Asks a person at a terminal, a line at a time; without one nobody is asked.

use std::io::{self, IsTerminal, Write};

/// Who can be asked.
pub(super) struct Terminal {
    is_there: bool,
}

impl Terminal {
    /// Returns the terminal of this process, if a person sees and types there.
    pub(super) fn of_process() -> Terminal {
        Terminal { is_there: io::stdin().is_terminal() && io::stderr().is_terminal() }
    }

    /// Asks for a line; `None` where there is nobody, or nothing is said.
    pub(super) fn ask(&self, what: &str) -> Option<String> {
        self.line(&format!("{what}: "))
    }

    /// Asks for a line that is `usual` where nothing is said.
    pub(super) fn ask_with(&self, what: &str, usual: &str) -> Option<String> {
        self.line(&format!("{what} [{usual}]: "))
    }

    fn line(&self, prompt: &str) -> Option<String> {
        if !self.is_there {
            return None;
        }
        // A terminal that cannot be written to has nobody in front of it.
        io::stderr().write_all(prompt.as_bytes()).ok()?;
        let mut line = String::new();
        io::stdin().read_line(&mut line).ok()?;
        Some(line.trim().to_string()).filter(|line| !line.is_empty())
    }
}
