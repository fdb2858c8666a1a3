//! Talks to model servers: moves bytes, waits, retries. What the bytes mean is core's business.

mod discover;
mod embed;
mod live;
mod record;
mod repair;
mod replay;
mod reply;
mod retry;
mod wire;

pub(crate) use discover::{Asker, discover};
pub(crate) use embed::Embedder;
pub(crate) use live::{Live, Reach, Target};
pub(crate) use record::Recorder;
pub(crate) use replay::Recording;
pub(crate) use reply::{Ask, Provider, Seen};
use retry::Retries;
pub(crate) use wire::Wire;
use wire::{Body, Opened};

use crate::config::secret::{Secret, redact};
use lembas_core::event::Failure;

/// Returns a failure of this side of the wire.
fn failed(kind: &str, retry: &str, message: String) -> Box<Failure> {
    Box::new(Failure::new(kind, retry, message))
}

/// Returns a failure whose sentence names the connection and the model, and holds no secret.
fn named(failure: &Failure, connection: &str, model: &str, secrets: &[Secret]) -> Box<Failure> {
    let words = if failure.message.is_empty() {
        failure.kind.replace('_', " ")
    } else {
        failure.message.clone()
    };
    let words = match failure.status {
        Some(status) => format!("status {status}: {words}"),
        None => words,
    };
    let ends = failure.resets_in_ms.and_then(|ms| i64::try_from(ms).ok());
    let words = match ends.map(jiff::SignedDuration::from_millis) {
        Some(left) => format!("{words} (this limit ends in {left:#})"),
        None => words,
    };
    let words = redact(&words, secrets);
    let message = format!("Connection {connection} (model {model}): {words}");
    Box::new(Failure { message, ..failure.clone() })
}
