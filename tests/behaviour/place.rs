//! Where a case runs: a home, a project and a folder for whatever else, all below one directory that goes afterwards.

use crate::case::Case;
use crate::tree::{self, Tree};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The directories of a case.
#[derive(Debug)]
pub(crate) struct Place {
    /// The directory all of it is in.
    pub(crate) base: PathBuf,
    /// The project.
    pub(crate) root: PathBuf,
    /// The home directory.
    pub(crate) home: PathBuf,
    id: String,
    _kept: TempDir,
}

impl Place {
    /// Makes the directories, empty.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn new(id: &str) -> Result<Place, String> {
        let kept = tempfile::tempdir().map_err(said)?;
        let base = fs::canonicalize(kept.path()).map_err(said)?;
        let place = Place {
            root: base.join("project"),
            home: base.join("home"),
            base,
            id: id.to_owned(),
            _kept: kept,
        };
        for folder in [place.root.clone(), place.tmp(), place.config(), place.state()] {
            fs::create_dir_all(folder).map_err(said)?;
        }
        Ok(place)
    }

    fn tmp(&self) -> PathBuf {
        self.base.join("tmp")
    }

    /// Returns the program's own folder, its `LEMBAS_HOME`.
    pub(crate) fn own(&self) -> PathBuf {
        self.home.join(".lembas")
    }

    fn config(&self) -> PathBuf {
        self.own().join("config")
    }

    fn state(&self) -> PathBuf {
        self.own().join("state")
    }

    /// Fills in the names of the place. `{env:…}` and `{file:…}` are the program's own and stay.
    pub(crate) fn fill(&self, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        let shown = |path: &Path| path.display().to_string();
        let no_slash = shown(&self.root).trim_start_matches('/').to_owned();
        let first = no_slash.split('/').next().unwrap_or_default().to_owned();
        let names = [
            ("{root_no_slash_first}", first),
            ("{root_no_slash}", no_slash),
            ("{id}", self.id.clone()),
            ("{tmp}", shown(&self.tmp())),
            ("{home}", shown(&self.home)),
            ("{config}", shown(&self.config())),
            ("{state}", shown(&self.state())),
        ];
        names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// Puts everything there that a case begins with; `server` is the URL of its model.
    ///
    /// # Errors
    /// What could not be made.
    pub(crate) fn set_up(&self, case: &Case) -> Result<(), String> {
        let files = |key: &str| case.setup.get(key).and_then(Value::as_object);
        let written = |folder: &Path, entries: Option<&Map<String, Value>>| {
            let mut entries = entries.into_iter().flatten();
            entries.try_for_each(|(name, entry)| write(folder, name, entry))
        };
        written(&self.root, files("files"))?;
        written(&self.home, files("home_files"))?;
        written(&self.config(), files("config_files"))?;
        fs::create_dir_all(self.working(case)).map_err(said)?;
        match case.setup.get("git").and_then(Value::as_str) {
            Some("commit") => {
                self.git(&["init", "-q"])?;
                self.git(&["add", "-A"])?;
                self.git(&["commit", "-q", "--allow-empty", "-m", "all of it"])
            }
            Some(_) => self.git(&["init", "-q"]),
            None => Ok(()),
        }
    }

    /// Returns the directory the program works in.
    pub(crate) fn working(&self, case: &Case) -> PathBuf {
        let inside = case.setup.get("cwd").and_then(Value::as_str).unwrap_or_default();
        self.root.join(inside)
    }

    /// Writes a file of the configuration that the case does not bring itself.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn configure(&self, name: &str, text: &str) -> Result<(), String> {
        let file = self.config().join(name);
        if file.exists() {
            return Ok(());
        }
        fs::write(&file, text).map_err(said)?;
        fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(said)
    }

    /// Returns what the project holds.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn tree(&self) -> Result<Tree, String> {
        tree::of(&self.root).map_err(said)
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=case", "-c", "user.email=case@example.org"]).args(arguments);
        git.current_dir(&self.root).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_CONFIG_SYSTEM", "/dev/null").stdin(Stdio::null());
        let ended = git.output().map_err(|error| format!("git: {error}"))?;
        let why = || format!("git {arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
        if ended.status.success() { Ok(()) } else { Err(why()) }
    }
}

/// Returns the name of a file as the system has it.
pub(crate) fn name(written: &str) -> OsString {
    let bytes = written.strip_prefix("b64name:").and_then(|text| BASE64_STANDARD.decode(text).ok());
    bytes.map_or_else(|| written.into(), OsString::from_vec)
}

/// Returns the bytes that an entry of `files` stands for; nothing for what is no file.
pub(crate) fn bytes(entry: &Value) -> Option<Vec<u8>> {
    let text = entry.as_str().or_else(|| entry.get("text")?.as_str());
    let encoded = || BASE64_STANDARD.decode(entry.get("b64")?.as_str()?).ok();
    text.map(|text| text.as_bytes().to_vec()).or_else(encoded)
}

/// Returns the mode that an entry of `files` names.
pub(crate) fn mode(entry: &Value) -> Option<u32> {
    u32::from_str_radix(entry.get("mode")?.as_str()?, 8).ok()
}

fn write(folder: &Path, written: &str, entry: &Value) -> Result<(), String> {
    let path = folder.join(name(written));
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(said)?;
    if let Some(to) = entry.get("symlink").and_then(Value::as_str) {
        return symlink(to, path).map_err(said);
    }
    if let Some(count) = entry.get("many_files").and_then(Value::as_u64) {
        fs::create_dir_all(&path).map_err(said)?;
        let each = |number| fs::write(path.join(format!("f{number:05}.txt")), "x\n");
        return (0..count).try_for_each(each).map_err(said);
    }
    let content = bytes(entry).ok_or_else(|| format!("{written}: nothing can be made of it"))?;
    fs::write(&path, content).map_err(said)?;
    match mode(entry) {
        Some(mode) => fs::set_permissions(path, Permissions::from_mode(mode)).map_err(said),
        None => Ok(()),
    }
}

fn said(error: std::io::Error) -> String {
    error.to_string()
}
