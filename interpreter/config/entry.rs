//! Adds a connection to `connections.yaml`: what is there stays as it is, comments and layout too, and the file is written whole
//! or not at all, for its owner alone. It asks nobody and knows no server.

use super::yaml::{self, Document};
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Write},
    path::Path,
};

/// The key that all connections stand under.
const ALL: &str = "connections";

/// Adds the connection `name`.
///
/// # Errors
/// A sentence: the file cannot be read or written, or is laid out so that the connection must be added by hand; it is as it was.
pub(crate) fn add(file: &Path, name: &str, entry: &Value) -> Result<(), String> {
    let document = yaml::read(file).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })?;
    let text = added(document.as_ref(), name, entry);
    let mut wanted = document.map_or_else(|| json!({}), |document| document.value);
    let all = wanted.as_object_mut().map(|all| all.entry(ALL).or_insert_with(|| json!({})));
    if let Some(all) = all.and_then(Value::as_object_mut) {
        all.insert(name.into(), entry.clone());
    }
    // Whatever the layout: the file must say what it said, and the connection besides.
    let said = yaml::parse(file, text.clone().into_bytes()).ok().map(|document| document.value);
    if said != Some(wanted) {
        return Err(format!(
            "{} is laid out so that nothing can be added to it; add this under `{ALL}` by hand:\n\n{}",
            file.display(),
            block(name, entry, 2)
        ));
    }
    write(file, &text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// Returns the text with the connection behind the last one.
fn added(document: Option<&Document>, name: &str, entry: &Value) -> String {
    let text = document.map_or("", Document::text);
    let first = document.and_then(|document| document.value[ALL].as_object()?.keys().next());
    let indent = match (document, first) {
        (Some(document), Some(first)) => {
            document.key_place(&format!("/{ALL}/{}", super::place::escape(first))).column - 1
        }
        _ => 2,
    };
    let mut block = block(name, entry, indent);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(String::from).collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("{ALL}:")));
    let place = match at {
        Some(at) => {
            if let Some(line) = lines.get_mut(at) {
                *line = line.replacen("{}", "", 1);
            }
            end_of(&lines, at)
        }
        None => {
            block = format!("{ALL}:\n{block}");
            lines.len()
        }
    };
    if let Some(last) = place.checked_sub(1).and_then(|last| lines.get_mut(last))
        && !last.ends_with('\n')
    {
        last.push('\n');
    }
    if text.contains("\r\n") {
        block = block.replace('\n', "\r\n");
    }
    lines.insert(place.min(lines.len()), block);
    lines.concat()
}

/// Returns the line behind the block that begins on a line. Comments at the margin belong to what follows.
fn end_of(lines: &[String], start: usize) -> usize {
    let margin = |line: &String| !line.starts_with([' ', '\t', '#', '\r', '\n']);
    let next = lines.iter().skip(start + 1).position(margin);
    let mut end = next.map_or(lines.len(), |next| start + 1 + next);
    let loose = |line: &String| line.trim().is_empty() || line.starts_with('#');
    while end > start + 1 && lines.get(end - 1).is_some_and(loose) {
        end -= 1;
    }
    end
}

/// Returns the connection as lines of YAML.
fn block(name: &str, entry: &Value, indent: usize) -> String {
    let yaml = serde_yaml::to_string(&json!({ name: entry })).unwrap_or_default();
    yaml.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// Writes the file its owner's alone; a link stays a link.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let real = file.canonicalize().unwrap_or_else(|_| file.into());
    let folder = real.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    // A temporary file is made for its owner only (0600).
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(&real).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Adds a connection to a file with this text; `None`: there is no file.
    fn check(before: Option<&str>, after: Result<&str, &str>) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("connections.yaml");
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
        let entry = json!({ "dialect": "d", "base_url": "u" });
        let got = add(&file, "new", &entry);
        match (got, after) {
            (Ok(()), Ok(after)) => {
                assert_eq!(fs::read_to_string(&file).unwrap(), after);
                assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            }
            (Err(why), Err(part)) => {
                assert!(why.contains(part), "{why}");
                assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
            }
            (got, after) => panic!("{got:?}, not {after:?}"),
        }
    }

    const NEW: &str = "  new:\n    dialect: d\n    base_url: u\n";

    #[test]
    fn what_is_there_stays() {
        let fresh = format!("connections:\n{NEW}");
        check(None, Ok(&fresh));
        check(Some(""), Ok(&fresh));
        check(Some("# mine\n"), Ok(&format!("# mine\n{fresh}")));
        check(Some("connections:\n"), Ok(&fresh));
        check(Some("connections: {} # none\n"), Ok(&format!("connections:  # none\n{NEW}")));
        let old = "connections: # all\n  # the first\n  a: { dialect: x, base_url: y } # why\n    # more of it\n";
        check(Some(old), Ok(&format!("{old}{NEW}")));
        let rest = "\n# more\nother: 1\n";
        check(Some(&format!("{old}{rest}")), Ok(&format!("{old}{NEW}{rest}")));
        check(Some(old.trim_end()), Ok(&format!("{old}{NEW}")));
        let wide = "connections:\n    a:\n        dialect: x\n";
        let four = "    new:\n      dialect: d\n      base_url: u\n";
        check(Some(wide), Ok(&format!("{wide}{four}")));
        let crlf = "connections:\r\n  a: 1\r\n";
        check(Some(crlf), Ok(&format!("{crlf}{}", NEW.replace('\n', "\r\n"))));
        check(
            Some("connections:\n  a: |\n    text\n\n"),
            Ok(&format!("connections:\n  a: |\n    text\n{NEW}\n")),
        );
    }

    #[test]
    fn what_cannot_be_added_to_is_left_alone() {
        let by_hand = "by hand:\n\n  new:\n    dialect: d\n";
        check(Some("connections: { a: 1 }\n"), Err(by_hand));
        check(Some("connections: &x\n  a: 1\n...\nmore"), Err("connections.yaml"));
        check(Some("\"connections\":\n  a: 1\n"), Err(by_hand));
        check(Some("connections: [\n"), Err("connections.yaml:"));
    }
}
