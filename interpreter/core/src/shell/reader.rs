//! The cursor over a text and what all parts of the reader share. Knows no grammar.

use super::heredoc::Pending;
use super::variables::Variables;
use super::{Limits, Line, Unseen};
use compact_str::CompactString;
use foldhash::HashSet;

/// What has been read so far, shared by the readers of nested texts.
pub(super) struct Out {
    pub(super) line: Line,
    pub(super) limits: Limits,
    pub(super) variables: Variables,
    /// Functions defined so far.
    pub(super) functions: HashSet<CompactString>,
    /// Nesting of everything that recurses.
    pub(super) depth: usize,
    /// Nesting of substitutions.
    pub(super) level: usize,
    pub(super) scope: usize,
    pub(super) chains: usize,
    pub(super) chain: usize,
    /// Above zero inside what may not run, or may run more than once.
    pub(super) conditional: usize,
    /// Above zero inside loops and functions.
    pub(super) repeated: usize,
    /// Words and bytes made by expansion so far.
    pub(super) words: usize,
    pub(super) expanded: usize,
}

impl Out {
    pub(super) fn new(limits: Limits) -> Out {
        Out {
            // Most lines have no more commands, and those are large.
            line: Line { commands: Vec::with_capacity(8), scopes: vec![0], ..Line::default() },
            limits,
            variables: Variables::new(&limits),
            functions: HashSet::default(),
            depth: 0,
            level: 0,
            scope: 0,
            chains: 0,
            chain: 0,
            conditional: 0,
            repeated: 0,
            words: 0,
            expanded: 0,
        }
    }

    /// Opens a scope below the current one and returns its number; the caller puts the old one back.
    pub(super) fn open_scope(&mut self) -> usize {
        self.line.scopes.push(self.scope);
        self.line.scopes.len() - 1
    }

    pub(super) fn unseen(&mut self, why: Unseen) {
        if !self.line.unseen.contains(&why) {
            self.line.unseen.push(why);
        }
    }
}

/// Where a text is being read, and what has come of it.
pub(super) struct Place {
    at: usize,
    pending: Vec<Pending>,
    commands: usize,
    documents: usize,
    functions: usize,
}

/// A cursor over one text.
pub(super) struct Reader<'t, 'o> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Where the text starts in the whole line.
    pub(super) base: usize,
    pub(super) out: &'o mut Out,
    pub(super) pending: Vec<Pending>,
}

impl<'t, 'o> Reader<'t, 'o> {
    pub(super) fn new(text: &'t str, base: usize, out: &'o mut Out) -> Reader<'t, 'o> {
        let mut reader = Reader { text, at: 0, base, out, pending: Vec::new() };
        reader.skip_joins();
        reader
    }

    /// Returns the text from here on.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the character here.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character `count` places further on, joined lines skipped.
    pub(super) fn ahead(&self, count: usize) -> Option<char> {
        let mut rest = self.rest();
        for _ in 0..count {
            let mut chars = rest.chars();
            chars.next()?;
            rest = chars.as_str();
            while let Some(joined) = rest.strip_prefix("\\\n") {
                rest = joined;
            }
        }
        rest.chars().next()
    }

    /// Steps over the character here and returns it; a line joined by a backslash is skipped.
    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.bump_raw();
        self.skip_joins();
        next
    }

    /// Steps over the character here without looking at joined lines.
    pub(super) fn bump_raw(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn skip_joins(&mut self) {
        while self.rest().starts_with("\\\n") {
            self.at += 2;
        }
    }

    /// Moves to a place in the text.
    pub(super) fn jump(&mut self, at: usize) {
        self.at = at.min(self.text.len());
        self.skip_joins();
    }

    /// Steps over `sign` if it is here.
    pub(super) fn eat(&mut self, sign: char) -> bool {
        let here = self.peek() == Some(sign);
        if here {
            self.bump();
        }
        here
    }

    /// Steps over the two signs if both are here.
    pub(super) fn eat_two(&mut self, first: char, second: char) -> bool {
        let here = self.peek() == Some(first) && self.ahead(1) == Some(second);
        if here {
            self.bump();
            self.bump();
        }
        here
    }

    /// Returns the place here, to come back to.
    pub(super) fn place(&self) -> Place {
        let line = &self.out.line;
        Place {
            at: self.at,
            pending: self.pending.clone(),
            commands: line.commands.len(),
            documents: line.documents.len(),
            functions: line.functions.len(),
        }
    }

    /// Goes back to a place; what has been read since is forgotten.
    pub(super) fn back_to(&mut self, place: Place) {
        self.at = place.at;
        self.pending = place.pending;
        self.out.line.commands.truncate(place.commands);
        self.out.line.documents.truncate(place.documents);
        self.out.line.functions.truncate(place.functions);
    }

    /// Notes why the text cannot be followed and gives up on the rest of it.
    pub(super) fn fail(&mut self, why: Unseen) {
        self.out.unseen(why);
        self.at = self.text.len();
    }

    /// Runs `inner` one level deeper, or gives up at the limit.
    pub(super) fn deeper<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.out.depth >= self.out.limits.max_depth {
            self.fail(Unseen::TooDeep);
            return T::default();
        }
        self.out.depth += 1;
        let result = inner(self);
        self.out.depth -= 1;
        result
    }

    /// Runs `inner` for something that may not run, or may run more than once.
    pub(super) fn conditionally(&mut self, inner: impl FnOnce(&mut Self)) {
        self.out.conditional += 1;
        inner(self);
        self.out.conditional -= 1;
    }

    /// Runs `inner` in a scope of its own: what it assigns is gone afterwards.
    pub(super) fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        let outer = self.out.scope;
        let mark = self.out.variables.mark();
        self.out.scope = self.out.open_scope();
        inner(self);
        self.out.scope = outer;
        self.out.variables.undo_since(mark);
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
        if self.peek() == Some('#') && self.at_word_start() {
            let end = self.rest().find('\n').unwrap_or(self.rest().len());
            self.at += end;
        }
    }

    /// Skips blanks, comments and newlines; here-documents that wait for the newline are read.
    pub(super) fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.peek() == Some('\n') {
            self.newline();
            self.skip_blanks();
        }
    }

    fn at_word_start(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default().chars().next_back();
        before.is_none_or(|sign| is_blank(sign) || is_operator(sign))
    }
}

/// Returns true for a sign that ends an unquoted word.
pub(super) fn ends_word(sign: char) -> bool {
    is_blank(sign) || is_operator(sign)
}

fn is_blank(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\n')
}

fn is_operator(sign: char) -> bool {
    matches!(sign, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
