//! `lembas trust`: lets a project's own configuration and instructions count from now on.

use crate::{
    config::{
        paths::Paths,
        trust::{Project, Trust},
    },
    stop::Stop,
};
use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Trusts the project of `dir`, or of the working directory, and returns the exit code.
///
/// # Errors
/// A directory that cannot be a project, or a list that cannot be written.
pub(crate) fn trust(dir: Option<&Path>) -> Result<u8, Stop> {
    let paths = Paths::find(&|name| env::var_os(name)).map_err(Stop::usage)?;
    let dir = dir.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let project = Project::find(&dir, paths.home.as_deref()).map_err(Stop::usage)?;
    Trust::new(&paths).trust(&project).map_err(Stop::usage)?;
    // The list is written; whether anybody reads this line changes nothing.
    let _ = writeln!(io::stdout(), "{} is trusted.", project.root.display());
    Ok(0)
}
