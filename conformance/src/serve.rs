//! This program as a peer: a question a line in, an answer a line out, to the end of the input.

use crate::{
    areas::Here,
    error::Error,
    lines::{LONGEST, Line, Lines},
    reply::Reply,
    source,
};
use lembas_core::spec::Area;
use serde_json::{Value, json};
use std::{
    io::{BufRead, Write},
    path::Path,
};

/// Answers the questions of `input`, one line each, until it ends. A line that is no question gets an error.
///
/// # Errors
/// A spec directory with problems, before anything is read; or the answers can no longer be written.
pub fn serve(
    harness: Option<&Path>,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let spec = match harness {
        Some(dir) => source::directory(dir)?.1.spec,
        None => source::packed_spec()?,
    };
    let here = Here::new(spec);
    let mut lines = Lines::new(input, LONGEST);
    while let Some(line) = lines.next()? {
        let answer = match line {
            Line::Text(text) => answer(&here, &text),
            Line::TooLong => error(format!("a line of more than {LONGEST} bytes")),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(here: &Here, line: &str) -> Value {
    let question: Value = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(why) => return error(format!("not JSON: {why}")),
    };
    match (question["op"].as_str(), question["area"].as_str(), question.get("in")) {
        (Some("spec"), ..) => about(here),
        (Some(op), ..) => error(format!("no op {op:?}; there is: spec")),
        (None, Some(area), Some(input)) => here.ask(area, input).to_json(),
        _ => error(r#"a question is {"area": name, "in": value} or {"op": "spec"}"#.into()),
    }
}

fn about(here: &Here) -> Value {
    let areas: Vec<&str> = Area::ALL.iter().map(|area| area.name()).collect();
    json!({ "version": here.spec().version, "areas": areas, "name": "lembas" })
}

fn error(why: String) -> Value {
    Reply::Error(why).to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], expected: &[&str]) {
        let mut out = Vec::new();
        serve(None, &mut &*input, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{out}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "{line} has no {expected}");
        }
    }

    #[test]
    fn every_line_gets_an_answer() {
        let version = lembas_core::spec::packed().unwrap().version;
        check(br#"{"op":"spec"}"#, &[&format!("{{\"version\":\"{version}\",\"areas\":[")]);
        check(
            b"\n[1]\n{\"op\":\"stop\"}\n{\"area\":\"nothing\",\"in\":1}\n{\"area\":\"hardline\"}\n\xff",
            &[
                "not JSON",
                "a question is",
                "no op \\\"stop\\\"",
                "{\"pending\":\"no such area in this build\"}",
                "a question is",
                "not JSON",
            ],
        );
        let mut long = vec![b'x'; LONGEST + 1];
        long.extend(b"\n{\"area\":\"hardline\",\"in\":{\"command\":\"ls\"}}");
        check(&long, &["bytes", "{\"out\":"]);
        let deep = "[".repeat(100_000);
        check(deep.as_bytes(), &["not JSON"]);
    }

    #[test]
    fn whatever_is_asked_of_an_area_is_answered() {
        for area in Area::ALL {
            for input in ["null", "[]", "{}", "\"\"", "-1", "{\"command\":[]}"] {
                let question = format!("{{\"area\":{:?},\"in\":{input}}}", area.name());
                check(question.as_bytes(), &["{\""]);
            }
        }
    }
}
