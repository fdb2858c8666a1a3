//! What `write` and `edit` leave on the disk.

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
    assert_eq!((project.text("a.txt"), project.text("x/y/b.txt")), ("2\n".into(), "1\n2\n".into()));
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
    assert_eq!((mode(&project.path("run.sh")), project.text("run.sh")), (0o755, "echo c\n".into()));
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
    let project =
        Project::new(&[("a.txt", "x = 0\ny = 1\nx = 0\n"), ("w.txt", "\u{feff}one\r\ntwo\r\n")]);
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
