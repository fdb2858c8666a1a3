//! What both targets of streams ask of a reply: it ends once, and how its bytes were cut does not matter.

use lembas_core::dialect::Spoken;
use lembas_core::event::Event;
use lembas_core::spec::{self, DialectName, Spec};
use lembas_core::stream::{Context, Ending, Reply};
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

/// Reads `body` at once, byte by byte and in pieces that `cut` chooses; the events must be the same.
pub fn check(dialect: DialectName, cut: u8, body: &[u8]) {
    let tools = ["read", "bash"].map(String::from).to_vec();
    let context = Context { tools, opens_in_think: cut.is_multiple_of(5), ..Context::default() };
    let status = if cut.is_multiple_of(16) { 429 } else { 200 };
    let read = |chunks: &mut dyn Iterator<Item = &[u8]>| events(dialect, status, &context, chunks);
    let whole = read(&mut std::iter::once(body));
    ends_once(&whole);
    assert_eq!(whole, read(&mut body.chunks(1)), "byte by byte");
    assert_eq!(whole, read(&mut body.chunks(2 + usize::from(cut % 64))), "in equal pieces");
    let middle = body.len() * usize::from(cut) / 256;
    assert_eq!(whole, read(&mut [&body[..middle], &body[middle..]].into_iter()), "in two");
}

fn events<'b>(
    dialect: DialectName,
    status: u16,
    context: &Context,
    chunks: &mut dyn Iterator<Item = &'b [u8]>,
) -> Vec<Event> {
    let dialect = Spoken::named(&SPEC, dialect.name()).unwrap();
    let (mut reply, mut out) = (Reply::new(&SPEC, dialect, context), Vec::new());
    reply.status(status, [("retry-after", "3")]);
    chunks.for_each(|chunk| reply.push(chunk, &mut out));
    reply.end(&Ending::Complete, &mut out);
    joined(out)
}

/// Joins neighbouring pieces: only the cut of the chunks parts them.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        match (out.last_mut(), &event) {
            (Some(Event::Text { text: before }), Event::Text { text })
            | (Some(Event::Reasoning { text: before }), Event::Reasoning { text }) => {
                before.push_str(text);
            }
            _ => out.push(event),
        }
    }
    out
}

/// A reply ends with exactly one finish or error, and one that failed hands on no call.
fn ends_once(events: &[Event]) {
    let ends = |event: &&Event| matches!(event, Event::Finish { .. } | Event::Error(_));
    assert_eq!(events.iter().filter(ends).count(), 1, "{events:?}");
    assert!(events.last().as_ref().is_some_and(ends), "{events:?}");
    let failed = matches!(events.last(), Some(Event::Error(_)));
    let calls = events.iter().any(|event| matches!(event, Event::ToolCall(_)));
    assert!(!(failed && calls), "{events:?}");
}
