//! What a command reads through a pipe: whether it is names of files that the line lets be seen, or any text.

use super::program::Grammar;
use crate::shell::{Command, Line, RedirectKind};
use crate::spec::Given;

/// Returns whether all that a command reads through a pipe are names of files in directories that the line names.
pub(super) fn fed(spec: &Grammar<'_>, line: &Line, command: &Command) -> bool {
    fed_within(spec, line, command, 0)
}

fn fed_within(spec: &Grammar<'_>, line: &Line, command: &Command, depth: usize) -> bool {
    let sources = line.commands.get(command.fed_by.clone()).unwrap_or_default();
    depth < spec.limits.shell.max_nested
        && !sources.is_empty()
        && !has_other_input(command)
        && sources.iter().all(|source| prints_names(spec, line, source, depth))
}

/// Returns whether a redirect stands for the pipe.
fn has_other_input(command: &Command) -> bool {
    let input = |kind| {
        matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::Document)
    };
    command.redirects.iter().any(|redirect| input(redirect.kind))
}

fn prints_names(spec: &Grammar<'_>, line: &Line, source: &Command, depth: usize) -> bool {
    let reading = spec.read(&source.words);
    let Some(program) = reading.program else { return false };
    let holds = |given: &Option<Given>| {
        let any = |names: &[String]| reading.arguments.has(names);
        given
            .as_ref()
            .is_some_and(|given| (given.only.is_empty() || any(&given.only)) && !any(&given.unless))
    };
    holds(&program.names)
        || (holds(&program.filters)
            && reading.files().is_empty()
            && fed_within(spec, line, source, depth + 1))
}
