//! `edit`: what an edit makes of a file, or why it does not. A file that is no text is given and answered as `hex`.

use lembas_core::edit::{Change, Refused, edit};
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
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// Answers `{text | hex, old, new, all?}` with the new content, the matcher and the changed lines, or the reason.
pub(crate) fn answer(spec: &Spec, input: &Value) -> Result<Value, String> {
    let asked = Question::deserialize(input).map_err(|error| error.to_string())?;
    let file = match &asked.hex {
        Some(hex) => read_hex(hex).ok_or("hex has two digits a byte")?,
        None => asked.text.clone().into_bytes(),
    };
    let tool = spec.tool("edit").ok_or("the spec has no tool edit")?;
    let change = Change { old: &asked.old, new: &asked.new, all: asked.all };
    Ok(match edit(&file, change, &tool.matchers, &spec.limits.tools.edit) {
        Ok(edited) => {
            let (key, content) = match (&asked.hex, String::from_utf8(edited.bytes)) {
                (None, Ok(text)) => ("text", text),
                (Some(_), Ok(text)) => ("hex", write_hex(text.as_bytes())),
                (_, Err(error)) => ("hex", write_hex(error.as_bytes())),
            };
            json!({"ok": true, key: content, "matcher": edited.matcher, "lines": edited.lines, "count": edited.count})
        }
        Err(refused) => reason(&refused),
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

fn read_hex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| {
            u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16)
                .ok()
        })
        .collect()
}

fn write_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use lembas_core::spec::{Files, PACK, cases, packed};

    #[test]
    fn cases_hold() {
        let spec = packed().unwrap();
        let files = cases(&Files::packed(PACK), None).unwrap();
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
