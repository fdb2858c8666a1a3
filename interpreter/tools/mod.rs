//! The file and shell tools on the real machine, one file a tool. They judge nothing: a call comes here once it is allowed.

mod bash;
mod edit;
mod file;
mod glob;
mod grep;
mod list;
mod output;
mod path;
mod read;
mod walk;
mod write;

use crate::{
    engine::{Outcome, Readable},
    project::located,
};
use lembas_core::say::say;
use lembas_core::spec::{
    BashArgs, EditArgs, GlobArgs, GrepArgs, ListArgs, ReadArgs, Sentence, Spec, ToolLimits,
    ToolSpec, Tools, WriteArgs,
};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The handlers of the tools, with where they work and what was read so far. Clones share all of it.
#[derive(Debug, Clone)]
pub(crate) struct Toolbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    cwd: PathBuf,
    spec: Arc<Spec>,
    readable: Readable,
    /// What each file held when it was last read or written here, by its real path.
    seen: Mutex<HashMap<PathBuf, file::Print>>,
}

impl Toolbox {
    /// Makes the tools of a project at `root` for a session that works in `cwd`; both are absolute.
    /// `readable` judges files that a search comes upon.
    pub(crate) fn new(spec: Arc<Spec>, root: PathBuf, cwd: PathBuf, readable: Readable) -> Toolbox {
        Toolbox { shared: Arc::new(Shared { root, cwd, spec, readable, seen: Mutex::default() }) }
    }

    /// Runs file work beside the loop. A call whose thread died answers with why.
    async fn aside(
        &self,
        stop: &CancellationToken,
        work: impl FnOnce(&Shared, &CancellationToken) -> Outcome + Send + 'static,
    ) -> Outcome {
        let (shared, stop) = (Arc::clone(&self.shared), stop.clone());
        let work = tokio::task::spawn_blocking(move || work(&shared, &stop));
        work.await.unwrap_or_else(|error| Outcome::failed(error.to_string()))
    }
}

impl Shared {
    fn limits(&self) -> &ToolLimits {
        &self.spec.limits.tools
    }

    fn tool(&self, id: &str) -> Option<&ToolSpec> {
        self.spec.tool(id)
    }

    /// Returns a sentence with `values`.
    fn say(&self, sentence: impl Sentence, values: &Value) -> String {
        let (tool, key) = (self.tool(sentence.tool().name()), sentence.key());
        tool.map(|tool| say(&tool.says, key, values)).unwrap_or_else(|| key.to_owned())
    }

    /// Returns the outcome of a call that did what it was asked, told by a sentence.
    fn tells(&self, sentence: impl Sentence, values: &Value) -> Outcome {
        Outcome::done(self.say(sentence, values))
    }

    /// Returns the outcome of a call that failed, told by a sentence.
    fn fails(&self, sentence: impl Sentence, values: &Value) -> Outcome {
        Outcome::failed(self.say(sentence, values))
    }

    /// Returns the path a call means.
    fn path(&self, given: &str) -> PathBuf {
        located(&self.root, &self.cwd, given)
    }

    /// Returns a path as it is shown: relative inside the working directory.
    fn shown(&self, path: &Path) -> String {
        path::shown(&self.cwd, path)
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, file::Print>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for Toolbox {
    type Output = Outcome;
    type Context = CancellationToken;

    async fn read(&self, stop: &CancellationToken, args: ReadArgs) -> Outcome {
        self.aside(stop, move |shared, stop| read::run(shared, stop, &args)).await
    }

    async fn write(&self, stop: &CancellationToken, args: WriteArgs) -> Outcome {
        self.aside(stop, move |shared, _| write::run(shared, &args)).await
    }

    async fn edit(&self, stop: &CancellationToken, args: EditArgs) -> Outcome {
        self.aside(stop, move |shared, _| edit::run(shared, &args)).await
    }

    async fn list(&self, stop: &CancellationToken, args: ListArgs) -> Outcome {
        self.aside(stop, move |shared, stop| list::run(shared, stop, &args)).await
    }

    async fn glob(&self, stop: &CancellationToken, args: GlobArgs) -> Outcome {
        self.aside(stop, move |shared, stop| glob::run(shared, stop, &args)).await
    }

    async fn grep(&self, stop: &CancellationToken, args: GrepArgs) -> Outcome {
        self.aside(stop, move |shared, stop| grep::run(shared, stop, &args)).await
    }

    async fn bash(&self, stop: &CancellationToken, args: BashArgs) -> Outcome {
        bash::run(&self.shared, stop, &args).await
    }
}

#[cfg(test)]
mod tests;
