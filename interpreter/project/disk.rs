//! What links and entries there are, for core, which asks the disk nothing itself.

use lembas_core::permission::Disk;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The disk of this machine.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn names(&self, directory: &Path, most: usize) -> Option<Vec<String>> {
        let names = fs::read_dir(directory).ok()?.flatten().take(most.saturating_add(1));
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Some(names.collect::<Vec<_>>()).filter(|names| names.len() <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lembas_core::{permission::real, spec};
    use std::os::unix::fs::symlink;

    /// What the kernel says of a path that is there; of others, where a write would make something.
    #[test]
    fn a_path_is_where_the_kernel_finds_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let limits = spec::packed().unwrap().limits.paths;
        fs::create_dir_all(root.join("real/deep")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        let absolute = root.join("real/deep");
        let links = [
            ("link", Path::new("real")),
            ("absolute", &absolute),
            ("real/deep/up", Path::new("../file")),
            ("chain", Path::new("./absolute/../deep/")),
            ("dangling", Path::new("nowhere/deep")),
            ("loop", Path::new("loop")),
        ];
        for (from, to) in links {
            symlink(to, root.join(from)).unwrap();
        }
        for (path, expected) in [
            ("link/new.txt", Some("real/new.txt")),
            ("absolute/../file", Some("real/file")),
            ("chain/up", Some("real/file")),
            ("chain/../../link/file", Some("real/file")),
            ("dangling/x", Some("nowhere/deep/x")),
            ("missing/../real", Some("real")),
            ("loop/x", None),
        ] {
            let found = real(&root.join(path), &RealDisk, &limits);
            assert_eq!(found, expected.map(|path| root.join(path)), "{path}");
            let known = fs::canonicalize(root.join(path)).ok();
            assert!(known.is_none() || known == found, "{path}: {known:?}");
        }
    }
}
