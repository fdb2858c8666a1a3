//! Here-documents: their bodies are read when the newline behind their line comes.

use super::expand::{self, Atoms};
use super::reader::Reader;
use super::{Document, Unseen};

/// A here-document whose body is still to come.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// The line that ends the body.
    pub(super) mark: String,
    /// The mark was quoted: nothing in the body is expanded.
    pub(super) literal: bool,
    /// `<<-`: leading tabs are no part of it.
    pub(super) tabs: bool,
    /// Position in the line's documents.
    pub(super) document: usize,
}

impl Reader<'_, '_> {
    /// Steps over a newline and reads the here-documents that wait for it.
    pub(super) fn newline(&mut self) {
        self.bump_raw();
        for pending in std::mem::take(&mut self.pending) {
            let start = self.base + self.at;
            let (body, ended) = self.document_body(&pending);
            if !ended {
                self.out.unseen(Unseen::Unended);
            }
            let document = if pending.literal {
                Document { text: body, known: true, ..Document::default() }
            } else {
                self.expanded(&body, start)
            };
            if let Some(slot) = self.out.line.documents.get_mut(pending.document) {
                *slot = document;
            }
        }
        self.skip_joins();
    }

    fn document_body(&mut self, pending: &Pending) -> (String, bool) {
        let mut body = String::new();
        while self.at < self.text.len() {
            let line = self.raw_line(pending.literal);
            let line = if pending.tabs { line.trim_start_matches('\t') } else { &line };
            if line == pending.mark {
                return (body, true);
            }
            body.push_str(line);
            body.push('\n');
        }
        (body, false)
    }

    /// Takes one line; in a body that is expanded, lines joined by a backslash are one.
    fn raw_line(&mut self, literal: bool) -> String {
        let mut line = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            let part = rest.get(..end).unwrap_or_default();
            self.at = (self.at + end + 1).min(self.text.len());
            let slashes = part.chars().rev().take_while(|sign| *sign == '\\').count();
            if literal || slashes % 2 == 0 || self.at >= self.text.len() {
                line.push_str(part);
                return line;
            }
            line.push_str(part.strip_suffix('\\').unwrap_or(part));
        }
    }

    /// Expands a body that begins at `base` in the line.
    fn expanded(&mut self, body: &str, base: usize) -> Document {
        let mut atoms = Atoms::default();
        self.deeper(|outer| {
            let mut inner = Reader::new(body, base, outer.out);
            inner.quoted_until(None, &mut atoms);
        });
        let word = expand::single(atoms, self.out);
        Document::of(&word)
    }
}
