//! What a person allowed for good in a project. It is kept on the person's side, never in the project: whoever could
//! write there could approve.

use super::{kept::Kept, paths::Paths, problem::Problem, trust::Project};
use lembas_core::{
    permission::{Approval, Layer},
    spec::{Places, escape},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The approvals of all projects, by real root, as they are kept in `approvals.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    projects: BTreeMap<String, Vec<Entry>>,
}

/// One approval as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The rule name it is for.
    pub(crate) tool: String,
    /// What it allows.
    pub(crate) pattern: String,
    /// The day it was given, such as `2026-01-31`.
    pub(crate) date: String,
    /// The command line or path it was given for.
    pub(crate) said_to: String,
}

impl Entry {
    fn approval(&self) -> Approval {
        Approval { tool: self.tool.clone(), pattern: self.pattern.clone() }
    }
}

/// An approval of a project and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Approved {
    /// The approval.
    pub(crate) entry: Entry,
    /// The line of the file it starts on.
    pub(crate) line: u32,
}

/// Which approvals are taken back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    /// The one with this number, from 1.
    Number(usize),
    /// Those with exactly this pattern.
    Pattern(&'a str),
    /// All of the project.
    All,
}

/// The approvals of every project.
#[derive(Debug)]
pub(crate) struct Approvals {
    kept: Kept<List>,
}

impl Approvals {
    /// Returns the list kept below the state root. Nothing is read yet.
    pub(crate) fn new(paths: &Paths) -> Self {
        let remedy = "mend it, or remove it: then what was allowed for good is asked about again";
        Self { kept: Kept::new(&paths.state, "approvals.json", remedy) }
    }

    /// Returns the approvals of a project, oldest first.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged, also where the damage is another project's.
    pub(crate) fn of(&self, project: &Project) -> Result<Vec<Approved>, Problem> {
        let Some(text) = self.kept.text()? else { return Ok(Vec::new()) };
        let (list, places) = (self.kept.parse(&text)?, Places::of(&text));
        if project.can_be_kept().is_err() {
            return Ok(Vec::new());
        }
        let root = project.root.display().to_string();
        let entries = list.projects.get(&root).into_iter().flatten().enumerate();
        let approved = entries.map(|(index, entry)| {
            let (line, _) = places.get(&format!("/projects/{}/{index}", escape(&root)));
            Approved { entry: entry.clone(), line: u32::try_from(line).unwrap_or(u32::MAX) }
        });
        Ok(approved.collect())
    }

    /// Returns approvals as a layer of rules, each with its line in the file.
    pub(crate) fn layer(&self, approved: &[Approved]) -> Layer {
        let approvals: Vec<Approval> = approved.iter().map(|each| each.entry.approval()).collect();
        let mut layer = Layer::approved(&approvals);
        layer.source = self.kept.file().display().to_string();
        for (rule, each) in layer.rules.iter_mut().zip(approved) {
            rule.line = Some(each.line);
        }
        layer
    }

    /// Adds what is not there yet for the project.
    ///
    /// # Errors
    /// A project that cannot be remembered, a file that cannot be read or written; then it is as it was.
    pub(crate) fn add(
        &self,
        project: &Project,
        approvals: &[Approval],
        date: &str,
        said_to: &str,
    ) -> Result<(), String> {
        project.can_be_kept().map_err(|why| format!("It was not stored: {why}"))?;
        let root = project.root.display().to_string();
        let add = |list: &mut List| {
            let entries = list.projects.entry(root).or_default();
            for Approval { tool, pattern } in approvals {
                if entries.iter().any(|each| each.tool == *tool && each.pattern == *pattern) {
                    continue;
                }
                entries.push(Entry {
                    tool: tool.clone(),
                    pattern: pattern.clone(),
                    date: date.into(),
                    said_to: said_to.into(),
                });
            }
        };
        self.kept.change(add).map_err(|problem| problem.to_string())
    }

    /// Takes approvals of the project back and returns them; none if `which` names none.
    ///
    /// # Errors
    /// A file that cannot be read or written; then it is as it was.
    pub(crate) fn remove(
        &self,
        project: &Project,
        which: Which<'_>,
    ) -> Result<Vec<Entry>, Problem> {
        let root = project.root.display().to_string();
        self.kept.change(|list| {
            let entries = list.projects.remove(&root).unwrap_or_default();
            let goes = |index: usize, entry: &Entry| match which {
                Which::Number(number) => index + 1 == number,
                Which::Pattern(pattern) => entry.pattern == pattern,
                Which::All => true,
            };
            let (gone, left): (Vec<_>, Vec<_>) =
                entries.into_iter().enumerate().partition(|(index, entry)| goes(*index, entry));
            let entries = |pairs: Vec<(usize, Entry)>| pairs.into_iter().map(|(_, entry)| entry);
            if !left.is_empty() {
                list.projects.insert(root, entries(left).collect());
            }
            entries(gone).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::Home;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn approval(tool: &str, pattern: &str) -> Approval {
        Approval { tool: tool.into(), pattern: pattern.into() }
    }

    fn project(home: &Home, name: &str) -> Project {
        Project { root: home.path(name), refused: None }
    }

    fn shown(approved: &[Approved]) -> Vec<String> {
        approved.iter().map(|each| format!("{}: {}", each.line, each.entry.pattern)).collect()
    }

    #[test]
    fn approvals_are_kept_by_project() {
        let home = Home::new(&[]);
        let approvals = Approvals::new(&home.paths());
        let (work, other) = (project(&home, "work"), project(&home, "other"));
        assert!(approvals.of(&work).unwrap().is_empty());
        let both = [approval("bash", "make *"), approval("edit", "a/b")];
        approvals.add(&work, &both, "2026-01-31", "make x").unwrap();
        approvals.add(&work, &both[..1], "2026-02-01", "make y").unwrap();
        approvals.add(&other, &both[1..], "2026-02-01", "a/b").unwrap();
        let file = home.path("state/approvals.json");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let found = approvals.of(&work).unwrap();
        assert_eq!(shown(&found), ["12: make *", "18: a/b"]);
        assert_eq!(
            (found[0].entry.date.as_str(), found[0].entry.said_to.as_str()),
            ("2026-01-31", "make x")
        );
        let layer = approvals.layer(&found);
        assert_eq!((layer.source, layer.rules[1].line), (file.display().to_string(), Some(18)));
        let take = |which| approvals.remove(&work, which).unwrap().len();
        assert_eq!((take(Which::Number(3)), take(Which::Pattern("make"))), (0, 0));
        assert_eq!((take(Which::Number(1)), take(Which::Number(2)), take(Which::All)), (1, 0, 1));
        assert!(approvals.of(&work).unwrap().is_empty());
        assert_eq!(approvals.of(&other).unwrap().len(), 1);
    }

    #[test]
    fn what_this_program_did_not_write_is_told() {
        let home = Home::new(&[]);
        let approvals = Approvals::new(&home.paths());
        let work = project(&home, "work");
        fs::create_dir_all(home.path("state")).unwrap();
        let check = |text: &str, expected: &str| {
            fs::write(home.path("state/approvals.json"), text).unwrap();
            let told = approvals.of(&work).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
            assert!(approvals.add(&work, &[], "", "").is_err());
            assert!(approvals.remove(&work, Which::All).is_err());
            let left = fs::read_to_string(home.path("state/approvals.json")).unwrap();
            assert_eq!(left, text, "a damaged file is not written over");
        };
        check("", "approvals.json:1:1: is damaged (EOF");
        check("{\"projects\": {\n \"/x\": [", "approvals.json:2:8: is damaged (EOF");
        check("{\"projects\": {}, \"all\": true}", "1:22: is damaged (unknown field `all`");
        let entry =
            r#"{"tool": "bash", "pattern": "*", "date": "", "said_to": "", "then": "allow"}"#;
        check(&format!("{{\"projects\": {{\"/x\": [{entry}]}}}}"), "unknown field `then`");
        check("{\"projects\": {\"/x\": [{\"tool\": \"bash\"}]}}", "missing field `pattern`");
        let refused = Project { root: home.path(""), refused: Some("too wide.".into()) };
        assert_eq!(
            approvals.add(&refused, &[], "", "").unwrap_err(),
            "It was not stored: too wide."
        );
    }
}
