//! The calls of one reply: every one is judged before the first runs, then what was allowed runs in order or side by side.

use super::{
    Ended, Engine, Grant, Outcome, Paths, Turn,
    ask::Answer,
    budget::Reached,
    gate::{Admission, Refusal},
    prepare::{Prepared, does_not_fit},
    say,
    schedule::{self, Planned, State},
};
use crate::bus::{Approval, BusEvent};
use futures_util::{StreamExt, stream::FuturesUnordered};
use lembas_core::{
    message::{Message, Part, Role, ToolCall, ToolResult},
    spec::{PromptText, Tools},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// What becomes of a call.
enum Fate<'s> {
    /// It may run, with these paths.
    Runs(Prepared<'s>, Paths, Planned),
    /// It was refused: a rule, the mode or the lack of a person.
    Refused(Outcome),
    /// It has its result for another reason: it cannot be read, or came once too often.
    Settled(Outcome),
}

impl<'s, T: Tools<Output = Outcome, Context = Grant>> Engine<'s, T> {
    /// Judges and runs the calls of a reply and appends their results. Returns how the turn ends, if it does.
    pub(super) async fn step(&mut self, turn: &mut Turn, calls: Vec<ToolCall>) -> Option<Ended> {
        let mut fates = Vec::new();
        let mut times = 0;
        for call in &calls {
            let (fate, running) = self.decide(turn, call).await;
            times = running.max(times);
            fates.push(fate);
        }
        let ran = fates.iter().any(|fate| matches!(fate, Fate::Runs(..)));
        let refused = fates.iter().any(|fate| matches!(fate, Fate::Refused(_)));
        let outcomes = self.run(&calls, fates).await;
        self.append(turn, calls, outcomes);
        if self.cancel.is_cancelled() {
            return Some(Ended::Cancelled);
        }
        let refused = turn.repeats.step(ran, refused);
        let limits = &self.limits;
        let (limit, amount, ended) = if times >= limits.same_call_stop {
            ("repeats", times, Ended::Limit)
        } else if refused >= limits.refused_steps {
            ("refusals", refused, Ended::Refused)
        } else {
            return None;
        };
        Some(self.wrap_up(turn, &Reached { limit, amount: amount.into() }, ended).await)
    }

    /// Decides about one call; also returns how many times running it has come.
    async fn decide(&self, turn: &mut Turn, call: &ToolCall) -> (Fate<'s>, u32) {
        let prepared = match self.preparer.prepare(call) {
            Ok(prepared) => prepared,
            Err(text) => {
                self.denied(call, &call.name, &text, Vec::new());
                let times = turn.repeats.count(&call.name, written(call));
                return (Fate::Settled(Outcome::failed(text)), times);
            }
        };
        let times = turn.repeats.count(&prepared.spec.id, Value::Object(prepared.args.clone()));
        // What a call shows that changes by itself is worth another look.
        let times = if prepared.spec.repeats { 1 } else { times };
        let fate = match self.admit(call, &prepared, times).await {
            Ok(paths) => {
                let planned = Planned {
                    class: prepared.spec.class,
                    exclusive: prepared.spec.exclusive,
                    paths: paths.reals(),
                };
                Fate::Runs(prepared, paths, planned)
            }
            Err(Refusal { reason, trace, repeated }) => {
                self.denied(call, &prepared.title(), &reason, trace);
                let outcome = Outcome::failed(reason);
                if repeated { Fate::Settled(outcome) } else { Fate::Refused(outcome) }
            }
        };
        (fate, times)
    }

    /// Lets the gate decide about a call that has come `times` times running, and a person where the gate leaves it
    /// to one. Returns the paths the call names, as they were judged.
    async fn admit(
        &self,
        call: &ToolCall,
        prepared: &Prepared<'_>,
        times: u32,
    ) -> Result<Paths, Refusal> {
        let verdict = match self.gate.admit(prepared, times) {
            Admission::Runs(paths) => return Ok(paths),
            Admission::Refused(refusal) => return Err(refusal),
            Admission::Asks(verdict) => verdict,
        };
        let approval = Approval {
            id: call.id.clone(),
            name: call.name.clone(),
            title: prepared.title(),
            reason: verdict.say.clone(),
            purpose: prepared.text(prepared.spec.permission.purpose.as_ref()).map(String::from),
            trace: verdict.trace.clone(),
            always: verdict.always.clone(),
        };
        self.bus.emit(&BusEvent::Approval(approval.clone()));
        match self.asker.ask(&approval).await {
            Answer::Nobody => Err(self.gate.unattended(verdict)),
        }
    }

    /// Judges a call once more: what ran since it was judged may have led its paths elsewhere. It runs with those that
    /// were judged first, or not at all.
    async fn still(
        &self,
        call: &ToolCall,
        prepared: &Prepared<'_>,
        paths: &Paths,
    ) -> Result<(), Refusal> {
        let now = self.admit(call, prepared, 1).await?;
        paths.moved(&now).map_or(Ok(()), |path| Err(self.gate.moved(path)))
    }

    fn denied(
        &self,
        call: &ToolCall,
        title: &str,
        reason: &str,
        trace: Vec<lembas_core::permission::Step>,
    ) {
        self.bus.emit(&BusEvent::ToolDenied {
            id: call.id.clone(),
            name: call.name.clone(),
            title: title.into(),
            reason: reason.into(),
            trace,
        });
    }

    /// Runs what may run, as many together as the limit and their order allow, and returns all results in order.
    async fn run(&self, calls: &[ToolCall], fates: Vec<Fate<'s>>) -> Vec<Outcome> {
        let mut states = Vec::new();
        let mut planned = Vec::new();
        let mut waiting = Vec::new();
        let mut outcomes = Vec::new();
        for fate in fates {
            match fate {
                Fate::Runs(prepared, paths, plan) => {
                    states.push(State::Waiting);
                    planned.push(plan);
                    waiting.push(Some((prepared, paths)));
                    outcomes.push(Outcome::failed(say(
                        self.spec,
                        PromptText::BlocksCallInterrupted,
                        json!({}),
                    )));
                }
                Fate::Refused(outcome) | Fate::Settled(outcome) => {
                    states.push(State::Done);
                    planned.push(Planned::none());
                    waiting.push(None);
                    outcomes.push(outcome);
                }
            }
        }
        let mut running = FuturesUnordered::new();
        loop {
            while let Some(i) = schedule::next(&planned, &states, self.limits.parallel) {
                let (Some(state), Some(call)) = (states.get_mut(i), calls.get(i)) else { break };
                *state = State::Running;
                if let Some((prepared, paths)) = waiting.get_mut(i).and_then(Option::take) {
                    running.push(async move { (i, self.call(call, prepared, paths).await) });
                }
            }
            let Some((i, outcome)) = running.next().await else { return outcomes };
            if let (Some(state), Some(place)) = (states.get_mut(i), outcomes.get_mut(i)) {
                *state = State::Done;
                *place = outcome;
            }
        }
    }

    async fn call(&self, call: &ToolCall, prepared: Prepared<'s>, paths: Paths) -> Outcome {
        let (id, name) = (call.id.clone(), call.name.clone());
        if let Err(Refusal { reason, trace, .. }) = self.still(call, &prepared, &paths).await {
            self.denied(call, &prepared.title(), &reason, trace);
            return Outcome::failed(reason);
        }
        let (live, said) = mpsc::unbounded_channel();
        let grant =
            Grant { stop: self.cancel.clone(), paths, patch: prepared.named.patch.clone(), live };
        self.bus.emit(&BusEvent::ToolStart {
            id: id.clone(),
            name: name.clone(),
            title: prepared.title(),
            args: prepared.args.clone(),
        });
        let run = self.toolbox.run(prepared.tool, &grant, Value::Object(prepared.args));
        let ran = self.listening(run, said, &id).await;
        let outcome = ran.unwrap_or_else(|error| {
            Outcome::failed(does_not_fit(self.spec, None, &error.to_string()))
        });
        // A key a command or a file gives away goes no further: not to the model, and not to who listens.
        let text = self.provider.without_secrets(&outcome.text).into_owned();
        let outcome = Outcome { text, ..outcome };
        let (output, is_error) = (outcome.text.clone(), outcome.error);
        self.bus.emit(&BusEvent::ToolEnd { id, name, output, is_error });
        outcome
    }

    /// Waits for a call, and tells what it prints meanwhile.
    async fn listening<O>(
        &self,
        run: impl Future<Output = O>,
        mut said: mpsc::UnboundedReceiver<String>,
        id: &str,
    ) -> O {
        tokio::pin!(run);
        loop {
            tokio::select! {
                biased;
                Some(text) = said.recv() => {
                    let text = self.provider.without_secrets(&text).into_owned();
                    self.bus.emit(&BusEvent::ToolOutput { id: id.to_owned(), text });
                }
                ran = &mut run => return ran,
            }
        }
    }

    fn append(&mut self, turn: &mut Turn, calls: Vec<ToolCall>, outcomes: Vec<Outcome>) {
        let results = calls.into_iter().zip(outcomes).map(|(call, outcome)| {
            if let Some(stands) = outcome.stands {
                self.gate.place.stands = stands;
            }
            turn.budget.tool_output += u64::try_from(outcome.text.len()).unwrap_or(u64::MAX);
            Part::ToolResult(ToolResult {
                id: call.id,
                name: call.name,
                text: outcome.text,
                error: outcome.error,
                images: outcome.images,
            })
        });
        self.messages.push(Message { role: Role::Tool, parts: results.collect() });
    }
}

/// The arguments of a call as far as they could be read, otherwise as they came.
fn written(call: &ToolCall) -> Value {
    match &call.raw {
        Some(raw) => Value::String(raw.clone()),
        None => Value::Object(call.arguments.clone()),
    }
}
