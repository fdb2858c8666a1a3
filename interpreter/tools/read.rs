//! `read`: a part of a text file with line numbers. A long file is streamed, never held as a whole.

use super::file::{self, Print};
use super::{Outcome, Shared, list, path};
use crate::engine::{Grant, Target};
use crate::project::safe;
use lembas_core::spec::{ReadArgs, ReadSay};
use lembas_core::text::{self, Kind};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek};
use tokio_util::sync::CancellationToken;

/// Bytes looked at to tell what a file is, and read at a time.
const PIECE: usize = 64 * 1024;

/// One control character in so many bytes makes a text that is not UTF-8 binary.
const CONTROL_SHARE: usize = 32;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &ReadArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, Some(&args.path))?;
    let shown = shared.shown(&target.named);
    let (file, found) = regular(shared, target, &shown)?;
    let asked = Asked { shared, stop: &grant.stop, target, shown: &shown, args };
    show(&asked, file, &found).map_err(|error| failed(shared, &shown, found.len(), &error))
}

/// Opens a regular file, or returns the answer when it is none.
pub(super) fn regular(
    shared: &Shared,
    target: &Target,
    shown: &str,
) -> Result<(File, Metadata), Outcome> {
    let (file, found) = found(shared, target, shown)?;
    if found.is_dir() {
        let entries = list::entries(shared, target, 1, false, &CancellationToken::new());
        return Err(shared.fails(ReadSay::Directory, &json!({"path": shown, "entries": entries})));
    }
    let special = || shared.fails(ReadSay::Special, &json!({"path": shown}));
    if found.is_file() { Ok((file, found)) } else { Err(special()) }
}

/// Opens what is at a path, or returns the answer when nothing is, or it cannot be opened.
pub(super) fn found(
    shared: &Shared,
    target: &Target,
    shown: &str,
) -> Result<(File, Metadata), Outcome> {
    let opened = safe::open(&target.real).and_then(|file| {
        let found = file.metadata()?;
        Ok((file, found))
    });
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(shared, target, shown),
        _ => failed(shared, shown, 0, &error),
    })
}

/// Checks that a path still is what it was, after a search went through what is below it by its name.
pub(super) fn still(
    shared: &Shared,
    target: &Target,
    shown: &str,
    before: &Metadata,
) -> Result<(), Outcome> {
    safe::still(&target.real, before).map_err(|error| failed(shared, shown, 0, &error))
}

/// Returns the answer for a path where nothing is.
pub(super) fn missing(shared: &Shared, target: &Target, shown: &str) -> Outcome {
    let near = path::suggestions(&shared.root, target, shared.limits().read.suggestions);
    let near: Vec<_> = near.iter().map(|path| shared.shown(path)).collect();
    shared.fails(ReadSay::Missing, &json!({"path": shown, "near": near}))
}

/// Returns the answer for an error of the system.
pub(super) fn failed(shared: &Shared, shown: &str, bytes: u64, error: &io::Error) -> Outcome {
    if safe::is_moved(error) {
        return shared.moved(shown);
    }
    let most = shared.limits().max_file_bytes;
    let key = match error.kind() {
        io::ErrorKind::FileTooLarge => ReadSay::TooLarge,
        _ if safe::is_special(error) => ReadSay::Special,
        _ => ReadSay::Failed,
    };
    let values = json!({"path": shown, "error": file::words(error), "bytes": bytes, "most": most});
    shared.fails(key, &values)
}

/// What a call asks for.
struct Asked<'a> {
    shared: &'a Shared,
    stop: &'a CancellationToken,
    target: &'a Target,
    shown: &'a str,
    args: &'a ReadArgs,
}

fn show(asked: &Asked<'_>, mut file: File, found: &Metadata) -> io::Result<Outcome> {
    let Asked { shared, target, shown, .. } = asked;
    let mut sample = Vec::new();
    (&mut file).take(PIECE as u64).read_to_end(&mut sample)?;
    file.rewind()?;
    let about = json!({"path": shown, "bytes": found.len(), "kind": image(&sample)});
    let whole = sample.len() < PIECE;
    let key = match text::kind(&sample, !whole) {
        _ if image(&sample).is_some() => ReadSay::Image,
        Kind::Wide => ReadSay::Wide,
        Kind::Binary => ReadSay::Binary,
        Kind::Foreign(_) if control(&sample) * CONTROL_SHARE > sample.len() => ReadSay::Binary,
        _ if sample.is_empty() => ReadSay::Empty,
        _ => return pages(asked, file, found),
    };
    let text = shared.say(key, &about);
    if key == ReadSay::Empty {
        shared.seen().saw(target.real.clone(), &[], shared.limits().seen);
        return Ok(Outcome::done(text));
    }
    Ok(Outcome::failed(text))
}

fn pages(asked: &Asked<'_>, file: File, found: &Metadata) -> io::Result<Outcome> {
    let Asked { shared, stop, target, shown, args } = asked;
    let limits = shared.limits();
    let offset = args.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(1).max(1);
    let limit =
        args.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(limits.read.lines);
    let mut page = Page {
        shared,
        offset,
        limit,
        line: 0,
        last: 0,
        text: String::new(),
        full: false,
        foreign: None,
        kept: (found.len() <= limits.seen.file_bytes as u64).then(Vec::new),
    };
    let print = page.fill(file, found.len() <= limits.max_file_bytes, stop)?;
    if let Some(print) = print {
        shared.seen().know(target.real.clone(), print, page.kept.take(), limits.seen);
    }
    if page.last == 0 {
        let values = json!({"path": shown, "lines": page.line, "offset": offset});
        return Ok(shared.fails(ReadSay::PastEnd, &values));
    }
    let mut text = page.text;
    if page.line > page.last {
        let lines = print.map(|_| page.line);
        let values = json!({"first": offset, "last": page.last, "lines": lines});
        text.push_str(&shared.say(ReadSay::More, &values));
    }
    if let Some(line) = page.foreign {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        text.push_str(end);
        text.push_str(&shared.say(ReadSay::Foreign, &json!({"path": shown, "line": line})));
    }
    Ok(Outcome::done(text.trim_end_matches('\n').to_owned()))
}

/// The part of a file that is shown.
struct Page<'a> {
    shared: &'a Shared,
    offset: usize,
    limit: usize,
    /// Lines met so far.
    line: usize,
    /// The last line shown, 0 for none.
    last: usize,
    text: String,
    /// Whether a line came that is not shown any more.
    full: bool,
    /// The first shown line that is not UTF-8.
    foreign: Option<usize>,
    /// The content so far, unless it is too long to be kept.
    kept: Option<Vec<u8>>,
}

impl Page<'_> {
    /// Reads the wanted lines; with `to_end`, goes on to count the rest and returns the print of the whole content.
    fn fill(
        &mut self,
        file: File,
        to_end: bool,
        stop: &CancellationToken,
    ) -> io::Result<Option<Print>> {
        let mut reader = BufReader::with_capacity(PIECE, file);
        let mut hash = Sha256::new();
        let keep = self.shared.limits().max_line_bytes;
        let (mut line, mut length) = (Vec::new(), 0);
        loop {
            if stop.is_cancelled() {
                return Ok(None);
            }
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', piece).map(|at| at + 1);
            let taken = end.unwrap_or(piece.len());
            let part = piece.get(..taken).unwrap_or_default();
            if to_end {
                hash.update(part);
                let most = self.shared.limits().seen.file_bytes;
                self.kept = self.kept.take().filter(|kept| kept.len() + part.len() <= most);
                self.kept.iter_mut().for_each(|kept| kept.extend_from_slice(part));
            }
            line.extend_from_slice(
                part.get(..part.len().min((keep + 4).saturating_sub(line.len())))
                    .unwrap_or_default(),
            );
            length += taken;
            reader.consume(taken);
            if end.is_some() {
                self.line(&line, length, keep);
                line.clear();
                length = 0;
                if self.full && !to_end {
                    return Ok(None);
                }
            }
        }
        if length > 0 {
            self.line(&line, length, keep);
        }
        Ok(to_end.then(|| hash.finalize().into()))
    }

    /// Takes in a line of `length` bytes, of which `kept` holds the start.
    fn line(&mut self, kept: &[u8], length: usize, keep: usize) {
        self.line += 1;
        if self.line < self.offset || self.full {
            return;
        }
        let ending = if kept.ends_with(b"\r\n") { 2 } else { usize::from(kept.ends_with(b"\n")) };
        let content = kept.get(..kept.len() - ending).unwrap_or_default();
        let cut = length > keep + ending;
        let content =
            if cut { whole_characters(content.get(..keep).unwrap_or(content)) } else { content };
        let begun = self.last > 0;
        let no_room = self.text.len() + content.len() > self.shared.limits().max_bytes;
        self.full = begun && no_room || self.line - self.offset >= self.limit;
        if self.full {
            return;
        }
        // The mark of the whole file is no part of its first line.
        let bare = content.strip_prefix(text::BOM).filter(|_| self.line == 1);
        let shown = String::from_utf8_lossy(bare.unwrap_or(content));
        if matches!(shown, Cow::Owned(_)) {
            self.foreign.get_or_insert(self.line);
        }
        self.text.push_str(&format!("{}\t{shown}", self.line));
        if cut {
            let left = length - content.len();
            self.text.push_str(&self.shared.say(ReadSay::CutLine, &json!({"left": left})));
        }
        self.text.push('\n');
        self.last = self.line;
    }
}

/// Returns the bytes without a character that was cut off at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(fault) if fault.error_len().is_none() => {
            bytes.get(..fault.valid_up_to()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

fn control(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count()
}

/// Returns the kind of image a file is, by its first bytes.
fn image(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("PNG"),
        [0xff, 0xd8, 0xff, ..] => Some("JPEG"),
        [b'G', b'I', b'F', b'8', ..] => Some("GIF"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("WebP"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("BMP"),
        _ => None,
    }
}
