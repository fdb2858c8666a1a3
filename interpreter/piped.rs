//! What is piped into the program, as text. It decides nothing about when that is read.

use std::io::{self, Read};

/// Returns all of standard input.
///
/// # Errors
/// A sentence: it cannot be read, or is no text.
pub(crate) fn text() -> Result<String, String> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("Standard input cannot be read as text: {error}."))?;
    Ok(text)
}
