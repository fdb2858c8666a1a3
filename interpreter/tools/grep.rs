//! `grep`: lines of files by content, sorted by path, bounded while it searches. A pattern that is no regular
//! expression is searched as plain text, and that is said.

use super::{Outcome, Shared, glob, read, walk};
use crate::engine::{Grant, Target};
use crate::project::safe;
use globset::GlobMatcher;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::DirEntry;
use lembas_core::spec::{GlobSay, GrepArgs, GrepSay, ListSay};
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
    let filter = args.glob.as_deref().map(Filter::new).transpose().map_err(|error| {
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
        binary: AtomicUsize::new(0),
        withheld: AtomicUsize::new(0),
    };
    let ignored = args.ignored.unwrap_or(false);
    let walked = walk::files(&target.real, ignored, &grant.stop, || {
        let mut searcher = job.searcher();
        let (job, stop) = (&job, &grant.stop);
        move |entry: &DirEntry| job.look(&mut searcher, entry, stop)
    });
    Ok(Outcome::done(job.report(&shown, note, &walked)))
}

/// Which files are searched.
struct Filter {
    matcher: GlobMatcher,
    /// Whether those that match are meant, or all others.
    wanted: bool,
}

impl Filter {
    /// Reads a pattern, which without a slash is about the name alone; after `!` it says which files are not meant.
    fn new(pattern: &str) -> Result<Filter, globset::Error> {
        let (pattern, wanted) =
            pattern.strip_prefix('!').map_or((pattern, true), |rest| (rest, false));
        let matcher = if pattern.contains('/') {
            glob::matcher(pattern)
        } else {
            glob::matcher(&format!("**/{pattern}"))
        };
        Ok(Filter { matcher: matcher?, wanted })
    }

    fn lets(&self, path: &Path) -> bool {
        self.matcher.is_match(path) == self.wanted
    }
}

fn compile(args: &GrepArgs, literal: bool) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(literal)
        .case_insensitive(args.ignore_case.unwrap_or(false))
        .multi_line(true);
    if !args.pattern.contains('\n') && (literal || !args.pattern.contains("\\n")) {
        // Makes `$` hold before a CRLF too.
        builder.crlf(true);
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

/// Why a file was not searched to its end.
enum Left {
    /// It is larger than what is searched.
    Large,
    /// The system did not let it be read.
    Unreadable,
}

struct Job<'a> {
    shared: &'a Shared,
    args: &'a GrepArgs,
    matcher: RegexMatcher,
    filter: Option<Filter>,
    target: &'a Target,
    found: Mutex<Found>,
    searched: AtomicUsize,
    /// Searched files that turned out to be binary.
    binary: AtomicUsize,
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
    fn searcher(&self) -> Searcher {
        let lines = self.matcher.line_terminator();
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .multi_line(lines.is_none())
            .line_terminator(lines.unwrap_or_default())
            .before_context(self.context())
            .after_context(self.context())
            .build()
    }

    /// Searches a file; answers only when it was left out.
    fn look(
        &self,
        searcher: &mut Searcher,
        entry: &DirEntry,
        stop: &CancellationToken,
    ) -> Option<Left> {
        let inside = entry.path().strip_prefix(&self.target.real).unwrap_or(entry.path());
        if self.filter.as_ref().is_some_and(|filter| !filter.lets(inside) && entry.depth() > 0) {
            return None;
        }
        let Ok(file) = safe::open(entry.path()) else { return Some(Left::Unreadable) };
        let most = self.shared.limits().max_file_bytes;
        if file.metadata().is_ok_and(|found| found.len() > most) {
            return Some(Left::Large);
        }
        self.searched.fetch_add(1, Ordering::Relaxed);
        let mut sink = Collect { job: self, stop, hits: Hits::default(), binary: false };
        let read = searcher.search_file(&self.matcher, &file, &mut sink);
        if sink.binary {
            self.binary.fetch_add(1, Ordering::Relaxed);
        } else if sink.hits.matches > 0 {
            // What the call names was judged with the call; what lies below it is judged when it would be shown.
            if entry.depth() > 0 && !self.shared.readable.may(entry.path()) {
                self.withheld.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            let hits = std::mem::take(&mut sink.hits);
            self.keep(entry.path(), hits);
        }
        read.err().map(|_| Left::Unreadable)
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

    fn report(&self, shown: &str, note: Option<Value>, walked: &walk::Found<Left>) -> String {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut text, told) = self.lines(&found);
        let mut notes = Vec::new();
        if found.matches == 0 {
            notes.push(self.say(GrepSay::None, self.nothing(shown)));
        } else if found.matches > told {
            let left = found.matches - told;
            let values = json!({"left": left, "all": found.matches, "files": found.files});
            notes.push(self.say(GrepSay::More, values));
        }
        let withheld = self.withheld.load(Ordering::Relaxed);
        if withheld > 0 {
            notes.push(self.say(GrepSay::Withheld, json!({"count": withheld})));
        }
        notes.extend(note.map(|note| self.say(GrepSay::Literal, note)));
        let large = walked.results.iter().filter(|left| matches!(left, Left::Large)).count();
        if large > 0 {
            let most = self.shared.limits().max_file_bytes;
            notes.push(self.say(GrepSay::Skipped, json!({"count": large, "most": most})));
        }
        let unreadable = walked.unreadable + walked.results.len() - large;
        if unreadable > 0 {
            notes.push(self.shared.say(ListSay::Unreadable, &json!({"count": unreadable})));
        }
        text.push_str(&notes.join("\n"));
        text.trim_end_matches('\n').to_owned()
    }

    fn say(&self, key: GrepSay, values: Value) -> String {
        self.shared.say(key, &values)
    }

    /// What is said when no line matches.
    fn nothing(&self, shown: &str) -> Value {
        json!({
            "pattern": self.args.pattern,
            "path": shown,
            "glob": self.args.glob,
            "files": self.searched.load(Ordering::Relaxed),
            "binary": self.binary.load(Ordering::Relaxed),
            "ignored": self.args.ignored.unwrap_or(false),
        })
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
