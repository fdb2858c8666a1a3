//! `permission/modes.json`: what each mode decides before the rules' own verdict stands.

use super::{
    Decision, Late,
    rule::{self, Examples, Scope},
};
use crate::{
    reader::{Reader, Records},
    when::{Sets, When},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Where the modes stand.
pub const MODES: &str = "permission/modes.json";

/// A permission mode.
#[derive(Debug, Clone)]
pub struct Mode {
    /// Its id.
    pub id: String,
    /// The prompt text that tells the model about it, a file of `prompts/`.
    pub prompt: String,
    /// What it is for, in one sentence.
    pub about: String,
    /// Its rows; the first whose condition holds decides, and if none does, the rules' verdict stands.
    pub decide: Vec<ModeRow>,
}

/// One row of a mode.
#[derive(Debug, Clone)]
pub struct ModeRow {
    /// A condition over `call` facts.
    pub when: Late<When>,
    /// What it decides.
    pub then: Decision,
    /// What the model is told when the row denies.
    pub say: String,
    /// What it must decide and must not.
    pub examples: Late<Examples>,
    /// Its JSON pointer in `permission/modes.json`.
    pub pointer: String,
}

#[derive(Deserialize)]
struct ModeFile {
    #[serde(default)]
    sets: Sets,
    default: String,
    modes: Vec<RawMode>,
}

#[derive(Deserialize)]
struct RawMode {
    id: String,
    prompt: String,
    about: String,
    decide: Vec<RawRow>,
}

#[derive(Deserialize)]
struct RawRow {
    when: Box<RawValue>,
    then: Decision,
    #[serde(default)]
    say: String,
    examples: Option<Box<RawValue>>,
}

/// Reads the modes in file order, strictest first, and the id of the default one.
pub(super) fn modes(reader: &mut Reader<'_>, records: &Late<Records>) -> (Vec<Mode>, String) {
    let Some(file) = reader.typed::<ModeFile>(MODES, "modes") else { return Default::default() };
    const ABOUT: &str = "call";
    if reader.checks() && reader.facts(records, ABOUT, MODES, "").is_none() {
        return Default::default();
    }
    let sets = Arc::new(file.sets);
    let scope = Scope { file: MODES, records, about: ABOUT, sets: &sets };
    if file.modes.iter().all(|mode| mode.id != file.default) {
        reader.problem(
            MODES,
            "/default",
            format!("there is no mode {:?} in this file", file.default),
        );
    }
    let mut modes = Vec::new();
    for (i, raw) in file.modes.into_iter().enumerate() {
        if reader.files.text(&format!("prompts/{}", raw.prompt)).is_none() {
            let message = format!("prompts/{} is missing", raw.prompt);
            reader.problem(MODES, &format!("/modes/{i}/prompt"), message);
        }
        let mut decide = Vec::new();
        for (j, row) in raw.decide.into_iter().enumerate() {
            let pointer = format!("/modes/{i}/decide/{j}");
            let when = rule::when(reader, &format!("{pointer}/when"), Some(&row.when), scope);
            let RawRow { then, say, examples, .. } = row;
            let examples = Examples::late(examples);
            decide.extend(when.map(|when| ModeRow { when, then, say, examples, pointer }));
        }
        modes.push(Mode { id: raw.id, prompt: raw.prompt, about: raw.about, decide });
    }
    (modes, file.default)
}
