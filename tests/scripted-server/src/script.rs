//! Which reply a request gets. It remembers what was given.

use crate::dialect::Asked;
use crate::scenario::{Match, Reply};
use std::collections::HashSet;

/// The replies that were given so far.
#[derive(Debug, Default)]
pub(crate) struct Script {
    spent: HashSet<usize>,
    given: usize,
}

/// A reply to give.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picked {
    /// Which reply of the scenario.
    pub(crate) index: usize,
    /// How many replies the server has given with it.
    pub(crate) number: usize,
}

impl Script {
    /// Picks the reply for a request: the first left that is made for it, else the first left that is for any.
    pub(crate) fn pick(&mut self, replies: &[Reply], asked: &Asked) -> Option<Picked> {
        let left = || replies.iter().enumerate().filter(|(index, _)| !self.spent.contains(index));
        let made = left()
            .find(|(_, reply)| reply.asked.as_ref().is_some_and(|wanted| fits(wanted, asked)));
        let (index, reply) = made.or_else(|| left().find(|(_, reply)| reply.asked.is_none()))?;
        if !reply.repeat {
            self.spent.insert(index);
        }
        self.given += 1;
        Some(Picked { index, number: self.given })
    }

    /// Counts a reply that was made for its request.
    pub(crate) fn made(&mut self) -> Picked {
        self.given += 1;
        Picked { index: self.given - 1, number: self.given }
    }

    /// Returns which replies were never given, those that repeat left out.
    pub(crate) fn unused(&self, replies: &[Reply]) -> Vec<usize> {
        let unused =
            |(index, reply): &(usize, &Reply)| !reply.repeat && !self.spent.contains(index);
        replies.iter().enumerate().filter(unused).map(|(index, _)| index).collect()
    }
}

fn fits(wanted: &Match, asked: &Asked) -> bool {
    let text = wanted.text.as_ref().is_none_or(|part| asked.text.contains(part));
    let tools = wanted.tools.as_ref().is_none_or(|tools| match tools.as_slice() {
        [] => asked.tools.is_empty(),
        names => names.iter().all(|name| asked.tools.contains(name)),
    });
    text && tools
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use crate::dialect::{Asked, Dialect};
    use serde_json::{Value, json};

    /// Asserts which replies a row of requests gets, and which are left over.
    fn check(replies: Value, requests: &[Value], expected: &[Option<usize>], unused: &[usize]) {
        let scenario = Scenario::parse(&json!({ "replies": replies }).to_string()).unwrap();
        let mut script = super::Script::default();
        let picked: Vec<_> = requests
            .iter()
            .map(|body| {
                script
                    .pick(&scenario.replies, &Dialect::OpenaiChat.speech().asked(body))
                    .map(|picked| picked.index)
            })
            .collect();
        assert_eq!(picked, expected);
        assert_eq!(script.unused(&scenario.replies), unused);
    }

    fn user(text: &str) -> Value {
        json!({"messages": [{"role": "user", "content": text}], "tools": [{"function": {"name": "bash"}}]})
    }

    #[test]
    fn in_order_and_then_none() {
        let replies = json!([{"body": "a"}, {"body": "b"}, {"body": "c"}]);
        check(replies.clone(), &[user("x"), user("x")], &[Some(0), Some(1)], &[2]);
        check(
            replies,
            &[user("x"), user("x"), user("x"), user("x")],
            &[Some(0), Some(1), Some(2), None],
            &[],
        );
    }

    #[test]
    fn the_last_again() {
        let replies = json!([{"body": "a"}, {"body": "b", "repeat": true}]);
        check(replies, &[user("x"), user("x"), user("x")], &[Some(0), Some(1), Some(1)], &[]);
    }

    #[test]
    fn out_of_order_for_what_fits() {
        let replies = json!([
            {"body": "a"},
            {"body": "title", "match": {"text": "Name this", "tools": []}, "repeat": true},
            {"body": "b", "match": {"tools": ["bash"], "text": "list"}},
            {"body": "c"},
        ]);
        let title = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Name this"}]}]});
        check(
            replies,
            &[title.clone(), user("list it"), user("list it"), title, user("Name this"), user("x")],
            &[Some(1), Some(2), Some(0), Some(1), Some(3), None],
            &[],
        );
    }

    #[test]
    fn what_follows_the_last_answer_is_asked() {
        let body = json!({"model": "m", "messages": [
            {"role": "user", "content": "old"}, {"role": "assistant"},
            {"role": "tool", "content": "one"}, {"role": "tool", "content": "two"}, {"role": "user", "content": "new"},
        ]});
        let expected = Asked { model: "m".into(), text: "one\ntwo\nnew".into(), tools: vec![] };
        assert_eq!(Dialect::OpenaiChat.speech().asked(&body), expected);
        for odd in [
            json!(null),
            json!({"messages": 1, "tools": {}}),
            json!({"messages": [1, {"role": 2}], "tools": [3]}),
        ] {
            assert_eq!(Dialect::OpenaiChat.speech().asked(&odd), Asked::default());
        }
    }
}
