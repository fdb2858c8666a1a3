//! What a person sees of a run: the answer on standard output, everything else on standard error.

use crate::{bus::BusEvent, shown::shown};
use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

/// Prints a run as text. To a terminal the answer streams; otherwise standard output gets the last answer only,
/// so that `$(lembas run …)` is the answer and nothing else.
pub(super) struct TextPrinter {
    state: Mutex<State>,
    live: bool,
}

#[derive(Default)]
struct State {
    answer: String,
    open: bool,
}

impl TextPrinter {
    /// Returns a printer for this process's output.
    pub(super) fn new() -> TextPrinter {
        TextPrinter { state: Mutex::default(), live: io::stdout().is_terminal() }
    }

    /// Takes an event.
    pub(super) fn see(&self, event: &BusEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            BusEvent::Text { text } => self.text(&mut state, text),
            BusEvent::ToolStart { title, .. } => {
                self.note(&mut state, &format!("> {}", first_line(title)))
            }
            BusEvent::ToolEnd { name, output, is_error: true, .. } => {
                self.note(&mut state, &format!("! {name}: {}", first_line(output)));
            }
            BusEvent::ToolDenied { title, reason, .. } => {
                self.note(&mut state, &format!("x {}: {}", first_line(title), first_line(reason)));
            }
            BusEvent::Notice { about, text } => {
                let about = about.replace('_', " ");
                self.note(
                    &mut state,
                    &format!("- {}", if text.is_empty() { &about } else { text }),
                );
            }
            BusEvent::Retract {} => self.retract(&mut state),
            BusEvent::Error { message, .. } => self.note(&mut state, &format!("lembas: {message}")),
            BusEvent::Done { .. } => self.done(&mut state),
            _ => {}
        }
    }

    fn text(&self, state: &mut State, text: &str) {
        if self.live {
            write(&mut io::stdout(), &shown(text));
            state.open = !text.ends_with('\n');
        } else {
            state.answer.push_str(text);
        }
    }

    /// Prints a line on standard error. What the model said before it was no answer, so it goes there too.
    fn note(&self, state: &mut State, line: &str) {
        if state.open {
            write(&mut io::stdout(), "\n");
            state.open = false;
        }
        let said = std::mem::take(&mut state.answer);
        let said = said.trim_end();
        let said = if said.is_empty() { String::new() } else { format!("{said}\n") };
        // Whatever a server or a file puts into a line, it stays one line.
        let line = line.trim_end().replace('\n', " ");
        write(&mut io::stderr(), &shown(&format!("{said}{line}\n")));
    }

    /// What was collected is void; what was printed already is left behind on a line of its own.
    fn retract(&self, state: &mut State) {
        state.answer.clear();
        if std::mem::take(&mut state.open) {
            write(&mut io::stdout(), "\n");
        }
    }

    fn done(&self, state: &mut State) {
        let answer = std::mem::take(&mut state.answer);
        if state.open {
            write(&mut io::stdout(), "\n");
        } else if !answer.trim().is_empty() {
            write(&mut io::stdout(), &format!("{}\n", answer.trim_end()));
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Writes without complaint: a reader that has gone away is no reason to stop the work that was asked for.
fn write(to: &mut dyn Write, text: &str) {
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
