//! Where rules stand, as a person finds them: `harness/permission/defaults.json:12`, `~/.config/lembas/config.yaml:7`.

use crate::{app::Setting, config::yaml};
use lembas_core::{
    permission::Step,
    spec::{DEFAULTS, DefaultRule, MODES, ModeRow, Rule, Spec},
};
use std::path::Path;

/// A file and the line in it, where it is known. A file of the spec is named as in the spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    pub(super) file: String,
    /// The line, from 1.
    pub(super) line: Option<u32>,
}

/// Looks places up.
#[derive(Clone, Copy)]
pub(super) struct Finder<'a> {
    /// What holds here.
    pub(super) setting: &'a Setting<'a>,
    /// How the spec's directory is called.
    pub(super) harness: &'a str,
}

impl Finder<'_> {
    fn spec(&self) -> &Spec {
        self.setting.spec
    }

    fn in_spec(&self, file: &str, pointer: &str) -> Place {
        let (line, _) = self.spec().place(file, pointer);
        Place { file: file.into(), line: u32::try_from(line).ok() }
    }

    /// Returns where a rule of the floor stands: in the spec, or where a person wrote it.
    pub(super) fn floor(&self, rule: &Rule) -> Place {
        if self.spec().text(&rule.file).is_some() {
            return self.in_spec(&rule.file, &rule.pointer);
        }
        let document = yaml::read(Path::new(&rule.file)).ok().flatten();
        let line = document.map(|document| document.place(&rule.pointer).line);
        Place { file: rule.file.clone(), line: line.and_then(|line| u32::try_from(line).ok()) }
    }

    /// Returns where a default rule stands.
    pub(super) fn default(&self, rule: &DefaultRule) -> Place {
        self.in_spec(DEFAULTS, &rule.pointer)
    }

    /// Returns where the rule of a step stands; `row` is the row of the mode that decided. `None` where no rule speaks.
    pub(super) fn step(&self, step: &Step, row: Option<&ModeRow>) -> Option<Place> {
        let extra = &self.setting.loaded.config.hardline_extra;
        let of_floor = |rule: &&Rule| rule.file == step.from && rule.id == step.rule;
        let default = |rule: &&DefaultRule| rule.id == step.rule;
        match step.from.as_str() {
            "" => None,
            _ if self.is_mode(step) => row.map(|row| self.in_spec(&step.from, &row.pointer)),
            DEFAULTS => self.spec().defaults.iter().find(default).map(|rule| self.default(rule)),
            file if step.line.is_some() => Some(Place { file: file.into(), line: step.line }),
            _ => {
                let mut floor = self.spec().hardline.iter().chain(extra);
                floor.find(of_floor).map(|rule| self.floor(rule))
            }
        }
    }

    /// Returns whether a step is what the mode says.
    pub(super) fn is_mode(&self, step: &Step) -> bool {
        step.from == MODES
    }

    /// Returns whether the rule of a step is the spec's, so that nobody here can change it.
    pub(super) fn is_of_spec(&self, step: &Step) -> bool {
        self.spec().text(&step.from).is_some()
    }

    /// Returns a place as a person finds it.
    pub(super) fn shown(&self, place: &Place) -> String {
        let file = match self.spec().text(&place.file) {
            Some(_) => format!("{}/{}", self.harness, place.file),
            None => self.file(Path::new(&place.file)),
        };
        place.line.map_or(file.clone(), |line| format!("{file}:{line}"))
    }

    /// Returns a path, below `~` where it is.
    pub(super) fn file(&self, path: &Path) -> String {
        let home = self.setting.paths.home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => Path::new("~").join(rest).display().to_string(),
            None => path.display().to_string(),
        }
    }
}
