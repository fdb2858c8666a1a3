//! Writes what a server sends into a recording, byte for byte, with secrets blanked in place.
//!
//! A recording is JSON lines: a head, then per exchange its status line, its chunks with their timing and its end.

use crate::config::secret::{Secret, redact};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Instant,
};

/// The version of the format.
pub(super) const FORMAT: u64 = 1;

/// Writes one recording.
pub(crate) struct Recorder {
    file: File,
    secrets: Vec<Secret>,
    started: Instant,
    exchange: Option<Exchange>,
}

struct Exchange {
    status: Value,
    chunks: Vec<(u64, usize)>,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Creates the file, readable by its owner only, and writes the head.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub(crate) fn create(
        path: &Path,
        dialect: &str,
        model: &str,
        secrets: Vec<Secret>,
    ) -> io::Result<Recorder> {
        let mut file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        writeln!(file, "{}", json!({ "recording": FORMAT, "dialect": dialect, "model": model }))?;
        Ok(Recorder { file, secrets, started: Instant::now(), exchange: None })
    }

    /// Starts an exchange.
    pub(crate) fn open(&mut self, status: u16, headers: &[(String, String)]) {
        let mut kept = serde_json::Map::new();
        for (name, value) in headers.iter().filter(|(name, _)| name != "set-cookie") {
            kept.insert(name.clone(), redact(value, &self.secrets).into());
        }
        let status = json!({ "status": status, "headers": kept, "after_ms": self.lap() });
        self.exchange = Some(Exchange { status, chunks: Vec::new(), bytes: Vec::new() });
    }

    /// Adds a chunk of the body.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) {
        let after = self.lap();
        if let Some(exchange) = &mut self.exchange {
            exchange.chunks.push((after, bytes.len()));
            exchange.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends the exchange and writes it; `cut` says that the transfer broke.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn close(&mut self, cut: bool) -> io::Result<()> {
        let Some(mut exchange) = self.exchange.take() else { return Ok(()) };
        blank(&mut exchange.bytes, &self.secrets);
        let mut out = format!("{}\n", exchange.status);
        let mut rest = exchange.bytes.as_slice();
        for (after, length) in exchange.chunks {
            let (chunk, left) = rest.split_at(length.min(rest.len()));
            rest = left;
            out.push_str(&format!("{}\n", data(chunk, after)));
        }
        out.push_str(&format!("{}\n", json!({ "end": if cut { "cut" } else { "complete" } })));
        self.file.write_all(out.as_bytes())
    }

    fn lap(&mut self) -> u64 {
        let lap = self.started.elapsed().as_millis();
        self.started = Instant::now();
        u64::try_from(lap).unwrap_or(u64::MAX)
    }
}

fn data(chunk: &[u8], after: u64) -> Value {
    match std::str::from_utf8(chunk) {
        Ok(text) => json!({ "data": text, "after_ms": after }),
        Err(_) => json!({ "data_b64": BASE64_STANDARD.encode(chunk), "after_ms": after }),
    }
}

/// Overwrites every secret with as many stars, so that the chunks keep their lengths even where a secret
/// lies across two of them.
fn blank(bytes: &mut [u8], secrets: &[Secret]) {
    for secret in
        secrets.iter().map(|secret| secret.expose().as_bytes()).filter(|secret| secret.len() >= 6)
    {
        let mut from = 0;
        while let Some(at) = find(bytes.get(from..).unwrap_or_default(), secret) {
            let start = from + at;
            if let Some(part) = bytes.get_mut(start..start + secret.len()) {
                part.fill(b'*');
            }
            from = start + secret.len();
        }
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_blanked_across_chunks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut recorder =
            Recorder::create(&path, "openai-chat", "m", vec![Secret::new("sk-secret".into())])
                .unwrap();
        recorder
            .open(200, &[("x".into(), "a sk-secret".into()), ("set-cookie".into(), "c".into())]);
        recorder.chunk(b"data: sk-se");
        recorder.chunk(b"cret \xff");
        recorder.close(false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("sk-se") && !text.contains("cret"), "{text}");
        assert!(text.contains("\"data\":\"data: *****\""), "{text}");
        let mut recording = super::super::Recording::read(&path).unwrap();
        let opened = recording.next().unwrap();
        assert_eq!(opened.headers, [("x".to_string(), "a [redacted]".to_string())]);
        let super::super::Body::Replay(chunks, false) = opened.body else { panic!("a replay") };
        assert_eq!(chunks, [b"data: *****".to_vec(), b"**** \xff".to_vec()]);
    }
}
