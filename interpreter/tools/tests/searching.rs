//! What `list`, `glob` and `grep` find.

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
    project.check(Tool::List, args!("path": "src", "depth": 2), "a.rs\ndeep/\ndeep/b.rs\nself\nup");
    project.check(Tool::List, args!("path": "build"), "o.txt");
    let all = ".github/\n.gitignore\nbin.dat\nbuild/\nsrc/";
    project.check(Tool::List, args!("ignored": true), all);
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
    assert_eq!(sorted(args!("pattern": "**/*.{rs,yml}")), ".github/ci.yml src/a.rs src/deep/b.rs");
    assert_eq!(sorted(args!("pattern": "deep/**", "path": "src")), "src/deep/b.rs");
    assert_eq!(
        sorted(args!("pattern": "self/**", "path": "src")),
        "Nothing matches self/** in src. Ignored files were left out; set `ignored` to find them too."
    );
    assert_eq!(sorted(args!("pattern": "o.*", "ignored": true)), "build/o.txt");
    assert_eq!(sorted(args!("pattern": "deep")), "src/deep/");
    assert_eq!(sorted(args!("pattern": "src/*/")), "src/deep/");
    assert_eq!(sorted(args!("pattern": "src/d*")), "src/deep/");
    assert_eq!(sorted(args!("pattern": "src/*")), "src/a.rs");
    project.check(
        Tool::Glob,
        args!("pattern": "*.py", "ignored": true),
        "Nothing matches *.py in ..",
    );
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
    project.check(Tool::Glob, args!("pattern": "*.tsx", "path": "app/[id]"), "app/[id]/page.tsx");
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
    let left = "[1 more file with matches may not be read without an approval and is not shown]";
    project.check(Tool::Grep, args!("pattern": "TOKEN"), &format!("a.txt\n1:TOKEN is set\n{left}"));
    project.check(
        Tool::Grep,
        args!("pattern": "TOKEN", "glob": "s*"),
        &format!("No line matches TOKEN in ., in files matching s* (1 file searched). Ignored files were left out; set `ignored` to search them too.\n{left}"),
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
        "No line matches a.c( in src (2 files searched). Ignored files were left out; set `ignored` to search them too.",
    );
    project.check(
        Tool::Grep,
        args!("pattern": "x", "glob": "*.py", "ignored": true),
        "No line matches x in ., in files matching *.py; no file was searched.",
    );
    project.check(
        Tool::Grep,
        args!("pattern": "built", "ignored": true),
        "build/o.txt\n1:NEEDLE built",
    );
    project.check(
        Tool::Grep,
        args!("pattern": "NEEDLE", "path": "bin.dat", "ignored": true),
        "No line matches NEEDLE in bin.dat (1 file searched, 1 of them binary and left out).",
    );
}

#[test]
fn the_end_of_a_line_is_found_before_crlf() {
    let project = Project::new(&[]);
    project.put("src/w.txt", b"one;\r\ntwo\r\n");
    project.check(Tool::Grep, args!("pattern": "one;$"), "src/w.txt\n1:one;");
    project.check(Tool::Grep, args!("pattern": "^two$"), "src/w.txt\n2:two");
    project.check(
        Tool::Grep,
        args!("pattern": "o.*$", "path": "src/w.txt"),
        "src/w.txt\n1:one;\n2:two",
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
    project.check(Tool::Grep, args!("pattern": "NEEDLE", "path": "link"), "link/a.txt\n1:NEEDLE");
    project.check(Tool::Grep, args!("pattern": "NEEDLE", "path": "one.txt"), "one.txt\n1:NEEDLE");
}

#[test]
fn what_cannot_be_read_is_counted() {
    let project = Project::new(&[("a.txt", "NEEDLE\n"), ("shut/b.txt", "NEEDLE\n")]);
    let shut = |mode| {
        fs::set_permissions(project.path("shut"), fs::Permissions::from_mode(mode)).unwrap();
    };
    shut(0);
    // Root may read everything.
    let told = if fs::read_dir(project.path("shut")).is_err() {
        "\n[1 place in it could not be read]"
    } else {
        ""
    };
    let found = project.call(Tool::Grep, args!("pattern": "NEEDLE", "path": "a.txt")).text;
    assert_eq!(found, "a.txt\n1:NEEDLE");
    let found = project.call(Tool::List, args!("depth": 2)).text;
    shut(0o700);
    assert!(found.ends_with(told), "{found}");
}

#[test]
fn names_that_are_no_text_are_found_and_opened() {
    let project = Project::new(&[]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(project.folder.path().join(name), "NEEDLE\n").unwrap();
    let shown = "caf\u{fffd}.txt";
    project.check(Tool::List, args!(), shown);
    project.check(Tool::Glob, args!("pattern": "*.txt"), shown);
    project.check(Tool::Grep, args!("pattern": "NEEDLE"), &format!("{shown}\n1:NEEDLE"));
    project.check(Tool::Read, args!("path": shown), "1\tNEEDLE");
    project.call(Tool::Edit, args!("path": shown, "old": "NEEDLE", "new": "thread"));
    assert_eq!(fs::read_to_string(project.folder.path().join(name)).unwrap(), "thread\n");
    fs::write(project.folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xea.txt")), "x")
        .unwrap();
    let found = project.call(Tool::Read, args!("path": shown));
    assert!(found.error && found.text.starts_with("There is no file"), "{}", found.text);
}
