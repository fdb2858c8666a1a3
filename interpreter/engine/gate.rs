//! Whether a call may run: core's verdict on it. It asks nobody; that is for the engine and its front end.

use super::{Paths, Place, Readable, prepare::Prepared, say};
use lembas_core::{
    permission::{Call, Policy, Step, Verdict, judge},
    spec::{Class, Decision, HARDLINE, MODES, PromptText, Spec},
};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};

/// What the gate decides about a call.
pub(crate) enum Admission {
    /// It runs with the paths that were judged.
    Runs(Paths),
    /// A person decides.
    Asks(Verdict),
    /// It does not.
    Refused(Refusal),
}

/// Why a call does not run.
pub(crate) struct Refusal {
    /// What the model is told.
    pub(crate) reason: String,
    /// How it was judged.
    pub(crate) trace: Vec<Step>,
    /// Whether it was allowed and came once too often.
    pub(crate) repeated: bool,
}

/// Decides about calls.
pub(crate) struct Gate<'s> {
    /// The spec.
    pub(crate) spec: &'s Spec,
    /// The mode and the rules in force.
    pub(crate) policy: Policy,
    /// Where the session works.
    pub(crate) place: Place,
}

impl Gate<'_> {
    /// Decides about a call that has come `times` times running.
    pub(crate) fn admit(&self, prepared: &Prepared<'_>, times: u32) -> Admission {
        let call = self.place.call(prepared.spec, &prepared.args, &prepared.named);
        let verdict = judge(self.spec, &self.policy, self.place.world(), &call);
        let repeated = times >= self.spec.limits.same_call;
        match verdict.decision {
            Decision::Deny => Admission::Refused(self.denied(verdict)),
            Decision::Ask => Admission::Asks(verdict),
            Decision::Allow if repeated => Admission::Refused(Refusal {
                reason: say(self.spec, PromptText::BlocksCallRepeated, json!({ "times": times })),
                trace: verdict.trace,
                repeated,
            }),
            Decision::Allow => {
                let Prepared { spec: tool, args, named, .. } = prepared;
                Admission::Runs(self.place.paths(self.spec, tool, args, named, &verdict.paths))
            }
        }
    }

    /// Returns what says of the files a search comes upon whether they may be shown: the rules a read of each follows.
    pub(crate) fn readable(&self, spec: &Arc<Spec>) -> Readable {
        let (spec, policy, place) = (Arc::clone(spec), self.policy.clone(), self.place.clone());
        Readable::new(move |path| {
            let call = Call {
                tool: "read".into(),
                class: Class::Read.name().into(),
                rule: "read".into(),
                paths: vec![path.to_path_buf()],
                ..Call::default()
            };
            judge(&spec, &policy, place.world(), &call).decision == Decision::Allow
        })
    }

    /// Returns why a call does not run that a person would have to approve where there is none.
    pub(crate) fn unattended(&self, verdict: Verdict) -> Refusal {
        let why = json!({ "why": why(&verdict.say) });
        self.refused(PromptText::BlocksRefusedUnattended, why, verdict)
    }

    /// Returns why a call does not run whose argument means another place than when it was first judged.
    pub(crate) fn moved(&self, path: &Path) -> Refusal {
        let shown = path.strip_prefix(&self.place.cwd).unwrap_or(path).display().to_string();
        let reason = say(self.spec, PromptText::BlocksCallMoved, json!({ "path": shown }));
        Refusal { reason, trace: Vec::new(), repeated: false }
    }

    fn denied(&self, verdict: Verdict) -> Refusal {
        let by = verdict
            .trace
            .iter()
            .find(|step| step.then == Decision::Deny)
            .map_or("", |step| step.from.as_str());
        let why = json!({ "why": why(&verdict.say), "mode": self.policy.mode });
        let text = match by {
            HARDLINE => PromptText::BlocksRefusedHardline,
            MODES => PromptText::BlocksRefusedMode,
            _ => PromptText::BlocksRefusedRule,
        };
        self.refused(text, why, verdict)
    }

    fn refused(&self, text: PromptText, values: Value, verdict: Verdict) -> Refusal {
        let reason = say(self.spec, text, values);
        Refusal { reason, trace: verdict.trace, repeated: false }
    }
}

/// A sentence as a part of another one.
fn why(sentence: &str) -> &str {
    sentence.trim_end_matches('.')
}
