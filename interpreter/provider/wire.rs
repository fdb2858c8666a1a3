//! One exchange as bytes, from a live server or from a recording. It knows no dialect.

use super::{Live, Recording};
use lembas_core::event::Failure;
use std::collections::VecDeque;

/// Where replies come from.
pub(crate) enum Wire {
    /// A server.
    Live(Box<Live>),
    /// A recording, played in order.
    Replay(Recording),
}

/// A reply whose status and headers are there and whose body is still to come.
pub(crate) struct Opened {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) body: Body,
}

/// The body of a reply, chunk by chunk.
pub(crate) enum Body {
    /// From a server, with the idle timeout that applies between chunks.
    Live(Box<reqwest::Response>, std::time::Duration),
    /// From a recording: the chunks left, and whether the transfer was cut after them.
    Replay(VecDeque<Vec<u8>>, bool),
}

impl Wire {
    /// Sends a request body and waits for the status.
    ///
    /// # Errors
    /// What failed before a status came: no address, no connection, TLS, a timeout.
    pub(crate) async fn post(&mut self, body: String) -> Result<Opened, Box<Failure>> {
        match self {
            Wire::Live(live) => live.post(body).await,
            Wire::Replay(recording) => recording.next(),
        }
    }
}

impl Body {
    /// Returns the next chunk, `None` at the end.
    ///
    /// # Errors
    /// A transfer that broke or stalled.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Box<Failure>> {
        match self {
            Body::Live(response, idle) => match tokio::time::timeout(*idle, response.chunk()).await
            {
                Ok(Ok(chunk)) => Ok(chunk.map(Vec::from)),
                Ok(Err(error)) => Err(super::live::broken(&error)),
                Err(_) => Err(super::live::stalled(*idle)),
            },
            Body::Replay(chunks, cut) => match chunks.pop_front() {
                None if *cut => Err(super::live::recorded_cut()),
                chunk => Ok(chunk),
            },
        }
    }
}
