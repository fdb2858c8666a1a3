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

mod reading {
    use super::*;

    #[test]
    fn lines_and_ranges() {
        let text: String = (1..=2500).map(|line| format!("row {line}\n")).collect();
        let project =
            Project::new(&[("a.txt", "one\ntwo\r\nthree"), ("l.txt", &text), ("e.txt", "")]);
        project.check(Tool::Read, args!("path": "a.txt"), "1\tone\n2\ttwo\n3\tthree");
        project.check(
            Tool::Read,
            args!("path": "a.txt", "offset": 2, "limit": 1),
            "2\ttwo\n[lines 2-2 of 3; go on with offset 3]",
        );
        project.check(Tool::Read, args!("path": "e.txt"), "e.txt is empty.");
        project.fails(
            Tool::Read,
            args!("path": "a.txt", "offset": 9),
            "a.txt has 3 lines; there is no line 9.",
        );
        let found = project.call(Tool::Read, args!("path": "l.txt")).text;
        assert!(
            found.ends_with("1000\trow 1000\n[lines 1-1000 of 2500; go on with offset 1001]"),
            "{found}"
        );
        let found = project.call(Tool::Read, args!("path": "l.txt", "limit": 5000)).text;
        assert!(found.len() < 31_000 && found.contains("of 2500; go on with offset"));
    }

    #[test]
    fn long_lines_are_cut_and_said() {
        let project = Project::new(&[("m.js", &format!("a\n{}\nb\n", "技".repeat(2000)))]);
        let found = project.call(Tool::Read, args!("path": "m.js")).text;
        assert!(found.contains("技… [4003 more bytes in this line]\n3\tb"), "{found}");
        assert!(!found.contains('\u{fffd}'));
    }

    #[test]
    fn what_is_no_text_is_told() {
        let project = Project::new(&[("src/a.rs", "x\n"), ("src/deep/b.rs", "x\n")]);
        project.put("n.bin", b"\x7fELF\0\0");
        project.put("p.png", b"\x89PNG\r\n\x1a\n");
        project.put("w.txt", b"\xff\xfeh\0");
        project.put("l.txt", b"a\ncaf\xe9\n");
        project.put("g.gz", &(0..2000u32).map(|n| (n * 7919 % 255 + 1) as u8).collect::<Vec<_>>());
        project.fails(
            Tool::Read,
            args!("path": "n.bin"),
            "n.bin is a binary file (6 bytes) and is not shown.",
        );
        project.fails(
            Tool::Read,
            args!("path": "g.gz"),
            "g.gz is a binary file (2000 bytes) and is not shown.",
        );
        project.fails(
            Tool::Read,
            args!("path": "p.png"),
            "p.png is an image (PNG, 8 bytes) and is not shown as text.",
        );
        assert!(
            project
                .call(Tool::Read, args!("path": "w.txt"))
                .text
                .starts_with("w.txt is UTF-16 text")
        );
        let found = project.call(Tool::Read, args!("path": "l.txt")).text;
        assert!(
            found.starts_with("1\ta\n2\tcaf\u{fffd}\n[l.txt is not UTF-8;")
                && found.contains("line 2"),
            "{found}"
        );
        project.fails(
            Tool::Read,
            args!("path": "src"),
            "src is a directory. It holds:\na.rs\ndeep/",
        );
    }

    #[test]
    fn cut_characters_are_text() {
        let project = Project::new(&[]);
        for before in ["", "x", "xy"] {
            project.put("t.md", format!("{before}{}", "技".repeat(40_000)).as_bytes());
            let found = project.call(Tool::Read, args!("path": "t.md"));
            assert!(!found.error && !found.text.contains('\u{fffd}'), "{}", found.text);
        }
    }

    #[test]
    fn a_missing_file_names_what_is_like_it() {
        let project = Project::new(&[("src/main.rs", "x\n"), ("src/config.rs", "x\n")]);
        project.fails(
            Tool::Read,
            args!("path": "src/confg.rs"),
            "There is no file src/confg.rs. Did you mean src/config.rs?",
        );
        project.fails(
            Tool::Read,
            args!("path": "main.rs"),
            "There is no file main.rs. Did you mean src/main.rs?",
        );
        project.fails(
            Tool::Read,
            args!("path": "src/main.rs/x"),
            "src/main.rs/x: not a directory.",
        );
        let root = project.path("src/main.rs").canonicalize().unwrap();
        let lost = root.to_str().unwrap().trim_start_matches('/');
        project.check(Tool::Read, args!("path": lost), "1\tx");
    }

    #[test]
    fn a_large_file_is_streamed() {
        let project = Project::new(&[]);
        let file = fs::File::create(project.path("big.txt")).unwrap();
        std::io::Write::write_all(&mut &file, "one\ntwo\n".as_bytes()).unwrap();
        file.set_len(200_000_000).unwrap();
        let found = project.call(Tool::Read, args!("path": "big.txt", "limit": 1));
        assert!(found.text.contains("binary"), "a hole is NUL bytes");
        project.put("long.txt", "row\n".repeat(16_000_000).as_bytes());
        project.check(
            Tool::Read,
            args!("path": "long.txt", "limit": 1),
            "1\trow\n[lines 1-1; go on with offset 2]",
        );
        project.fails(
            Tool::Edit,
            args!("path": "long.txt", "old": "row", "new": "x"),
            "long.txt has 64000000 bytes, more than the 50000000 that can be handled at once.",
        );
    }
}

mod writing {
    use super::*;

    #[test]
    fn a_file_is_made_or_replaced() {
        let project = Project::new(&[("a.txt", "1\n")]);
        project.check(
            Tool::Write,
            args!("path": "x/y/b.txt", "content": "1\n2\n"),
            "Created x/y/b.txt (2 lines).",
        );
        project.check(
            Tool::Write,
            args!("path": "a.txt", "content": "2\n"),
            "Wrote a.txt (1 line, 1 before, which had not been read).",
        );
        project.check(
            Tool::Write,
            args!("path": "a.txt", "content": "2\n"),
            "a.txt has exactly this text already.",
        );
        project.fails(
            Tool::Write,
            args!("path": "x", "content": ""),
            "Nothing written: x is a directory.",
        );
        project.fails(
            Tool::Write,
            args!("path": "a.txt/b", "content": ""),
            "Nothing written: a.txt/b: not a directory.",
        );
        assert_eq!(
            (project.text("a.txt"), project.text("x/y/b.txt")),
            ("2\n".into(), "1\n2\n".into())
        );
        assert_eq!(
            fs::read_dir(project.folder.path()).unwrap().count(),
            2,
            "no temporary file is left"
        );
    }

    #[test]
    fn mode_and_links_are_kept() {
        let project = Project::new(&[("run.sh", "echo a\n"), ("real/t.txt", "old\n")]);
        fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("real/t.txt", project.path("link.txt")).unwrap();
        symlink("real/none.txt", project.path("dangling.txt")).unwrap();
        project.check(
            Tool::Write,
            args!("path": "run.sh", "content": "echo b\n"),
            "Wrote run.sh (1 line, 1 before, which had not been read).",
        );
        project.check(
            Tool::Edit,
            args!("path": "run.sh", "old": "echo b", "new": "echo c"),
            "Edited run.sh, line 1.",
        );
        assert_eq!(
            (mode(&project.path("run.sh")), project.text("run.sh")),
            (0o755, "echo c\n".into())
        );
        project.check(
            Tool::Write,
            args!("path": "link.txt", "content": "new\n"),
            "Wrote link.txt (1 line, 1 before, which had not been read).",
        );
        project.check(
            Tool::Edit,
            args!("path": "link.txt", "old": "new", "new": "newer"),
            "Edited link.txt, line 1.",
        );
        project.check(
            Tool::Write,
            args!("path": "dangling.txt", "content": "n\n"),
            "Created dangling.txt (1 line).",
        );
        assert!(fs::symlink_metadata(project.path("link.txt")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(project.path("dangling.txt")).unwrap().is_symlink());
        assert_eq!(
            (project.text("real/t.txt"), project.text("real/none.txt")),
            ("newer\n".into(), "n\n".into())
        );
    }

    #[test]
    fn a_file_changed_by_somebody_else_is_left_alone() {
        let project = Project::new(&[("a.txt", "1\n")]);
        let stale = |line: &str| {
            format!(
                "Nothing written: a.txt was changed by somebody else since it was last read. Read it again, then decide. \
                What differs (`-` is what was read, `+` is what is there now):\n-\t{line}\n+1\tby hand\n"
            )
        };
        project.check(Tool::Read, args!("path": "a.txt"), "1\t1");
        project.put("a.txt", b"by hand\n");
        project.fails(Tool::Write, args!("path": "a.txt", "content": "2\n"), &stale("1"));
        project.fails(Tool::Write, args!("path": "./a.txt", "content": "2\n"), &stale("1"));
        assert_eq!(project.text("a.txt"), "by hand\n");
        project.check(Tool::Read, args!("path": "a.txt"), "1\tby hand");
        project.check(
            Tool::Write,
            args!("path": "a.txt", "content": "2\n"),
            "Wrote a.txt (1 line, 1 before).",
        );
        project.put("a.txt", b"by hand\n");
        project.fails(Tool::Write, args!("path": "a.txt", "content": "3\n"), &stale("2"));
    }

    #[test]
    fn an_edit_is_made_or_explained() {
        let project = Project::new(&[
            ("a.txt", "x = 0\ny = 1\nx = 0\n"),
            ("w.txt", "\u{feff}one\r\ntwo\r\n"),
        ]);
        project.check(
            Tool::Edit,
            args!("path": "a.txt", "old": "x = 0", "new": "x = $&", "all": true),
            "Edited a.txt, line 1, line 3 (2 places).",
        );
        project.check(
            Tool::Edit,
            args!("path": "w.txt", "old": "one\n", "new": "one\nmore\n"),
            "Edited w.txt, line 2.",
        );
        project.check(
            Tool::Edit,
            args!("path": "w.txt", "old": "one\n", "new": "one\nmore\n"),
            "Nothing changed: w.txt already reads as `new` would leave it, at line 1. If another place is meant, or the same once more, give more lines around it.",
        );
        assert_eq!(
            (project.text("a.txt"), project.text("w.txt")),
            ("x = $&\ny = 1\nx = $&\n".into(), "\u{feff}one\r\nmore\r\ntwo\r\n".into())
        );
        project.fails(
            Tool::Edit,
            args!("path": "b.txt", "old": "a", "new": "b"),
            "There is no file b.txt. Did you mean a.txt or w.txt?",
        );
        assert!(project.call(Tool::Edit, args!("path": "a.txt", "old": "z", "new": "b")).error);
    }
}

mod searching {
    use super::*;

    fn project() -> Project {
        let project = Project::new(&[
            (".gitignore", "build/\n"),
            (".git/config", "NEEDLE\n"),
            (".github/ci.yml", "on: NEEDLE\n"),
            ("build/o.txt", "NEEDLE built\n"),
            ("src/a.rs", "fn a() {}\n// NEEDLE\nlet x = call(attach(1));\n"),
            ("src/deep/b.rs", "NEEDLE\nnothing\nneedle\n"),
        ]);
        project.put("bin.dat", b"NEEDLE\0NEEDLE\n");
        symlink(".", project.path("src/self")).unwrap();
        symlink("..", project.path("src/up")).unwrap();
        project
    }

    #[test]
    fn lists() {
        let project = project();
        project.check(Tool::List, args!(), ".github/\n.gitignore\nbin.dat\nsrc/");
        project.check(
            Tool::List,
            args!("path": "src", "depth": 2),
            "a.rs\ndeep/\ndeep/b.rs\nself\nup",
        );
        project.check(Tool::List, args!("path": "build"), "o.txt");
        project.fails(
            Tool::List,
            args!("path": "bin.dat"),
            "bin.dat is a file (14 bytes), no directory.",
        );
        project.fails(Tool::List, args!("path": "sr"), "There is no file sr. Did you mean src?");
        (0..600).for_each(|number| project.put(&format!("many/{number:04}.txt"), b""));
        let found = project.call(Tool::List, args!("path": "many")).text;
        assert!(found.ends_with("0499.txt\n[100 more of 600 entries; list a directory below]"));
    }

    #[test]
    fn globs() {
        let project = project();
        let sorted = |args: Value| {
            let found = project.call(Tool::Glob, args).text;
            let mut lines: Vec<_> = found.lines().map(str::to_owned).collect();
            lines.sort();
            lines.join(" ")
        };
        assert_eq!(sorted(args!("pattern": "*.rs")), "src/a.rs src/deep/b.rs");
        assert_eq!(sorted(args!("pattern": "src/*.rs")), "src/a.rs");
        assert_eq!(sorted(args!("pattern": ".github/*.yml", "path": ".")), ".github/ci.yml");
        assert_eq!(
            sorted(args!("pattern": "**/*.{rs,yml}")),
            ".github/ci.yml src/a.rs src/deep/b.rs"
        );
        assert_eq!(sorted(args!("pattern": "deep/**", "path": "src")), "src/deep/b.rs");
        assert_eq!(
            sorted(args!("pattern": "self/**", "path": "src")),
            "No file matches self/** in src."
        );
        project.check(Tool::Glob, args!("pattern": "*.py"), "No file matches *.py in ..");
        let found = project.call(Tool::Glob, args!("pattern": "[z-a]"));
        assert!(found.error && found.text.contains("range"), "{}", found.text);
        for out in ["../*", "/etc/*", "src/../../*"] {
            let found = project.call(Tool::Glob, args!("pattern": out));
            assert!(found.error && found.text.contains("leads out"), "{}", found.text);
        }
    }

    #[test]
    fn brackets_in_names_are_literal_first() {
        let project = Project::new(&[
            ("app/[id]/page.tsx", "1\n"),
            ("app/(shop)/[[...slug]]/page.tsx", "2\n"),
            ("app/i/page.tsx", "3\n"),
        ]);
        project.check(
            Tool::Glob,
            args!("pattern": "*.tsx", "path": "app/[id]"),
            "app/[id]/page.tsx",
        );
        project.check(Tool::Glob, args!("pattern": "app/[id]/*.tsx"), "app/[id]/page.tsx");
        project.check(
            Tool::Glob,
            args!("pattern": "app/(shop)/[[...slug]]/page.tsx"),
            "app/(shop)/[[...slug]]/page.tsx",
        );
        assert_eq!(
            project
                .call(Tool::Glob, args!("pattern": "**/page.tsx", "path": "app"))
                .text
                .lines()
                .count(),
            3
        );
    }

    #[test]
    fn a_search_shows_no_file_that_may_not_be_read() {
        let project = Project::new(&[("secret.txt", "TOKEN=1\n"), ("a.txt", "TOKEN is set\n")]);
        let left =
            "[1 more file with matches may not be read without an approval and is not shown]";
        project.check(
            Tool::Grep,
            args!("pattern": "TOKEN"),
            &format!("a.txt\n1:TOKEN is set\n{left}"),
        );
        project.check(
            Tool::Grep,
            args!("pattern": "TOKEN", "glob": "s*"),
            &format!("No line matches TOKEN in ., in files matching s* (1 file searched).\n{left}"),
        );
    }

    #[test]
    fn greps() {
        let project = project();
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE"),
            ".github/ci.yml\n1:on: NEEDLE\nsrc/a.rs\n2:// NEEDLE\nsrc/deep/b.rs\n1:NEEDLE",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE", "glob": "*.yml"),
            ".github/ci.yml\n1:on: NEEDLE",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "^needle$", "path": "src", "ignore_case": true),
            "src/deep/b.rs\n1:NEEDLE\n3:needle",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE", "path": "build/o.txt"),
            "build/o.txt\n1:NEEDLE built",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE", "path": "src/a.rs", "context": 1),
            "src/a.rs\n1-fn a() {}\n2:// NEEDLE\n3-let x = call(attach(1));",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "nothing\\n", "path": "src"),
            "src/deep/b.rs\n2:nothing",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "attach("),
            "src/a.rs\n3:let x = call(attach(1));\n[attach( is no regular expression (unclosed group, at character 7); it was searched as plain text]",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "a.c(", "literal": true, "path": "src"),
            "No line matches a.c( in src (2 files searched).",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "x", "glob": "*.py"),
            "No line matches x in ., in files matching *.py; no file was searched.",
        );
    }

    #[test]
    fn a_search_is_bounded_and_says_so() {
        let project = Project::new(&[(
            "m.js",
            &format!("{}NEEDLE;{}\n", "abcdefgh".repeat(50_000), "x".repeat(500)),
        )]);
        let found = project.call(Tool::Grep, args!("pattern": "NEEDLE")).text;
        assert!(
            found.len() < 600 && found.contains("NEEDLE") && found.contains("more bytes]"),
            "{found}"
        );
        (0..30).for_each(|number| {
            project.put(&format!("many/{number:02}.txt"), "hit\n".repeat(20).as_bytes())
        });
        let found = project.call(Tool::Grep, args!("pattern": "hit")).text;
        assert_eq!(found.lines().filter(|line| line.ends_with(":hit")).count(), 200);
        assert!(found.starts_with("many/00.txt\n"));
        assert!(
            found.ends_with(
                "[400 more matching lines, 600 in 30 files; use a narrower pattern, path or glob]"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_linked_base_is_searched() {
        let project = Project::new(&[("real/a.txt", "NEEDLE\n")]);
        symlink("real", project.path("link")).unwrap();
        symlink("real/a.txt", project.path("one.txt")).unwrap();
        project.check(Tool::List, args!("path": "link"), "a.txt");
        project.check(Tool::Glob, args!("pattern": "*", "path": "link"), "link/a.txt");
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE", "path": "link"),
            "link/a.txt\n1:NEEDLE",
        );
        project.check(
            Tool::Grep,
            args!("pattern": "NEEDLE", "path": "one.txt"),
            "one.txt\n1:NEEDLE",
        );
    }
}

mod swapping {
    use super::*;

    /// Judges a call, puts a link out of the project in the place of `swapped`, and expects that the call fails, says why
    /// in terms of `shown`, and neither changes nor shows what is outside.
    fn check(tool: Tool, args: Value, swapped: &str, shown: &str) {
        let project = Project::new(&[("src/a.txt", "inside\n"), ("src/deep/b.txt", "inside\n")]);
        let outside = Project::new(&[("a.txt", "secret\n"), ("deep/b.txt", "secret\n")]);
        let grant = project.grant(tool, &args, &CancellationToken::new());
        let place = project.path(swapped);
        if place.exists() {
            fs::rename(&place, project.path("aside")).unwrap();
        }
        let target = swapped.strip_prefix("src").unwrap().trim_start_matches('/');
        symlink(outside.path(target), &place).unwrap();
        let found = project.granted(tool, args.clone(), &grant);
        let expected = format!("[{shown} leads elsewhere than when the call was judged");
        let about = format!("{} {args} {swapped}: {}", tool.name(), found.text);
        assert!(found.error && found.text.starts_with(&expected), "{about}");
        assert_eq!(
            outside.text("a.txt") + &outside.text("deep/b.txt"),
            "secret\nsecret\n",
            "{about}"
        );
        let entries = |path: &str| fs::read_dir(outside.path(path)).unwrap().count();
        assert_eq!((entries("."), entries("deep")), (2, 1), "{about}");
        assert!(fs::symlink_metadata(place).unwrap().is_symlink(), "{about}");
    }

    #[test]
    fn a_file_is_opened_only_where_it_was_judged() {
        for swapped in ["src/a.txt", "src"] {
            let path = "src/a.txt";
            check(Tool::Read, args!("path": path), swapped, path);
            check(Tool::Write, args!("path": path, "content": "x"), swapped, path);
            check(Tool::Edit, args!("path": path, "old": "secret", "new": "x"), swapped, path);
            check(Tool::Grep, args!("path": path, "pattern": "secret"), swapped, path);
        }
        for swapped in ["src/none.txt", "src"] {
            let path = "src/none.txt";
            check(Tool::Read, args!("path": path), swapped, path);
            check(Tool::Write, args!("path": path, "content": "x"), swapped, path);
            check(Tool::Edit, args!("path": path, "old": "a", "new": "x"), swapped, path);
        }
        for swapped in ["src/new", "src"] {
            let path = "src/new/er/a.txt";
            check(Tool::Write, args!("path": path, "content": "x"), swapped, path);
        }
    }

    #[test]
    fn a_directory_is_searched_only_where_it_was_judged() {
        for swapped in ["src/deep", "src"] {
            let path = "src/deep";
            check(Tool::List, args!("path": path), swapped, path);
            check(Tool::Glob, args!("path": path, "pattern": "*"), swapped, path);
            check(Tool::Grep, args!("path": path, "pattern": "secret"), swapped, path);
            check(Tool::Bash, args!("workdir": path, "command": "cat *"), swapped, path);
        }
    }
}

mod running {
    use super::*;

    fn running(text: &str) -> bool {
        let found = std::process::Command::new("pgrep").args(["-f", text]).output().unwrap();
        !found.stdout.is_empty()
    }

    #[test]
    fn output_and_code() {
        let project = Project::new(&[("sub/a.txt", "")]);
        project.check(Tool::Bash, args!("command": "echo out; echo err >&2"), "out\nerr");
        project.fails(Tool::Bash, args!("command": "echo out; exit 7"), "out\n[exit code 7]");
        project.check(Tool::Bash, args!("command": "true"), "[no output, exit code 0]");
        project.check(Tool::Bash, args!("command": "ls", "workdir": "sub"), "a.txt");
        project.check(Tool::Bash, args!("command": "cat; echo after"), "after");
        project.check(
            Tool::Bash,
            args!("command": "echo $GIT_TERMINAL_PROMPT $PAGER $GIT_EDITOR"),
            "0 cat false",
        );
        project.fails(Tool::Bash, args!("command": "kill -9 $$"), "[ended by signal 9]");
        project.fails(
            Tool::Bash,
            args!("command": "true", "workdir": "none"),
            "There is no directory none to run in.",
        );
        project.check(
            Tool::Bash,
            args!("command": "printf '\\033[1mb\\033[0m\\n 1%%\\r100%%\\n'"),
            "b\n100%",
        );
        assert!(
            project
                .call(Tool::Bash, args!("command": "no-such-program-x"))
                .text
                .ends_with("not found\n[exit code 127]")
        );
        assert!(
            project
                .call(Tool::Bash, args!("command": "echo hi < /dev/tty"))
                .text
                .contains("/dev/tty")
        );
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let project = Project::new(&[]);
        let found = project.call(Tool::Bash, args!("command": "seq 1 200000; echo TAIL"));
        assert!(found.text.starts_with("1\n2\n") && found.text.ends_with("200000\nTAIL"));
        assert!(found.text.len() < 28_200 && found.text.contains("bytes left out here]"));
    }

    #[test]
    fn what_is_left_behind_does_not_hold_the_call() {
        let project = Project::new(&[]);
        for command in [
            "sleep 4711.5 & echo up",
            "sleep 4711.5 </dev/null >/dev/null & echo up",
            "(while :; do echo up; sleep 0.1; done) & echo up; true 4711.5",
        ] {
            let began = Instant::now();
            let found = project.call(Tool::Bash, args!("command": command, "timeout_ms": 60000));
            assert!(!found.error && found.text.starts_with("up"), "{}", found.text);
            assert!(began.elapsed() < Duration::from_secs(30));
        }
        assert!(!running("sleep 4711.5"));
    }

    #[test]
    fn time_over_ends_the_whole_group() {
        let project = Project::new(&[]);
        let found = project.call(
            Tool::Bash,
            args!("command": "echo made; bash -c 'sleep 4712.5 & sleep 4712.5'", "timeout_ms": 300),
        );
        assert!(
            found.error && found.text.starts_with("made\n[timed out after 300 ms"),
            "{}",
            found.text
        );
        project.call(
            Tool::Bash,
            args!("command": "trap '' TERM; sleep 4712.5 & wait; sleep 4712.5", "timeout_ms": 300),
        );
        assert!(!running("sleep 4712.5"));
    }

    #[test]
    fn a_stop_ends_the_whole_group() {
        let project = Project::new(&[]);
        let stop = CancellationToken::new();
        let later = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            later.cancel();
        });
        let found =
            project.call_until(Tool::Bash, args!("command": "echo made; sleep 4713.5"), &stop);
        assert_eq!((found.text.as_str(), found.error), ("made\n[stopped by the user]", true));
        assert!(!running("sleep 4713.5"));
    }

    #[test]
    fn a_dropped_call_takes_its_group_along() {
        let project = Project::new(&[]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stop = CancellationToken::new();
        runtime.block_on(async {
            let args = args!("command": "sleep 4714.5; true");
            let grant = project.grant(Tool::Bash, &args, &stop);
            let call = project.tools.run(Tool::Bash, &grant, args);
            assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
            tokio::time::sleep(Duration::from_millis(100)).await;
        });
        assert!(!running("sleep 4714.5"));
    }

    #[test]
    fn a_group_that_interrupts_itself_does_not_reach_here() {
        let project = Project::new(&[]);
        project.call(Tool::Bash, args!("command": "kill -INT 0; echo tail"));
        project.check(Tool::Bash, args!("command": "echo alive"), "alive");
    }
}
