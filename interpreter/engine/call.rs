//! What the engine and the tools' handlers say to each other.

use std::{fmt, path::Path, sync::Arc};

/// What a call gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The text for the model.
    pub(crate) text: String,
    /// Whether it failed.
    pub(crate) error: bool,
}

impl Outcome {
    /// Returns the result of a call that worked.
    pub(crate) fn done(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), error: false }
    }

    /// Returns the result of a call that failed or did not run.
    pub(crate) fn failed(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), error: true }
    }
}

/// Says of a file that a tool comes upon whether its content may be shown without asking.
#[derive(Clone)]
pub(crate) struct Readable(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl Readable {
    /// Returns one that asks `may`.
    pub(crate) fn new(may: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Readable {
        Readable(Arc::new(may))
    }

    /// Returns whether the file at `path` may be shown.
    pub(crate) fn may(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}

impl fmt::Debug for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readable")
    }
}
