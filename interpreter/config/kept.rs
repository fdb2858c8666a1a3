//! A JSON file the program keeps for itself below the state root: read whole, changed under a lock, written whole or
//! not at all, and its owner's alone. What it holds is the caller's business.

use super::problem::{Place, Problem};
use crate::regular;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs,
    io::{self, ErrorKind, Write},
    marker::PhantomData,
    path::{Path, PathBuf},
};

/// The most bytes of such a file.
const MAX_BYTES: u64 = 1 << 24;

/// A file of the state root that holds a `T`; a missing file holds the default.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    file: PathBuf,
    /// What a person can do about a damaged file: the end of a sentence.
    remedy: &'static str,
    holds: PhantomData<T>,
}

impl<T: Default + Clone + PartialEq + Serialize + DeserializeOwned> Kept<T> {
    /// Returns the file of this name. Nothing is read yet.
    pub(crate) fn new(state: &Path, name: &str, remedy: &'static str) -> Self {
        Self { file: state.join(name), remedy, holds: PhantomData }
    }

    /// Returns where it is.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Reads the text; `None` where there is no file yet.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn text(&self) -> Result<Option<String>, Problem> {
        match regular::text(&self.file, MAX_BYTES) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::file(&self.file, format!("cannot be read: {error}"))),
        }
    }

    /// Returns what a text of the file holds.
    ///
    /// # Errors
    /// Where the text is damaged, or holds something this program never wrote.
    pub(crate) fn parse(&self, text: &str) -> Result<T, Problem> {
        serde_json::from_str(text).map_err(|error| {
            let place = Place { line: error.line().max(1), column: error.column().max(1) };
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            Problem::at(&self.file, place, format!("is damaged ({why}); {}", self.remedy))
        })
    }

    /// Reads what is kept.
    ///
    /// # Errors
    /// As for `text` and `parse`.
    pub(crate) fn read(&self) -> Result<T, Problem> {
        self.text()?.map_or_else(|| Ok(T::default()), |text| self.parse(&text))
    }

    /// Lets `change` alter what is kept, and writes it if it did. Two processes may do so at once: it is read and
    /// written under a lock.
    ///
    /// # Errors
    /// A file that cannot be read or written, or is damaged; then it is as it was.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> Result<R, Problem> {
        let failed =
            |error: io::Error| Problem::file(&self.file, format!("cannot be written: {error}"));
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = fs::File::create(self.file.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let before = self.read()?;
        let mut after = before.clone();
        let result = change(&mut after);
        if after != before {
            self.write(folder, &after).map_err(failed)?;
        }
        Ok(result)
    }

    /// Writes it whole or not at all, under the lock; a temporary file is the person's alone (0600) from its start. One that
    /// a process left which ended meanwhile is removed.
    fn write(&self, folder: &Path, value: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        let name = self.file.with_extension("new");
        match fs::remove_file(&name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let name = name.file_name().unwrap_or_default();
        let mut file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(folder)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(&self.file).map(|_| ()).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_ended_process_left_is_no_hindrance() {
        let state = tempfile::tempdir().unwrap();
        fs::write(state.path().join("list.new"), "[1, ").unwrap();
        let kept: Kept<Vec<u8>> = Kept::new(state.path(), "list.json", "remove it");
        kept.change(|list| list.push(2)).unwrap();
        assert_eq!(kept.read().unwrap(), [2]);
        assert!(!state.path().join("list.new").exists());
    }
}
