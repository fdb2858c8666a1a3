//! The floor: what is refused in every mode, whatever was approved.

use super::judge::Judge;
use super::{Call, Disk, Policy, World};
use crate::spec::{Judged, Late, Record, Rule, Spec, When};
use serde_json::Value;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The rules of the floor that are in force.
#[derive(Debug, Clone)]
pub(super) struct Floor<'a> {
    spec: &'a Spec,
    policy: &'a Policy,
    asks_by: OnceCell<bool>,
}

impl<'a> Floor<'a> {
    pub(super) fn new(spec: &'a Spec, policy: &'a Policy) -> Floor<'a> {
        Floor { spec, policy, asks_by: OnceCell::new() }
    }

    /// Returns whether a rule asks which program does something to a file.
    pub(super) fn asks_by(&self) -> bool {
        let asks = |when: &When| {
            let mut asks = false;
            when.facts(&mut |fact| asks |= fact == "by");
            asks
        };
        let floor = self.spec.hardline.iter().chain(&self.policy.hardline_extra);
        let floor = floor.map(|rule| (rule.about.as_str(), &rule.when));
        let defaults = self.spec.defaults.iter().filter_map(|rule| match &rule.judged {
            Judged::When { about, when } => Some((about.as_str(), when)),
            Judged::Pattern(_) => None,
        });
        let mut rules = floor.chain(defaults);
        *self.asks_by.get_or_init(|| rules.any(|(about, when)| about == "file" && asks(when)))
    }

    /// Returns the first rule about that record which it breaks.
    pub(super) fn hit(&self, about: &str, record: &dyn Record) -> Option<&'a Rule> {
        let extra = self.policy.hardline_extra.iter().filter(|rule| rule.about == about);
        let own = self.spec.hardline.about(about, record);
        let on = |rule: &&Rule| !self.policy.hardline_disable.contains(&rule.id);
        own.chain(extra).filter(on).find(|rule| rule.when.holds(record))
    }
}

/// Returns the rule of the floor that a call breaks.
pub fn hardline<'a>(
    spec: &'a Spec,
    policy: &'a Policy,
    world: World<'a>,
    call: &Call,
) -> Option<&'a Rule> {
    let mut judge = Judge::new(spec, policy, world);
    judge.call(call);
    judge.broken
}

/// Returns the program's own directories where examples are judged.
pub(super) fn own(home: &Path) -> [PathBuf; 2] {
    [home.join(".config/lembas"), home.join(".local/state/lembas")]
}

/// A disk without links.
pub(super) struct Plain;

impl Disk for Plain {}

/// Returns whether a condition about a command or file holds for something in an example: a command line, or
/// `{"tool", "path"}`. `None` for an example that is neither.
pub fn example(spec: &Spec, about: &str, when: &When, example: &Value) -> Option<bool> {
    let line = example.as_str().map(String::from);
    let path = example["path"].as_str().map(PathBuf::from);
    if line.is_none() && (path.is_none() || example["tool"].is_null()) {
        return None;
    }
    let reads = example["tool"] == "read";
    let call = Call {
        tool: example["tool"].as_str().unwrap_or("bash").to_string(),
        class: if reads { "read" } else { "write" }.to_string(),
        paths: path.into_iter().collect(),
        command: line,
        ..Call::default()
    };
    let rule = Rule {
        id: "example".into(),
        about: about.into(),
        when: Late::now(when.clone()),
        say: String::new(),
        action: None,
        examples: Late::default(),
        file: String::new(),
        pointer: String::new(),
    };
    let hardline_disable = spec.hardline.iter().map(|rule| rule.id.clone()).collect();
    let policy = Policy { hardline_extra: vec![rule], hardline_disable, ..Policy::default() };
    let (home, cwd) = (Path::new("/home/dev"), Path::new("/home/dev/proj"));
    let own = own(home);
    let world = World { home, cwd, project: Some(cwd), own: &own, disk: &Plain };
    Some(hardline(spec, &policy, world, &call).is_some())
}
