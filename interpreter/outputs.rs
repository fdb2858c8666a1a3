//! Where the long outputs of a session's commands are kept: a folder of its own below the state root, made when the
//! first one comes and taken away with the session. Nothing here knows what the files hold.

use rustix::fs::{Mode, OFlags, openat};
use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The folder of all sessions' outputs, below the state root.
const FOLDER: &str = "output";

/// The file that a session holds a lock on as long as it lives.
const LOCK: &str = ".lock";

/// The long outputs of one session.
#[derive(Debug)]
pub(crate) struct Outputs {
    root: PathBuf,
    /// Most files; the oldest goes for one more.
    most: u32,
    made: Mutex<Option<Made>>,
}

/// The folder of a session. Dropped, it goes with all that is in it.
#[derive(Debug)]
struct Made {
    folder: PathBuf,
    count: u32,
    _lock: File,
}

impl Outputs {
    /// Returns the outputs of a session whose state is below `state`, at most so many. Nothing is made yet.
    pub(crate) fn new(state: &Path, most: u32) -> Outputs {
        Outputs { root: state.join(FOLDER), most, made: Mutex::default() }
    }

    /// Opens a file that was made here to read it.
    ///
    /// # Errors
    /// What the system said; one of the oldest may be gone.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Makes a new, empty file to write and read, for its owner only.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn create(&self) -> io::Result<(PathBuf, File)> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match &mut *made {
            Some(made) => made,
            none => none.insert(Made::new(&self.root)?),
        };
        made.count += 1;
        if let Some(oldest) = made.count.checked_sub(self.most).filter(|oldest| *oldest > 0) {
            let _ = fs::remove_file(made.file(oldest));
        }
        let path = made.file(made.count);
        let file =
            File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((path, file))
    }
}

impl Made {
    fn file(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number}.txt"))
    }

    /// Makes a folder and takes away those of sessions that are gone.
    fn new(root: &Path) -> io::Result<Made> {
        DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        clear(root);
        // A name with a dot is nobody's yet: it is locked before another session may look at it.
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(root)?;
        let lock = File::create_new(new.path().join(LOCK))?;
        lock.lock()?;
        let new = new.keep();
        let name = new.file_name().map(|name| name.to_string_lossy().replace(".new-", ""));
        let folder = root.join(name.unwrap_or_default());
        fs::rename(&new, &folder)?;
        Ok(Made { folder, count: 0, _lock: lock })
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Takes away the folders that no session holds any more.
fn clear(root: &Path) {
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders {
        let held = openat(
            rustix::fs::CWD,
            folder.join(LOCK),
            OFlags::RDONLY | OFlags::NOFOLLOW,
            Mode::empty(),
        );
        if held.is_ok_and(|held| File::from(held).try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_folder_goes_with_its_session_or_with_the_next() {
        let state = tempfile::tempdir().unwrap();
        let names = || fs::read_dir(state.path().join(FOLDER)).unwrap().count();
        let gone = Outputs::new(state.path(), 2);
        let (path, mut file) = gone.create().unwrap();
        file.write_all(b"all of it").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "all of it");
        assert_ne!(gone.create().unwrap().0, path);
        assert!(path.exists());
        gone.create().unwrap();
        assert!(!path.exists() && gone.open(&path).is_err());
        // A session that was killed lets go of its lock and leaves its folder behind.
        gone.made.lock().unwrap().as_mut().unwrap()._lock = File::open("/dev/null").unwrap();
        let next = Outputs::new(state.path(), 2);
        next.create().unwrap();
        assert!(!path.parent().unwrap().exists());
        let beside = Outputs::new(state.path(), 2);
        let (kept, _) = beside.create().unwrap();
        assert_eq!(names(), 2);
        drop(next);
        assert!(kept.exists());
        drop(beside);
        assert_eq!(names(), 0);
    }
}
