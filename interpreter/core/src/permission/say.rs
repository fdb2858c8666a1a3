//! The sentence that goes with a verdict; the words are the spec's.

use super::{Step, rules};
use crate::say::{filled, say};
use crate::shell::Unseen;
use crate::spec::{Decision, Rule, Spec};

/// Characters shown of a command.
const SHOWN: usize = 120;

/// Returns a decision's name.
pub(super) fn name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

/// Returns the name of a reason why a line could not be followed.
pub(super) fn unseen(why: Unseen) -> &'static str {
    match why {
        Unseen::TooLong => "too_long",
        Unseen::TooDeep => "too_deep",
        Unseen::TooLarge => "too_large",
        Unseen::Syntax => "syntax",
        Unseen::Unended => "unended",
        Unseen::ChangedInLoop => "changed_in_loop",
    }
}

/// Returns one sentence of why: the floor's own, the mode's own, or that of the step that decided, which a default
/// rule may have one of its own for.
pub(super) fn sentence(
    spec: &Spec,
    decision: Decision,
    broken: Option<&Rule>,
    mode: &str,
    trace: &[Step],
) -> String {
    if let Some(rule) = broken {
        return rule.say.clone();
    }
    if !mode.is_empty() {
        return mode.to_string();
    }
    let Some(step) = trace.iter().find(|step| step.then == decision) else { return String::new() };
    let key = if step.from.is_empty() { step.rule.as_str() } else { "rule" };
    let shown = Step { of: step.of.chars().take(SHOWN).collect(), ..step.clone() };
    let default = spec
        .defaults
        .iter()
        .find(|rule| step.from == rules::DEFAULTS && rule.id == step.rule && !rule.say.is_empty());
    let own = default.and_then(|rule| filled(&rule.say, &shown));
    own.unwrap_or_else(|| say(&spec.wrappers.says, key, &shown))
}
