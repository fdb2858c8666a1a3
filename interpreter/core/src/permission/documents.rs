//! Puts the text of a here-document in the place of a substitution that only prints it, as in
//! `git commit -m "$(cat <<'E' …)"`. The command inside stays a command of the line, and is judged.

use super::arguments::contains;
use super::program::Grammar;
use crate::shell::{self, Hidden, Line, Piece, Word};
use compact_str::CompactString;

/// Puts the texts in for which that is sure: the program prints what it reads, and the line makes it no other one.
pub(super) fn settle(spec: &Grammar<'_>, line: &mut Line) {
    let defined: Vec<CompactString> = line.functions.iter().map(|each| each.name.clone()).collect();
    for command in &mut line.commands {
        for word in command.words.iter_mut().filter(|word| word.hides(Hidden::Document)) {
            if word.also.is_empty() {
                let pieces = word.pieces.iter().map(|piece| settled(spec, &defined, piece));
                *word = Word::made(pieces.collect(), true);
            }
        }
    }
}

fn settled(spec: &Grammar<'_>, defined: &[CompactString], piece: &Piece) -> Piece {
    let text = match piece {
        Piece::Hidden(Hidden::Document, raw) => printed(spec, defined, raw),
        _ => None,
    };
    text.map_or_else(|| piece.clone(), |text| Piece::Text(text.into()))
}

/// Returns what a substitution prints, without the newlines that the shell takes off its end.
fn printed(spec: &Grammar<'_>, defined: &[CompactString], raw: &str) -> Option<String> {
    let inner = raw.strip_prefix("$(")?.strip_suffix(')')?;
    if !spec.spend_reading(inner) {
        return None;
    }
    let line = shell::read(inner, &spec.limits.shell);
    let command = line.commands.first()?;
    let program = &command.words.first()?.text;
    let prints = contains(&spec.wrappers.printers, program) && !defined.contains(program);
    let document = line.documents_of(command).next()?;
    prints.then(|| document.text.trim_end_matches('\n').to_string())
}
