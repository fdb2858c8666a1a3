//! Unified diffs, plain ones and those of git. It reads, and looks at no file. What a hunk says of its length is only
//! a hint: writers miscount.

use super::hunk::{Hunk, Line, Sign, head};
use super::{Action, Change, Reason, Refused};

const GIT: &str = "diff --git ";
const OLD: &str = "--- ";
const NEW: &str = "+++ ";
const NOWHERE: &str = "/dev/null";

/// What git may put in front of the path before and after.
const PREFIXES: [(&str, &str); 6] =
    [("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("b/", "a/")];

/// Returns whether a line begins a file's part of a diff.
pub(super) fn begins(line: &str) -> bool {
    [GIT, OLD].iter().any(|head| line.starts_with(head))
}

/// Reads every file's part among the lines; what stands around them is left out.
pub(super) fn read(lines: &[&str]) -> Result<Vec<Change>, Refused> {
    let mut reader = Reader { lines, at: 0, changes: Vec::new(), part: None };
    while let Some(line) = reader.peek(0) {
        reader.line(line)?;
    }
    reader.finish()?;
    Ok(reader.changes)
}

/// What is known so far of one file's part.
#[derive(Debug, Default)]
struct Part {
    /// The line of the patch it begins at, from 1.
    line: usize,
    old: Option<String>,
    new: Option<String>,
    /// Whether it has lines that name both sides.
    named: bool,
    added: bool,
    deleted: bool,
    moved: bool,
    copied: bool,
    executable: Option<bool>,
    hunks: Vec<Hunk>,
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
    changes: Vec<Change>,
    part: Option<Part>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.lines.get(self.at + ahead).copied()
    }

    fn bad(&self, reason: Reason) -> Refused {
        Refused::line(reason, self.at + 1, self.peek(0).unwrap_or_default())
    }

    fn names(&self) -> bool {
        let begins = |ahead, head| self.peek(ahead).is_some_and(|line| line.starts_with(head));
        begins(0, OLD) && begins(1, NEW)
    }

    fn line(&mut self, line: &'a str) -> Result<(), Refused> {
        if let Some(names) = line.strip_prefix(GIT) {
            self.finish()?;
            // Where it cannot be told, lines that follow say both names.
            let (old, new) = both(names).unzip();
            self.part = Some(Part { line: self.at + 1, old, new, ..Part::default() });
        } else if self.names() {
            return self.sides(line);
        } else if line.starts_with("@@") && self.part.is_some() {
            return self.hunk(line);
        } else if let Some(part) = &mut self.part {
            let at = self.at + 1;
            part.header(line).map_err(|reason| Refused::line(reason, at, line))?;
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the two lines that name both sides.
    fn sides(&mut self, line: &'a str) -> Result<(), Refused> {
        if self.part.as_ref().is_none_or(|part| part.named || !part.hunks.is_empty()) {
            self.finish()?;
            self.part = Some(Part { line: self.at + 1, ..Part::default() });
        }
        let read = |line: &str, head| line.strip_prefix(head).and_then(path);
        let new = self.peek(1).and_then(|line| read(line, NEW));
        let (Some(old), Some(new)) = (read(line, OLD), new) else {
            return Err(self.bad(Reason::BadPath));
        };
        if let Some(part) = &mut self.part {
            part.named = true;
            (part.added, part.deleted) = (old == NOWHERE, new == NOWHERE);
            if !part.moved && !part.copied {
                let (old, new) = stripped(&old, &new);
                (part.old, part.new) = (Some(old), Some(new));
            }
        }
        self.at += 2;
        Ok(())
    }

    fn hunk(&mut self, line: &str) -> Result<(), Refused> {
        let Some(head) = head(line) else { return Err(self.bad(Reason::BadLine)) };
        self.at += 1;
        let mut hunk = Hunk { said: head.numbers.map(|(at, old, _)| (at, old)), ..Hunk::default() };
        hunk.anchors.extend(Some(head.anchor.to_owned()).filter(|text| !text.trim().is_empty()));
        let said = head.numbers.map(|(_, old, new)| (old, new));
        while let Some(line) = self.peek(0).filter(|_| !self.ends(&hunk, said)) {
            if !hunk.marks_open(line) {
                match Line::read(line) {
                    Some(line) => hunk.lines.push(line),
                    None if said.is_some_and(|said| is_full(&hunk, said)) => break,
                    None => return Err(self.bad(Reason::BadLine)),
                }
            }
            self.at += 1;
        }
        // Empty lines after the lines it says it has are those between it and what follows.
        while let Some((old, _)) = said
            && hunk.old_lines() > old
            && hunk.lines.last().is_some_and(|line| line.bare)
        {
            hunk.lines.pop();
        }
        if let Some(part) = &mut self.part {
            part.hunks.push(hunk);
        }
        Ok(())
    }

    /// Returns whether what comes next is no part of the hunk.
    fn ends(&self, hunk: &Hunk, said: Option<(usize, usize)>) -> bool {
        let Some(line) = self.peek(0) else { return true };
        let full = said.is_none_or(|said| is_full(hunk, said));
        let third = self.peek(2).is_some_and(|line| line.starts_with("@@ "));
        line.starts_with(GIT)
            || line.starts_with("@@")
            || self.names() && (full || third)
            || full && said.is_some() && line == "-- "
            || line.starts_with("```")
    }

    fn finish(&mut self) -> Result<(), Refused> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let line = self.lines.get(part.line - 1).copied().unwrap_or_default();
        let number = part.line;
        let change = part.change().map_err(|reason| Refused::line(reason, number, line))?;
        self.changes.push(change);
        Ok(())
    }
}

fn is_full(hunk: &Hunk, (old, new): (usize, usize)) -> bool {
    hunk.old_lines() >= old && hunk.count(Sign::Kept) + hunk.count(Sign::Added) >= new
}

impl Part {
    /// Takes in a line between the name of a file and its hunks; one that says nothing of this is left out.
    fn header(&mut self, line: &str) -> Result<(), Reason> {
        let after = |head: &str| line.strip_prefix(head);
        let path = |text: &str| path(text).ok_or(Reason::BadPath);
        if !self.hunks.is_empty() {
            // What looks like a part of a hunk that has ended must not be lost without a word.
            let lost = line.starts_with('+') || line.starts_with('-') && !line.starts_with("-- ");
            return if lost { Err(Reason::BadLine) } else { Ok(()) };
        }
        if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(Reason::Binary);
        }
        let modes = ["new file mode ", "deleted file mode ", "new mode ", "old mode "];
        if let Some((head, mode)) = modes.iter().find_map(|head| Some((*head, after(head)?.trim())))
        {
            if !mode.starts_with("100") {
                return Err(Reason::Special);
            }
            self.added |= head.starts_with("new file");
            self.deleted |= head.starts_with("deleted");
            if head.starts_with("new") {
                self.executable = Some(mode.ends_with("755"));
            }
        } else if let Some(from) = after("rename from ") {
            (self.moved, self.old) = (true, Some(path(from)?));
        } else if let Some(from) = after("copy from ") {
            (self.copied, self.old) = (true, Some(path(from)?));
        } else if let Some(to) = after("rename to ").or(after("copy to ")) {
            self.new = Some(path(to)?);
        }
        Ok(())
    }

    fn change(self) -> Result<Change, Reason> {
        let Part { old, new, added, deleted, moved, copied, executable, mut hunks, .. } = self;
        let (old, new) = old.zip(new).ok_or(Reason::BadPath)?;
        hunks.retain(|hunk| !hunk.is_empty());
        let all = |sign| hunks.iter().flat_map(|hunk| &hunk.lines).all(|line| line.sign == sign);
        let (path, action) = match (added, deleted) {
            (true, true) => return Err(Reason::BadPath),
            (true, false) if !all(Sign::Added) => return Err(Reason::BadAdd),
            (true, false) => (new, Action::Add),
            (false, true) => (old, Action::Delete { unseen: false }),
            _ if moved => (old, Action::Move(new)),
            _ if copied => (old, Action::Copy(new)),
            _ if hunks.is_empty() && executable.is_none() => return Err(Reason::NoChange),
            _ => (new, Action::Update),
        };
        Ok(Change { path, action, hunks, executable, original: true })
    }
}

/// Splits what git names at the head of a part: the same path twice, each perhaps quoted.
fn both(names: &str) -> Option<(String, String)> {
    if names.starts_with('"') || names.ends_with('"') {
        let split = names.match_indices(' ').find_map(|(at, _)| {
            let (old, new) = (path(names.get(..at)?)?, path(names.get(at + 1..)?)?);
            let (old, new) = stripped(&old, &new);
            (old == new).then_some((old, new))
        });
        return split;
    }
    let mut splits = names
        .match_indices(' ')
        .filter_map(|(at, _)| Some(stripped(names.get(..at)?, names.get(at + 1..)?.trim_end())));
    let first = splits.clone().next();
    // A part with other names has lines that say them.
    splits.find(|(old, new)| old == new).or(first)
}

/// Reads a path: a quoted one with its escapes, any other up to a tab.
fn path(text: &str) -> Option<String> {
    let path = match text.trim_end().strip_prefix('"') {
        Some(quoted) => unquoted(quoted.strip_suffix('"')?)?,
        None => text.split('\t').next().unwrap_or_default().trim_end().to_owned(),
    };
    (!path.is_empty()).then_some(path)
}

/// Reads the escapes git writes in a quoted path.
fn unquoted(text: &str) -> Option<String> {
    const LETTERS: [(u8, u8); 9] = [
        (b'a', 7),
        (b'b', 8),
        (b't', 9),
        (b'n', 10),
        (b'v', 11),
        (b'f', 12),
        (b'r', 13),
        (b'"', b'"'),
        (b'\\', b'\\'),
    ];
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let first = rest.next()?;
        if let Some((_, stands_for)) = LETTERS.iter().find(|(letter, _)| *letter == first) {
            bytes.push(*stands_for);
            continue;
        }
        let digits = [first, rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Takes off what git puts in front of the paths, where both sides have it.
fn stripped(old: &str, new: &str) -> (String, String) {
    let pair = PREFIXES.iter().find_map(|(before, after)| {
        let side = |path: &str, prefix| {
            if path == NOWHERE {
                Some(path.to_owned())
            } else {
                path.strip_prefix(prefix).map(str::to_owned)
            }
        };
        Some((side(old, before)?, side(new, after)?))
    });
    pair.unwrap_or_else(|| (old.to_owned(), new.to_owned()))
}
