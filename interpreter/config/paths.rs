//! Where configuration and state are kept. It looks at the environment only, never at the disk.

use super::fill::Env;
use std::path::{Path, PathBuf};

/// The program's two roots. They may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The person's home directory, if one is known.
    pub(crate) home: Option<PathBuf>,
    /// Where `config.yaml`, `connections.yaml` and the person's own files are.
    pub(crate) config: PathBuf,
    /// Where trust, history and what was learned are kept.
    pub(crate) state: PathBuf,
}

impl Paths {
    /// Finds the roots: below `LEMBAS_HOME` if it is set, else by the XDG base directories, of which
    /// empty and relative values are ignored.
    pub(crate) fn find(env: Env<'_>) -> Result<Self, String> {
        let variable = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME").filter(|path| path.is_absolute()).or_else(std::env::home_dir);
        if let Some(root) = variable("LEMBAS_HOME") {
            let root = std::path::absolute(&root)
                .map_err(|error| format!("LEMBAS_HOME cannot be used: {error}"))?;
            return Ok(Self { home, config: root.join("config"), state: root.join("state") });
        }
        let base = |name: &str, usual: &str| {
            let own = variable(name).filter(|path| path.is_absolute());
            let base = own.or_else(|| home.as_ref().map(|home| home.join(usual)));
            base.map(|base| base.join("lembas")).ok_or_else(|| NO_HOME.to_string())
        };
        let config = base("XDG_CONFIG_HOME", ".config")?;
        let state = base("XDG_STATE_HOME", ".local/state")?;
        Ok(Self { home, config, state })
    }

    /// Returns the file of the connections.
    pub(crate) fn connections_file(&self) -> PathBuf {
        self.config.join("connections.yaml")
    }

    /// Returns the file of the person's own settings.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join(CONFIG_FILE)
    }
}

/// The name of a file with settings, global or in a project.
pub(crate) const CONFIG_FILE: &str = "config.yaml";

const NO_HOME: &str = "no home directory is known; set HOME, or LEMBAS_HOME to a directory for everything lembas keeps";

/// Whether `path` is `home` or the root of the file system: too much to be taken for a project.
pub(crate) fn is_too_wide(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none()
        || home
            .is_some_and(|home| home == path || home.canonicalize().is_ok_and(|home| home == path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn find(set: &[(&str, &str)]) -> Paths {
        let env = |name: &str| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        Paths::find(&env).unwrap()
    }

    fn check(set: &[(&str, &str)], config: &str, state: &str) {
        let paths = find(&[&[("HOME", "/h")], set].concat());
        assert_eq!((paths.config, paths.state), (config.into(), state.into()), "{set:?}");
    }

    #[test]
    fn roots() {
        let usual = ("/h/.config/lembas", "/h/.local/state/lembas");
        check(&[], usual.0, usual.1);
        check(&[("XDG_CONFIG_HOME", "/x")], "/x/lembas", usual.1);
        check(&[("XDG_STATE_HOME", "/y")], usual.0, "/y/lembas");
        check(&[("XDG_CONFIG_HOME", "rel/dir")], usual.0, usual.1);
        check(&[("XDG_CONFIG_HOME", "")], usual.0, usual.1);
        check(&[("LEMBAS_HOME", "/l"), ("XDG_CONFIG_HOME", "/x")], "/l/config", "/l/state");
        check(&[("LEMBAS_HOME", "")], usual.0, usual.1);
    }

    #[test]
    fn a_relative_lembas_home_starts_at_the_working_directory() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(find(&[("LEMBAS_HOME", "lh")]).config, here.join("lh/config"));
    }

    #[test]
    fn too_wide() {
        assert!(is_too_wide(Path::new("/"), None));
        assert!(is_too_wide(Path::new("/h"), Some(Path::new("/h"))));
        assert!(!is_too_wide(Path::new("/h/p"), Some(Path::new("/h"))));
    }
}
