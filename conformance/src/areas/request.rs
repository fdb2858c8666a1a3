//! `request`: the body that a conversation becomes in a dialect: `{"dialect", "model"?, "host"?, "messages", "tools"?, …}` to
//! the body as JSON. With `refusals`, answers of a server that came before, it is the request as they mend it.

use lembas_core::dialect::{Ask, Spoken};
use lembas_core::event::Failure;
use lembas_core::message::Message;
use lembas_core::prompt::ToolDefinition;
use lembas_core::repair::{Mending, Refused, Repairs};
use lembas_core::spec::Spec;
use lembas_core::stream::{Assembly, Context, Ending, Reply};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    dialect: String,
    #[serde(default = "model")]
    model: String,
    #[serde(default)]
    host: String,
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default = "yes")]
    may_call: bool,
    #[serde(default)]
    effort: Option<String>,
    #[serde(default)]
    window: Option<u64>,
    #[serde(default)]
    max_output: Option<u64>,
    #[serde(default)]
    sends_reasoning: bool,
    #[serde(default = "yes")]
    vision: bool,
    #[serde(default)]
    extra: Map<String, Value>,
    #[serde(default)]
    refusals: Vec<Refusal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    status: u16,
    body: Value,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

fn model() -> String {
    "m".into()
}

fn yes() -> bool {
    true
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let dialect = Spoken::named(spec, &question.dialect)
        .ok_or_else(|| format!("no dialect {:?}", question.dialect))?;
    let tools: Vec<ToolDefinition> = question
        .tools
        .iter()
        .map(|tool| ToolDefinition {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
        })
        .collect();
    let limits = &spec.limits.repair;
    let mut repairs = Repairs::default();
    let refused = Refused { effort: question.effort.as_deref(), messages: question.messages.len() };
    for refusal in &question.refusals {
        let _ = repairs.mend(limits, &failure(spec, dialect, refusal)?, refused);
    }
    let ask = Ask {
        mending: Mending { limits, repairs: &repairs },
        model: &question.model,
        host: &question.host,
        messages: &question.messages,
        tools: &tools,
        may_call: question.may_call,
        effort: question.effort.as_deref(),
        window: question.window,
        max_output: question.max_output,
        sends_reasoning: question.sends_reasoning,
        vision: question.vision,
        extra: &question.extra,
    };
    let body = dialect.request(&spec.quirks, &ask).map_err(|error| error.to_string())?;
    serde_json::from_str(&body).map_err(|error| format!("the body is not JSON: {error}"))
}

/// Returns what a refusal means.
fn failure(spec: &Spec, dialect: Spoken<'_>, refusal: &Refusal) -> Result<Failure, String> {
    let (context, mut events) = (Context::default(), Vec::new());
    let mut reply = Reply::new(spec, dialect, &context);
    reply.status(refusal.status, std::iter::empty());
    reply.push(refusal.body.to_string().as_bytes(), &mut events);
    reply.end(&Ending::Complete, &mut events);
    let mut assembly = Assembly::default();
    events.iter().for_each(|event| assembly.take(event));
    assembly.failure().map(|failure| *failure).ok_or_else(|| "that is no refusal".into())
}
