//! What the engine and the tools' handlers say to each other.

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
