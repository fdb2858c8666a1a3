//! Runs the examples that every rule carries. It decides nothing itself: it asks what would decide a real case.

use crate::permission;
use crate::spec::{
    DEFAULTS, DefaultRule, Judged, MODES, ModeRow, ModeSpec, Problem, Rule, Spec, When,
};
use serde_json::Value;
use std::borrow::Cow;

/// The examples of one rule, run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The file the rule stands in.
    pub file: String,
    /// The rule's id.
    pub rule: String,
    /// The examples that did not turn out as written, with their places.
    pub problems: Vec<Problem>,
}

/// Runs the examples of every rule of `spec`, in the order of the files.
pub fn run(spec: &Spec) -> Vec<Ran> {
    let rules = spec.hardline.iter().chain(&spec.quirks).map(|rule| Examples::of(rule).run(spec));
    let defaults = spec.defaults.iter().map(Examples::of_default);
    let rows = spec.modes.iter().flat_map(Examples::of_mode);
    rules.chain(defaults.chain(rows).map(|examples| examples.run(spec))).collect()
}

/// Returns every example of `spec` that does not turn out as written; empty for a spec that keeps its word.
pub fn problems(spec: &Spec) -> Vec<Problem> {
    run(spec).into_iter().flat_map(|ran| ran.problems).collect()
}

/// Returns whether a rule about `about` hits `example`, or `None` for an example nothing here can read.
///
/// An object is the record itself. A kind of record whose examples are written otherwise, as a command is by
/// its line, gets its arm here.
fn hits(spec: &Spec, about: &str, by: By<'_>, example: &Value) -> Option<bool> {
    let when = match by {
        By::Row(mode, row) => return permission::row_example(spec, mode, row, example),
        By::Default(rule) => {
            let decides = permission::default_of(spec, &rule.tool, example.as_str()?);
            return Some(decides.as_ref() == Some(&rule.id));
        }
        By::When(when) => when,
    };
    match (about, example) {
        ("command" | "file", _) => permission::example(spec, about, when, example),
        (_, Value::Object(_)) => Some(when.holds(example)),
        _ => None,
    }
}

/// What a rule is recognized by.
#[derive(Clone, Copy)]
enum By<'a> {
    /// Its condition holds.
    When(&'a When),
    /// Of the default rules with a pattern it is the one that decides.
    Default(&'a DefaultRule),
    /// Of its mode's rows it is the one that decides.
    Row(&'a ModeSpec, &'a ModeRow),
}

struct Examples<'a> {
    file: &'a str,
    id: Cow<'a, str>,
    pointer: &'a str,
    about: &'a str,
    by: By<'a>,
    hit: &'a [Value],
    miss: &'a [Value],
}

impl<'a> Examples<'a> {
    fn of(rule: &'a Rule) -> Examples<'a> {
        Examples {
            file: &rule.file,
            id: Cow::from(&rule.id),
            pointer: &rule.pointer,
            about: &rule.about,
            by: By::When(&rule.when),
            hit: &rule.examples.hit,
            miss: &rule.examples.miss,
        }
    }

    fn of_default(rule: &'a DefaultRule) -> Examples<'a> {
        let (about, by) = match &rule.judged {
            Judged::When { about, when } => (about.as_str(), By::When(when)),
            Judged::Pattern(_) => ("", By::Default(rule)),
        };
        Examples {
            file: DEFAULTS,
            id: Cow::from(&rule.id),
            pointer: &rule.pointer,
            about,
            by,
            hit: &rule.examples.hit,
            miss: &rule.examples.miss,
        }
    }

    fn of_mode(mode: &'a ModeSpec) -> impl Iterator<Item = Examples<'a>> {
        mode.decide.iter().enumerate().map(move |(index, row)| Examples {
            file: MODES,
            id: format!("{} {}", mode.id, index + 1).into(),
            pointer: &row.pointer,
            about: "",
            by: By::Row(mode, row),
            hit: &row.examples.hit,
            miss: &row.examples.miss,
        })
    }

    fn run(&self, spec: &Spec) -> Ran {
        let hit = self.hit.iter().enumerate().map(|(i, each)| ("hit", i, each));
        let miss = self.miss.iter().enumerate().map(|(i, each)| ("miss", i, each));
        let problems =
            hit.chain(miss).flat_map(|(kind, i, each)| self.check(spec, kind, i, each)).collect();
        Ran { file: self.file.into(), rule: self.id.to_string(), problems }
    }

    fn check(&self, spec: &Spec, kind: &str, index: usize, example: &Value) -> Vec<Problem> {
        let pointer = format!("{}/examples/{kind}/{index}", self.pointer);
        let mut messages = self.unknown(spec, example);
        match hits(spec, self.about, self.by, example) {
            Some(true) if kind == "miss" => {
                messages.push(format!("rule {:?} hits this example, which it must miss", self.id));
            }
            Some(false) if kind == "hit" => {
                messages.push(format!("rule {:?} misses this example, which it must hit", self.id));
            }
            None => messages.push(self.unreadable()),
            _ => {}
        }
        let (line, column) =
            if messages.is_empty() { (1, 1) } else { spec.place(self.file, &pointer) };
        let problem = |message| Problem { file: self.file.into(), line, column, message };
        messages.into_iter().map(problem).collect()
    }

    /// An example that nothing can be asked about would pass for the wrong reason.
    fn unreadable(&self) -> String {
        let takes = match self.by {
            By::Default(_) => "a text that patterns are matched against",
            By::Row(..) => "a command line, or a tool of the spec with its path or command",
            By::When(_) if matches!(self.about, "command" | "file") => {
                "a command line, or a tool with its path"
            }
            By::When(_) => "an object of facts",
        };
        format!("rule {:?} cannot be asked about this example; it takes {takes}", self.id)
    }

    /// A fact that the record does not have would make a `miss` true for the wrong reason.
    fn unknown(&self, spec: &Spec, example: &Value) -> Vec<String> {
        let Some(facts) = spec.records.get(self.about) else { return Vec::new() };
        if matches!(self.about, "command" | "file") {
            return Vec::new();
        }
        let known: Vec<&str> = facts.keys().map(String::as_str).collect();
        let keys = example.as_object().into_iter().flatten().map(|(key, _)| key);
        keys.filter(|key| !facts.contains_key(*key))
            .map(|key| format!("no fact {key:?} here; there are: {}", known.join(", ")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{files, schemas};

    /// Runs the examples of the packed spec with another `quirks.json` and compares what they say.
    fn check(hit: &str, miss: &str, expected: &[&str]) {
        let rule = format!(
            "{{ \"rules\": [\n{{ \"id\": \"odd\", \"about\": \"frame\", \"when\": {{ \"body/x\": 1 }},\n\
             \"examples\": {{ \"hit\": [{hit}],\n\"miss\": [{miss}] }} }}] }}"
        );
        let mut files = files();
        files.set("quirks.json", rule);
        let spec = Spec::load(&files, Some(&schemas())).unwrap();
        let found = problems(&spec);
        let odd: Vec<String> = found
            .iter()
            .filter(|problem| problem.file == "quirks.json")
            .map(ToString::to_string)
            .collect();
        let told = odd.iter().zip(expected).all(|(told, start)| told.starts_with(start));
        assert!(told && odd.len() == expected.len(), "{odd:?}");
    }

    #[test]
    fn examples_are_held_to_their_word() {
        let (hit, miss) = (r#"{ "body": { "x": 1 } }"#, r#"{ "body": {} }"#);
        check(hit, miss, &[]);
        check(
            miss,
            hit,
            &[
                "quirks.json:3:23: rule \"odd\" misses this example, which it must hit",
                "quirks.json:4:10: rule \"odd\" hits this example, which it must miss",
            ],
        );
        check(
            hit,
            r#"{ "boddy": {} }"#,
            &["quirks.json:4:10: no fact \"boddy\" here; there are: body"],
        );
    }

    #[test]
    fn examples_that_cannot_be_read_are_told() {
        let row = "\"hit\": [\"make install\"";
        for (file, from, to, takes) in [
            (
                "permission/defaults.json",
                "\"hit\": [\".env\"",
                "\"hit\": [{ \"path\": 1 }",
                "a text",
            ),
            (
                "permission/defaults.json",
                "\"hit\": [\"git status\"",
                "\"hit\": [7",
                "a command line, or a tool with",
            ),
            (
                "permission/modes.json",
                row,
                "\"hit\": [{ \"tool\": \"sing\" }",
                "a command line, or a tool of",
            ),
        ] {
            let mut files = files();
            let text = files.text(file).unwrap();
            assert!(text.contains(from), "{from}");
            let text = text.replacen(from, to, 1);
            files.set(file, text);
            let found = problems(&Spec::load(&files, Some(&schemas())).unwrap());
            let told: Vec<String> = found.iter().map(ToString::to_string).collect();
            let expected = format!("cannot be asked about this example; it takes {takes}");
            assert!(told.len() == 1 && told[0].contains(&expected), "{told:?}");
        }
    }

    #[test]
    fn the_packed_spec_keeps_its_word() {
        assert_eq!(problems(&crate::spec::packed().unwrap()), []);
    }
}
