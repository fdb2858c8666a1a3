//! The retry rule, in one place: whether a failed request is made again, and after how long.

use lembas_core::event::Failure;
use std::time::Duration;

/// Counts the tries of one request.
#[derive(Debug)]
pub(crate) struct Retries<'l> {
    limits: &'l lembas_core::spec::Retry,
    waits: u32,
    once: bool,
}

impl<'l> Retries<'l> {
    /// Returns a fresh count.
    pub(crate) fn new(limits: &'l lembas_core::spec::Retry) -> Retries<'l> {
        Retries { limits, waits: 0, once: false }
    }

    /// Returns how long to wait before the request is made again, or `None` when it is not. Nothing is repeated
    /// once text of the reply was passed on; a wait that is longer than the limit is told, not slept.
    pub(crate) fn next(&mut self, failure: &Failure) -> Option<Duration> {
        if failure.after_output {
            return None;
        }
        match failure.retry.as_str() {
            "wait" if self.waits < self.limits.waits => {
                let pause = self
                    .limits
                    .base_ms
                    .saturating_mul(1 << self.waits.min(16))
                    .min(self.limits.most_ms);
                let pause = failure.after_ms.unwrap_or(pause);
                self.waits += 1;
                (pause <= self.limits.longest_ms).then(|| Duration::from_millis(pause))
            }
            "once" if !self.once => {
                self.once = true;
                Some(Duration::from_millis(failure.after_ms.unwrap_or(self.limits.base_ms)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lembas_core::spec::Retry;

    fn check(failure: &Failure, expected: &[u64]) {
        let limits = Retry { waits: 3, base_ms: 500, most_ms: 1500, longest_ms: 60_000 };
        let mut retries = Retries::new(&limits);
        let mut pauses = Vec::new();
        while let Some(pause) = retries.next(failure) {
            pauses.push(u64::try_from(pause.as_millis()).unwrap());
        }
        assert_eq!(pauses, expected, "{failure:?}");
    }

    #[test]
    fn the_rule() {
        let failure = |retry: &str| Failure { retry: retry.into(), ..Failure::default() };
        check(&failure("wait"), &[500, 1000, 1500]);
        check(&failure("once"), &[500]);
        check(&failure("no"), &[]);
        check(&failure("fix"), &[]);
        check(&Failure { after_ms: Some(2000), ..failure("wait") }, &[2000, 2000, 2000]);
        check(&Failure { after_ms: Some(3_600_000), ..failure("wait") }, &[]);
        check(&Failure { after_output: true, ..failure("wait") }, &[]);
    }
}
