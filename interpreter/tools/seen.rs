//! What files held when they were last read or written here, to notice by content that somebody else changed one.
//! It reads no file.

use super::file::{self, Print};
use lembas_core::spec::SeenLimits;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// What is known of files, by their real paths.
#[derive(Debug, Default)]
pub(super) struct Seen {
    files: HashMap<PathBuf, Known>,
    /// Files whose content is kept, the oldest first.
    kept: VecDeque<PathBuf>,
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    print: Print,
    text: Option<Vec<u8>>,
}

/// How what a file holds compares to what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Since {
    /// It was never read or written here.
    Unread,
    /// It holds what was seen.
    Same,
    /// It holds something else; what was seen, if it was kept.
    Changed(Option<Vec<u8>>),
}

impl Seen {
    /// Takes in what a file holds.
    pub(super) fn saw(&mut self, path: PathBuf, bytes: &[u8], limits: SeenLimits) {
        let text = (bytes.len() <= limits.file_bytes).then(|| bytes.to_vec());
        self.know(path, file::print(bytes), text, limits);
    }

    /// Takes in the print of what a file holds, and the content itself where it is short.
    pub(super) fn know(
        &mut self,
        path: PathBuf,
        print: Print,
        text: Option<Vec<u8>>,
        limits: SeenLimits,
    ) {
        self.forget(&path);
        if let Some(text) = &text {
            self.bytes += text.len();
            self.kept.push_back(path.clone());
        }
        self.files.insert(path, Known { print, text });
        while self.bytes > limits.all_bytes {
            let Some(oldest) = self.kept.pop_front() else { break };
            let text = self.files.get_mut(&oldest).and_then(|known| known.text.take());
            self.bytes -= text.map_or(0, |text| text.len());
        }
    }

    /// Forgets a file that is gone.
    pub(super) fn forget(&mut self, path: &Path) {
        let text = self.files.remove(path).and_then(|known| known.text);
        self.bytes -= text.map_or(0, |text| text.len());
        self.kept.retain(|kept| kept != path);
    }

    /// Compares what a file holds now with what was seen of it.
    pub(super) fn since(&self, path: &Path, now: &[u8]) -> Since {
        match self.files.get(path) {
            None => Since::Unread,
            Some(known) if known.print == file::print(now) => Since::Same,
            Some(known) => Since::Changed(known.text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_content_goes_first() {
        let limits = SeenLimits { file_bytes: 4, all_bytes: 6 };
        let mut seen = Seen::default();
        for (path, text) in [("a", "1234"), ("long", "12345"), ("a", "4321"), ("b", "12")] {
            seen.saw(path.into(), text.as_bytes(), limits);
        }
        let since = |seen: &Seen, path: &str| seen.since(Path::new(path), b"now");
        assert_eq!(since(&seen, "a"), Since::Changed(Some(b"4321".to_vec())));
        assert_eq!(since(&seen, "long"), Since::Changed(None));
        assert_eq!(since(&seen, "none"), Since::Unread);
        seen.saw("c".into(), b"1", limits);
        assert_eq!(since(&seen, "a"), Since::Changed(None));
        assert_eq!(since(&seen, "b"), Since::Changed(Some(b"12".to_vec())));
        assert_eq!(seen.since(Path::new("a"), b"4321"), Since::Same);
        seen.forget(Path::new("b"));
        assert_eq!((since(&seen, "b"), seen.bytes), (Since::Unread, 1));
    }
}
