//! `edit`: what an edit makes of a file, or why it does not. A file that is no text is given and answered as `hex`.

use super::hex;
use lembas_core::edit::{
    Change, Edits, Refused, changed, edit, edits, edits_made, edits_refused, refused,
};
use lembas_core::spec::Spec;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(default)]
    text: String,
    #[serde(default)]
    hex: Option<String>,
    #[serde(default)]
    old: Option<String>,
    #[serde(default)]
    new: Option<String>,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    edits: Vec<Asked>,
}

impl Question {
    /// Returns the edit, in a case about one.
    fn change(&self) -> Option<Change<'_>> {
        Some(Change { old: self.old.as_ref()?, new: self.new.as_ref()?, all: self.all })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

impl Asked {
    fn change(&self) -> Change<'_> {
        Change { old: &self.old, new: &self.new, all: self.all }
    }
}

/// A question with the bytes of its file.
struct Read {
    file: Vec<u8>,
    asked: Question,
}

fn question(input: &Value) -> Result<Read, String> {
    let asked = Question::deserialize(input).map_err(|error| error.to_string())?;
    let file = match &asked.hex {
        Some(text) => hex::read(text)?,
        None => asked.text.clone().into_bytes(),
    };
    Ok(Read { file, asked })
}

/// Answers `{text | hex, old, new, all?}` or `{text | hex, edits}` with the new content, the matchers and the changed
/// lines, or the reason.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let Read { file, asked } = question(input)?;
    let tool = spec.tool("edit").ok_or("the spec has no tool edit")?;
    let limits = &spec.limits.tools.edit;
    let content = |bytes: Vec<u8>| match String::from_utf8(bytes) {
        Ok(text) if asked.hex.is_none() => ("text", text),
        Ok(text) => ("hex", hex::write(text.as_bytes())),
        Err(error) => ("hex", hex::write(error.as_bytes())),
    };
    if let Some(change) = asked.change() {
        return Ok(match edit(&file, change, &tool.matchers, limits) {
            Ok(edited) => {
                let (key, content) = content(edited.bytes);
                json!({"ok": true, key: content, "matcher": edited.matcher, "lines": edited.lines, "count": edited.count})
            }
            Err(refused) => reason(&refused),
        });
    }
    let changes: Vec<_> = asked.edits.iter().map(Asked::change).collect();
    Ok(match edits(&file, &changes, &tool.matchers, limits) {
        Ok(Edits { bytes, lines, each }) => {
            let (key, content) = content(bytes);
            let made = each.iter().map(|each| match each {
                Ok(edited) => json!({"matcher": edited.matcher, "count": edited.count}),
                Err(refused) => reason(refused),
            });
            json!({"ok": true, key: content, "lines": lines, "edits": made.collect::<Vec<_>>()})
        }
        Err((index, refused)) => {
            let mut answer = reason(&refused);
            answer["edit"] = json!(index + 1);
            answer
        }
    })
}

/// Returns what a model is told of the edit or the edits of a case, in a file shown as `a.txt`.
pub(super) fn told(spec: &Spec, input: &Value) -> Result<String, String> {
    let Read { file, asked } = question(input)?;
    let tool = |id: &str| spec.tool(id).ok_or_else(|| format!("the spec has no tool {id}"));
    let (one, several, limits) = (tool("edit")?, tool("multiedit")?, &spec.limits.tools.edit);
    if let Some(change) = asked.change() {
        return Ok(match edit(&file, change, &one.matchers, limits) {
            Ok(edited) => changed(one, "a.txt", &edited),
            Err(why) => refused(one, "a.txt", &why),
        });
    }
    let changes: Vec<_> = asked.edits.iter().map(Asked::change).collect();
    Ok(match edits(&file, &changes, &one.matchers, limits) {
        Ok(made) => edits_made(one, several, "a.txt", &made),
        Err((index, why)) => edits_refused(one, several, "a.txt", index, changes.len(), &why),
    })
}

fn reason(refused: &Refused) -> Value {
    let mut answer = Map::from_iter([
        ("ok".to_owned(), json!(false)),
        ("reason".to_owned(), json!(refused.reason)),
    ]);
    if let Some(matcher) = &refused.matcher {
        answer.insert("matcher".to_owned(), json!(matcher));
    }
    if !refused.places.is_empty() {
        answer.insert("places".to_owned(), json!(refused.places));
    }
    if let Some(near) = &refused.near {
        let near =
            json!({"line": near.line, "differs": near.differs, "difference": near.difference});
        answer.insert("near".to_owned(), near);
    }
    Value::Object(answer)
}

#[cfg(test)]
mod tests {
    use lembas_core::spec::{cases, files, packed};

    #[test]
    fn cases_hold() {
        let spec = packed().unwrap();
        let files = cases(&files(), None).unwrap();
        let mut wrong = Vec::new();
        for case in &files.iter().find(|file| file.area == "edit").unwrap().cases {
            let got = super::answer(&spec, &case.input).unwrap();
            if Some(&got) != case.expect.as_ref() {
                wrong.push(format!(
                    "{}\n  expected {}\n  got      {got}\n",
                    case.name,
                    case.expect.as_ref().unwrap()
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.concat());
    }
}
