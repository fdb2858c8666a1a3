//! Which project a directory belongs to, and whether the person trusts it.
//! Nothing of a project's own configuration is opened here or, without a `Trusted`, anywhere.

use super::{
    kept::Kept,
    paths::{CONFIG_FILE, Paths, is_too_wide},
    problem::Problem,
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The entries that make a directory a project.
const MARKS: [&str; 3] = [".git", ".agent", ".lembas"];

/// The project a session works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// Its real path: the nearest directory upwards with `.git`, `.agent` or `.lembas`, else the working directory.
    pub(crate) root: PathBuf,
    /// Why the directory is no project (it is the home directory or `/`): a sentence for the person.
    /// Such a directory has no configuration, cannot be trusted and is not snapshotted.
    pub(crate) refused: Option<String>,
}

impl Project {
    /// Finds the project of `cwd`; the error is a sentence.
    pub(crate) fn find(cwd: &Path, home: Option<&Path>) -> Result<Self, String> {
        let here = fs::canonicalize(cwd).map_err(|error| {
            format!("The working directory {} cannot be used: {error}.", cwd.display())
        })?;
        let inside = here.ancestors().take_while(|directory| !is_too_wide(directory, home));
        let marked = inside
            .into_iter()
            .find(|directory| MARKS.iter().any(|mark| directory.join(mark).exists()));
        let root = marked.unwrap_or(&here).to_path_buf();
        let refused = is_too_wide(&root, home).then(|| {
            format!("{} is too wide to be a project: nothing is read from it as configuration and changes in it cannot be undone. Start in a directory of its own.", root.display())
        });
        Ok(Self { root, refused })
    }

    /// Returns where the project's own configuration is: `.lembas`, which is made when `.agent` belongs to
    /// another tool, else `.agent`. It may not exist.
    pub(crate) fn config_dir(&self) -> PathBuf {
        let own = self.root.join(".lembas");
        if own.is_dir() { own } else { self.root.join(".agent") }
    }

    /// Tells whether something can be remembered about it by its path; the error is a sentence.
    pub(crate) fn can_be_kept(&self) -> Result<(), String> {
        match &self.refused {
            Some(refused) => Err(refused.clone()),
            None if self.root.to_str().is_none() => {
                Err(format!("the name of {} is not UTF-8.", self.root.display()))
            }
            None => Ok(()),
        }
    }
}

/// A project the person trusts. Only this module makes one, so nothing of an untrusted project can be read by mistake.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    directory: PathBuf,
}

impl Trusted {
    /// Returns the directory of the project's configuration.
    pub(crate) fn config_dir(&self) -> &Path {
        &self.directory
    }

    /// Returns the file of the project's settings.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.directory.join(CONFIG_FILE)
    }
}

/// The trusted directories, as they are kept in `trust.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    directories: Vec<PathBuf>,
}

/// The list of directories the person trusts, by real path.
#[derive(Debug)]
pub(crate) struct Trust {
    kept: Kept<List>,
}

impl Trust {
    /// Returns the list kept below the state root. Nothing is read yet.
    pub(crate) fn new(paths: &Paths) -> Self {
        let remedy = "remove it, and every directory is asked about again";
        Self { kept: Kept::new(&paths.state, "trust.json", remedy) }
    }

    /// Returns the proof of trust if the project is on the list. With an error nothing is trusted.
    pub(crate) fn is_trusted(&self, project: &Project) -> Result<Option<Trusted>, Problem> {
        let listed =
            project.refused.is_none() && self.kept.read()?.directories.contains(&project.root);
        Ok(listed.then(|| Trusted { directory: project.config_dir() }))
    }

    /// Puts the project on the list. The error is a sentence; then the list is as it was.
    pub(crate) fn trust(&self, project: &Project) -> Result<Trusted, String> {
        project.can_be_kept().map_err(|why| format!("It was not trusted: {why}"))?;
        let add = |list: &mut List| {
            if !list.directories.contains(&project.root) {
                list.directories.push(project.root.clone());
            }
        };
        self.kept.change(add).map_err(|problem| problem.to_string())?;
        Ok(Trusted { directory: project.config_dir() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::Home;
    use serde_json::{Value, json};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn trust() {
        let home = Home::new(&[]);
        let paths = home.paths();
        let trust = Trust::new(&paths);
        fs::create_dir_all(home.path("work/deep/er")).unwrap();
        symlink(home.path("work"), home.path("link")).unwrap();
        let find = |name: &str| Project::find(&home.path(name), paths.home.as_deref()).unwrap();
        let project = find("work");
        assert!(trust.is_trusted(&project).unwrap().is_none());
        trust.trust(&project).unwrap();
        for name in ["work", "work/deep/er", "link"] {
            assert!(trust.is_trusted(&find(name)).unwrap().is_some(), "{name}");
        }
        fs::create_dir_all(home.path("work/deep/.git")).unwrap();
        fs::create_dir_all(home.path("other")).unwrap();
        for name in ["work/deep", "other"] {
            assert!(trust.is_trusted(&find(name)).unwrap().is_none(), "{name}");
        }
        trust.trust(&find("other")).unwrap();
        let file = home.path("state/trust.json");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(list, json!({ "directories": [home.path("work"), home.path("other")] }));
        fs::write(&file, "{\"directories\": ").unwrap();
        let damaged = trust.is_trusted(&project).unwrap_err().to_string();
        assert!(damaged.contains("trust.json:1:16: is damaged (EOF"), "{damaged}");
        assert!(trust.trust(&project).unwrap_err().contains("damaged"));
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "{\"directories\": ",
            "a damaged list is not written over"
        );
    }

    #[test]
    fn project_roots() {
        let home = Home::new(&[]);
        for directory in ["a/.git", "a/b/c", "d/.lembas", "e/f", ".git"] {
            fs::create_dir_all(home.path(directory)).unwrap();
        }
        home.write("e/.git", b"gitdir: elsewhere\n");
        let check = |cwd: &str, root: &str, is_refused: bool| {
            let home_dir = home.path("");
            let project = Project::find(&home.path(cwd), Some(&home_dir)).unwrap();
            assert_eq!(
                (project.root, project.refused.is_some()),
                (home.path(root), is_refused),
                "{cwd}"
            );
        };
        check("a/b/c", "a", false);
        check("d", "d", false);
        check("e/f", "e", false);
        check("config", "config", false);
        check("", "", true);
        let root = Project::find(Path::new("/"), None).unwrap();
        assert!(root.refused.is_some_and(|why| why.starts_with("/ is too wide")));
        let refused = Project::find(&home.path(""), Some(&home.path(""))).unwrap();
        assert!(Trust::new(&home.paths()).trust(&refused).unwrap_err().contains("was not trusted"));
        assert!(Project::find(&home.path("gone"), None).unwrap_err().contains("cannot be used"));
        let dir = |name: &str| Project { root: home.path(name), refused: None }.config_dir();
        assert_eq!((dir("d"), dir("a")), (home.path("d/.lembas"), home.path("a/.agent")));
    }
}
