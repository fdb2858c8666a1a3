//! Reads regular files of bounded size, and nothing else: a FIFO or device in a file's place would be waited for.
//! What the bytes mean is the caller's business.

use rustix::fs::OFlags;
use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Reads a file whole; a link is followed.
///
/// # Errors
/// What the system said; `InvalidInput` for what is no regular file, `FileTooLarge` for more than `most` bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Without the flag the opening itself would wait for the other end of a FIFO.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let taken = file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(taken).unwrap_or(u64::MAX) > most {
        let message = format!("it is larger than {most} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads such a file as text.
///
/// # Errors
/// As for `bytes`; `InvalidData` for what is not UTF-8.
pub(crate) fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    /// Makes a FIFO that nobody writes to.
    pub(crate) fn fifo(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn only_regular_files_within_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("ten"), "0123456789").unwrap();
        fs::write(path("raw"), b"\xff").unwrap();
        fs::create_dir(path("dir")).unwrap();
        fifo(&path("fifo"));
        for (link, target) in [("link", "ten"), ("dangling", "no"), ("zero", "/dev/zero")] {
            symlink(target, path(link)).unwrap();
        }
        let check = |name: &str, most: u64, expected: Result<&str, ErrorKind>| {
            let found = text(&path(name), most).map_err(|error| error.kind());
            assert_eq!(found.as_deref().map_err(|kind| *kind), expected, "{name} {most}");
        };
        check("ten", 10, Ok("0123456789"));
        check("link", u64::MAX, Ok("0123456789"));
        check("ten", 9, Err(ErrorKind::FileTooLarge));
        check("raw", 9, Err(ErrorKind::InvalidData));
        for name in ["dir", "fifo", "zero"] {
            check(name, 9, Err(ErrorKind::InvalidInput));
        }
        for name in ["no", "dangling"] {
            check(name, 9, Err(ErrorKind::NotFound));
        }
    }
}
