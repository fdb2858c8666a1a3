//! Opens what was judged and nothing else. Every path here is a real one, as a verdict says it: a link anywhere on it was
//! put there since, and is refused. The only place that opens files whose paths come from a model.

use rustix::fs::{self as system, CWD, Dir, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// How a directory is opened that others are looked up in.
#[cfg(target_os = "linux")]
const ANCHOR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ANCHOR: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// How a file is opened for reading: without waiting for the other end of a FIFO.
const READ: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Returns whether an error says that a path leads elsewhere than when it was judged.
pub(crate) fn is_moved(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::STALE]
        .iter()
        .any(|moved| error.raw_os_error() == Some(moved.raw_os_error()))
}

/// Returns whether an error says that a path is something that cannot be read or written as a file is, such as a socket.
pub(crate) fn is_special(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

/// Opens a file or directory to read it.
///
/// # Errors
/// What the system said; one that `is_moved` for a link.
pub(crate) fn open(real: &Path) -> io::Result<File> {
    opened(real, READ).map(File::from)
}

/// Opens a directory to work in it.
///
/// # Errors
/// As for `open`, and for what is no directory.
pub(crate) fn directory(real: &Path) -> io::Result<OwnedFd> {
    opened(real, ANCHOR)
}

/// Returns a path of a directory that stays what was opened, whatever is put in its place.
pub(crate) fn pinned(directory: &OwnedFd, real: &Path) -> PathBuf {
    let pinned = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    if cfg!(target_os = "linux") && pinned.exists() { pinned } else { real.to_owned() }
}

/// Returns at most `most` names in a directory.
///
/// # Errors
/// As for `directory`.
pub(crate) fn names(real: &Path, most: usize) -> io::Result<Vec<String>> {
    let entries = Dir::new(opened(real, READ | OFlags::DIRECTORY)?)?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name != "." && name != "..").take(most).collect())
}

/// Checks that a path still is the file or directory that was looked at.
///
/// # Errors
/// As for `open`; one that `is_moved` where it is another.
pub(crate) fn still(real: &Path, before: &Metadata) -> io::Result<()> {
    same(opened(real, READ)?, before)
}

/// Writes a whole file by way of a new one beside it, so that nobody ever sees half of one. `before` is the file that
/// was looked at: its mode is kept, and if another stands there now nothing is written. Without one, missing
/// directories are made, and nothing may be there.
///
/// # Errors
/// What the system said; the file is as it was then.
pub(crate) fn write(real: &Path, bytes: &[u8], before: Option<&Metadata>) -> io::Result<()> {
    Staged::new(real, bytes, before, before.map(Metadata::permissions))?.put()
}

/// A new content that lies beside the file it is for. It goes if it is not put in place.
pub(crate) struct Staged {
    new: Temporary,
    file: File,
    name: PathBuf,
    before: Option<Metadata>,
    /// The directories that were made for it, the deepest last.
    pub(crate) made: Vec<PathBuf>,
}

impl Staged {
    /// Writes the content with these permissions, or those of any new file. `before` is as for `write`.
    ///
    /// # Errors
    /// What the system said; nothing is left then.
    pub(crate) fn new(
        real: &Path,
        bytes: &[u8],
        before: Option<&Metadata>,
        permissions: Option<Permissions>,
    ) -> io::Result<Staged> {
        let mut made_here = Vec::new();
        let staged = stage(real, bytes, before, permissions, &mut made_here);
        staged.inspect_err(|_| remove_directories(&made_here))
    }

    /// Lets the file be executed by whoever may read it, or by nobody.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn executable(&self, on: bool) -> io::Result<()> {
        let mode = self.file.metadata()?.permissions().mode();
        let mode = if on { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// What the system said.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts the content in place and keeps what was there beside it, so that it can be put back.
    ///
    /// # Errors
    /// As for `write`.
    pub(crate) fn swap(self) -> io::Result<Swapped> {
        let Staged { new: Temporary { directory, name: new }, name, .. } = &self;
        let Some(before) = &self.before else {
            moved_onto_nothing(directory, new, name)?;
            let now = self.file.metadata()?;
            return Ok(Swapped { beside: self.new, name: self.name, way: Way::Added(now) });
        };
        let exchange =
            || system::renameat_with(directory, new, directory, name, RenameFlags::EXCHANGE);
        match exchange() {
            // Not every file system can. What was there is gone then.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                same(unlinked(directory, name, READ)?, before)?;
                system::renameat(directory, new, directory, name)?;
                return Ok(Swapped { beside: self.new, name: self.name, way: Way::Replaced });
            }
            exchanged => exchanged?,
        }
        if let Err(error) = unlinked(directory, new, READ).and_then(|now| same(now, before)) {
            exchange()?;
            return Err(error);
        }
        Ok(Swapped { beside: self.new, name: self.name, way: Way::Exchanged })
    }

    /// Puts the content in place.
    ///
    /// # Errors
    /// As for `write`.
    pub(crate) fn put(self) -> io::Result<()> {
        let Staged { new: Temporary { directory, name: new }, name, .. } = &self;
        match &self.before {
            Some(before) => {
                same(unlinked(directory, name, READ)?, before)?;
                Ok(system::renameat(directory, new, directory, name)?)
            }
            None => moved_onto_nothing(directory, new, name),
        }
    }
}

fn stage(
    real: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
    permissions: Option<Permissions>,
    made_here: &mut Vec<PathBuf>,
) -> io::Result<Staged> {
    let (parent, name) = split(real)?;
    let directory = if before.is_some() { directory(parent)? } else { made(parent, made_here)? };
    let (mut file, new) = Temporary::new(directory)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    let (name, before) = (name.to_owned(), before.cloned());
    Ok(Staged { new, file, name, before, made: made_here.clone() })
}

/// A file that was put in place or taken away. What was there before stays beside it until this goes.
pub(crate) struct Swapped {
    beside: Temporary,
    name: PathBuf,
    way: Way,
}

/// How a file got in place, or went.
enum Way {
    /// It changed places with the old one.
    Exchanged,
    /// It took the place of the old one, which is gone.
    Replaced,
    /// Nothing was there; this is what is there now.
    Added(Metadata),
    /// It went.
    Taken,
}

impl Swapped {
    /// Puts back what was there before.
    ///
    /// # Errors
    /// What the system said; `Unsupported` where nothing is left of it.
    pub(crate) fn undo(self) -> io::Result<()> {
        let Swapped { beside: Temporary { directory, name: beside }, name, way } = &self;
        match way {
            Way::Exchanged => {
                let flags = RenameFlags::EXCHANGE;
                Ok(system::renameat_with(directory, beside, directory, name, flags)?)
            }
            Way::Replaced => Err(ErrorKind::Unsupported.into()),
            Way::Added(now) => {
                same(unlinked(directory, name, READ)?, now)?;
                Ok(system::unlinkat(directory, name, system::AtFlags::empty())?)
            }
            Way::Taken => moved_onto_nothing(directory, beside, name),
        }
    }
}

/// Takes a file away, if it is the one that was looked at: for good when the answer goes.
///
/// # Errors
/// As for `write`.
pub(crate) fn take(real: &Path, before: &Metadata) -> io::Result<Swapped> {
    let (parent, name) = split(real)?;
    let ((), beside) = Temporary::made(directory(parent)?, |directory, beside| {
        moved_onto_nothing(directory, name, beside)
    })?;
    let taken = Swapped { beside, name: name.to_owned(), way: Way::Taken };
    let directory = &taken.beside.directory;
    match unlinked(directory, &taken.beside.name, READ).and_then(|now| same(now, before)) {
        Ok(()) => Ok(taken),
        Err(error) => taken.undo().and(Err(error)),
    }
}

/// Takes away directories that were made, the last first; one that holds something stays.
pub(crate) fn remove_directories(made: &[PathBuf]) {
    for real in made.iter().rev() {
        let removed = split(real).and_then(|(parent, name)| {
            Ok(system::unlinkat(directory(parent)?, name, system::AtFlags::REMOVEDIR)?)
        });
        drop(removed);
    }
}

/// Returns whether a path, as it is called, is a link.
pub(crate) fn is_link(named: &Path) -> bool {
    system::readlinkat(CWD, named, Vec::new()).is_ok()
}

fn opened(real: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        match openat2(CWD, real, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // An old kernel, or one that is told not to let us.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    walked(real, flags)
}

/// Opens a path part by part, each without following a link.
fn walked(real: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut parts = real.components();
    let mut directory = system::openat(CWD, "/", ANCHOR, Mode::empty())?;
    parts.next();
    loop {
        let Some(part) = parts.next() else {
            return Ok(system::openat(&directory, ".", flags, Mode::empty())?);
        };
        let Component::Normal(name) = part else { return Err(ErrorKind::InvalidInput.into()) };
        if parts.as_path().as_os_str().is_empty() {
            return unlinked(&directory, Path::new(name), flags);
        }
        directory = unlinked(&directory, Path::new(name), ANCHOR)?;
    }
}

/// Opens what a name in a directory is, unless it is a link.
fn unlinked(directory: &OwnedFd, name: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let opened = system::openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty());
    opened.map_err(|error| {
        // Systems do not agree on what they say of a link.
        let link = system::readlinkat(directory, name, Vec::new()).is_ok();
        if link { Errno::LOOP.into() } else { error.into() }
    })
}

/// Opens a directory; it and those above it are made where nothing is, and told in `made_here`.
fn made(real: &Path, made_here: &mut Vec<PathBuf>) -> io::Result<OwnedFd> {
    match directory(real) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    let (parent, name) = split(real)?;
    let parent = made(parent, made_here)?;
    match system::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => made_here.push(real.to_owned()),
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    unlinked(&parent, name, ANCHOR)
}

/// Returns the directory of a path and the name in it.
fn split(real: &Path) -> io::Result<(&Path, &Path)> {
    let name = real.file_name().map(Path::new);
    real.parent().zip(name).ok_or_else(|| ErrorKind::InvalidInput.into())
}

/// Checks that what was opened is the file that was looked at.
fn same(opened: OwnedFd, before: &Metadata) -> io::Result<()> {
    let now = File::from(opened).metadata()?;
    let same = (now.dev(), now.ino()) == (before.dev(), before.ino());
    if same { Ok(()) } else { Err(Errno::STALE.into()) }
}

/// Gives a file its name if nothing has it.
fn moved_onto_nothing(directory: &OwnedFd, from: &Path, to: &Path) -> io::Result<()> {
    match system::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // Not every file system can rename on this condition.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return Ok(renamed?),
    }
    match system::statat(directory, to, system::AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(system::renameat(directory, from, directory, to)?),
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error.into()),
    }
}

/// A file that gets its name later, and goes if it does not.
struct Temporary {
    directory: OwnedFd,
    name: PathBuf,
}

impl Temporary {
    fn new(directory: OwnedFd) -> io::Result<(File, Temporary)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        Temporary::made(directory, |directory, name| {
            Ok(File::from(system::openat(directory, name, flags, mode)?))
        })
    }

    /// Has `make` make a file under a name that nothing has.
    fn made<T>(
        directory: OwnedFd,
        mut make: impl FnMut(&OwnedFd, &Path) -> io::Result<T>,
    ) -> io::Result<(T, Temporary)> {
        // Only the name is taken from there: the file is made in the directory that was opened.
        let named = tempfile::Builder::new().prefix(".lembas-").make_in("/", |path| {
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            Ok((make(&directory, &name)?, name))
        })?;
        let ((made, name), _) = named.keep().map_err(|kept| kept.error)?;
        Ok((made, Temporary { directory, name }))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = system::unlinkat(&self.directory, &self.name, system::AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A directory with a file in it, and one outside that has a file of the same name.
    struct Place {
        root: PathBuf,
        _kept: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Place {
            let kept = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(kept.path()).unwrap();
            for folder in ["in/a/b", "out/b"] {
                fs::create_dir_all(root.join(folder)).unwrap();
                fs::write(root.join(folder).join("f"), "kept").unwrap();
            }
            Place { root, _kept: kept }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        /// Puts a link in the place of what is there.
        fn swap(&self, path: &str, to: &str) {
            let path = self.path(path);
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap()
            } else {
                let _ = fs::remove_file(&path);
            }
            symlink(self.path(to), path).unwrap();
        }

        /// Everything below it, with the text of files.
        fn all(&self) -> Vec<(PathBuf, Option<String>)> {
            let walk =
                ignore::WalkBuilder::new(&self.root).standard_filters(false).build().flatten();
            let text = |path: &Path| {
                fs::symlink_metadata(path)
                    .unwrap()
                    .is_file()
                    .then(|| fs::read_to_string(path).unwrap())
            };
            let mut all: Vec<_> =
                walk.map(|entry| (entry.path().to_owned(), text(entry.path()))).collect();
            all.sort();
            all
        }
    }

    #[test]
    fn both_ways_to_open_find_the_same() {
        let place = Place::new();
        place.swap("in/link", "out/b");
        place.swap("in/file", "out/b/f");
        for (path, expected) in [
            ("in/a/b/f", Ok(())),
            ("in/a/b", Ok(())),
            ("in/link", Err(Errno::LOOP)),
            ("in/link/f", Err(Errno::LOOP)),
            ("in/file", Err(Errno::LOOP)),
            ("in/none", Err(Errno::NOENT)),
            ("in/a/b/f/x", Err(Errno::NOTDIR)),
        ] {
            let path = place.path(path);
            let said = |opened: io::Result<OwnedFd>| {
                opened.map(drop).map_err(|error| error.raw_os_error())
            };
            let expected = expected.map_err(|error: Errno| Some(error.raw_os_error()));
            assert_eq!(said(opened(&path, READ)), expected, "{}", path.display());
            assert_eq!(said(walked(&path, READ)), expected, "{}", path.display());
        }
        assert!(walked(Path::new("/"), ANCHOR).is_ok());
        assert!(walked(&place.path("in/../in"), ANCHOR).is_err());
    }

    /// Writes to a path after something was put in the place of one of its parts.
    fn check(existing: bool, swap: impl Fn(&Place)) {
        let place = Place::new();
        let path = place.path(if existing { "in/a/b/f" } else { "in/a/b/new/f" });
        let before = existing.then(|| open(&path).unwrap().metadata().unwrap());
        swap(&place);
        let then = place.all();
        let error = write(&path, b"written", before.as_ref()).unwrap_err();
        assert!(is_moved(&error), "{error}");
        assert_eq!(place.all(), then);
    }

    #[test]
    fn what_was_swapped_is_not_written() {
        check(true, |place| place.swap("in/a/b/f", "out/b/f"));
        check(true, |place| place.swap("in/a/b/f", "out/none"));
        check(true, |place| {
            fs::write(place.path("in/a/b/g"), "another").unwrap();
            fs::rename(place.path("in/a/b/g"), place.path("in/a/b/f")).unwrap();
        });
        for existing in [true, false] {
            check(existing, |place| place.swap("in/a/b", "out/b"));
            check(existing, |place| place.swap("in/a", "out"));
            check(existing, |place| place.swap("in", "out"));
        }
        check(false, |place| place.swap("in/a/b/new", "out"));
    }

    #[test]
    fn a_file_is_written_whole_and_leaves_nothing_beside_it() {
        let place = Place::new();
        write(&place.path("in/x/y/z"), b"new", None).unwrap();
        write(
            &place.path("in/a/b/f"),
            b"again",
            Some(&open(&place.path("in/a/b/f")).unwrap().metadata().unwrap()),
        )
        .unwrap();
        let error = write(&place.path("out/b/f"), b"new", None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let mut files: Vec<_> = place
            .all()
            .into_iter()
            .filter_map(|(path, text)| {
                Some((path.strip_prefix(&place.root).unwrap().to_owned(), text?))
            })
            .collect();
        files.sort();
        let expected = [("in/a/b/f", "again"), ("in/x/y/z", "new"), ("out/b/f", "kept")];
        assert_eq!(files, expected.map(|(path, text)| (PathBuf::from(path), text.to_owned())));
    }

    #[test]
    fn what_was_swapped_in_goes_back() {
        let place = Place::new();
        let before = open(&place.path("in/a/b/f")).unwrap().metadata().unwrap();
        let then = place.all();
        let swapped = Staged::new(&place.path("in/a/b/f"), b"new", Some(&before), None).unwrap();
        swapped.sync().unwrap();
        let swapped = swapped.swap().unwrap();
        let added = Staged::new(&place.path("in/a/g"), b"new", None, None).unwrap().swap().unwrap();
        let out = open(&place.path("out/b/f")).unwrap().metadata().unwrap();
        let taken = take(&place.path("out/b/f"), &out).unwrap();
        assert_eq!(fs::read(place.path("in/a/b/f")).unwrap(), b"new");
        assert!(place.path("in/a/g").exists() && !place.path("out/b/f").exists());
        [swapped, added, taken].into_iter().for_each(|each| each.undo().unwrap());
        assert_eq!(place.all(), then);
        assert_eq!(fs::metadata(place.path("in/a/b/f")).unwrap().ino(), before.ino());
        assert!(is_moved(&take(&place.path("out/b/f"), &before).err().unwrap()));
        let other = Staged::new(&place.path("out/b/f"), b"new", Some(&before), None).unwrap();
        assert!(is_moved(&other.swap().err().unwrap()));
        assert_eq!(place.all(), then, "another file than the one that was looked at stays");
        drop(take(&place.path("out/b/f"), &out).unwrap());
        assert_eq!(fs::read_dir(place.path("out/b")).unwrap().count(), 0);
    }

    #[test]
    fn a_pinned_directory_stays_what_it_was() {
        let place = Place::new();
        let directory = directory(&place.path("in/a/b")).unwrap();
        fs::rename(place.path("in/a/b"), place.path("in/c")).unwrap();
        place.swap("in/a/b", "out");
        let found = fs::canonicalize(pinned(&directory, &place.path("in/a/b"))).unwrap();
        assert_eq!(found, place.path("in/c"));
        assert_eq!(names(&place.path("in/c"), 9).unwrap(), ["f"]);
        assert!(is_moved(&names(&place.path("in/a/b"), 9).unwrap_err()));
    }
}
