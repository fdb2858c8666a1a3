//! Turns the bytes of a provider's reply into events: frames, the dialect's reader, the draft of the reply, and what a failure
//! means. It does no IO and has no clock; the caller hands in what came and says how it ended.

mod answer;
mod assembly;
mod calls;
mod carried;
mod common;
mod deltas;
mod draft;
mod failure;
mod gemini;
mod item;
mod items;
mod json;
mod nesting;
mod pairing;
mod places;
mod sse;
mod text_calls;
mod wait;

pub(crate) use answer::sent_instead;
pub use answer::{Answer, error_in};
pub use assembly::{Assembled, Assembly};
pub use calls::{CallPiece, Calls, Finished};
pub use text_calls::written_as;

use crate::dialect::Spoken;
use crate::event::{Event, Failure, Finish};
use crate::quirk;
use crate::spec::{
    Action, Dialect, DialectName, FinishFacts, FrameFacts, Rule, Spec, StreamLimits,
};
use compact_str::CompactString;
use deltas::Deltas;
use draft::Draft;
use failure::{Around, Words};
use gemini::Gemini;
use items::Items;
use json::NotJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sse::{Frame, Frames};
use std::borrow::Cow;

/// What is known about the request that a reply answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The model's name as the server knows it.
    pub model: String,
    /// Names of the tools the request offered.
    pub tools: Vec<String>,
    /// Whether the model's template opens a thinking tag in the prompt, so that the reply begins inside it.
    pub opens_in_think: bool,
    /// The ways in which the model writes calls as text, names of quirks about `template`; `None`: nobody knows the model, and
    /// every way is tried. The program always says.
    pub text_calls: Option<Vec<String>>,
    /// The model's window in tokens.
    pub context_window: Option<u64>,
    /// The output limit the request asked for.
    pub max_output_tokens: Option<u64>,
    /// How many tokens the prompt was thought to have.
    pub prompt_estimate: Option<u64>,
    /// What ids of calls begin with when the server gives none; it must differ between the replies of a session.
    pub call_prefix: String,
}

impl Default for Context {
    fn default() -> Context {
        Context {
            model: String::new(),
            tools: Vec::new(),
            opens_in_think: false,
            text_calls: None,
            context_window: None,
            max_output_tokens: None,
            prompt_estimate: None,
            call_prefix: "call_".into(),
        }
    }
}

/// How the bytes of a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The server closed the body as it should.
    Complete,
    /// The connection broke or went silent, in these words.
    Cut(String),
}

/// What a frame was to its dialect's reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Something the dialect knows.
    Known,
    /// A whole reply.
    Whole,
    /// The end of the reply.
    End,
    /// Nothing it knows.
    Nothing,
    /// An error; nothing else of it was taken.
    Error,
}

/// One reply while it streams.
#[derive(Debug)]
pub struct Reply<'s> {
    frames: Frames,
    state: State<'s>,
    /// The body of an HTTP error, as far as it is kept.
    refused: Vec<u8>,
}

/// The reader of a dialect's frames.
#[derive(Debug)]
enum Reader<'s> {
    Deltas(Deltas<'s>),
    Gemini(Gemini<'s>),
    Items(Items<'s>),
}

impl<'s> Reader<'s> {
    fn new(Spoken { name, file }: Spoken<'s>, model: &'s str, most: usize) -> Reader<'s> {
        match (name, &file.reply.items) {
            (DialectName::Anthropic | DialectName::Responses, Some(words)) => {
                Reader::Items(Items::new(file, words, model, most))
            }
            (DialectName::Gemini, _) => Reader::Gemini(Gemini::new(file, model)),
            (
                DialectName::Anthropic
                | DialectName::Ollama
                | DialectName::OpenaiChat
                | DialectName::Responses,
                _,
            ) => Reader::Deltas(Deltas::new(file, model)),
        }
    }

    /// Takes one frame. Errors when it is not JSON.
    fn frame(
        &mut self,
        json: &str,
        draft: &mut Draft<'_>,
        out: &mut Vec<Event>,
    ) -> Result<Taken, NotJson> {
        match self {
            Reader::Deltas(reader) => reader.frame(json, draft, out),
            Reader::Gemini(reader) => reader.frame(json, draft, out),
            Reader::Items(reader) => reader.frame(json, draft, out),
        }
    }
}

impl Reader<'_> {
    /// How many items came, where a wire speaks of them.
    fn items(&self) -> usize {
        if let Reader::Items(reader) = self { reader.len() } else { 0 }
    }

    /// Hands on what is known only now that the reply has ended.
    fn end(&mut self, draft: &mut Draft<'_>, out: &mut Vec<Event>) {
        match self {
            Reader::Deltas(reader) => reader.end(draft, out),
            Reader::Gemini(_) | Reader::Items(_) => {}
        }
    }
}

#[derive(Debug)]
struct State<'s> {
    rules: &'s [Rule],
    limits: StreamLimits,
    dialect: &'s Dialect,
    context: &'s Context,
    status: u16,
    headers: Value,
    reader: Reader<'s>,
    draft: Draft<'s>,
    /// Whether any frame came.
    framed: bool,
    /// Whether the mark that ends a stream came.
    done: bool,
    failed: Option<Failure>,
}

impl<'s> Reply<'s> {
    /// Returns a reply of which nothing came yet.
    pub fn new(spec: &'s Spec, dialect: Spoken<'s>, context: &'s Context) -> Reply<'s> {
        let (reader, dialect) =
            (Reader::new(dialect, &context.model, spec.limits.stream.parts), dialect.file);
        Reply {
            frames: Frames::new(spec.limits.stream.frame_bytes),
            state: State {
                rules: &spec.quirks,
                limits: spec.limits.stream,
                dialect,
                context,
                status: 200,
                headers: Value::Object(Map::new()),
                reader,
                draft: Draft::new(&spec.quirks, dialect, context, spec.limits.stream),
                framed: false,
                done: false,
                failed: None,
            },
            refused: Vec::new(),
        }
    }

    /// Takes the HTTP status and the headers, before any bytes.
    pub fn status<'h>(
        &mut self,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
    ) {
        self.state.status = status;
        let headers = headers.into_iter().map(|(name, value)| (name.to_lowercase(), value.into()));
        self.state.headers = Value::Object(headers.collect());
    }

    /// Takes the next bytes of the body and adds the events they complete to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        let Reply { frames, state, refused } = self;
        if state.refused() {
            let room = state.limits.error_bytes.saturating_sub(refused.len());
            refused.extend(bytes.iter().take(room));
        } else if !state.over() {
            frames.push(bytes, &mut |frame| state.frame(frame, out));
        }
    }

    /// Returns whether the reply is over, so that what may still come does not matter.
    pub fn over(&self) -> bool {
        !self.state.refused() && (self.state.over() || self.frames.too_long())
    }

    /// Ends the reply: the complete calls, notices, the token counts and, last, either `Finish` or `Error`.
    pub fn end(mut self, ending: &Ending, out: &mut Vec<Event>) {
        let Reply { frames, state, refused } = &mut self;
        if state.refused() {
            let (json, words) = failure::body(refused, &state.dialect.reply);
            let failure = state.judge(state.status, refused.trim_ascii().is_empty(), json, words);
            out.push(Event::Error(failure));
            return;
        }
        frames.end(&mut |frame| state.frame(frame, out));
        state.draft.flush(out);
        state.reader.end(&mut state.draft, out);
        if !state.ended() && frames.too_long() {
            state.fail("bad_frame", "no", "a frame was longer than the limit");
        } else if !state.ended() {
            state.not_ended(ending, frames.stray());
        }
        self.state.finish(out);
    }
}

impl State<'_> {
    /// Whether the HTTP status says that this is no reply.
    fn refused(&self) -> bool {
        !(200..300).contains(&self.status)
    }

    fn over(&self) -> bool {
        self.done || self.failed.is_some()
    }

    /// Whether the server said that the reply is at its end.
    fn ended(&self) -> bool {
        self.over() || self.draft.finish.is_some()
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) {
        // Checking is fast, mending is not.
        let text = std::str::from_utf8(frame.data)
            .map_or_else(|_| String::from_utf8_lossy(frame.data), Cow::Borrowed);
        let text = text.trim();
        // A comment in the place of data says nothing, too.
        if self.over() || text.is_empty() || text.starts_with(':') {
            return;
        }
        self.framed = true;
        if self.dialect.reply.end.as_deref() == Some(text) {
            self.done = true;
        } else if text.starts_with('[') {
            for each in elements(text) {
                match each {
                    Ok(each) => self.json(each.get(), frame, out),
                    Err(_) => self.unreadable(text, frame, out),
                }
            }
        } else {
            self.json(text, frame, out);
        }
    }

    fn json(&mut self, json: &str, frame: Frame<'_>, out: &mut Vec<Event>) {
        if self.over() {
            return;
        }
        match self.reader.frame(json, &mut self.draft, out) {
            Ok(Taken::Whole) if frame.bare => _ = self.draft.finish.get_or_insert_default(),
            Ok(Taken::Known | Taken::Whole) => {}
            Ok(Taken::End) => self.done = true,
            Ok(taken) => _ = self.odd(json, frame.event, taken == Taken::Error, out),
            Err(_) => self.unreadable(json, frame, out),
        }
        if self.draft.kept().calls.len().max(self.reader.items()) > self.limits.parts {
            self.fail("bad_frame", "no", "the reply has more parts than the limit");
        }
    }

    /// A frame that is not JSON ends the reply, for a lost piece may be a piece of a call; one whose event says that it is an
    /// error holds its words. Half a last frame is a cut, and behind the finish reason nothing is lost but the token counts.
    fn unreadable(&mut self, text: &str, frame: Frame<'_>, out: &mut Vec<Event>) {
        if !frame.unfinished
            && self.draft.finish.is_none()
            && !self.odd(text, frame.event, false, out)
        {
            self.fail("bad_frame", "once", "a frame of the stream is not JSON");
        }
    }

    /// Asks the quirks about a frame that carries an error or nothing the dialect knows. Returns whether it is to be passed over.
    fn odd(&mut self, json: &str, event: &[u8], error: bool, out: &mut Vec<Event>) -> bool {
        let body = serde_json::from_str(json).unwrap_or_else(|_| Value::from(json));
        let facts = FrameFacts {
            dialect: self.dialect.id.as_str().into(),
            event: String::from_utf8_lossy(event).into(),
            body,
        };
        let (mut status, mut passed) = (None, false);
        for (_, action) in quirk::hits(self.rules, "frame", &facts) {
            match action {
                Action::PassOver(yes) => passed |= yes,
                Action::ActAsStatus(code) => status = status.or(u16::try_from(code).ok()),
                Action::AsNotice(about) => out.push(Event::Notice { about, text: String::new() }),
                _ => {}
            }
        }
        if !passed && (error || status.is_some()) {
            let words = Words::of(&facts.body, &self.dialect.reply);
            let status = words.status().or(status).unwrap_or(500);
            self.failed = Some(self.judge(status, false, facts.body, words));
        }
        passed
    }

    fn judge(&self, status: u16, empty: bool, body: Value, words: Words) -> Failure {
        let known = self.context.context_window.zip(self.context.prompt_estimate);
        let roomy = known.is_some_and(|(window, prompt)| prompt < window / 10 * 8);
        let (dialect, headers) = (self.dialect.id.as_str(), &self.headers);
        let around = Around { dialect, status, headers, roomy, limits: self.limits };
        failure::judge(self.rules, around, empty, body, words)
    }

    fn fail(&mut self, kind: &str, retry: &str, message: &str) {
        self.failed.get_or_insert_with(|| Failure::new(kind, retry, message));
    }

    fn not_ended(&mut self, ending: &Ending, stray: &[u8]) {
        let why = match ending {
            Ending::Complete => "the stream ended without a finish reason",
            Ending::Cut(why) => why,
        };
        if self.framed || (stray.is_empty() && matches!(ending, Ending::Cut(_))) {
            self.fail("cut", "once", why);
        } else if stray.is_empty() {
            self.fail("empty", "once", "the server sent nothing");
        } else {
            self.fail("bad_response", "no", &sent_instead("stream", stray));
        }
    }

    fn finish(mut self, out: &mut Vec<Event>) {
        let (notices, instead) =
            if self.failed.is_none() { self.ask_about_finish() } else { Default::default() };
        let (usage, word, refused) =
            (self.draft.usage, self.draft.finish.take(), self.draft.refused);
        let kept = self.draft.into_kept();
        let usage = usage.map(Event::Usage);
        if let Some(failure) = self.failed {
            out.extend(usage);
            out.push(Event::Error(Failure { after_output: kept.text, ..failure }));
            return;
        }
        let ending = instead.unwrap_or_else(|| ending(self.dialect, word.as_deref()));
        let calls = kept.calls.finish(ending == Finish::Length);
        let reason = match ending {
            Finish::Stop | Finish::ToolCalls if !calls.calls.is_empty() => Finish::ToolCalls,
            Finish::Stop | Finish::ToolCalls if refused => Finish::Refusal,
            Finish::ToolCalls => Finish::Stop,
            other => other,
        };
        out.extend(calls.calls.into_iter().map(Event::ToolCall));
        let own = [(calls.cleaned, "tool_name_cleaned"), (kept.written, "text_tool_call")];
        let own = own.into_iter().filter(|(is, _)| *is).map(|(_, about)| about.to_string());
        out.extend(own.chain(notices).map(|about| Event::Notice { about, text: String::new() }));
        out.extend(usage);
        out.push(Event::Finish { reason });
    }

    /// Asks the quirks about the end of a reply; returns what they want noticed, and what it means instead.
    fn ask_about_finish(&mut self) -> (Vec<String>, Option<Finish>) {
        let (kept, usage) = (self.draft.kept(), self.draft.usage.unwrap_or_default());
        let reason = self.draft.finish.clone().unwrap_or_default();
        let at_output_limit =
            self.context.max_output_tokens.is_some_and(|most| usage.output >= most);
        let facts = FinishFacts {
            dialect: self.dialect.id.as_str().into(),
            ending: self.dialect.finish.get(&reason).map(CompactString::from).unwrap_or_default(),
            reason: reason.into(),
            text: kept.text,
            reasoning: kept.reasoning,
            calls: kept.calls.len() as f64,
            input: usage.input as f64,
            output: usage.output as f64,
            // Arguments are read once more for it, so only where a cut is likely.
            broken: if at_output_limit { kept.calls.broken() as f64 } else { 0.0 },
            window: self.context.context_window.unwrap_or_default() as f64,
            over_window: self.context.context_window.is_some_and(|window| usage.input >= window),
            at_output_limit,
        };
        let (mut notices, mut instead) = (Vec::new(), None);
        for (rule, action) in quirk::hits(self.rules, "finish", &facts) {
            match action {
                Action::Fail(fail) if self.failed.is_none() => {
                    self.failed = quirk::failure(rule, fail, &facts, "")
                }
                Action::AsNotice(about) => notices.push(about),
                Action::ActAsFinish(word) => instead = finish(&word),
                _ => {}
            }
        }
        (notices, instead)
    }
}

/// Returns the elements of a list, as far as it is whole; the last one is the error of a list that is not.
fn elements(list: &str) -> Vec<Result<&RawValue, serde_json::Error>> {
    let (mut found, mut rest) = (Vec::new(), list.get(1..).unwrap_or_default().trim_start());
    while !rest.is_empty() && !rest.starts_with(']') {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) => {
                found.push(Ok(value));
                let behind = rest.get(values.byte_offset()..).unwrap_or_default().trim_start();
                rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
            }
            Some(Err(error)) => {
                found.push(Err(error));
                break;
            }
            None => break,
        }
    }
    found
}

/// Our word for the server's; a word the dialect does not know is a stop.
fn ending(dialect: &Dialect, word: Option<&str>) -> Finish {
    let ours = word.and_then(|word| dialect.finish.get(word));
    ours.and_then(|ours| finish(ours)).unwrap_or(Finish::Stop)
}

fn finish(ours: &str) -> Option<Finish> {
    serde_json::from_value(ours.into()).ok()
}

#[cfg(test)]
mod tests;
