//! The protocol as `harness/acp.md` writes it: the types of every method, a trait with a handler for each that a
//! client sends, and a trait with a sender for each that the agent sends. Everything here is generated.

include!(concat!(env!("OUT_DIR"), "/acp.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::{
        future::Future,
        pin::pin,
        task::{Context as Task, Poll, Waker},
    };

    fn prompt(meta: Value) -> SessionPromptParams {
        let params = json!({ "sessionId": "ses_1", "prompt": [], "later": 1, "_meta": meta });
        serde_json::from_value(params).unwrap()
    }

    #[test]
    fn meta_is_kept_and_read() {
        let mut params = prompt(
            json!({ "traceparent": "t", "lembas": { "turnId": "m", "personalization": null } }),
        );
        let lembas = params.read_meta().unwrap().unwrap().lembas.unwrap();
        assert_eq!(lembas.turn_id.as_deref(), Some("m"));
        assert_eq!(lembas.context.personalization, Some(None), "null is not the same as absent");
        assert_eq!(lembas.context.library, None);
        params.put_meta(&PromptMeta { lembas: Some(PromptLembas::default()) }).unwrap();
        assert_eq!(json!(params.meta), json!({ "traceparent": "t", "lembas": {} }));
        assert!(prompt(json!({ "lembas": { "turnId": 5 } })).read_meta().is_err());
    }

    struct Answers(Value);

    impl ClientLink for Answers {
        type Error = serde_json::Error;
        async fn request(&self, method: &'static str, params: Value) -> Result<Value, Self::Error> {
            assert_eq!((method, &params["sessionId"]), ("_lembas/plan", &json!("ses_1")));
            Ok(self.0.clone())
        }
        fn notify(&self, _: &'static str, _: Value) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    fn asked(answer: Value) -> Result<LembasPlanResult, serde_json::Error> {
        let text = || String::from("plan.md");
        let (session_id, tool_call_id) = ("ses_1".into(), "call_1".into());
        let params = LembasPlanParams {
            session_id,
            tool_call_id,
            path: text(),
            text: text(),
            plan: None,
            meta: None,
        };
        let link = Answers(answer);
        match pin!(link.lembas_plan(params)).poll(&mut Task::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn answers_are_read_as_what_they_are() {
        let approved =
            asked(json!({ "outcome": "approve", "mode": "manual", "later": 1 })).unwrap();
        assert_eq!(
            approved,
            LembasPlanResult::Approve { mode: LembasPlanResultApproveMode::Manual }
        );
        assert_eq!(asked(json!({ "outcome": "dismissed" })).unwrap(), LembasPlanResult::Dismissed);
        assert!(asked(json!({ "outcome": "approve", "mode": "auto" })).is_err());
        assert!(asked(json!({})).is_err());
    }

    #[test]
    fn names_and_words_agree() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::named(kind.name()), Some(*kind));
        }
        assert_eq!(json!(Capability::PlanState), json!(Capability::PlanState.name()));
        assert_eq!(Event::Retract.kind(), EventKind::Retract);
    }
}
