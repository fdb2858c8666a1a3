//! A run as JSON lines: every event of the bus, one a line, as `schema/events.schema.json` describes them.

use crate::bus::BusEvent;
use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

/// Prints events as they come. What arrives together is one event already, so each is worth a write.
pub(super) struct JsonPrinter {
    line: Mutex<Vec<u8>>,
}

impl JsonPrinter {
    /// Returns a printer for this process's output.
    pub(super) fn new() -> JsonPrinter {
        JsonPrinter { line: Mutex::default() }
    }

    /// Prints an event.
    pub(super) fn see(&self, event: &BusEvent) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.clear();
        let written = serde_json::to_writer(&mut *line, event).map_err(io::Error::from);
        line.push(b'\n');
        // A reader that has gone away is no reason to stop the work that was asked for.
        let mut out = io::stdout().lock();
        let _ = written.and_then(|()| out.write_all(&line)).and_then(|()| out.flush());
    }
}
