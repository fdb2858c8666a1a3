//! A project in a temporary directory and one `check` for every tool; each tool's own cases stand in its file's tests.

use super::{Outcome, Readable, Toolbox};
use crate::engine::{Grant, Place};
use lembas_core::permission::{Policy, judge};
use lembas_core::spec::{Spec, Tool, Tools, packed};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<Arc<Spec>> = LazyLock::new(|| Arc::new(packed().unwrap()));

/// A project in a directory of its own.
struct Project {
    folder: tempfile::TempDir,
    tools: Toolbox,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = Project {
            tools: Toolbox::new(
                Arc::clone(&SPEC),
                root.clone(),
                root,
                Readable::new(|path| !path.ends_with("secret.txt")),
            ),
            folder,
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
        let place = Place { home: root.clone(), cwd: root.clone(), project: root, own: Vec::new() };
        let (spec, args) = (SPEC.tool(tool.name()).unwrap(), args.as_object().unwrap());
        let call = place.call(spec, args);
        let verdict = judge(&SPEC, &Policy::default(), place.world(), &call);
        Grant { stop: stop.clone(), paths: place.paths(&SPEC, spec, args, &verdict.paths) }
    }

    /// Runs a call that was judged before.
    fn granted(&self, tool: Tool, args: Value, grant: &Grant) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.tools.run(tool, grant, args)).unwrap()
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

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

macro_rules! args {
    ($($rest:tt)*) => { serde_json::json!({$($rest)*}) };
}

mod patching;
mod reading;
mod running;
mod searching;
mod swapping;
mod writing;
