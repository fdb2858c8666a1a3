//! `grep`: lines of files by content, sorted by path, bounded while it searches. A pattern that is no regular
//! expression is searched as plain text, and that is said.

use super::{Outcome, Shared, glob, read, walk};
use crate::engine::{Grant, Target};
use crate::project::safe;
use globset::GlobMatcher;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use lembas_core::spec::{GlobSay, GrepArgs, GrepSay};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

pub(super) fn run(shared: &Shared, grant: &Grant, args: &GrepArgs) -> Result<Outcome, Outcome> {
    let target = shared.target(grant, args.path.as_deref())?;
    let shown = shared.shown(&target.named);
    read::found(shared, target, &shown)?;
    let filter = args.glob.as_deref().map(filter).transpose().map_err(|error| {
        let values = json!({"pattern": args.glob, "error": error.kind().to_string()});
        shared.fails(GlobSay::Pattern, &values)
    })?;
    let (matcher, note) = match compile(args, args.literal.unwrap_or(false)) {
        Ok(matcher) => (matcher, None),
        Err(error) => match compile(args, true) {
            Ok(matcher) => (
                matcher,
                Some(json!({"pattern": args.pattern, "error": fault(&args.pattern, &error)})),
            ),
            Err(error) => return Err(Outcome::failed(error.to_string())),
        },
    };
    let job = Job {
        shared,
        args,
        matcher,
        filter,
        target,
        found: Mutex::default(),
        searched: AtomicUsize::new(0),
        withheld: AtomicUsize::new(0),
    };
    let look = |entry: &ignore::DirEntry| job.look(entry, &grant.stop);
    let skipped = walk::files(&target.real, &grant.stop, look).len();
    Ok(Outcome::done(job.report(&shown, note, skipped)))
}

/// Returns what says whether a file is meant by `pattern`, which without a slash is about the name alone.
fn filter(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    if pattern.contains('/') {
        glob::matcher(pattern)
    } else {
        glob::matcher(&format!("**/{pattern}"))
    }
}

fn compile(args: &GrepArgs, literal: bool) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(literal)
        .case_insensitive(args.ignore_case.unwrap_or(false))
        .multi_line(true);
    if !args.pattern.contains('\n') && (literal || !args.pattern.contains("\\n")) {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&args.pattern)
}

/// Returns what is wrong with a regular expression and where, in one line. `error` is about the expression as the
/// searcher wraps it, so the place is asked of the expression alone.
fn fault(pattern: &str, error: &grep_regex::Error) -> String {
    let error = regex::Regex::new(pattern)
        .err()
        .map_or_else(|| error.to_string(), |error| error.to_string());
    let what = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let mark = error
        .lines()
        .find(|line| line.trim_start().starts_with('^'))
        .and_then(|line| line.find('^'));
    match mark.and_then(|column| column.checked_sub(4)) {
        Some(column) => format!("{what}, at character {}", column + 1),
        None => what,
    }
}

struct Job<'a> {
    shared: &'a Shared,
    args: &'a GrepArgs,
    matcher: RegexMatcher,
    filter: Option<GlobMatcher>,
    target: &'a Target,
    found: Mutex<Found>,
    searched: AtomicUsize,
    /// Files with matches that a rule does not let be read without asking.
    withheld: AtomicUsize,
}

/// What was found: all of it counted, the first files in order of path kept.
#[derive(Default)]
struct Found {
    kept: BTreeMap<PathBuf, Hits>,
    lines: usize,
    matches: usize,
    files: usize,
}

/// The matching lines of a file.
#[derive(Default)]
struct Hits {
    /// Lines to show.
    lines: Vec<Line>,
    /// How many match, shown or not.
    matches: usize,
}

struct Line {
    number: u64,
    matches: bool,
    text: String,
}

impl Job<'_> {
    /// Searches a file; answers only when it was left out for its size.
    fn look(&self, entry: &ignore::DirEntry, stop: &CancellationToken) -> Option<()> {
        let inside = entry.path().strip_prefix(&self.target.real).unwrap_or(entry.path());
        if self.filter.as_ref().is_some_and(|filter| !filter.is_match(inside) && entry.depth() > 0)
        {
            return None;
        }
        if entry.metadata().is_ok_and(|found| found.len() > self.shared.limits().max_file_bytes) {
            return Some(());
        }
        self.searched.fetch_add(1, Ordering::Relaxed);
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .multi_line(self.matcher.line_terminator().is_none())
            .before_context(self.context())
            .after_context(self.context())
            .build();
        let mut sink = Collect { job: self, stop, hits: Hits::default(), binary: false };
        // A file that cannot be read has no lines to show.
        let _ = safe::open(entry.path())
            .and_then(|file| searcher.search_file(&self.matcher, &file, &mut sink));
        if sink.hits.matches > 0 && !sink.binary {
            // What the call names was judged with the call; what lies below it is judged when it would be shown.
            if entry.depth() > 0 && !self.shared.readable.may(entry.path()) {
                self.withheld.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let hits = std::mem::take(&mut sink.hits);
            self.keep(entry.path(), hits);
        }
        None
    }

    fn context(&self) -> usize {
        usize::try_from(self.args.context.unwrap_or(0)).unwrap_or(0)
    }

    fn keep(&self, path: &Path, hits: Hits) {
        let most = self.shared.limits().grep.results;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.matches += hits.matches;
        found.files += 1;
        found.lines += hits.lines.len();
        found.kept.insert(path.to_owned(), hits);
        while let Some(last) = found.kept.last_key_value().map(|(_, hits)| hits.lines.len())
            && found.lines - last >= most
        {
            found.lines -= last;
            found.kept.pop_last();
        }
    }

    fn report(&self, shown: &str, note: Option<Value>, skipped: usize) -> String {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut text, told) = self.lines(&found);
        let mut notes = Vec::new();
        if found.matches == 0 {
            let searched = self.searched.load(Ordering::Relaxed);
            let (pattern, glob) = (&self.args.pattern, &self.args.glob);
            notes.push((
                GrepSay::None,
                json!({"pattern": pattern, "path": shown, "glob": glob, "files": searched}),
            ));
        } else if found.matches > told {
            let left = found.matches - told;
            notes.push((
                GrepSay::More,
                json!({"left": left, "all": found.matches, "files": found.files}),
            ));
        }
        let withheld = self.withheld.load(Ordering::Relaxed);
        if withheld > 0 {
            notes.push((GrepSay::Withheld, json!({"count": withheld})));
        }
        notes.extend(note.map(|note| (GrepSay::Literal, note)));
        if skipped > 0 {
            notes.push((
                GrepSay::Skipped,
                json!({"count": skipped, "most": self.shared.limits().max_file_bytes}),
            ));
        }
        for (key, values) in notes {
            text.push_str(&self.shared.say(key, &values));
            text.push('\n');
        }
        text.trim_end_matches('\n').to_owned()
    }

    /// Returns the lines found, below the name of their file, and how many of them match.
    fn lines(&self, found: &Found) -> (String, usize) {
        let limits = self.shared.limits();
        let (mut text, mut told) = (String::new(), 0);
        for (path, hits) in &found.kept {
            let mut before = None;
            for line in &hits.lines {
                if told >= limits.grep.results || text.len() >= limits.max_bytes {
                    return (text, told);
                }
                match before {
                    None => {
                        let called = self.target.called(path);
                        text.push_str(&format!("{}\n", self.shared.shown(&called)));
                    }
                    Some(before) if self.context() > 0 && before + 1 < line.number => {
                        text.push_str("--\n")
                    }
                    Some(_) => {}
                }
                let mark = if line.matches { ':' } else { '-' };
                text.push_str(&format!("{}{mark}{}\n", line.number, line.text));
                before = Some(line.number);
                told += usize::from(line.matches);
            }
        }
        (text, told)
    }
}

/// Takes in the lines of one file.
struct Collect<'a> {
    job: &'a Job<'a>,
    stop: &'a CancellationToken,
    hits: Hits,
    binary: bool,
}

impl Collect<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (number.unwrap_or(1)..).zip(lines) {
            if self.hits.lines.len() < self.job.shared.limits().grep.results {
                let text = self.shown(line, matches);
                self.hits.lines.push(Line { number, matches, text });
            }
            self.hits.matches += usize::from(matches);
        }
    }

    /// Returns a line as it is shown: around its match when it is long.
    fn shown(&self, line: &[u8], matches: bool) -> String {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let most = self.job.shared.limits().grep.line_bytes;
        if line.len() <= most {
            return String::from_utf8_lossy(line).into_owned();
        }
        let found = if matches { self.job.matcher.find(line).ok().flatten() } else { None };
        let start =
            found.map_or(0, |found| found.start().saturating_sub(most / 4)).min(line.len() - most);
        let part = line.get(start..start + most).unwrap_or(line);
        // Both ends may have cut a character; what is left of it is no text of the file.
        let part = String::from_utf8_lossy(part);
        let part = part.trim_matches(char::REPLACEMENT_CHARACTER);
        let before = if start > 0 { "…" } else { "" };
        let left = self.job.shared.say(GrepSay::CutLine, &json!({"left": line.len() - most}));
        format!("{before}{part}{left}")
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.push(found.line_number(), found.bytes(), true);
        Ok(!self.stop.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push(context.line_number(), context.bytes(), false);
        Ok(!self.stop.is_cancelled())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
