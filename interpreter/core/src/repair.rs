//! What a server's refusals have taught about requests to it: how each repair of the spec changes what is sent from then on.
//! It writes no request; `dialect` does, by what is kept here.

use crate::event::Failure;
use crate::spec::{Fix, RepairLimits};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The repairs that hold for one server and model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repairs {
    /// The names of those that need no value.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    named: BTreeSet<String>,
    /// Fields that are left out.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) dropped: BTreeSet<String>,
    /// Fields that are sent under another name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) renamed: BTreeMap<String, String>,
    /// Efforts that are refused, and what is sent in their place; `None`: nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    efforts: BTreeMap<String, Option<String>>,
    /// The most tokens of a reply that may be asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_output: Option<u64>,
    /// The most bytes of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image_bytes: Option<u64>,
    /// How many messages of the conversation go back without their reasoning.
    #[serde(skip)]
    pub(crate) unreasoned: usize,
}

/// What a refused request asked for, as far as repairs depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// The reasoning effort.
    pub effort: Option<&'a str>,
    /// How many messages the conversation has.
    pub messages: usize,
}

/// Repairs, and what of the spec they are carried out with.
#[derive(Debug, Clone, Copy)]
pub struct Mending<'a> {
    /// Words and patterns.
    pub limits: &'a RepairLimits,
    /// What holds.
    pub repairs: &'a Repairs,
}

impl Repairs {
    /// Returns whether a repair without a value holds.
    pub fn has(&self, fix: Fix) -> bool {
        self.named.contains(fix.name())
    }

    /// Returns what is sent for an effort.
    pub fn effort<'e>(&'e self, asked: Option<&'e str>) -> Option<&'e str> {
        let asked = asked?;
        self.efforts.get(asked).map_or(Some(asked), Option::as_deref)
    }

    /// Takes the repair that a failure names, or where it holds already the one that goes further, and returns what it is in
    /// a few words; `None` where there is none, where all of it holds, and where nothing can be done about it here.
    pub fn mend(
        &mut self,
        limits: &RepairLimits,
        failure: &Failure,
        refused: Refused<'_>,
    ) -> Option<String> {
        named(limits, failure).filter_map(Fix::named).find_map(|fix| {
            let before = self.clone();
            let detail = self.take(fix, limits, failure, refused);
            let name = fix.name().replace('_', " ");
            let words = detail.map_or_else(|| name.clone(), |detail| format!("{name}: {detail}"));
            (*self != before).then_some(words)
        })
    }

    /// Takes a repair; also returns its values in words.
    fn take(
        &mut self,
        fix: Fix,
        limits: &RepairLimits,
        failure: &Failure,
        refused: Refused<'_>,
    ) -> Option<String> {
        let param = failure.param.as_deref();
        match fix {
            Fix::ClampEffort | Fix::DropEffort => {
                let asked = refused.effort?;
                let allowed = failure.allowed.as_deref().unwrap_or_default();
                let nearest = (fix == Fix::ClampEffort).then(|| nearest(limits, asked, allowed));
                let instead = nearest.flatten().filter(|instead| *instead != asked);
                self.efforts.insert(asked.into(), instead.map(String::from));
                Some(format!("{asked}, {}", instead.unwrap_or("none is sent")))
            }
            Fix::DropParam => {
                self.dropped.insert(param?.into());
                param.map(String::from)
            }
            Fix::RenameParam => {
                let to = failure.allowed.as_ref()?.first()?;
                self.renamed.insert(param?.into(), to.clone());
                Some(format!("{}, {to}", param?))
            }
            Fix::LowerOutput => {
                let limit = failure.limit?;
                let lowered = match self.max_output {
                    Some(held) if held < limit => return None,
                    // Some servers name the first number they refuse.
                    Some(held) if held == limit => limit.saturating_sub(1),
                    _ => limit,
                };
                self.max_output = Some(lowered);
                Some(lowered.to_string())
            }
            Fix::ShrinkImages => {
                self.image_bytes = Some(failure.limit?);
                failure.limit.map(|limit| format!("{limit} bytes"))
            }
            Fix::StripReasoning => {
                self.unreasoned = refused.messages;
                None
            }
            // Every request is written so; and what makes a conversation shorter is the loop's business.
            Fix::SystemRole | Fix::PairTools | Fix::EmptyArgs | Fix::ToolContentString => None,
            Fix::Compact => None,
            Fix::MergeRoles
            | Fix::MergeSystem
            | Fix::SystemInUser
            | Fix::AddUser
            | Fix::AddAnswer
            | Fix::OneToolCall
            | Fix::ResultsInUser
            | Fix::ToolIds
            | Fix::PlainSchema
            | Fix::SendReasoning
            | Fix::DropImages
            | Fix::DropTools => {
                self.named.insert(fix.name().into());
                None
            }
        }
    }

    /// Takes over what these repairs have and `failure` is the cause of, as far as later runs begin with it.
    pub fn learn(&mut self, limits: &RepairLimits, failure: &Failure, from: &Repairs) -> bool {
        let learned = |fix: &&str| limits.learned.iter().any(|it| it == fix);
        if !failure.fix.as_deref().is_some_and(|fix| learned(&fix)) {
            return false;
        }
        let before = self.clone();
        let held = named(limits, failure).filter(learned).filter(|fix| from.named.contains(*fix));
        self.named.extend(held.map(String::from));
        self.dropped.extend(from.dropped.iter().cloned());
        self.renamed.extend(from.renamed.clone());
        self.efforts.extend(from.efforts.clone());
        // What is left of a window behind one prompt says nothing about another.
        if failure.window.is_none() {
            self.max_output = from.max_output.or(self.max_output);
        }
        self.image_bytes = from.image_bytes.or(self.image_bytes);
        *self != before
    }
}

/// Returns the names of the repair of a failure and of the one that goes further.
fn named<'a>(limits: &'a RepairLimits, failure: &'a Failure) -> impl Iterator<Item = &'a str> {
    let fix = failure.fix.as_deref();
    let further = fix.and_then(|fix| limits.further.get(fix)).map(String::as_str);
    fix.into_iter().chain(further)
}

/// Returns the effort of those allowed that is nearest to the one asked for: the next lower one, else the next higher one, else
/// one that is not known. Reasoning is not turned off for somebody who wants some.
pub fn nearest<'a>(limits: &RepairLimits, asked: &str, allowed: &'a [String]) -> Option<&'a str> {
    let is_off = |word: &str| limits.no_effort.iter().any(|off| off.eq_ignore_ascii_case(word));
    let rank = |word: &str| limits.efforts.iter().position(|it| it.eq_ignore_ascii_case(word));
    let alike = allowed.iter().map(String::as_str).filter(|word| is_off(word) == is_off(asked));
    let Some(wanted) = rank(asked) else { return alike.into_iter().next() };
    let key = |word: &&str| match rank(word) {
        Some(rank) if rank <= wanted => (0, wanted - rank),
        Some(rank) => (1, rank - wanted),
        None => (2, 0),
    };
    alike.min_by_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::packed;

    fn check(asked: &str, allowed: &[&str], expected: Option<&str>) {
        let limits = packed().unwrap().limits.repair;
        let allowed: Vec<String> = allowed.iter().map(|word| (*word).into()).collect();
        assert_eq!(nearest(&limits, asked, &allowed), expected, "{asked} of {allowed:?}");
    }

    #[test]
    fn the_nearest_effort() {
        check("medium", &["low", "high", "max"], Some("low"));
        check("minimal", &["medium", "high"], Some("medium"));
        check("low", &["none", "default"], Some("default"));
        check("xhigh", &["LOW", "HIGH"], Some("HIGH"));
        check("off", &["none", "low"], Some("none"));
        check("off", &["low", "high"], None);
        check("strange", &["none", "high"], Some("high"));
        check("medium", &[], None);
    }

    #[test]
    fn every_repair_that_is_learned_is_one() {
        let limits = packed().unwrap().limits.repair;
        for name in
            limits.learned.iter().chain(limits.further.keys()).chain(limits.further.values())
        {
            assert!(Fix::named(name).is_some(), "{name}");
        }
    }
}
