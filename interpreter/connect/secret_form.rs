//! How a connection's key is written down: as where it is to be had, or, where a person insists, as itself.

use crate::config::{connections::Credential, fill::Filler, secret::Secret};
use std::io;

/// Where the key comes from.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(super) struct SecretArgs {
    /// The environment variable that holds the key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// The file that holds the key
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,
    /// The shell command that prints the key
    #[arg(long, value_name = "COMMAND")]
    key_cmd: Option<String>,
    /// Write the key itself into the file: the first line of standard input
    #[arg(long)]
    store_key: bool,
}

/// A key, as it is written down.
#[derive(Debug)]
pub(super) enum SecretForm {
    /// In an environment variable.
    Variable(String),
    /// In a file.
    File(String),
    /// Printed by a command.
    Command(String),
    /// Itself.
    Plain(Secret),
}

impl SecretArgs {
    /// Returns the form that was asked for.
    ///
    /// # Errors
    /// A key that cannot be read.
    pub(super) fn form(&self) -> Result<Option<SecretForm>, String> {
        if self.store_key {
            let mut line = String::new();
            io::stdin()
                .read_line(&mut line)
                .map_err(|error| format!("The key cannot be read: {error}."))?;
            return match line.trim() {
                "" => Err("There is no key on standard input.".into()),
                key => Ok(Some(SecretForm::Plain(Secret::new(key.into())))),
            };
        }
        let variable = self.key_env.clone().map(SecretForm::Variable);
        // In the file a relative path starts elsewhere.
        let whole = |path: &String| match std::path::absolute(path) {
            Ok(whole) if !path.starts_with("~/") => whole.display().to_string(),
            _ => path.clone(),
        };
        let file = self.key_file.as_ref().map(|path| SecretForm::File(whole(path)));
        Ok(variable.or(file).or(self.key_cmd.clone().map(SecretForm::Command)))
    }
}

impl SecretForm {
    /// Returns the field it is written in, and its value.
    pub(super) fn written(&self) -> (&'static str, String) {
        match self {
            SecretForm::Variable(name) => ("key", format!("{{env:{name}}}")),
            SecretForm::File(path) => ("key", format!("{{file:{path}}}")),
            SecretForm::Command(command) => ("key_cmd", command.clone()),
            SecretForm::Plain(key) => ("key", key.expose().into()),
        }
    }

    /// Returns the key, or how to get it.
    ///
    /// # Errors
    /// A sentence: the variable or file has none.
    pub(super) fn credential(&self, filler: &Filler<'_>) -> Result<Credential, String> {
        match self {
            SecretForm::Command(command) => Ok(Credential::Command(command.clone())),
            SecretForm::Plain(key) => Ok(Credential::Key(key.clone())),
            SecretForm::Variable(_) | SecretForm::File(_) => {
                let filled = filler.fill(&self.written().1);
                let filled = filled.map_err(|why| format!("The key cannot be had: {why}."))?;
                Ok(Credential::Key(Secret::new(filled)))
            }
        }
    }
}
