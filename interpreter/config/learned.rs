//! What servers taught by refusing: for each connection and model what its requests are changed by, and its window. It is kept
//! in `learned.json`, for later runs to begin with. It knows no server.

use super::{kept::Kept, paths::Paths, problem::Problem};
use lembas_core::repair::Repairs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of all models, by reference, `<connection>/<model>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct List {
    models: BTreeMap<String, Entry>,
}

/// What is known of one model, and of which server: a connection may lead elsewhere one day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    base_url: String,
    #[serde(flatten)]
    lesson: Lesson,
}

/// What a server taught about one of its models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Lesson {
    /// The window it named when a prompt was too long, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<u64>,
    /// What requests are changed by.
    pub(crate) repairs: Repairs,
}

/// The part of the file that is about one model of one connection.
#[derive(Debug)]
pub(crate) struct Learned {
    kept: Kept<List>,
    reference: String,
    base_url: String,
}

impl Learned {
    /// Returns what is kept about a model. Nothing is read yet.
    pub(crate) fn new(paths: &Paths, reference: String, base_url: String) -> Self {
        let remedy = "remove it: what servers refuse is learned anew";
        Self { kept: Kept::new(&paths.state, "learned.json", remedy), reference, base_url }
    }

    /// Returns what was learned; nothing, where it was about another server.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(crate) fn lesson(&self) -> Result<Lesson, Problem> {
        let entry = self.kept.read()?.models.remove(&self.reference);
        let entry = entry.filter(|entry| entry.base_url == self.base_url);
        Ok(entry.map(|entry| entry.lesson).unwrap_or_default())
    }

    /// Forgets the windows that refusals taught about the models of a connection.
    ///
    /// # Errors
    /// As for `change`.
    pub(crate) fn forget_windows(paths: &Paths, connection: &str) -> Result<(), Problem> {
        let all = Self::new(paths, String::new(), String::new());
        let of_it = |reference: &str| reference.split('/').next() == Some(connection);
        all.kept.change(|list| {
            for (_, entry) in list.models.iter_mut().filter(|(reference, _)| of_it(reference)) {
                entry.lesson.context = None;
            }
        })
    }

    /// Lets `change` alter what was learned, and keeps it. Two runs may learn at once.
    ///
    /// # Errors
    /// A file that cannot be read or written, or is damaged; then it is as it was.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Lesson)) -> Result<(), Problem> {
        self.kept.change(|list| {
            let entry = list.models.entry(self.reference.clone()).or_default();
            if entry.base_url != self.base_url {
                *entry = Entry { base_url: self.base_url.clone(), lesson: Lesson::default() };
            }
            change(&mut entry.lesson);
            if entry.lesson == Lesson::default() {
                list.models.remove(&self.reference);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_was_learned_is_of_one_model_and_server() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        let paths = Paths { home: None, config: path("config"), state: path("state") };
        let about = |model: &str, url: &str| Learned::new(&paths, model.into(), url.into());
        let context = |learned: &Learned| learned.lesson().unwrap().context;
        assert_eq!(context(&about("box/a", "http://one")), None);
        about("box/a", "http://one").change(|lesson| lesson.context = Some(4096)).unwrap();
        for (model, url, expected) in [
            ("box/a", "http://one", Some(4096)),
            ("box/b", "http://one", None),
            ("box/a", "http://two", None),
        ] {
            assert_eq!(context(&about(model, url)), expected, "{model} {url}");
        }
        let file = path("state/learned.json");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        about("box/a", "http://two").change(|lesson| lesson.context = Some(8192)).unwrap();
        assert_eq!(context(&about("box/a", "http://one")), None);
        about("box/a", "http://two").change(|lesson| lesson.context = None).unwrap();
        assert!(!std::fs::read_to_string(&file).unwrap().contains("box"));
        std::fs::write(&file, "{").unwrap();
        let damaged = about("box/a", "http://two").lesson().unwrap_err().to_string();
        assert!(damaged.contains("learned anew"), "{damaged}");
    }
}
