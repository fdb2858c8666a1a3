//! The texts of a spec, from a directory or from the binary. The only place of this crate that reads a disk.

use crate::spec::Outline;
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    path::Path,
};

/// The most bytes of one file of a spec.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The most entries of a spec directory and all below it: what has more is no spec, or its links lead in circles.
const MAX_ENTRIES: usize = 10_000;

/// The files of a spec: name inside the spec directory (`/`-separated) to text, in name order.
#[derive(Debug, Clone, Default)]
pub struct Files {
    texts: BTreeMap<String, Cow<'static, str>>,
    briefs: Briefs,
}

/// What a build makes of the files it packs, so that a run reads less.
#[derive(Debug, Clone, Copy, Default)]
pub struct Briefs {
    /// Files by name without what checks alone ask, and without what is read entry by entry.
    pub texts: &'static [(&'static str, &'static str)],
    /// Where the entries of `permission/wrappers.json` stand in it.
    pub wrappers: Option<&'static Outline>,
}

impl Files {
    /// Returns the texts a build packed into the binary.
    pub fn packed(pack: &[(&'static str, &'static str)]) -> Files {
        let texts = pack.iter().map(|(name, text)| ((*name).into(), Cow::Borrowed(*text)));
        Files { texts: texts.collect(), briefs: Briefs::default() }
    }

    /// Adds what the same build made of these texts.
    pub fn with(self, briefs: Briefs) -> Files {
        Files { briefs, ..self }
    }

    /// Adds texts that a build packed deflated. One that is damaged is missing, and told as such.
    pub fn inflated(mut self, pack: &[(&'static str, &'static [u8])]) -> Files {
        for (name, bytes) in pack {
            let mut text = String::new();
            if DeflateDecoder::new(*bytes).read_to_string(&mut text).is_ok() {
                self.set(name, text);
            }
        }
        self
    }

    /// Reads every `.json`, `.md` and `VERSION` file below `dir`; hidden files are left out.
    ///
    /// # Errors
    /// A directory or file that cannot be read, is too large, is no regular file or not UTF-8, with its path in the
    /// message.
    pub fn read(dir: &Path) -> io::Result<Files> {
        let mut files = Files::default();
        files.walk(dir, "", &mut 0)?;
        Ok(files)
    }

    fn walk(&mut self, dir: &Path, prefix: &str, seen: &mut usize) -> io::Result<()> {
        let named = |error: io::Error, path: &Path| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        for entry in fs::read_dir(dir).map_err(|e| named(e, dir))? {
            *seen += 1;
            if *seen > MAX_ENTRIES {
                let message = format!("more than {MAX_ENTRIES} entries; this is no spec directory");
                return Err(named(io::Error::other(message), dir));
            }
            let path = entry.map_err(|e| named(e, dir))?.path();
            let Some(stem) = path.file_name().and_then(|n| n.to_str()) else { continue };
            let name = format!("{prefix}{stem}");
            if stem.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                self.walk(&path, &format!("{name}/"), seen)?;
            } else if is_spec_file(stem) {
                let text = read(&path).map_err(|e| named(e, &path))?;
                self.texts.insert(name, Cow::Owned(text));
            }
        }
        Ok(())
    }

    /// Returns the text of a file.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(AsRef::as_ref)
    }

    /// Returns a packed file without what checks alone ask, and the file as it is, if its build made one of the other; nothing
    /// for the latter where it is packed for checks alone.
    pub fn brief(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let (_, brief) = self.briefs.texts.iter().find(|(known, _)| *known == name)?;
        match self.texts.get(name) {
            Some(Cow::Borrowed(text)) => Some((brief, text)),
            Some(Cow::Owned(_)) => None,
            None => Some((brief, "")),
        }
    }

    /// Returns where the entries of the packed `permission/wrappers.json` stand in it.
    pub(crate) fn outline(&self) -> Option<&'static Outline> {
        self.briefs.wrappers
    }

    /// Sets the text of a file; what it was before is forgotten.
    pub fn set(&mut self, name: &str, text: String) {
        self.texts.insert(name.into(), Cow::Owned(text));
    }

    /// Returns all names with their texts, in name order.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_ref()))
    }

    /// Returns the stems of the files `folder/<stem>.<extension>`, in order.
    pub fn stems(&self, folder: &str, extension: &str) -> Vec<String> {
        let stem = |name: &str| {
            let stem = name.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(extension)?;
            let stem = stem.strip_suffix('.')?;
            (!stem.contains('/')).then(|| stem.to_string())
        };
        self.texts.keys().filter_map(|name| stem(name)).collect()
    }
}

/// Deflates a text as [`Files::inflated`] takes it.
///
/// # Errors
/// Never: it is written to memory.
pub(crate) fn deflated(text: &str) -> io::Result<Vec<u8>> {
    let mut writer = DeflateEncoder::new(Vec::new(), Compression::best());
    writer.write_all(text.as_bytes())?;
    writer.finish()
}

/// Reads a file of bounded size. What is no regular file is not opened: a FIFO or device would be waited for.
fn read(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut text = String::new();
    let taken = fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(taken).unwrap_or(u64::MAX) > MAX_BYTES {
        let message = format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

fn is_spec_file(name: &str) -> bool {
    name == "VERSION" || name.ends_with(".json") || name.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_direct_children_only() {
        let files =
            Files::packed(&[("tools/read.json", ""), ("tools/x/y.json", ""), ("tools/a.md", "")]);
        assert_eq!(files.stems("tools", "json"), ["read"]);
    }

    #[test]
    fn what_is_deflated_comes_back() {
        let bytes: &'static [u8] = Vec::leak(deflated("{ \"a\": \"ü\" }\n").unwrap());
        let files = Files::default().inflated(&[("a.json", bytes), ("b.json", b"no stream")]);
        assert_eq!(files.text("a.json"), Some("{ \"a\": \"ü\" }\n"));
        assert_eq!(files.text("b.json"), None);
    }

    /// Asserts what is said of a directory that `make` filled.
    fn refused(make: impl Fn(&Path), expected: &str) {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path());
        let error = Files::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} does not say {expected}");
    }

    #[test]
    fn only_regular_files_are_read() {
        use std::os::unix::fs::symlink;
        let fifo = |dir: &Path| {
            let made = std::process::Command::new("mkfifo").arg(dir.join("x.json")).status();
            assert!(made.unwrap().success());
        };
        refused(fifo, "x.json: it is not a regular file");
        refused(
            |dir| symlink("/dev/zero", dir.join("VERSION")).unwrap(),
            "VERSION: it is not a regular file",
        );
        let large = |dir: &Path| {
            fs::File::create(dir.join("a.md")).unwrap().set_len(MAX_BYTES + 1).unwrap()
        };
        refused(large, "a.md: it is larger than 16 MiB");
        let circles = |dir: &Path| {
            ["a", "b"].iter().for_each(|name| symlink(dir, dir.join(name)).unwrap());
        };
        refused(circles, "more than 10000 entries");
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("x.json")).unwrap();
        fs::write(dir.path().join("x.json/y.md"), "text").unwrap();
        assert_eq!(Files::read(dir.path()).unwrap().text("x.json/y.md"), Some("text"));
    }
}
