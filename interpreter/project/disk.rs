//! Where paths really lead, for core, which asks the disk nothing itself.

use lembas_core::permission::{Disk, normal};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// How many dangling links are followed before a path counts as leading nowhere.
const MOST_LINKS: usize = 40;

/// The disk of this machine.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn real(&self, path: &Path) -> PathBuf {
        let mut path = path.to_path_buf();
        for _ in 0..MOST_LINKS {
            match followed(&path) {
                Ok(real) => return real,
                Err(next) => path = next,
            }
        }
        normal(&path)
    }
}

/// Follows the longest existing part of `path`. The error is the path with a dangling link in it replaced by its
/// target, to be followed further.
fn followed(path: &Path) -> Result<PathBuf, PathBuf> {
    for part in path.ancestors() {
        let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
        if let Ok(real) = fs::canonicalize(part) {
            return Ok(normal(&real.join(rest)));
        }
        if let Ok(target) = fs::read_link(part) {
            let parent = part.parent().unwrap_or(Path::new("/"));
            return Err(parent.join(target).join(rest));
        }
    }
    Ok(normal(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_dangling_ones_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("nowhere/deep", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (path, expected) in [
            ("link/new.txt", "real/new.txt"),
            ("dangling/x", "nowhere/deep/x"),
            ("real/../link", "real"),
            ("missing/../real", "real"),
            ("loop/x", "loop/x"),
        ] {
            assert_eq!(RealDisk.real(&root.join(path)), root.join(expected), "{path}");
        }
    }
}
