//! Notices the same call made over and over, and replies whose every call was refused.

use serde_json::{Map, Value};

/// What was called last, and how often running.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<(String, Map<String, Value>)>,
    running: u32,
    refused: u32,
}

impl Repeats {
    /// Counts a call and returns how many times running it has come, this one included.
    pub(crate) fn count(&mut self, tool: &str, args: &Map<String, Value>) -> u32 {
        let same = self.last.as_ref().is_some_and(|(last, with)| last == tool && with == args);
        self.running = if same { self.running + 1 } else { 1 };
        if !same {
            self.last = Some((tool.to_string(), args.clone()));
        }
        self.running
    }

    /// Counts a step by how many of its calls ran, and returns how many steps running nothing did.
    pub(crate) fn step(&mut self, ran: usize) -> u32 {
        self.refused = if ran == 0 { self.refused + 1 } else { 0 };
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut repeats = Repeats::default();
        let (a, b) = (Map::new(), Map::from_iter([("x".to_string(), Value::from(1))]));
        let seen: Vec<u32> =
            [("read", &a), ("read", &a), ("read", &b), ("read", &b), ("read", &b), ("list", &b)]
                .map(|(tool, args)| repeats.count(tool, args))
                .into();
        assert_eq!(seen, [1, 2, 1, 2, 3, 1]);
        assert_eq!(
            [repeats.step(0), repeats.step(0), repeats.step(1), repeats.step(0)],
            [1, 2, 0, 1]
        );
    }
}
