//! The sentence that goes with a verdict; the words are the spec's.

use super::{Step, Verdict};
use crate::say::{filled, say};
use crate::shell::Unseen;
use crate::spec::{DEFAULTS, Decision, MODES, Rule, Spec};

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
    let step = trace.iter().find(|step| step.then == decision);
    step.map(|step| about(spec, step)).unwrap_or_default()
}

/// Returns one sentence of why "always" is not offered for what is asked about: the reason nearest to that.
pub fn each_time(spec: &Spec, verdict: &Verdict) -> String {
    let seen = ["default", "external"];
    let hidden = |step: &&Step| {
        step.then == Decision::Ask && step.from.is_empty() && !seen.contains(&step.rule.as_str())
    };
    let step = verdict.trace.iter().find(hidden);
    step.map_or_else(|| verdict.say.clone(), |step| about(spec, step))
}

/// Returns one sentence of what a step says: by which rule, or for which reason where no rule speaks.
pub fn about(spec: &Spec, step: &Step) -> String {
    let key = match step.from.as_str() {
        "" => step.rule.as_str(),
        MODES => "mode",
        _ => "rule",
    };
    let end = step.of.char_indices().nth(spec.limits.shell.shown_chars).map(|(end, _)| end);
    let of = step.of.get(..end.unwrap_or(step.of.len())).unwrap_or_default().to_string();
    let Step { then, rule, from, line, .. } = step;
    let shown = Step { of, then: *then, rule: rule.clone(), from: from.clone(), line: *line };
    let default = spec
        .defaults
        .iter()
        .find(|rule| step.from == DEFAULTS && rule.id == step.rule && !rule.say.is_empty());
    let own = default.and_then(|rule| filled(&rule.say, &shown));
    own.unwrap_or_else(|| say(&spec.wrappers.says, key, &shown))
}
