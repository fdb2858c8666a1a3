//! The file and shell tools on the real machine, one file a tool. They judge nothing: a call comes here once it is allowed.

mod apply_patch;
mod bash;
mod bash_kill;
mod bash_list;
mod bash_output;
mod edit;
mod file;
mod glob;
mod grep;
mod job;
mod jobs;
mod list;
mod multiedit;
mod output;
mod path;
mod read;
mod seen;
mod terminal;
mod view_image;
mod walk;
mod write;

use crate::engine::{self, Grant, Outcome, Readable, Target};
use crate::outputs::Outputs;
use lembas_core::say::say;
use lembas_core::spec::{
    ApplyPatchArgs, BashArgs, BashKillArgs, BashListArgs, BashOutputArgs, EditArgs, GlobArgs,
    GrepArgs, ListArgs, MultieditArgs, PromptText, ReadArgs, Sentence, Spec, ToolLimits, ToolSpec,
    Tools, ViewImageArgs, WriteArgs,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Whether the model takes images.
    sees: bool,
    /// What each file held when it was last read or written here, by its real path.
    seen: Mutex<seen::Seen>,
    /// Commands that go on after the call that started them.
    jobs: jobs::Jobs,
    /// Where long outputs go.
    outputs: Arc<Outputs>,
}

impl Toolbox {
    /// Makes the tools of a project at `root` for a session that works in `cwd`; both are absolute.
    /// `readable` judges files that a search comes upon, `outputs` is where what commands print goes if it is long, and
    /// `sees` says whether the model takes images.
    pub(crate) fn new(
        spec: Arc<Spec>,
        root: PathBuf,
        cwd: PathBuf,
        readable: Readable,
        outputs: Outputs,
        sees: bool,
    ) -> Toolbox {
        let (seen, jobs) = (Mutex::default(), jobs::Jobs::default());
        let outputs = Arc::new(outputs);
        let shared = Shared { root, cwd, spec, readable, sees, seen, jobs, outputs };
        Toolbox { shared: Arc::new(shared) }
    }

    /// Ends what commands left running and waits for that.
    pub(crate) async fn close(&self) {
        jobs::end(&self.shared.jobs.all(), &self.shared.limits().bash).await;
    }

    /// Runs file work beside the loop. A call whose thread died answers with why.
    async fn aside(
        &self,
        grant: &Grant,
        work: impl FnOnce(&Shared, &Grant) -> Result<Outcome, Outcome> + Send + 'static,
    ) -> Outcome {
        let (shared, grant) = (Arc::clone(&self.shared), grant.clone());
        let work = tokio::task::spawn_blocking(move || work(&shared, &grant));
        work.await.map_or_else(|error| Outcome::failed(error.to_string()), merged)
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

    /// Returns what a path of a call was judged to be, or the answer where that could not be known.
    fn target<'g>(&self, grant: &'g Grant, given: Option<&str>) -> Result<&'g Target, Outcome> {
        let moved = || self.moved(given.unwrap_or("."));
        grant.paths.of(given).ok_or_else(moved)
    }

    /// Returns the answer for a path that leads elsewhere than when it was judged.
    fn moved(&self, shown: &str) -> Outcome {
        let values = json!({"path": shown});
        Outcome::failed(engine::say(&self.spec, PromptText::BlocksCallMoved, values))
    }

    /// Returns a path as it is shown: relative inside the working directory.
    fn shown(&self, path: &Path) -> String {
        path::shown(&self.cwd, path)
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, seen::Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for Toolbox {
    type Output = Outcome;
    type Context = Grant;

    async fn read(&self, grant: &Grant, args: ReadArgs) -> Outcome {
        self.aside(grant, move |shared, grant| read::run(shared, grant, &args)).await
    }

    async fn view_image(&self, grant: &Grant, args: ViewImageArgs) -> Outcome {
        self.aside(grant, move |shared, grant| view_image::run(shared, grant, &args)).await
    }

    async fn write(&self, grant: &Grant, args: WriteArgs) -> Outcome {
        self.aside(grant, move |shared, grant| write::run(shared, grant, &args)).await
    }

    async fn edit(&self, grant: &Grant, args: EditArgs) -> Outcome {
        self.aside(grant, move |shared, grant| edit::run(shared, grant, &args)).await
    }

    async fn multiedit(&self, grant: &Grant, args: MultieditArgs) -> Outcome {
        self.aside(grant, move |shared, grant| multiedit::run(shared, grant, &args)).await
    }

    async fn apply_patch(&self, grant: &Grant, _: ApplyPatchArgs) -> Outcome {
        self.aside(grant, apply_patch::run).await
    }

    async fn list(&self, grant: &Grant, args: ListArgs) -> Outcome {
        self.aside(grant, move |shared, grant| list::run(shared, grant, &args)).await
    }

    async fn glob(&self, grant: &Grant, args: GlobArgs) -> Outcome {
        self.aside(grant, move |shared, grant| glob::run(shared, grant, &args)).await
    }

    async fn grep(&self, grant: &Grant, args: GrepArgs) -> Outcome {
        self.aside(grant, move |shared, grant| grep::run(shared, grant, &args)).await
    }

    async fn bash(&self, grant: &Grant, args: BashArgs) -> Outcome {
        merged(bash::run(&self.shared, grant, &args).await)
    }

    async fn bash_output(&self, grant: &Grant, args: BashOutputArgs) -> Outcome {
        merged(bash_output::run(&self.shared, grant, &args).await)
    }

    async fn bash_list(&self, _: &Grant, _: BashListArgs) -> Outcome {
        bash_list::run(&self.shared)
    }

    async fn bash_kill(&self, _: &Grant, args: BashKillArgs) -> Outcome {
        merged(bash_kill::run(&self.shared, &args).await)
    }
}

/// An outcome that ended a call early is its outcome.
fn merged(ran: Result<Outcome, Outcome>) -> Outcome {
    ran.unwrap_or_else(|early| early)
}

#[cfg(test)]
mod tests;
