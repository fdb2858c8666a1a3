//! Redirects of every form. Here-documents are only noted; `heredoc` reads them.

use super::heredoc::Pending;
use super::reader::{Reader, ends_word};
use super::variables::name_at;
use super::words::Until;
use super::{Document, Redirect, RedirectKind, Unseen, Word};

impl Reader<'_, '_> {
    /// Reads a redirect if one stands here, with the descriptor in front of it.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let fd = self.descriptor()?;
        let both = fd.is_none() && self.peek() == Some('&') && self.ahead(1) == Some('>');
        if both {
            self.bump();
        }
        let sign = self.peek().filter(|sign| matches!(sign, '<' | '>'))?;
        if fd.is_none() && !both && self.ahead(1) == Some('(') {
            return None;
        }
        self.bump();
        let kind = if sign == '<' { self.input()? } else { self.output(both) };
        if kind == RedirectKind::Document {
            return Some(self.here(fd));
        }
        self.skip_blanks();
        let target = self.single_word(Until::Blank);
        if target.pieces.is_empty() {
            self.out.unseen(Unseen::Syntax);
        }
        let to_descriptor = is_descriptor(&target.text);
        let kind = match kind {
            RedirectKind::Duplicate if sign == '>' && !to_descriptor => RedirectKind::Write,
            kind => kind,
        };
        Some(Redirect { kind, fd, target, document: None })
    }

    /// Steps over the descriptor in front of a redirect; `None` if no redirect can follow.
    fn descriptor(&mut self) -> Option<Option<String>> {
        let rest = self.rest();
        let (name, length) = if let Some(inner) = rest.strip_prefix('{') {
            let name = name_at(inner)?;
            inner.get(name.len()..)?.strip_prefix('}')?;
            (name, name.len() + 2)
        } else {
            let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
            (rest.get(..end)?, end)
        };
        match rest.get(length..)?.chars().next()? {
            '<' | '>' => {
                self.at += length;
                Some((length > 0).then(|| name.to_string()))
            }
            '&' if length == 0 => Some(None),
            _ => None,
        }
    }

    fn input(&mut self) -> Option<RedirectKind> {
        Some(match self.peek() {
            Some('<') => RedirectKind::Document,
            Some('&') => {
                self.bump();
                RedirectKind::Duplicate
            }
            Some('>') => {
                self.bump();
                RedirectKind::ReadWrite
            }
            _ => RedirectKind::Read,
        })
    }

    fn output(&mut self, both: bool) -> RedirectKind {
        match self.peek() {
            Some('>') => {
                self.bump();
                RedirectKind::Append
            }
            Some('|') => {
                self.bump();
                RedirectKind::Write
            }
            Some('&') if !both => {
                self.bump();
                RedirectKind::Duplicate
            }
            _ => RedirectKind::Write,
        }
    }

    /// Reads `<<`, `<<-` or `<<<` from its second sign on.
    fn here(&mut self, fd: Option<String>) -> Redirect {
        self.bump();
        let document = self.out.line.documents.len();
        self.out.line.documents.push(Document::default());
        let target = if self.eat('<') {
            self.skip_blanks();
            let word = self.single_word(Until::Blank);
            if let Some(slot) = self.out.line.documents.get_mut(document) {
                *slot = Document::of(&word);
                slot.text.push('\n');
            }
            word
        } else {
            let tabs = self.eat('-');
            self.skip_blanks();
            let (mark, literal) = self.mark();
            self.pending.push(Pending { mark: mark.clone(), literal, tabs, document });
            Word::of(&mark)
        };
        Redirect { kind: RedirectKind::Document, fd, target, document: Some(document) }
    }

    /// Reads a here-document's mark: quotes are taken off, nothing is expanded.
    fn mark(&mut self) -> (String, bool) {
        let mut mark = String::new();
        let mut literal = false;
        let mut quote: Option<char> = None;
        while let Some(sign) = self.peek() {
            match (quote, sign) {
                (Some(end), _) if sign == end => quote = None,
                (Some('\''), _) => mark.push(sign),
                (_, '\\') => {
                    self.bump_raw();
                    literal = true;
                    mark.extend(self.peek());
                }
                (Some(_), _) => mark.push(sign),
                (None, '\'' | '"') => {
                    literal = true;
                    quote = Some(sign);
                }
                (None, '$') if matches!(self.ahead(1), Some('\'' | '"' | '(' | '{')) => {
                    self.fail(Unseen::Syntax);
                    break;
                }
                (None, _) if ends_word(sign) => break,
                (None, _) => mark.push(sign),
            }
            self.bump();
        }
        (mark, literal)
    }
}

fn is_descriptor(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && digits.chars().all(|sign| sign.is_ascii_digit())
}
