//! What a directory holds, byte for byte. `.git` is left out.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Most bytes of a content that is kept.
const MOST: usize = 1 << 20;

/// Everything below a directory, by its path in it.
pub(crate) type Tree = BTreeMap<PathBuf, Node>;

/// What is at a path. No link is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// A directory.
    Directory,
    /// A link and where it leads.
    Link(PathBuf),
    /// A file, with its permissions.
    File {
        /// Its content, or its print where it is long.
        bytes: Vec<u8>,
        /// Its permissions.
        mode: u32,
    },
    /// Anything else.
    Other,
}

/// Reads a directory.
///
/// # Errors
/// What the system said.
pub(crate) fn of(root: &Path) -> io::Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let inside = path.strip_prefix(root).unwrap_or(&path).to_owned();
            if inside == Path::new(".git") {
                continue;
            }
            let node = node(&path)?;
            if node == Node::Directory {
                folders.push(path);
            }
            tree.insert(inside, node);
        }
    }
    Ok(tree)
}

fn node(path: &Path) -> io::Result<Node> {
    let found = fs::symlink_metadata(path)?;
    let mode = found.permissions().mode() & 0o7777;
    Ok(match found.file_type() {
        kind if kind.is_dir() => Node::Directory,
        kind if kind.is_symlink() => Node::Link(fs::read_link(path)?),
        kind if kind.is_file() => Node::File { bytes: bounded(fs::read(path)?), mode },
        _ => Node::Other,
    })
}

/// Returns a content, or in place of a long one its print: many trees are kept.
pub(crate) fn bounded(bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() <= MOST { bytes } else { Sha256::digest(&bytes).to_vec() }
}

/// Returns a path in which two trees differ, and how.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Option<String> {
    let gone = before.iter().find(|(path, node)| after.get(*path) != Some(node));
    let new = || after.keys().find(|path| !before.contains_key(*path));
    match gone {
        Some((path, _)) if after.contains_key(path) => Some(format!("{} changed", path.display())),
        Some((path, _)) => Some(format!("{} went", path.display())),
        None => new().map(|path| format!("{} came", path.display())),
    }
}
