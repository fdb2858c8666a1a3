//! `reply`: the message that the bytes of a reply become in the history, with what the provider wants back: `{"dialect", "body",
//! "context"?}` to the message and the finish reason.

use lembas_core::dialect::Spoken;
use lembas_core::spec::Spec;
use lembas_core::stream::{Assembled, Assembly, Context, Ending, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    dialect: String,
    body: String,
    #[serde(default)]
    context: Context,
}

/// Answers a case.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let question: Question =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let dialect = Spoken::named(spec, &question.dialect)
        .ok_or_else(|| format!("no dialect {:?}", question.dialect))?;
    let (mut reply, mut events) = (Reply::new(spec, dialect, &question.context), Vec::new());
    reply.status(200, std::iter::empty());
    reply.push(question.body.as_bytes(), &mut events);
    reply.end(&Ending::Complete, &mut events);
    let mut assembly = Assembly::default();
    events.iter().for_each(|event| assembly.take(event));
    if let Some(failure) = assembly.failure() {
        return Err(format!("the reply failed: {}", failure.message));
    }
    let Assembled { message, finish, .. } = assembly.done();
    Ok(json!({ "message": message, "finish": finish }))
}
