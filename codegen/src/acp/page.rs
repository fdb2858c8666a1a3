//! Markdown as far as the protocol page uses it: headings, fences, tables and prose, each with its place.
//! It knows nothing of methods or types.

use crate::problem::Problem;

/// A piece of a line, and where it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// One-based line.
    pub(super) line: usize,
    /// One-based column, in bytes.
    pub(super) column: usize,
}

impl<'a> Part<'a> {
    /// Returns the piece of `self` that `text`, a slice of it, is.
    fn at(self, text: &'a str) -> Part<'a> {
        let offset = text.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Part { text, line: self.line, column: self.column + offset }
    }

    /// Returns it without the blanks around it.
    pub(super) fn trim(self) -> Part<'a> {
        self.at(self.text.trim())
    }

    /// Returns what follows `prefix`, if it starts with it.
    pub(super) fn after(self, prefix: &str) -> Option<Part<'a>> {
        self.text.strip_prefix(prefix).map(|text| self.at(text))
    }

    /// Returns what precedes `suffix`, if it ends with it.
    pub(super) fn before(self, suffix: &str) -> Option<Part<'a>> {
        self.text.strip_suffix(suffix).map(|text| self.at(text))
    }

    /// Returns what stands before and after the first `separator`.
    pub(super) fn cut(self, separator: &str) -> Option<(Part<'a>, Part<'a>)> {
        self.text.split_once(separator).map(|(left, right)| (self.at(left), self.at(right)))
    }

    /// Returns the pieces between `separator`s.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Part<'a>> {
        self.text.split(separator).map(move |text| self.at(text))
    }

    /// Returns the words between blanks.
    pub(super) fn words(self) -> impl Iterator<Item = Part<'a>> {
        self.text.split_whitespace().map(move |text| self.at(text))
    }

    /// Returns a problem with it.
    pub(super) fn problem(self, message: impl Into<String>) -> Problem {
        Problem {
            file: super::FILE.into(),
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}

/// A block of the page.
#[derive(Debug)]
pub(super) enum Block<'a> {
    /// A heading, its marks taken off.
    Heading { level: usize, text: Part<'a> },
    /// A fence: its opening line without the backticks, and the lines inside.
    Fence { info: Part<'a>, lines: Vec<Part<'a>> },
    /// A table's rows, the header first, without the line of dashes.
    Table { rows: Vec<Vec<Part<'a>>> },
    /// The lines of a paragraph or a list.
    Prose { lines: Vec<Part<'a>> },
}

const FENCE: &str = "```";

/// Returns the blocks of `text` and notes every fence that is never closed.
pub(super) fn blocks<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Vec<Block<'a>> {
    let lines =
        text.lines().enumerate().map(|(index, text)| Part { text, line: index + 1, column: 1 });
    let mut blocks = Vec::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let block = if let Some(info) = line.after(FENCE) {
            fence(info, &mut lines, problems)
        } else if line.text.starts_with('#') {
            heading(line)
        } else if line.text.starts_with('|') {
            let same = |next: &Part<'_>| next.text.starts_with('|');
            let rows = run(line, &mut lines, same).into_iter().filter(|row| !dashes(*row));
            Block::Table { rows: rows.map(cells).collect() }
        } else if line.text.trim().is_empty() {
            continue;
        } else {
            Block::Prose { lines: run(line, &mut lines, is_prose) }
        };
        blocks.push(block);
    }
    blocks
}

type Lines<'a, I> = std::iter::Peekable<I>;

fn run<'a, I: Iterator<Item = Part<'a>>>(
    first: Part<'a>,
    lines: &mut Lines<'a, I>,
    same: impl Fn(&Part<'a>) -> bool,
) -> Vec<Part<'a>> {
    let mut found = vec![first];
    while let Some(line) = lines.next_if(|next| same(next)) {
        found.push(line);
    }
    found
}

fn is_prose(line: &Part<'_>) -> bool {
    !line.text.trim().is_empty()
        && !line.text.starts_with(['#', '|'])
        && line.after(FENCE).is_none()
}

fn heading(line: Part<'_>) -> Block<'_> {
    let level = line.text.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.after(&"#".repeat(level)).unwrap_or(line).trim();
    Block::Heading { level, text }
}

fn fence<'a, I: Iterator<Item = Part<'a>>>(
    info: Part<'a>,
    lines: &mut Lines<'a, I>,
    problems: &mut Vec<Problem>,
) -> Block<'a> {
    let mut inside = Vec::new();
    // A second opening line means that the closing one is missing; it opens the next fence.
    while let Some(line) =
        lines.next_if(|next| next.after(FENCE).is_none_or(|after| after.trim().text.is_empty()))
    {
        if line.after(FENCE).is_some() {
            return Block::Fence { info: info.trim(), lines: inside };
        }
        inside.push(line);
    }
    let until =
        lines.peek().map_or("the end of the page".into(), |next| format!("line {}", next.line));
    problems.push(
        info.problem(format!("this fence is still open at {until}; a line of ``` closes it")),
    );
    Block::Fence { info: info.trim(), lines: inside }
}

fn dashes(row: Part<'_>) -> bool {
    row.text.contains('-') && row.text.chars().all(|each| matches!(each, '|' | '-' | ':' | ' '))
}

fn cells(row: Part<'_>) -> Vec<Part<'_>> {
    let row = row.trim();
    let inner = row.after("|").unwrap_or(row);
    inner.before("|").unwrap_or(inner).split('|').map(Part::trim).collect()
}
