//! The two ends of the wire: a trait with one handler per method a client sends and its dispatch, and a trait
//! with one typed sender per method the agent sends.

use super::super::text::{doc, line, snake};
use crate::acp::{
    Method, Protocol, Sender,
    names::{params, result},
};

/// Emits `AgentMethods`, `Dispatch` and `dispatch`.
pub(super) fn agent(out: &mut String, protocol: &Protocol) {
    let methods = || protocol.methods.iter().filter(|method| method.from == Sender::Client);
    doc(
        out,
        "",
        "One handler per method that a client sends; a method of the page without one does not build.",
    );
    line(out, "pub trait AgentMethods: Sync {");
    doc(out, "    ", "Why a handler refuses.");
    line(out, "    type Error: Send;");
    for method in methods() {
        about(out, method);
        let output = method.result.as_ref().map_or("()".into(), |_| result(method));
        line(
            out,
            &format!(
                "    fn {}(&self, params: {}) -> impl Future<Output = Result<{output}, Self::Error>> + Send;",
                snake(&method.name),
                params(method)
            ),
        );
    }
    line(out, "}");
    out.push_str(DISPATCH);
    line(out, "    match method {");
    for method in methods() {
        let how = if method.result.is_some() { "answered" } else { "notified" };
        let handler = snake(&method.name);
        line(
            out,
            &format!(
                "        {:?} => wire::{how}(params, |params| agent.{handler}(params)).await,",
                method.name
            ),
        );
    }
    line(out, "        _ => Dispatch::Unknown,\n    }\n}");
}

/// Emits `ClientLink` and `ClientMethods`.
pub(super) fn client(out: &mut String, protocol: &Protocol) {
    out.push_str(LINK);
    doc(out, "", "One typed sender per method that the agent sends, on every link.");
    line(out, "pub trait ClientMethods: ClientLink {");
    for method in protocol.methods.iter().filter(|method| method.from == Sender::Agent) {
        about(out, method);
        let (function, name, params) = (snake(&method.name), &method.name, params(method));
        if method.result.is_some() {
            doc(out, "    ", "\n# Errors\nThe link's, and an answer that does not fit.");
            line(
                out,
                &format!(
                    "    fn {function}(&self, params: {params}) -> impl Future<Output = Result<{}, Self::Error>> + Send {{\n        wire::asked(self, {name:?}, params)\n    }}",
                    result(method)
                ),
            );
        } else {
            doc(out, "    ", "\n# Errors\nThe link's.");
            line(
                out,
                &format!(
                    "    fn {function}(&self, params: {params}) -> Result<(), Self::Error> {{\n        self.notify({name:?}, serde_json::to_value(params)?)\n    }}"
                ),
            );
        }
    }
    line(out, "}\nimpl<L: ClientLink> ClientMethods for L {}");
}

fn about(out: &mut String, method: &Method) {
    doc(out, "    ", &method.doc);
    let what = if method.result.is_some() { "request" } else { "notification" };
    let needs = match &method.capability {
        Some(capability) => format!("; capability `{}`", capability.name),
        None => String::new(),
    };
    doc(out, "    ", &format!("\nThe {what} `{}`{needs}.", method.name));
}

const DISPATCH: &str = r"/// What became of a message from a client.
#[derive(Debug)]
pub enum Dispatch<E> {
    /// No client sends a method of this name.
    Unknown,
    /// The parameters do not fit; no handler ran.
    BadParams(serde_json::Error),
    /// A request's result.
    Result(serde_json::Value),
    /// The handler's result cannot be written as JSON.
    BadResult(serde_json::Error),
    /// A notification was handled; nothing is sent back.
    Notified,
    /// The handler refused.
    Refused(E),
}
/// Hands a message to its handler. Parameters that are absent (null) are read as an empty object.
pub async fn dispatch<A: AgentMethods>(agent: &A, method: &str, params: serde_json::Value) -> Dispatch<A::Error> {
";

const LINK: &str = r"/// The agent's way to its client.
pub trait ClientLink: Sync {
    /// Why nothing came of a message.
    type Error: From<serde_json::Error> + Send;
    /// Sends a request and waits for its result.
    fn request(&self, method: &'static str, params: serde_json::Value) -> impl Future<Output = Result<serde_json::Value, Self::Error>> + Send;
    /// Sends a notification, without waiting.
    ///
    /// # Errors
    /// A link that takes no more messages.
    fn notify(&self, method: &'static str, params: serde_json::Value) -> Result<(), Self::Error>;
}
";
