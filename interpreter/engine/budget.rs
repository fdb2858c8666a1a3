//! What a turn may use up, and what it has used.

use lembas_core::spec::Limits;
use std::time::Instant;

/// Counts what a turn uses.
#[derive(Debug)]
pub(crate) struct Budget {
    started: Instant,
    /// Requests made.
    pub(crate) steps: u32,
    /// Bytes of tool results.
    pub(crate) tool_output: u64,
    /// Tokens the model wrote.
    pub(crate) written: u64,
}

/// A limit that was reached: its name in `prompts/tasks/wrap-up.md`, and its amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Which.
    pub(crate) limit: &'static str,
    /// How much was allowed.
    pub(crate) amount: u64,
}

impl Budget {
    /// Returns a fresh count.
    pub(crate) fn new() -> Budget {
        Budget { started: Instant::now(), steps: 0, tool_output: 0, written: 0 }
    }

    /// Returns the first limit that is reached.
    pub(crate) fn reached(&self, limits: &Limits) -> Option<Reached> {
        let budgets = &limits.budgets;
        let over = |limit, used: u64, most: Option<u64>| {
            most.filter(|most| used >= *most).map(|amount| Reached { limit, amount })
        };
        over("steps", self.steps.into(), Some(limits.steps.into()))
            .or_else(|| over("wall_s", self.started.elapsed().as_secs(), budgets.wall_s))
            .or_else(|| over("tool_output_bytes", self.tool_output, budgets.tool_output_bytes))
            .or_else(|| over("written_tokens", self.written, budgets.written_tokens))
    }
}
