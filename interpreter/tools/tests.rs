//! A project in a temporary directory and one `check` for every tool; each tool's own cases stand in its file's tests.

use super::{Outcome, Readable, Toolbox};
use crate::engine::{Grant, Named, Place};
use crate::outputs::Outputs;
use crate::supervisor::tree;
use lembas_core::permission::{Policy, judge};
use lembas_core::spec::{Spec, Tool, Tools, packed};
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<Arc<Spec>> = LazyLock::new(|| Arc::new(packed().unwrap()));

/// A project in a directory of its own.
struct Project {
    runtime: tokio::runtime::Runtime,
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
    tools: Toolbox,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        Project::by(Arc::clone(&SPEC), files)
    }

    /// Makes a project whose tools follow another spec.
    fn by(spec: Arc<Spec>, files: &[(&str, &str)]) -> Project {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let project = Project {
            runtime,
            tools: Toolbox::new(
                spec,
                root.clone(),
                root,
                Readable::new(|path| !path.ends_with("secret.txt")),
                Outputs::new(state.path(), SPEC.limits.tools.bash.files),
                true,
            ),
            folder,
            state,
        };
        files.iter().for_each(|(path, text)| project.put(path, text.as_bytes()));
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), bytes).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn call(&self, tool: Tool, args: Value) -> Outcome {
        self.call_until(tool, args, &CancellationToken::new())
    }

    fn call_until(&self, tool: Tool, args: Value, stop: &CancellationToken) -> Outcome {
        let grant = self.grant(tool, &args, stop);
        self.granted(tool, args, &grant)
    }

    /// Judges a call.
    fn grant(&self, tool: Tool, args: &Value, stop: &CancellationToken) -> Grant {
        let root = self.folder.path().canonicalize().unwrap();
        let place = Place {
            home: root.clone(),
            cwd: root.clone(),
            stands: root.clone(),
            project: root,
            own: Vec::new(),
        };
        let (spec, args) = (SPEC.tool(tool.name()).unwrap(), args.as_object().unwrap());
        let named = Named::of(spec, args).unwrap();
        let call = place.call(spec, args, &named);
        let verdict = judge(&SPEC, &Policy::default(), place.world(), &call);
        let paths = place.paths(&SPEC, spec, args, &named, &verdict.paths);
        let live = mpsc::unbounded_channel().0;
        Grant { stop: stop.clone(), paths, patch: named.patch, live }
    }

    /// Runs a call that was judged before.
    fn granted(&self, tool: Tool, args: Value, grant: &Grant) -> Outcome {
        self.runtime.block_on(self.tools.run(tool, grant, args)).unwrap()
    }

    /// Asserts that a call succeeds with this text.
    fn check(&self, tool: Tool, args: Value, expected: &str) {
        let found = self.call(tool, args.clone());
        assert_eq!((found.text.as_str(), found.error), (expected, false), "{} {args}", tool.name());
    }

    /// Asserts that a call fails with this text.
    fn fails(&self, tool: Tool, args: Value, expected: &str) {
        let found = self.call(tool, args.clone());
        assert_eq!((found.text.as_str(), found.error), (expected, true), "{} {args}", tool.name());
    }
}

/// Returns a time to sleep, like no other test's, by which a process is found. None is the beginning of another.
fn marked(seconds: &str, number: usize) -> String {
    format!("{seconds}.{number:02}{:08}", std::process::id())
}

/// Runs a test of the module at `path` in a process of its own: what is counted there of the process is the test's.
fn alone(path: &str, name: &str, test: impl FnOnce()) {
    const ALONE: &str = "LEMBAS_TEST_ALONE";
    let name = format!("{}::{name}", path.split_once("::").unwrap().1);
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        return test();
    }
    let mut list = Command::new(std::env::current_exe().unwrap());
    list.args([&name, "--exact", "--nocapture", "--test-threads=1"]).env(ALONE, &name);
    let done = list.output().unwrap();
    let [told, errors] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(done.status.success() && told.contains("1 passed"), "{told}{errors}");
}

/// Returns whether a process has this among its arguments.
fn runs(marker: &str) -> bool {
    tree::below(1).into_iter().any(|pid| tree::command(pid).contains(marker))
}

/// Waits until no process has this among its arguments.
fn nothing_runs(marker: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while runs(marker) {
        assert!(Instant::now() < deadline, "{marker} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

macro_rules! args {
    ($($rest:tt)*) => { serde_json::json!({$($rest)*}) };
}

mod jobs;
mod patching;
mod reading;
mod running;
mod searching;
mod swapping;
mod viewing;
mod writing;
