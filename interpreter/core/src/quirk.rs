//! Asks the quirks of real servers: which rules hold for a record, and what their patterns read. What a rule does is up to the
//! moment that asks.

use crate::event::Failure;
use crate::spec::{Action, Fact, Fail, ReadCalls, Record, Rule, TemplateFacts, When};
use lembas_codegen::when::Test;
use std::{borrow::Cow, collections::BTreeMap};

/// What the named groups of a condition's patterns matched.
pub type Groups = BTreeMap<String, String>;

/// Returns the rules about a kind of record that hold for `record`, in file order, with their actions.
pub fn hits<'r>(
    rules: &'r [Rule],
    about: &'r str,
    record: &'r dyn Record,
) -> impl Iterator<Item = (&'r Rule, Action)> + 'r {
    let holds = move |rule: &&Rule| rule.about == about && rule.when.holds(record);
    rules
        .iter()
        .filter(holds)
        .filter_map(|rule| Some((rule, serde_json::from_value(rule.action.clone()?).ok()?)))
}

/// Returns how calls in the text are read: by the quirks of these names, or by all of them.
pub fn text_calls(rules: &[Rule], named: Option<&[String]>) -> Vec<ReadCalls> {
    let read = |rule: &Rule| match serde_json::from_value(rule.action.clone()?) {
        Ok(Action::ReadCalls(forms)) => Some(forms),
        _ => None,
    };
    let wanted = |rule: &&Rule| named.is_none_or(|named| named.contains(&rule.id));
    ways(rules).filter(wanted).filter_map(read).flatten().collect()
}

/// Returns the quirks that read calls in the text.
pub fn ways(rules: &[Rule]) -> impl Iterator<Item = &Rule> {
    rules.iter().filter(|rule| rule.about == "template")
}

/// Returns the names of the quirks that know a chat template as one that makes its model write calls in their way.
pub fn shown_by(rules: &[Rule], server: &str, template: &str) -> Vec<String> {
    let facts = TemplateFacts { server: server.into(), text: template.into() };
    hits(rules, "template", &facts).map(|(rule, _)| rule.id.clone()).collect()
}

/// Returns what the named groups of the patterns in `when` match in `record`. Parts that do not hold read nothing. What is
/// matched in the record's `text` is given as it stands in `written`, the same text byte for byte but in its own case.
pub fn groups(when: &When, record: &dyn Record, written: &str) -> Groups {
    let mut groups = Groups::new();
    collect(when, record, written, &mut groups);
    groups
}

fn collect(when: &When, record: &dyn Record, written: &str, groups: &mut Groups) {
    match when {
        When::All(list) | When::Any(list) => {
            list.iter()
                .filter(|each| each.holds(record))
                .for_each(|each| collect(each, record, written, groups));
        }
        When::Fact { name, pointer, test: Test::Matches(pattern) } => {
            let (Some(text), Some(regex)) = (text(record, name, pointer), pattern.regex()) else {
                return;
            };
            let Some(found) = regex.captures(&text) else { return };
            let own = |range| written.get(range).filter(|_| name == "text");
            for group in regex.capture_names().flatten() {
                if let Some(part) = found.name(group) {
                    let value = own(part.range()).unwrap_or(part.as_str());
                    groups.entry(group.into()).or_insert_with(|| value.into());
                }
            }
        }
        When::Not(_) | When::Fact { .. } => {}
    }
}

fn text<'r>(record: &'r dyn Record, name: &str, pointer: &str) -> Option<Cow<'r, str>> {
    match record.fact(name) {
        Fact::Json(json) => Fact::Json(json.pointer(pointer)?).written(),
        fact => fact.written(),
    }
}

/// Returns the failure a rule that holds for `record` describes, or nothing when what its patterns read leaves no room to lower
/// the output, so that another rule must say what is wrong. `written` is as for `groups`.
pub fn failure(rule: &Rule, fail: Fail, record: &dyn Record, written: &str) -> Option<Failure> {
    let groups = groups(&rule.when, record, written);
    let number = |name: &str| {
        groups.get(name).and_then(|text| text.replace([',', '_'], "").parse::<u64>().ok())
    };
    let room = match (number("window"), number("prompt")) {
        (Some(window), Some(prompt)) => {
            let also = number("also").unwrap_or_default();
            Some(window.saturating_sub(prompt.saturating_add(also)))
        }
        _ => None,
    };
    if room == Some(0) {
        return None;
    }
    let fact = |name: &String| match record.fact(name) {
        Fact::Number(number) if number >= 1.0 => Some(number as u64),
        _ => None,
    };
    let limit =
        number("limit").or_else(|| number("below").map(|below| below.saturating_sub(1))).or(room);
    Some(Failure {
        kind: fail.kind,
        retry: fail.retry,
        fix: fail.fix,
        limit: limit.or_else(|| fail.limit.as_ref().and_then(fact)),
        window: number("window"),
        used: number("used"),
        allowed: groups.get("allowed").map(|text| words(text)),
        param: groups.get("param").cloned().or(fail.param),
        ..Failure::default()
    })
}

/// The words of a list in a sentence.
fn words(text: &str) -> Vec<String> {
    let word = |each: char| each.is_ascii_alphanumeric() || each == '_' || each == '-';
    text.split(|each| !word(each))
        .filter(|each| !matches!(*each, "" | "and" | "or"))
        .map(String::from)
        .collect()
}
