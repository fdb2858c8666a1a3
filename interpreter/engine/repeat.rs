//! Notices the same call made over and over, and replies whose every call was refused.

use serde_json::Value;

/// What was called last, and how often running.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<(String, Value)>,
    running: u32,
    refused: u32,
}

impl Repeats {
    /// Counts a call and returns how many times running it has come, this one included.
    pub(crate) fn count(&mut self, tool: &str, args: Value) -> u32 {
        let same = self.last.as_ref().is_some_and(|(last, with)| last == tool && *with == args);
        self.running = if same { self.running + 1 } else { 1 };
        if !same {
            self.last = Some((tool.to_string(), args));
        }
        self.running
    }

    /// Counts a step by whether any of its calls ran and whether any was refused, and returns how many steps running
    /// were nothing but refusals. A step of calls that only came too often, or could not be read, counts as neither.
    pub(crate) fn step(&mut self, ran: bool, refused: bool) -> u32 {
        self.refused = match (ran, refused) {
            (true, _) => 0,
            (false, refused) => self.refused + u32::from(refused),
        };
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts() {
        let mut repeats = Repeats::default();
        let (a, b) = (json!({}), json!({"x": 1}));
        let seen: Vec<u32> =
            [("read", &a), ("read", &a), ("read", &b), ("read", &b), ("read", &b), ("list", &b)]
                .map(|(tool, args)| repeats.count(tool, args.clone()))
                .into();
        assert_eq!(seen, [1, 2, 1, 2, 3, 1]);
        let steps = [(false, true), (false, true), (false, false), (true, true), (false, true)];
        assert_eq!(steps.map(|(ran, refused)| repeats.step(ran, refused)), [1, 2, 2, 0, 1]);
    }
}
