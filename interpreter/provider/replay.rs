//! Answers requests from a recording, without a network. The chunks come as they were recorded, without the waits.

use super::{Body, Opened, failed, record::FORMAT};
use crate::regular;
use base64::{Engine, prelude::BASE64_STANDARD};
use lembas_core::event::Failure;
use serde_json::{Map, Value};
use std::{collections::VecDeque, path::Path};

/// The most bytes of a recording; it is held in memory whole.
const MAX_BYTES: u64 = 1 << 28;

/// A recording that is being played.
pub(crate) struct Recording {
    /// The dialect the replies are in.
    pub(crate) dialect: String,
    /// The model that gave them.
    pub(crate) model: String,
    /// The ways in which calls in the text were read; `None` in a recording that does not say, which was read in all of them.
    pub(crate) text_calls: Option<Vec<String>>,
    file: String,
    exchanges: VecDeque<Opened>,
    played: usize,
}

impl Recording {
    /// Reads a recording whole.
    ///
    /// # Errors
    /// One line per problem, with file and line.
    pub(crate) fn read(path: &Path) -> Result<Recording, Vec<String>> {
        let file = path.display().to_string();
        let text = regular::text(path, MAX_BYTES)
            .map_err(|error| vec![format!("{file}:1: the recording cannot be read: {error}")])?;
        let mut reader = Reader {
            file: file.clone(),
            problems: Vec::new(),
            head: None,
            exchanges: VecDeque::new(),
            open: None,
        };
        for (number, line) in text.lines().enumerate() {
            reader.line(number + 1, line);
        }
        reader.done(text.lines().count().max(1));
        match reader.head {
            Some(Head { dialect, model, text_calls }) if reader.problems.is_empty() => {
                let exchanges = reader.exchanges;
                Ok(Recording { dialect, model, text_calls, file, exchanges, played: 0 })
            }
            _ => Err(reader.problems),
        }
    }

    /// Returns the next reply.
    ///
    /// # Errors
    /// A request beyond the recording.
    pub(super) fn next(&mut self) -> Result<Opened, Box<Failure>> {
        self.played += 1;
        self.exchanges.pop_front().ok_or_else(|| {
            let message = format!(
                "the recording {} has {} replies and the program asked for one more; it was made by another version, or of another task",
                self.file,
                self.played - 1
            );
            failed("replay", "no", message)
        })
    }
}

/// What the first line of a recording says of all of it.
#[derive(Default)]
struct Head {
    dialect: String,
    model: String,
    text_calls: Option<Vec<String>>,
}

struct Reader {
    file: String,
    problems: Vec<String>,
    head: Option<Head>,
    exchanges: VecDeque<Opened>,
    open: Option<(Opened, VecDeque<Vec<u8>>)>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let taken = match serde_json::from_str::<Map<String, Value>>(line) {
            Ok(object) => self.object(&object),
            Err(error) => Err(format!("the line is no JSON object: {error}")),
        };
        if let Err(problem) = taken {
            self.problems.push(format!("{}:{number}: {problem}", self.file));
        }
    }

    fn object(&mut self, object: &Map<String, Value>) -> Result<(), String> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(String::from);
        if self.head.is_none() {
            return self.start(object, text("dialect"), text("model"));
        }
        if let Some(status) = object.get("status") {
            return self.status(status, object.get("headers"));
        }
        let Some((_, chunks)) = &mut self.open else {
            return Err("a \"status\" line starts each reply".into());
        };
        if let Some(data) = text("data") {
            chunks.push_back(data.into_bytes());
            Ok(())
        } else if let Some(data) = text("data_b64") {
            let bytes = BASE64_STANDARD
                .decode(data)
                .map_err(|error| format!("data_b64 is not base64: {error}"))?;
            chunks.push_back(bytes);
            Ok(())
        } else {
            self.end(text("end").as_deref())
        }
    }

    fn start(
        &mut self,
        object: &Map<String, Value>,
        dialect: Option<String>,
        model: Option<String>,
    ) -> Result<(), String> {
        let format = object.get("recording").and_then(Value::as_u64);
        match (format, dialect, model) {
            (Some(FORMAT), Some(dialect), Some(model)) => {
                let ways = object.get("text_calls").and_then(Value::as_array);
                let text_calls = ways.map(|ways| {
                    ways.iter().filter_map(|way| way.as_str().map(String::from)).collect()
                });
                self.head = Some(Head { dialect, model, text_calls });
                Ok(())
            }
            (Some(other), ..) if other != FORMAT => {
                self.head = Some(Head::default());
                Err(format!(
                    "the recording is of format {other}; this program reads format {FORMAT}"
                ))
            }
            _ => {
                self.head = Some(Head::default());
                Err("the first line of a recording is {\"recording\": 1, \"dialect\": …, \"model\": …}".into())
            }
        }
    }

    fn status(&mut self, status: &Value, headers: Option<&Value>) -> Result<(), String> {
        let code = status.as_u64().and_then(|status| u16::try_from(status).ok());
        let Some(status) = code.filter(|status| (100..600).contains(status)) else {
            return Err(format!("{status} is no HTTP status"));
        };
        if self.open.is_some() {
            return Err("the reply before this one has no \"end\" line".into());
        }
        let headers = headers.and_then(Value::as_object).into_iter().flatten();
        let headers = headers
            .filter_map(|(name, value)| Some((name.to_lowercase(), value.as_str()?.to_string())));
        let body = Body::Replay(VecDeque::new(), false);
        self.open = Some((Opened { status, headers: headers.collect(), body }, VecDeque::new()));
        Ok(())
    }

    fn end(&mut self, end: Option<&str>) -> Result<(), String> {
        let cut =
            match end {
                Some("complete") => false,
                Some("cut") => true,
                _ => return Err(
                    "a line has \"status\", \"data\", \"data_b64\" or \"end\" (complete or cut)"
                        .into(),
                ),
            };
        if let Some((mut opened, chunks)) = self.open.take() {
            opened.body = Body::Replay(chunks, cut);
            self.exchanges.push_back(opened);
        }
        Ok(())
    }

    fn done(&mut self, lines: usize) {
        if self.head.is_none() {
            self.problems.push(format!("{}:1: the recording is empty", self.file));
        }
        if self.open.is_some() {
            self.problems
                .push(format!("{}:{lines}: the last reply has no \"end\" line", self.file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn check(text: &str, problems: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.replay");
        fs::write(&path, text).unwrap();
        let found = Recording::read(&path).err().unwrap_or_default();
        let found: Vec<&str> =
            found.iter().map(|line| line.split_once("r.replay:").unwrap().1).collect();
        assert_eq!(found.len(), problems.len(), "{found:?}");
        for (found, expected) in found.iter().zip(problems) {
            assert!(found.starts_with(expected), "{found} is not {expected}");
        }
    }

    const HEAD: &str = "{\"recording\":1,\"dialect\":\"openai-chat\",\"model\":\"m\"}\n";

    #[test]
    fn problems_are_located() {
        check(HEAD, &[]);
        check("", &["1: the recording is empty"]);
        check(
            "x\n[]\n",
            &[
                "1: the line is no JSON object",
                "2: the line is no JSON object",
                "1: the recording is empty",
            ],
        );
        check("{\"recording\":2}", &["1: the recording is of format 2"]);
        check("{}", &["1: the first line"]);
        check(&format!("{HEAD}{{\"data\":\"x\"}}"), &["2: a \"status\" line starts each reply"]);
        check(&format!("{HEAD}{{\"status\":9}}"), &["2: 9 is no HTTP status"]);
        check(
            &format!("{HEAD}{{\"status\":200}}\n{{\"data_b64\":\"?\"}}"),
            &["3: data_b64", "3: the last reply has no"],
        );
        check(
            &format!("{HEAD}{{\"status\":200}}\n{{\"x\":1}}\n{{\"end\":\"cut\"}}"),
            &["3: a line has"],
        );
    }
}
