//! The content of files as a whole, and what the system says of them. Opening and writing are `project::safe`'s.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};

/// A print of a content, to tell whether it is still the same.
pub(super) type Print = [u8; 32];

/// Returns the print of a content.
pub(super) fn print(bytes: &[u8]) -> Print {
    Sha256::digest(bytes).into()
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// What the system said; `FileTooLarge` for a longer file.
pub(super) fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Returns the system's words for an error, without its number.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
