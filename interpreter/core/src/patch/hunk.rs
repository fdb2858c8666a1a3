//! One hunk of a patch: lines that stay, go and come, and what the patch says about where they are. It looks at no file.

/// A part of a file's patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines of the file it stands under, each in the scope of the one before.
    pub(super) anchors: Vec<String>,
    pub(super) lines: Vec<Line>,
    /// The line, from 0, at which the patch says that it begins, and how many lines of the file it says it is found by.
    pub(super) said: Option<(usize, usize)>,
    /// Whether it is said to be at the end of the file.
    pub(super) end: bool,
    /// Whether the last line that stays or goes is said to have no line ending.
    pub(super) open_old: bool,
    /// Whether the last line that stays or comes is said to have none.
    pub(super) open_new: bool,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) sign: Sign,
    pub(super) text: String,
    /// Whether it was an empty line in the patch, without even the sign of a line that stays.
    pub(super) bare: bool,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It stays.
    Kept,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

impl Line {
    /// Reads a line of a hunk; nothing when it begins with no sign.
    pub(super) fn read(line: &str) -> Option<Line> {
        let signed = [(' ', Sign::Kept), ('-', Sign::Removed), ('+', Sign::Added)];
        let read = |(sign, kind)| {
            Some(Line { sign: kind, text: line.strip_prefix(sign)?.to_owned(), bare: false })
        };
        let bare = || Line { sign: Sign::Kept, text: line.to_owned(), bare: true };
        signed.into_iter().find_map(read).or_else(|| line.trim().is_empty().then(bare))
    }
}

impl Hunk {
    /// Returns the text it is found by, every line ended, the last perhaps not.
    pub(super) fn given(&self) -> String {
        joined(&self.lines, Sign::Added, self.open_old)
    }

    /// Returns the text that is there afterwards.
    pub(super) fn made(&self) -> String {
        joined(&self.lines, Sign::Removed, self.open_new)
    }

    /// Returns how many lines of the file it is found by.
    pub(super) fn old_lines(&self) -> usize {
        self.count(Sign::Kept) + self.count(Sign::Removed)
    }

    /// Returns the line, from 0, at which it is said to begin. Where it shows no line of the file but says it has some,
    /// the number says nothing.
    pub(super) fn at(&self) -> Option<usize> {
        let (at, lines) = self.said?;
        (lines == 0 || self.old_lines() > 0).then_some(at)
    }

    /// Returns how many lines have this sign.
    pub(super) fn count(&self, sign: Sign) -> usize {
        self.lines.iter().filter(|line| line.sign == sign).count()
    }

    /// Returns whether it changes nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.sign == Sign::Kept) && self.open_old == self.open_new
    }

    /// Returns how many lines stay before the first change and after the last one. Where only a line ending changes,
    /// the last line counts as changed.
    pub(super) fn context(&self) -> (usize, usize) {
        let kept = |line: &&Line| line.sign == Sign::Kept;
        let most = if self.open_old == self.open_new {
            self.lines.len()
        } else {
            self.lines.len().saturating_sub(1)
        };
        let before = self.lines.iter().take(most).take_while(kept).count();
        let after = if most < self.lines.len() {
            0
        } else {
            self.lines.iter().rev().take_while(kept).count()
        };
        (before, after.min(self.lines.len() - before))
    }

    /// Returns it without the empty lines that a writer left at its end; nothing when there are none.
    pub(super) fn trimmed(&self) -> Option<Hunk> {
        let bare = self.lines.iter().rev().take_while(|line| line.bare).count();
        let mut hunk = self.clone();
        hunk.lines.truncate(self.lines.len() - bare);
        (bare > 0 && !hunk.lines.is_empty()).then_some(hunk)
    }

    /// Returns it without the empty line that stays at its end, to be found at the end of the file only: who takes a text
    /// apart at its line ends sees one there. Nothing when there is none.
    pub(super) fn without_end(&self) -> Option<Hunk> {
        let last = self.lines.last()?;
        let empty = last.sign == Sign::Kept && last.text.trim().is_empty();
        let mut hunk = Hunk { end: true, ..self.clone() };
        hunk.lines.pop();
        (empty && !hunk.lines.is_empty()).then_some(hunk)
    }

    /// Returns whether it has all the context that a program gives: three lines, or all there are.
    pub(super) fn is_made(&self, begins: bool, ends: bool) -> bool {
        const CONTEXT: usize = 3;
        let (before, after) = self.context();
        (before >= CONTEXT || begins) && (after >= CONTEXT || ends)
    }
}

fn joined(lines: &[Line], without: Sign, open: bool) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.sign != without) {
        text.push_str(&line.text);
        text.push('\n');
    }
    if open {
        text.pop();
    }
    text
}

/// The line that opens a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// Where the hunk begins, from 0, with the lines it says it has of the file before and after.
    pub(super) numbers: Option<(usize, usize, usize)>,
    /// Text that says where, in place of numbers; empty for none.
    pub(super) anchor: &'a str,
}

/// Reads the line that opens a hunk. What stands after numbers is no anchor: programs put any line there.
pub(super) fn head(line: &str) -> Option<Head<'_>> {
    let rest = line.strip_prefix("@@")?;
    if let Some(numbers) = numbers(rest.trim_start()) {
        return Some(Head { numbers: Some(numbers), anchor: "" });
    }
    let rest = rest.trim_end();
    let rest = rest.strip_suffix("@@").unwrap_or(rest).trim_end();
    let anchor = rest.strip_prefix(' ').unwrap_or(rest);
    Some(Head { numbers: None, anchor: if anchor.trim() == "..." { "" } else { anchor } })
}

/// Reads `-begin,lines +begin,lines`, where one line need not be counted.
fn numbers(text: &str) -> Option<(usize, usize, usize)> {
    let mut words = text.split_whitespace();
    let mut side = |sign| {
        let word = words.next()?.strip_prefix(sign)?;
        let (begin, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((begin.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let ((begin, old), (_, new)) = (side('-')?, side('+')?);
    // With no line before, the number is that of the line the hunk comes after.
    Some((if old == 0 { begin } else { begin.saturating_sub(1) }, old, new))
}

/// The sentence of a unified diff about the line above it.
const OPEN: char = '\\';

impl Hunk {
    /// Takes in what follows the last line: that it has no line ending. Returns whether the line said that.
    pub(super) fn marks_open(&mut self, line: &str) -> bool {
        let Some(last) = self.lines.last().filter(|_| line.starts_with(OPEN)) else { return false };
        self.open_old |= last.sign != Sign::Added;
        self.open_new |= last.sign != Sign::Removed;
        true
    }
}
