//! Files as a whole: read within a limit, written so that nobody ever sees half of one. Links are followed and kept.

use sha2::{Digest, Sha256};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A print of a content, to tell whether it is still the same.
pub(super) type Print = [u8; 32];

/// How many links are followed before they count as a loop.
const LINKS: usize = 40;

/// Returns the print of a content.
pub(super) fn print(bytes: &[u8]) -> Print {
    Sha256::digest(bytes).into()
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// What the system said; `FileTooLarge` for a longer file.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Returns where a path really leads, also when nothing is there yet.
///
/// # Errors
/// A loop of links, or a link that cannot be read.
pub(super) fn real(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("/")).join(target);
            }
            Ok(_) => return fs::canonicalize(&path),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Writes a whole file by way of a new one beside it, keeping the mode of `before`. Missing directories are made.
///
/// # Errors
/// What the system said; the file is as it was then.
pub(super) fn write(path: &Path, bytes: &[u8], before: Option<&Metadata>) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    if before.is_none() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lembas-").permissions(Permissions::from_mode(0o666));
    let mut new = builder.tempfile_in(parent)?;
    new.write_all(bytes)?;
    if let Some(before) = before {
        new.as_file().set_permissions(before.permissions())?;
    }
    new.persist(path)?;
    Ok(())
}

/// Returns the system's words for an error, without its number.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
