//! Fills `{env:NAME}` and `{file:path}` in texts.
//! What is filled in is never read again for placeholders and never shown in an error.

use super::place::escape;
use crate::regular;
use serde_json::Value;
use std::{
    ffi::OsString,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Looks an environment variable up; tests pass their own.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The most bytes of a file that may be filled in.
const MAX_BYTES: u64 = 256 * 1024;

/// Where placeholders are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Filler<'a> {
    /// The environment.
    pub(crate) env: Env<'a>,
    /// The directory that relative paths start from: that of the file the text stands in.
    pub(crate) base: &'a Path,
    /// What `~/` stands for.
    pub(crate) home: Option<&'a Path>,
}

impl Filler<'_> {
    /// Returns `raw` with its placeholders filled; the error is a sentence that names the placeholder.
    pub(crate) fn fill(&self, raw: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = raw;
        while let Some((before, kind, after)) = next(rest) {
            let opening = format!("{{{kind}:");
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!("`{opening}` has no closing brace"));
            };
            if name.trim().is_empty() {
                return Err(format!("`{opening}}}` names nothing; write a name after the colon"));
            }
            filled.push_str(before);
            let value = if kind == "env" { self.variable(name) } else { self.file(name) };
            filled.push_str(&value.map_err(|why| format!("`{opening}{name}}}`: {why}"))?);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn variable(&self, name: &str) -> Result<String, String> {
        let value = (self.env)(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| format!("the variable {name} is not set or is empty"))?;
        value.into_string().map_err(|_| format!("the variable {name} is not UTF-8"))
    }

    fn file(&self, name: &str) -> Result<String, String> {
        let path = self.path(name)?;
        let shown = path.display();
        match regular::text(&path, MAX_BYTES) {
            Ok(text) if text.trim().is_empty() => Err(format!("{shown} is empty")),
            Ok(text) => Ok(text.trim_end().to_string()),
            Err(error) => Err(match error.kind() {
                ErrorKind::InvalidInput => format!("{shown} is not a regular file"),
                ErrorKind::FileTooLarge => {
                    format!("{shown} is larger than {} KiB", MAX_BYTES / 1024)
                }
                _ => format!("{shown} cannot be read: {error}"),
            }),
        }
    }

    /// Returns where a path leads that is written in the file.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, String> {
        match name.strip_prefix("~/") {
            Some(rest) => self
                .home
                .map(|home| home.join(rest))
                .ok_or_else(|| "no home directory is known for `~`".into()),
            None => Ok(self.base.join(name)),
        }
    }
}

/// Splits `text` at its first placeholder: what stands before it, its kind, and what follows the colon.
fn next(text: &str) -> Option<(&str, &'static str, &str)> {
    let split = |kind: &'static str, opening: &str| {
        text.split_once(opening).map(|(before, after)| (before, kind, after))
    };
    [split("env", "{env:"), split("file", "{file:")]
        .into_iter()
        .flatten()
        .min_by_key(|(before, ..)| before.len())
}

/// Fills every text in `value`; failures are (pointer, sentence), and such a text stays as it was.
pub(crate) fn fill_all(
    value: &mut Value,
    pointer: &str,
    filler: &Filler<'_>,
) -> Vec<(String, String)> {
    match value {
        Value::String(text) => match filler.fill(text) {
            Ok(filled) => {
                *text = filled;
                Vec::new()
            }
            Err(message) => vec![(pointer.to_string(), message)],
        },
        Value::Array(items) => {
            let items = items.iter_mut().enumerate();
            items
                .flat_map(|(index, item)| fill_all(item, &format!("{pointer}/{index}"), filler))
                .collect()
        }
        Value::Object(map) => map
            .iter_mut()
            .flat_map(|(key, item)| fill_all(item, &format!("{pointer}/{}", escape(key)), filler))
            .collect(),
        _ => Vec::new(),
    }
}
