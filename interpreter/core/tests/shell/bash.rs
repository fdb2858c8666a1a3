//! Runs lines with the real bash where every program is a stub that writes its name down. Nothing else is in PATH.

use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    fs::{self, File},
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    sync::mpsc,
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// The programs: each writes its name down. `no` fails, `cat` and the shells do their work besides.
const NAMES: &str =
    "a b c d e f g h i j k l m n o p q r s t no cat bash sh ls rm git env sudo xargs";

/// A line that runs longer than this is ended; what it has started by then counts.
const LONGEST: Duration = Duration::from_secs(5);

/// Bash in a directory of its own.
pub(crate) struct Bash {
    program: PathBuf,
    root: TempDir,
    count: AtomicUsize,
}

/// What became of a line.
pub(crate) struct Ran {
    /// The programs it started, in order.
    pub(crate) started: Vec<String>,
    /// What it and bash wrote.
    pub(crate) said: String,
}

impl Bash {
    /// Finds bash and makes the stubs.
    pub(crate) fn new() -> Bash {
        let program = find("bash").unwrap_or_else(|| {
            panic!("bash is not in PATH; install it, these tests compare with it")
        });
        let cat = find("cat").unwrap_or_else(|| panic!("cat is not in PATH; install coreutils"));
        let root = TempDir::new().unwrap();
        let stub = root.path().join("stub");
        let text = format!(
            "#!{bash}\nprintf '%s\\n' \"${{0##*/}}\" >> \"$LOG\"\ncase $0 in\n*/no) exit 1;;\n*/cat) exec {cat} \"$@\";;\n*/bash | */sh) exec {bash} \"$@\";;\nesac\n",
            bash = program.display(),
            cat = cat.display(),
        );
        fs::write(&stub, text).unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        for name in NAMES.split(' ') {
            symlink(&stub, root.path().join("bin").join(name)).unwrap();
        }
        Bash { program, root, count: AtomicUsize::new(0) }
    }

    /// Runs a line in an empty directory, until everything it started has ended.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let own = self.root.path().join(self.count.fetch_add(1, Ordering::Relaxed).to_string());
        let [log, said, here] = ["log", "said", "here"].map(|name| own.join(name));
        fs::create_dir_all(&here).unwrap();
        fs::write(&log, "").unwrap();
        // A name that is no program counts as one: somewhere it is.
        let unknown = "() { printf '%s\\n' \"${1//$'\\n'/␤}\" >> \"$LOG\"; }";
        let mut child = Command::new(&self.program)
            .args(["-c", line])
            .current_dir(&here)
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("HOME", &here)
            .env("LC_ALL", "C")
            .env("LOG", &log)
            .env("BASH_FUNC_command_not_found_handle%%", unknown)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&said).unwrap())
            .spawn()
            .unwrap();
        let mut output = child.stdout.take().unwrap();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            let mut text = Vec::new();
            let _partial = std::io::Read::read_to_end(&mut output, &mut text);
            let _gone = ended.send(text);
        });
        // The output ends when the last of the processes that share it does, those in the background included.
        if end.recv_timeout(LONGEST).is_err() {
            let _gone = kill_process_group(Pid::from_child(&child), Signal::KILL);
        }
        child.wait().unwrap();
        let lines = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let started =
            lines(&log).lines().filter(|name| !name.is_empty()).map(String::from).collect();
        Ran { started, said: lines(&said) }
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.is_file())
}
