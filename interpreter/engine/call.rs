//! What the engine and the tools' handlers say to each other.

use lembas_core::{
    message::Image,
    patch::{self, Patch, Refused},
    spec::ToolSpec,
};
use serde_json::{Map, Value};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What a call gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The text for the model.
    pub(crate) text: String,
    /// Whether it failed.
    pub(crate) error: bool,
    /// Where the next command starts, if that is elsewhere now.
    pub(crate) stands: Option<PathBuf>,
    /// Images for the model, beside the text.
    pub(crate) images: Vec<Image>,
}

impl Outcome {
    /// Returns the result of a call that worked.
    pub(crate) fn done(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), error: false, stands: None, images: Vec::new() }
    }

    /// Returns the result of a call that failed or did not run.
    pub(crate) fn failed(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), error: true, stands: None, images: Vec::new() }
    }
}

/// What the arguments of a call name. It is read once: what was judged is what is carried out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    /// Every path, those in a patch too.
    pub(crate) paths: Vec<String>,
    /// The patch, for a tool that takes one.
    pub(crate) patch: Option<Arc<Patch>>,
}

impl Named {
    /// Reads what the arguments of a tool name.
    ///
    /// # Errors
    /// A patch that cannot be read.
    pub(crate) fn of(tool: &ToolSpec, args: &Map<String, Value>) -> Result<Named, Refused> {
        let permission = &tool.permission;
        let paths = permission.paths.iter().filter_map(|name| args.get(name)).flat_map(texts);
        let patch = permission.patch.as_ref().and_then(|name| args.get(name));
        let patch = patch.and_then(Value::as_str).map(patch::read).transpose()?;
        let patched = patch.iter().flat_map(Patch::paths);
        let paths = paths.chain(patched).map(String::from).collect();
        Ok(Named { paths, patch: patch.map(Arc::new) })
    }
}

/// The texts of an argument that is a path or a list of them.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What a call that was allowed is given: the paths it may open, and how it is stopped.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// Stops the call.
    pub(crate) stop: CancellationToken,
    /// Its paths.
    pub(crate) paths: Paths,
    /// Its patch, if its tool takes one.
    pub(crate) patch: Option<Arc<Patch>>,
    /// Takes what a call prints while it runs, for people to see.
    pub(crate) live: Live,
}

/// Where what a call prints goes while it runs.
pub(crate) type Live = mpsc::UnboundedSender<String>;

impl Grant {
    /// Passes on what a call printed. Nobody has to listen.
    pub(crate) fn tell(&self, text: String) {
        let _ = self.live.send(text);
    }
}

/// The paths of a call as they were judged. A tool opens these and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The directory it works in: the one it names, otherwise the session's. `None` if where that is cannot be known.
    pub(crate) here: Option<Target>,
    /// What its arguments name, under the texts they have there.
    pub(crate) named: Vec<(String, Target)>,
}

impl Paths {
    /// Returns what an argument, or its absence, means; `None` if where that is could not be known.
    pub(crate) fn of(&self, given: Option<&str>) -> Option<&Target> {
        let Some(given) = given else { return self.here.as_ref() };
        self.named.iter().find(|(text, _)| text == given).map(|(_, target)| target)
    }

    /// Returns where everything that is named really is.
    pub(crate) fn reals(&self) -> Vec<PathBuf> {
        self.named.iter().map(|(_, target)| target.real.clone()).collect()
    }

    /// Returns the path that leads elsewhere in `other`, as it is called.
    pub(crate) fn moved(&self, other: &Paths) -> Option<&Path> {
        let here = self.here.iter().filter(|here| other.here.as_ref() != Some(*here));
        let named = self.named.iter().filter(|(text, target)| other.of(Some(text)) != Some(target));
        here.chain(named.map(|(_, target)| target)).map(|target| target.named.as_path()).next()
    }
}

/// A path of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// How it is called; this is what is shown.
    pub(crate) named: PathBuf,
    /// Where it really is; this is what is opened.
    pub(crate) real: PathBuf,
}

impl Target {
    /// Returns how something at or below it is called.
    pub(crate) fn called(&self, real: &Path) -> PathBuf {
        match real.strip_prefix(&self.real) {
            Ok(below) if below.as_os_str().is_empty() => self.named.clone(),
            Ok(below) => self.named.join(below),
            Err(_) => real.to_owned(),
        }
    }
}

/// Says of a file that a tool comes upon whether its content may be shown without asking.
#[derive(Clone)]
pub(crate) struct Readable(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl Readable {
    /// Returns one that asks `may`.
    pub(crate) fn new(may: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Readable {
        Readable(Arc::new(may))
    }

    /// Returns whether the file at `path` may be shown.
    pub(crate) fn may(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}

impl fmt::Debug for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readable")
    }
}
