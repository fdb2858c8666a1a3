//! A run as JSON lines: every event of the bus, one a line, as `schema/events.schema.json` describes them.

use crate::bus::BusEvent;
use std::{
    io::{self, BufWriter, Stdout, Write},
    sync::{Mutex, PoisonError},
};

/// Prints events as they come; the lines of one burst leave together.
pub(super) struct JsonPrinter {
    out: Mutex<BufWriter<Stdout>>,
}

impl JsonPrinter {
    /// Returns a printer for this process's output.
    pub(super) fn new() -> JsonPrinter {
        JsonPrinter { out: Mutex::new(BufWriter::new(io::stdout())) }
    }

    /// Prints an event. Deltas wait in the buffer until something else comes or the buffer is full.
    pub(super) fn see(&self, event: &BusEvent) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let delta = matches!(
            event,
            BusEvent::Text { .. } | BusEvent::Reasoning { .. } | BusEvent::ToolCallDelta { .. }
        );
        let written = serde_json::to_writer(&mut *out, event).map_err(io::Error::from);
        let written = written.and_then(|()| out.write_all(b"\n"));
        // A reader that has gone away is no reason to stop the work that was asked for.
        let _ = if delta { written } else { written.and_then(|()| out.flush()) };
    }
}
