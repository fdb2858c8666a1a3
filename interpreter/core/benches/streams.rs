//! How fast the reply of each dialect is read: 20 MB as servers send them, a word a frame. Figures only, no bounds.

use divan::{Bencher, black_box, counter::BytesCount};
use lembas_core::dialect::Spoken;
use lembas_core::event::{Event, Finish};
use lembas_core::spec::{self, Spec};
use lembas_core::stream::{Context, Ending, Reply};
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap_or_default());

fn main() {
    LazyLock::force(&SPEC);
    divan::main();
}

/// How long a stream is, and how much of it a connection hands on at once.
const BYTES: usize = 20_000_000;
const CHUNK: usize = 16 * 1024;

/// What a model says again and again, as it stands in JSON.
const WORDS: [&str; 8] =
    [" the", " reader", "ly", " `push", "`.\\n", " caf\u{e9}", " \\\"so\\\"", " and"];

/// A dialect with the frames of a reply: its start, a word of it (for `WORD`), its end.
const REPLIES: [(&str, &str, &str, &str); 5] = [
    (
        "openai-chat",
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"created\":1796027486,\"id\":\"chatcmpl-7WHUquD6BDiMfxX6TMshcrykQIPCOGi7\",\"model\":\"m\",\"object\":\"chat.completion.chunk\"}\n\n",
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"WORD\"}}],\"created\":1796027486,\"id\":\"chatcmpl-7WHUquD6BDiMfxX6TMshcrykQIPCOGi7\",\"model\":\"m\",\"system_fingerprint\":\"b0-unknown\",\"object\":\"chat.completion.chunk\"}\n\n",
        "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":90000}}\n\ndata: [DONE]\n\n",
    ),
    (
        "responses",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"content\":[],\"id\":\"msg_fvUekmuhtQpQ5QZCKfYnYBKdw0hlDgUB\",\"role\":\"assistant\",\"status\":\"in_progress\",\"type\":\"message\"}}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":7,\"item_id\":\"msg_fvUekmuhtQpQ5QZCKfYnYBKdw0hlDgUB\",\"output_index\":0,\"content_index\":0,\"delta\":\"WORD\",\"logprobs\":[]}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":90000}}}\n\n",
    ),
    (
        "anthropic",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"WORD\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":90000}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    (
        "gemini",
        "",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"WORD\"}]},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":7,\"totalTokenCount\":16},\"modelVersion\":\"m\",\"responseId\":\"r1\"}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\".\"}]},\"index\":0,\"finishReason\":\"STOP\"}]}\r\n\r\n",
    ),
    (
        "ollama",
        "",
        "{\"model\":\"m\",\"created_at\":\"2026-11-30T08:37:28.548Z\",\"message\":{\"role\":\"assistant\",\"content\":\"WORD\"},\"done\":false}\n",
        "{\"model\":\"m\",\"created_at\":\"2026-11-30T08:37:28.548Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":90000}\n",
    ),
];

#[divan::bench(args = REPLIES.map(|(dialect, ..)| dialect), sample_count = 10)]
fn megabytes_20(bencher: Bencher<'_, '_>, name: &str) {
    let Some((_, start, word, end)) = REPLIES.iter().find(|(known, ..)| *known == name) else {
        return;
    };
    let mut body = (*start).to_string();
    for said in WORDS.iter().cycle().take(BYTES / word.len()) {
        body.push_str(&word.replace("WORD", said));
    }
    body.push_str(end);
    let context = Context::default();
    bencher.counter(BytesCount::of_str(&body)).bench(|| read(name, black_box(&body), &context));
}

/// Reads a reply as a front end does: the events of a chunk are gone before the next one comes.
fn read(dialect: &str, body: &str, context: &Context) -> Option<Event> {
    let mut reply = Reply::new(&SPEC, Spoken::named(&SPEC, dialect)?, context);
    let mut out = Vec::new();
    for chunk in body.as_bytes().chunks(CHUNK) {
        reply.push(chunk, &mut out);
        out.clear();
    }
    reply.end(&Ending::Complete, &mut out);
    out.pop().filter(|last| matches!(last, Event::Finish { reason: Finish::Stop }))
}
