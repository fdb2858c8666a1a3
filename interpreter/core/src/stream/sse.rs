//! Cuts the bytes of a reply into frames, whatever chunks they come in. It reads no JSON and knows no dialect.

use super::nesting::Nesting;
use memchr::memchr2;

/// One frame of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The event's name, empty when it has none.
    pub(crate) event: &'a [u8],
    /// Its data.
    pub(crate) data: &'a [u8],
    /// Whether the stream ended inside it, so that it may be half a frame.
    pub(crate) unfinished: bool,
    /// Whether it is JSON that stands for itself, in no event.
    pub(crate) bare: bool,
}

/// How many bytes that belong to no frame are kept, to say what was sent instead.
const STRAY: usize = 2048;

/// Server-sent events, bare JSON values between them, or a single JSON body.
#[derive(Debug)]
pub(crate) struct Frames {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    seen_line: bool,
    event: Vec<u8>,
    data: Vec<u8>,
    data_lines: usize,
    nesting: Nesting,
    fed: usize,
    bare: bool,
    too_long: bool,
    stray: Vec<u8>,
}

impl Frames {
    /// Returns a cutter that gives up on a frame longer than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Frames {
        Frames {
            limit,
            line: Vec::new(),
            after_cr: false,
            seen_line: false,
            event: Vec::new(),
            data: Vec::new(),
            data_lines: 0,
            nesting: Nesting::default(),
            fed: 0,
            bare: false,
            too_long: false,
            stray: Vec::new(),
        }
    }

    /// Takes the next bytes and hands on every frame they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
        let mut rest = bytes;
        if self.too_long || rest.is_empty() {
            return;
        }
        if std::mem::take(&mut self.after_cr) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = line_end(rest) {
            let (line, mut after) = rest.split_at(end);
            if after.starts_with(b"\r") {
                self.after_cr = after.len() == 1;
                after = after
                    .strip_prefix(b"\r\n")
                    .or_else(|| after.strip_prefix(b"\r"))
                    .unwrap_or_default();
            } else {
                after = after.get(1..).unwrap_or_default();
            }
            self.line_end(line, sink);
            rest = after;
        }
        if self.line.len() + rest.len() > self.limit {
            self.too_long = true;
        } else {
            self.line.extend_from_slice(rest);
        }
    }

    /// Hands on what is left when the stream has ended.
    pub(crate) fn end(&mut self, sink: &mut dyn FnMut(Frame<'_>)) {
        let unterminated = !self.line.is_empty();
        if unterminated {
            self.line_end(b"", sink);
        }
        if self.data_lines > 0 {
            self.dispatch(true, sink);
        }
    }

    /// Returns whether a frame was longer than the limit; nothing is read after it.
    pub(crate) fn too_long(&self) -> bool {
        self.too_long
    }

    /// Returns the first bytes that belonged to no frame.
    pub(crate) fn stray(&self) -> &[u8] {
        &self.stray
    }

    fn line_end(&mut self, tail: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
        if self.line.len() + tail.len() > self.limit {
            self.too_long = true;
            return;
        }
        if self.line.is_empty() {
            self.whole_line(tail, sink);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(tail);
            self.whole_line(&line, sink);
            line.clear();
            self.line = line;
        }
    }

    fn whole_line(&mut self, line: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
        let first = !std::mem::replace(&mut self.seen_line, true);
        let line = if first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if self.bare {
            self.bare_line(line, sink);
        } else if line.is_empty() {
            if self.data_lines > 0 {
                self.dispatch(false, sink);
            }
            self.event.clear();
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.data_line(value.strip_prefix(b" ").unwrap_or(value), sink);
        } else if let Some(value) = line.strip_prefix(b"event:") {
            self.event.clear();
            self.event.extend_from_slice(value.trim_ascii());
        } else if line.trim_ascii_start().starts_with(b"{")
            || line.trim_ascii_start().starts_with(b"[")
        {
            if self.data_lines > 0 {
                self.dispatch(false, sink);
            }
            self.bare = true;
            self.bare_line(line, sink);
        } else if !is_other_field(line) {
            let room = STRAY.saturating_sub(self.stray.len());
            self.stray.extend(line.iter().take(room));
        }
    }

    /// Joins the lines of one frame, and parts frames that no blank line parts.
    fn data_line(&mut self, value: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
        if self.data_lines > 0 {
            self.nesting.feed(self.data.get(self.fed..).unwrap_or_default());
            self.fed = self.data.len();
            if self.nesting.closed() {
                self.dispatch(false, sink);
            }
        }
        self.add(value);
    }

    fn bare_line(&mut self, line: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
        self.nesting.feed(line);
        self.add(line);
        if self.nesting.closed() {
            self.dispatch(false, sink);
        }
    }

    fn add(&mut self, value: &[u8]) {
        if self.data.len() + value.len() > self.limit {
            self.too_long = true;
            return;
        }
        if self.data_lines > 0 {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.data_lines += 1;
    }

    fn dispatch(&mut self, unfinished: bool, sink: &mut dyn FnMut(Frame<'_>)) {
        if !self.too_long {
            sink(Frame { event: &self.event, data: &self.data, unfinished, bare: self.bare });
        }
        self.data.clear();
        self.data_lines = 0;
        self.nesting = Nesting::default();
        self.fed = 0;
        self.bare = false;
    }
}

/// Returns where the line ends that begins here. One that is empty needs no search.
fn line_end(rest: &[u8]) -> Option<usize> {
    match rest.first() {
        Some(b'\n' | b'\r') => Some(0),
        _ => memchr2(b'\n', b'\r', rest),
    }
}

/// Whether a line is a comment or a field of the event format that carries no data.
fn is_other_field(line: &[u8]) -> bool {
    [&b":"[..], b"id:", b"retry:", b"data", b"event"].iter().any(|field| line.starts_with(field))
}
