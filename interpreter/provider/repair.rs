//! What a refusal that can be mended is mended by: the repair its quirk names, once for each cause of a request. What a server
//! taught is kept once it has taken a mended request.

use super::{Ask, Provider, Seen};
use lembas_core::{
    event::{Event, Failure},
    repair::Refused,
};

/// The repairs of one request.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// Every cause that was mended: the repair and the parameter it is about. One that can go further is mended twice.
    tried: Vec<(Option<String>, Option<String>)>,
    /// The refusals, for what they teach.
    causes: Vec<Failure>,
}

impl Provider<'_> {
    /// Mends what a request was refused for, and returns the repair in words and the body of the next one. `None`: it cannot
    /// be mended, was mended in vain before, or the repair changes nothing.
    pub(super) fn mend(
        &mut self,
        mended: &mut Mended,
        failure: &Failure,
        ask: &Ask<'_>,
        body: &str,
    ) -> Option<(String, String)> {
        let cause = (failure.fix.clone(), failure.param.clone());
        let before = mended.tried.iter().filter(|tried| **tried == cause).count();
        let further = failure.fix.as_ref().and_then(|fix| self.spec.limits.repair.further.get(fix));
        if failure.retry != "fix" || failure.after_output || before > usize::from(further.is_some())
        {
            return None;
        }
        mended.tried.push(cause);
        let refused = Refused { effort: self.effort.as_deref(), messages: ask.messages.len() };
        // A repair that changes nothing in this request is followed by the one that goes further.
        let limits = &self.spec.limits.repair;
        while let Some(words) = self.repairs.mend(limits, failure, refused) {
            let next = self.request(ask).ok()?;
            if next != body {
                mended.causes.push(failure.clone());
                return Some((words, next));
            }
        }
        None
    }

    /// Keeps what the refusals of a request that was taken at last have taught.
    pub(super) fn keep(&mut self, mended: &Mended, see: &mut (dyn FnMut(Seen<'_>) + Send)) {
        let Some(learned) = self.learned.as_ref().filter(|_| !mended.causes.is_empty()) else {
            return;
        };
        let (limits, repairs) = (&self.spec.limits.repair, &self.repairs);
        let kept = learned.change(|lesson| {
            for cause in &mended.causes {
                lesson.repairs.learn(limits, cause, repairs);
            }
        });
        self.forget_if(kept.err(), see);
    }

    /// Keeps the window a server named when it refused a prompt as too long.
    pub(super) fn learn_window(
        &mut self,
        failure: &Failure,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) {
        let limit = failure.limit.filter(|_| failure.kind == "context_length");
        let Some(window) = failure.window.or(limit) else { return };
        if self.context.context_window.is_some_and(|known| known <= window) {
            return;
        }
        self.context.context_window = Some(window);
        let kept = self
            .learned
            .as_ref()
            .map(|learned| learned.change(|lesson| lesson.context = Some(window)));
        self.forget_if(kept.and_then(Result::err), see);
    }

    /// Tells once that nothing can be kept. The work goes on: all there is to lose is another refusal.
    fn forget_if(
        &mut self,
        problem: Option<crate::config::problem::Problem>,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) {
        if let Some(problem) = problem {
            self.learned = None;
            see(Seen::Event(&Event::Notice { about: "learned".into(), text: problem.to_string() }));
        }
    }
}
