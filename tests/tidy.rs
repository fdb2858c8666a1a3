//! What every file and every dependency has to be: short, introduced, and under a licence that fits.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const MOST_LINES: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust sources of the project, without what a build makes.
fn sources() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap_or_default();
            if name.starts_with('.') || name == "target" || name == "examples" {
                continue;
            }
            if path.is_dir() {
                walk(&path, out);
            } else if name.ends_with(".rs") {
                out.push(path);
            }
        }
    }
    let mut out = Vec::new();
    walk(root(), &mut out);
    out
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_say_what_they_are() {
    let introduced = |path: &PathBuf| fs::read_to_string(path).unwrap().starts_with("//!");
    let wrong = sources().into_iter().filter(|path| !introduced(path));
    assert_none(wrong.map(|path| format!("{} does not open with //!", path.display())).collect());
}

#[test]
fn files_are_short() {
    let mut wrong = Vec::new();
    for path in sources() {
        if path
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!(
                "{} has {lines} lines without its tests; {MOST_LINES} is the most",
                path.display()
            ));
        }
    }
    assert_none(wrong);
}

/// What opens or looks at a file by its name, and so follows what stands there by then.
const BY_NAME: [&str; 12] = [
    "fs::",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions",
    ".canonicalize()",
    ".read_link()",
    ".read_dir()",
    ".symlink_metadata()",
    ".exists()",
    "path.is_file()",
    "path.is_dir()",
];

/// Lines of the tools that may: what they look at is named by no model.
const NO_MODEL_NAMES: [&str; 2] = ["use std::fs::", "use std::os::unix::fs::FileExt"];

#[test]
fn tools_open_what_was_judged() {
    let mut wrong = Vec::new();
    for path in sources() {
        let place = path.strip_prefix(root().join("interpreter")).unwrap_or(Path::new(""));
        let tests = place.ends_with("tests.rs") || place.starts_with("tools/tests");
        if tests || !(place.starts_with("tools") || place.starts_with("engine")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let by_name = |line: &&str| {
            BY_NAME.iter().any(|name| line.contains(name))
                && !NO_MODEL_NAMES.iter().any(|known| line.contains(known))
        };
        wrong.extend(code.lines().filter(by_name).map(|line| {
            format!("{}: {} (project::safe opens paths)", path.display(), line.trim())
        }));
    }
    assert_none(wrong);
}

#[test]
fn the_map_is_short() {
    let lines = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().lines().count();
    assert!(lines <= 150, "ARCHITECTURE.md has {lines} lines; 150 is the most");
}

/// What `cargo metadata` says of the packages that are built.
fn packages() -> Vec<serde_json::Value> {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let out = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--offline",
            "--filter-platform",
            host,
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn dependencies_fit() {
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let texts = |list: &toml::Value| -> BTreeSet<String> {
        list.as_array().unwrap().iter().filter_map(|each| each.as_str().map(String::from)).collect()
    };
    let allowed = texts(&deny["licenses"]["allow"]);
    let banned: BTreeSet<String> = deny["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["crate"].as_str().unwrap().to_string())
        .collect();
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        if banned.contains(name) {
            wrong.push(format!("{name} is banned by deny.toml"));
        }
        // Old manifests write "A/B" for "A OR B".
        let licence = package["license"].as_str().unwrap_or("none").replace('/', " OR ");
        let fits = spdx::Expression::parse(&licence).is_ok_and(|expression| {
            expression.evaluate(|each| allowed.contains(&each.to_string()))
        });
        if !fits {
            wrong.push(format!("{name} is under {licence}, which deny.toml does not allow"));
        }
    }
    assert_none(wrong);
}
