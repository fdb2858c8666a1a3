//! Talks to model servers: moves bytes, waits, retries. What the bytes mean is core's business.

mod discover;
mod live;
mod record;
mod repair;
mod replay;
mod reply;
mod retry;
mod wire;

pub(crate) use discover::{Asker, discover};
pub(crate) use live::{Live, Reach, Target};
pub(crate) use record::Recorder;
pub(crate) use replay::Recording;
pub(crate) use reply::{Ask, Provider, Seen};
use retry::Retries;
pub(crate) use wire::Wire;
use wire::{Body, Opened};

use lembas_core::event::Failure;

/// Returns a failure of this side of the wire.
fn failed(kind: &str, retry: &str, message: String) -> Box<Failure> {
    Box::new(Failure { kind: kind.into(), retry: retry.into(), message, ..Failure::default() })
}
