//! Writes what a server sends into a recording, byte for byte, with secrets blanked in place.
//!
//! A recording is JSON lines: a head, then per exchange its status line, its chunks with their timing and its end.

use crate::config::secret::{Secret, redact, sought};
use base64::{Engine, prelude::BASE64_STANDARD};
use lembas_core::stream::Context;
use memchr::memmem;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    time::Instant,
};
use tempfile::TempPath;

/// The version of the format.
pub(super) const FORMAT: u64 = 1;

/// Writes one recording. What was in its file stays there until the first exchange is whole.
pub(crate) struct Recorder {
    file: File,
    path: PathBuf,
    /// The file beside it, until it takes its place.
    new: Option<TempPath>,
    /// How many bytes are whole exchanges.
    length: u64,
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
    /// Creates a file beside the recording's, readable by its owner only, and writes the head.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub(crate) fn create(
        path: &Path,
        dialect: &str,
        context: &Context,
        secrets: Vec<Secret>,
    ) -> io::Result<Recorder> {
        // A link stays a link; a device or directory is not put aside.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        let new = builder.prefix(".lembas-").tempfile_in(parent.unwrap_or(Path::new(".")))?;
        let (mut file, new) = new.into_parts();
        let head = json!({
            "recording": FORMAT,
            "dialect": dialect,
            "model": context.model,
            "text_calls": context.text_calls,
        });
        let head = format!("{head}\n");
        file.write_all(head.as_bytes())?;
        let length = u64::try_from(head.len()).unwrap_or(u64::MAX);
        let started = Instant::now();
        Ok(Recorder { file, path, new: Some(new), length, secrets, started, exchange: None })
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

    /// Ends the exchange and writes it; `cut` says that the transfer broke. The first one puts the file in place.
    ///
    /// # Errors
    /// A sentence about a file that cannot be written; it then ends with the exchange before.
    pub(crate) fn close(&mut self, cut: bool) -> Result<(), String> {
        let Some(exchange) = self.exchange.take() else { return Ok(()) };
        let text = self.text(exchange, cut);
        self.write(text.as_bytes()).map_err(|error| {
            // Half an exchange would make the whole recording unreadable.
            let _ = self.file.set_len(self.length);
            let path = self.path.display();
            format!("The recording {path} cannot be written any further: {error}.")
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match self.new.take() {
            Some(new) => new.persist(&self.path).map_err(|error| error.error),
            None => Ok(()),
        }
    }

    fn text(&self, mut exchange: Exchange, cut: bool) -> String {
        blank(&mut exchange.bytes, &self.secrets);
        let mut out = format!("{}\n", exchange.status);
        let mut rest = exchange.bytes.as_slice();
        for (after, length) in exchange.chunks {
            let (chunk, left) = rest.split_at(length.min(rest.len()));
            rest = left;
            out.push_str(&format!("{}\n", data(chunk, after)));
        }
        out.push_str(&format!("{}\n", json!({ "end": if cut { "cut" } else { "complete" } })));
        out
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
    for secret in sought(secrets) {
        let mut from = 0;
        while let Some(at) = memmem::find(bytes.get(from..).unwrap_or_default(), secret.as_bytes())
        {
            let start = from + at;
            if let Some(part) = bytes.get_mut(start..start + secret.len()) {
                part.fill(b'*');
            }
            from = start + secret.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context { model: "m".into(), ..Context::default() }
    }

    #[test]
    fn a_secret_that_begins_another_leaves_no_tail() {
        let secrets = ["sk-12345", "sk-12345-long"].map(|each| Secret::new(each.into()));
        let mut bytes = b"a sk-12345-long b sk-12345 c".to_vec();
        blank(&mut bytes, &secrets);
        assert_eq!(bytes, b"a ************* b ******** c");
    }

    #[test]
    fn what_was_there_stays_until_an_exchange_is_whole() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("r"), dir.path().join("link"));
        fs::write(&path, "good").unwrap();
        symlink("r", &link).unwrap();
        let make = |path: &Path| Recorder::create(path, "openai-chat", &context(), Vec::new());
        let mut recorder = make(&link).unwrap();
        recorder.open(200, &[]);
        drop(recorder);
        assert_eq!(fs::read_to_string(&path).unwrap(), "good");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside it");
        let mut recorder = make(&link).unwrap();
        recorder.close(false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "good");
        for _ in 0..2 {
            recorder.open(200, &[]);
            recorder.close(false).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 5);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        for path in [dir.path(), Path::new("/dev/null")] {
            assert_eq!(make(path).err().unwrap().kind(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn secrets_are_blanked_across_chunks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r");
        let mut recorder = Recorder::create(
            &path,
            "openai-chat",
            &context(),
            vec![Secret::new("sk-secret".into())],
        )
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
