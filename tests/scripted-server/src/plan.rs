//! Turns a reply into what happens on the connection, all of it before the first byte is sent,
//! so that a long reply costs no more than writing it. It sends nothing itself.

use crate::dialect::{Asked, Dialect, Frame, Writer};
use crate::http;
use crate::scenario::{Call, Cut, Finish, Repeat, Reply, Step};
use serde_json::Value;
use std::time::Duration;

/// One thing that happens on the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Bytes are sent, in one write.
    Send(Vec<u8>),
    /// Nothing happens for a while.
    Wait(Duration),
    /// The connection ends in this way, and with it the plan.
    End(Cut),
}

/// What happens on the connection for one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What happens, in order.
    pub(crate) acts: Vec<Act>,
    /// Whether the connection is closed after a whole reply.
    pub(crate) close: bool,
}

/// Returns the plan of a short JSON answer.
pub(crate) fn json(status: u16, body: &Value, close: bool) -> Plan {
    whole(&Reply::body(status, body.clone()), body, close)
}

/// Returns the plan of a scenario's reply, the `number`th of the server.
pub(crate) fn reply(
    dialect: Dialect,
    reply: &Reply,
    number: usize,
    asked: &Asked,
    close: bool,
) -> Plan {
    match &reply.body {
        Some(body) => whole(reply, body, close),
        None => stream(dialect, reply, number, asked, close),
    }
}

fn whole(reply: &Reply, body: &Value, close: bool) -> Plan {
    let (kind, bytes) = match body {
        Value::String(text) => ("text/plain; charset=utf-8", text.clone().into_bytes()),
        json => ("application/json", json.to_string().into_bytes()),
    };
    let mut out = Outbox::new(reply, close);
    if reply.chunk_bytes.is_some() {
        out.head(reply, &[("Content-Type", kind), ("Transfer-Encoding", "chunked")]);
        out.body(&bytes);
        out.end_body();
    } else {
        out.head(reply, &[("Content-Type", kind), ("Content-Length", &bytes.len().to_string())]);
        out.send(&bytes);
    }
    out.done()
}

fn stream(dialect: Dialect, reply: &Reply, number: usize, asked: &Asked, close: bool) -> Plan {
    let finish = Step::Finish(implied_finish(&reply.steps));
    let mut steps: Vec<&Step> = reply.steps.iter().collect();
    if reply.end && !steps.iter().any(|step| matches!(step, Step::Finish(_))) {
        let last = steps.iter().rposition(|step| !matches!(step, Step::Usage(_)));
        steps.insert(last.map_or(0, |last| last + 1), &finish);
    }
    let mut out = Outbox::new(reply, close);
    if !matches!(steps.first(), Some(Step::Cut(_))) {
        out.head(
            reply,
            &[("Content-Type", dialect.speech().stream_type()), ("Transfer-Encoding", "chunked")],
        );
    }
    let mut writer = dialect.speech().writer(number, asked);
    for step in steps {
        out.step(step, writer.as_mut(), reply.words);
        if matches!(out.plan.acts.last(), Some(Act::End(_))) {
            return out.done();
        }
    }
    out.frames(|frames| writer.rest(frames));
    if reply.end {
        out.frames(|frames| writer.end(frames));
    }
    out.end_body();
    out.done()
}

fn implied_finish(steps: &[Step]) -> Finish {
    if steps.iter().any(|step| matches!(step, Step::Call(_))) {
        Finish::ToolCalls
    } else {
        Finish::Stop
    }
}

/// Collects what happens, with the body in HTTP chunks: one a frame, or pieces of a set size.
struct Outbox {
    plan: Plan,
    chunk_bytes: Option<usize>,
    /// Bytes of the body that do not fill a chunk yet.
    held: Vec<u8>,
    /// Bytes that go out in the next write.
    write: Vec<u8>,
}

impl Outbox {
    fn new(reply: &Reply, close: bool) -> Outbox {
        let says = |(name, value): (&String, &String)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        };
        let plan = Plan { acts: Vec::new(), close: close || reply.headers.iter().any(says) };
        let mut out = Outbox {
            plan,
            chunk_bytes: reply.chunk_bytes.map(usize::from),
            held: Vec::new(),
            write: Vec::new(),
        };
        out.wait(reply.delay_ms);
        out
    }

    fn head(&mut self, reply: &Reply, own: &[(&str, &str)]) {
        let mut own = own.to_vec();
        if self.plan.close {
            own.push(("Connection", "close"));
        }
        self.send(&http::reply_head(reply.status.unwrap_or(200), &own, &reply.headers));
    }

    fn step(&mut self, step: &Step, writer: &mut dyn Writer, words: bool) {
        match step {
            Step::Text(text) => self
                .frames(|out| pieces(text, words).iter().for_each(|text| writer.text(text, out))),
            Step::Reasoning(text) => {
                self.frames(|out| {
                    pieces(text, words).iter().for_each(|text| writer.reasoning(text, out))
                });
            }
            Step::Repeat(repeat) => self.repeat(repeat, writer),
            Step::Call(call) => self.frames(|out| write_call(call, words, writer, out)),
            Step::Usage(usage) => self.frames(|out| writer.usage(*usage, out)),
            Step::Finish(reason) => self.frames(|out| writer.finish(*reason, out)),
            Step::Raw(text) => self.body(text.as_bytes()),
            Step::RawB64(bytes) => self.body(bytes),
            Step::DelayMs(ms) => self.wait(*ms),
            Step::Stall(ms) => {
                self.wait(*ms);
                self.then(Act::End(Cut::Close));
            }
            Step::Cut(cut) => {
                self.flush();
                self.then(Act::End(*cut));
            }
        }
    }

    /// The first delta may bring an opening with it, so the second is the one that is copied.
    fn repeat(&mut self, repeat: &Repeat, writer: &mut dyn Writer) {
        let Some(more) = repeat.repeat.checked_sub(1) else { return };
        self.frames(|out| writer.text(&repeat.text, out));
        let mut again = Vec::new();
        writer.text(&repeat.text, &mut again);
        for _ in 0..more {
            again.iter().for_each(|frame| self.body(frame));
        }
    }

    fn frames(&mut self, write: impl FnOnce(&mut Vec<Frame>)) {
        let mut frames = Vec::new();
        write(&mut frames);
        frames.iter().for_each(|frame| self.body(frame));
    }

    fn body(&mut self, bytes: &[u8]) {
        let Some(size) = self.chunk_bytes else {
            return self.chunk(bytes);
        };
        self.held.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.held);
        let whole = held.chunks_exact(size);
        self.held = whole.remainder().to_vec();
        whole.for_each(|piece| self.chunk(piece));
    }

    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.chunk(&held);
    }

    /// An empty chunk would end the body, so none is written for nothing.
    fn chunk(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.send(format!("{:x}\r\n", bytes.len()).as_bytes());
        self.send(bytes);
        self.send(b"\r\n");
    }

    fn end_body(&mut self) {
        self.flush();
        self.send(b"0\r\n\r\n");
    }

    fn wait(&mut self, ms: u64) {
        self.flush();
        if ms > 0 {
            self.then(Act::Wait(Duration::from_millis(ms)));
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.write.extend_from_slice(bytes);
    }

    /// Adds something that happens after the bytes collected so far.
    fn then(&mut self, act: Act) {
        if !self.write.is_empty() {
            self.plan.acts.push(Act::Send(std::mem::take(&mut self.write)));
        }
        self.plan.acts.push(act);
    }

    fn done(mut self) -> Plan {
        if !self.write.is_empty() {
            self.plan.acts.push(Act::Send(self.write));
        }
        self.plan
    }
}

fn pieces(text: &str, words: bool) -> Vec<&str> {
    if words { text.split_inclusive(char::is_whitespace).collect() } else { vec![text] }
}

fn write_call(call: &Call, words: bool, writer: &mut dyn Writer, out: &mut Vec<Frame>) {
    let arguments = match &call.arguments {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    writer.call(&call.name, call.id.as_deref(), &pieces(&arguments, words), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use serde_json::json;

    /// Asserts what happens for a reply, with each write as the number of its frames.
    fn check(reply: Value, expected: &[&str]) {
        let scenario = Scenario::parse(&json!({ "replies": [reply] }).to_string()).unwrap();
        let plan =
            super::reply(Dialect::OpenaiChat, &scenario.replies[0], 1, &Asked::default(), false);
        let short = |act: &Act| match act {
            Act::Send(bytes) => {
                let text = String::from_utf8(bytes.clone()).unwrap();
                let head = if text.starts_with("HTTP/1.1 200 OK") { "head and " } else { "" };
                format!("{head}{}", text.matches("data: ").count())
            }
            other => format!("{other:?}"),
        };
        assert_eq!(plan.acts.iter().map(short).collect::<Vec<_>>(), expected, "{reply}");
    }

    #[test]
    fn one_write_between_two_pauses() {
        check(json!({"steps": [{"text": "a"}, {"repeat": 500, "text": "b"}]}), &["head and 504"]);
        check(json!({"steps": [{"text": "a"}], "chunk_bytes": 100_000}), &["head and 4"]);
        check(
            json!({"delay_ms": 20, "steps": [{"text": "a"}, {"delay_ms": 30}, {"text": "b"}, {"delay_ms": 0}]}),
            &["Wait(20ms)", "head and 2", "Wait(30ms)", "3"],
        );
        check(
            json!({"steps": [{"delay_ms": 5}, {"raw": ""}, {"stall": 6}]}),
            &["head and 0", "Wait(5ms)", "Wait(6ms)", "End(Close)"],
        );
        check(
            json!({"delay_ms": 1, "steps": ["cut", {"text": "a"}]}),
            &["Wait(1ms)", "End(Close)"],
        );
        check(
            json!({"chunk_bytes": 4096, "steps": [{"text": "a"}, {"cut": "reset"}]}),
            &["head and 2", "End(Reset)"],
        );
        check(json!({"body": "a", "delay_ms": 1}), &["Wait(1ms)", "head and 0"]);
    }
}
