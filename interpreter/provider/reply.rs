//! One reply of a model, from the request to the finished message, with the tries it takes.

use super::{Body, Opened, Recorder, Retries, Wire, failed, repair::Mended};
use crate::config::{
    learned::Learned,
    secret::{Secret, redact},
};
use lembas_core::{
    dialect::{self, Spoken},
    discover::Model,
    event::{Event, Failure},
    message::{Message, Part},
    prompt::ToolDefinition,
    repair::{Mending, Repairs},
    spec::Spec,
    stream::{Assembled, Assembly, Context, Ending, Reply, written_as},
};
use serde_json::{Map, Value};
use std::{borrow::Cow, time::Duration};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A model that can be asked.
pub(crate) struct Provider<'s> {
    /// The spec.
    pub(crate) spec: &'s Spec,
    /// The dialect the server speaks.
    pub(crate) dialect: Spoken<'s>,
    /// The connection's name, for sentences.
    pub(crate) connection: String,
    /// The host it is at, in lower case; empty for a recording.
    pub(crate) host: String,
    /// The model's id.
    pub(crate) model: String,
    /// The most tokens of a reply, if it is limited.
    pub(crate) max_output: Option<u64>,
    /// The effort asked for, if any.
    pub(crate) effort: Option<String>,
    /// Whether the model takes images.
    pub(crate) vision: bool,
    /// The window the server is told to make room for, where it can be told.
    pub(crate) window: u64,
    /// Whether the server wants earlier reasoning sent back.
    pub(crate) sends_reasoning: bool,
    /// Fields of the connection's own.
    pub(crate) extra: Map<String, Value>,
    /// What is known of the model and of each request.
    pub(crate) context: Context,
    /// What the server says of the model, once it has answered.
    pub(crate) found: Option<oneshot::Receiver<Model>>,
    /// What the server has refused, and what is done about it.
    pub(crate) repairs: Repairs,
    /// Where that is kept for later runs, if it is.
    pub(crate) learned: Option<Learned>,
    /// Where replies come from.
    pub(crate) wire: Wire,
    /// Where they are kept, if they are.
    pub(crate) recorder: Option<Recorder>,
    /// What must not be seen in a failure's words.
    pub(crate) secrets: Vec<Secret>,
}

/// What is asked.
pub(crate) struct Ask<'a> {
    /// The conversation.
    pub(crate) messages: &'a [Message],
    /// The tools that are offered.
    pub(crate) tools: &'a [ToolDefinition],
    /// Whether tools may be called; the list of tools stays the same either way, for the server's cache.
    pub(crate) may_call: bool,
}

/// What the provider tells while a reply comes.
pub(crate) enum Seen<'e> {
    /// An event of the reply.
    Event(&'e Event),
    /// What came so far is void; the request is made again.
    Retract,
}

impl Provider<'_> {
    /// Asks, and passes events on while they come. Stopped by `cancel`, it returns what had come.
    ///
    /// # Errors
    /// The failure that is left after the tries the retry rule allows; its message names the connection.
    pub(crate) async fn reply(
        &mut self,
        ask: &Ask<'_>,
        cancel: &CancellationToken,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) -> Result<Assembled, Box<Failure>> {
        self.hear();
        let mut body = self.request(ask)?;
        let mut retries = Retries::new(&self.spec.limits.retry);
        let mut mended = Mended::default();
        loop {
            let mut draft = Assembly::default();
            let tried = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                tried = self.attempt(&body, &mut draft, see) => Some(tried),
            };
            let Some(tried) = tried else {
                self.close(true, see);
                return Ok(draft.stopped());
            };
            let Err(failure) = tried else {
                self.keep(&mended, see);
                let whole = draft.done();
                self.tell_unread(&whole, see);
                return Ok(whole);
            };
            self.learn_window(&failure, see);
            let (about, how, pause) = match self.mend(&mut mended, &failure, ask, &body) {
                Some((words, next)) => {
                    body = next;
                    ("repair", format!("({words})"), Duration::ZERO)
                }
                None => match retries.next(&failure) {
                    Some(pause) => ("retry", format!("in {} s", pause.as_secs_f64()), pause),
                    None => return Err(self.named(&failure)),
                },
            };
            if draft.shown() {
                see(Seen::Retract);
            }
            let text = format!("{}; asking again {how}", self.named(&failure).message);
            see(Seen::Event(&Event::Notice { about: about.into(), text }));
            tokio::select! {
                () = cancel.cancelled() => return Ok(Assembled::default()),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Tells of a call in the text of a reply that has no other, where nobody said that the model writes any.
    fn tell_unread(&self, whole: &Assembled, see: &mut (dyn FnMut(Seen<'_>) + Send)) {
        let Some(message) = whole.message.as_ref() else { return };
        let calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        if calls || self.context.text_calls.as_ref().is_none_or(|ways| !ways.is_empty()) {
            return;
        }
        let (rules, text) = (&self.spec.quirks, message.plain());
        if let Some(way) = written_as(rules, &self.context.tools, &text) {
            let text = format!(
                "The reply holds a tool call as text. If the model means it, write text_calls: [{way}] to it in connections.yaml."
            );
            see(Seen::Event(&Event::Notice { about: "unread_text_call".into(), text }));
        }
    }

    /// Takes what the server has said of the model since the last request; nobody waits for that.
    fn hear(&mut self) {
        let Some(found) = self.found.as_mut().and_then(|found| found.try_recv().ok()) else {
            return;
        };
        self.found = None;
        self.context.context_window = self.context.context_window.or(found.context);
    }

    pub(super) fn request(&self, ask: &Ask<'_>) -> Result<String, Box<Failure>> {
        let request = dialect::Ask {
            model: &self.model,
            host: &self.host,
            messages: ask.messages,
            tools: ask.tools,
            may_call: ask.may_call,
            effort: self.effort.as_deref(),
            window: self.context.context_window.or(self
                .dialect
                .file
                .request
                .window
                .as_ref()
                .map(|_| self.window)),
            max_output: self.max_output,
            sends_reasoning: self.sends_reasoning,
            vision: self.vision,
            extra: &self.extra,
            mending: Mending { limits: &self.spec.limits.repair, repairs: &self.repairs },
        };
        self.dialect.request(&self.spec.quirks, &request).map_err(|error| {
            failed("bad_request", "no", format!("the request could not be written: {error}"))
        })
    }

    async fn attempt(
        &mut self,
        body: &str,
        draft: &mut Assembly,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) -> Result<(), Box<Failure>> {
        let Opened { status, headers, body: mut bytes } = self.wire.post(body.to_string()).await?;
        if let Some(recorder) = &mut self.recorder {
            recorder.open(status, &headers);
        }
        let mut reply = Reply::new(self.spec, self.dialect, &self.context);
        reply.status(status, headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let mut events = Vec::new();
        // Secrets are taken out of a refusal whole, before its words are shortened and one could be left in part.
        let refused = !(200..300).contains(&status);
        let (mut refusal, most) = (Vec::new(), self.spec.limits.stream.error_bytes);
        let ending = loop {
            match next(&mut bytes, &mut self.recorder).await {
                Ok(Some(chunk)) if refused => {
                    refusal.extend_from_slice(&chunk);
                    if refusal.len() >= most {
                        break Ending::Complete;
                    }
                }
                Ok(Some(chunk)) => {
                    reply.push(&chunk, &mut events);
                    take(draft, &mut events, see);
                    if reply.over() {
                        break Ending::Complete;
                    }
                }
                Ok(None) => break Ending::Complete,
                Err(failure) => break Ending::Cut(failure.message),
            }
        };
        let refusal = String::from_utf8_lossy(&refusal);
        reply.push(redact(&refusal, &self.secrets).as_bytes(), &mut events);
        let cut = matches!(ending, Ending::Cut(_));
        reply.end(&ending, &mut events);
        take(draft, &mut events, see);
        drop(bytes);
        self.close(cut, see);
        match draft.failure() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn close(&mut self, cut: bool, see: &mut (dyn FnMut(Seen<'_>) + Send)) {
        // A disk that fills up must not end the work it records; it is told once.
        if let Some(recorder) = &mut self.recorder
            && let Err(text) = recorder.close(cut)
        {
            self.recorder = None;
            see(Seen::Event(&Event::Notice { about: "recording".into(), text }));
        }
    }

    /// Returns a failure of this model that its replies as a whole show.
    pub(crate) fn failure(&self, kind: &str, message: &str) -> Box<Failure> {
        self.named(&failed(kind, "no", message.into()))
    }

    /// Returns a text with the connection's secrets taken out.
    pub(crate) fn without_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        redact(text, &self.secrets)
    }

    /// Puts the connection's name into a failure's sentence.
    fn named(&self, failure: &Failure) -> Box<Failure> {
        super::named(failure, &self.connection, &self.model, &self.secrets)
    }
}

/// Reads the next chunk of a body, and records it where replies are kept.
async fn next(
    bytes: &mut Body,
    recorder: &mut Option<Recorder>,
) -> Result<Option<Vec<u8>>, Box<Failure>> {
    let chunk = bytes.chunk().await?;
    if let (Some(chunk), Some(recorder)) = (&chunk, recorder) {
        recorder.chunk(chunk);
    }
    Ok(chunk)
}

/// Takes the events of a chunk, adjacent pieces joined, and passes them on.
fn take(assembly: &mut Assembly, events: &mut Vec<Event>, see: &mut (dyn FnMut(Seen<'_>) + Send)) {
    for event in joined(std::mem::take(events)) {
        assembly.take(&event);
        if !matches!(event, Event::Error(_) | Event::Finish { .. } | Event::Carry { .. }) {
            see(Seen::Event(&event));
        }
    }
}

/// Joins pieces that follow each other, of text, of reasoning or of one call: a burst of a thousand deltas is one event.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::with_capacity(events.len().min(64));
    for event in events {
        match (out.last_mut(), event) {
            (Some(Event::Text { text: last }), Event::Text { text })
            | (Some(Event::Reasoning { text: last }), Event::Reasoning { text }) => {
                last.push_str(&text)
            }
            (
                Some(Event::ToolCallDelta { index: last, name: known, arguments: all }),
                Event::ToolCallDelta { index, name, arguments },
            ) if *last == index => {
                *known = name;
                all.push_str(&arguments);
            }
            (_, event) => out.push(event),
        }
    }
    out
}
