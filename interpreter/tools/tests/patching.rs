//! Patches, several edits and files that somebody else changed, on the real disk. What a patch means is asked in the
//! conformance areas `envelope` and `unidiff`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::process::Command;

/// Every file below a directory, with its content and whether it may be executed; directories have no content.
fn tree(root: &Path) -> BTreeMap<String, (Vec<u8>, bool)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != ".git" {
                waiting.push(path);
            } else if path.is_file() {
                found.insert(name, (fs::read(&path).unwrap(), mode(&path) & 0o100 != 0));
            }
        }
    }
    found
}

/// Asserts that a call fails with a text that holds `part`, and that the project is as it was.
fn leaves(project: &Project, tool: Tool, args: Value, part: &str) {
    let before = tree(project.folder.path());
    let found = project.call(tool, args);
    assert!(found.error && found.text.contains(part), "{found:?}");
    assert_eq!(tree(project.folder.path()), before);
}

fn envelope(body: &str) -> Value {
    args!("patch": format!("*** Begin Patch\n{body}*** End Patch\n"))
}

#[test]
fn a_patch_is_applied_with_modes_and_told() {
    let project = Project::new(&[
        ("bin/go.sh", "#!/bin/sh\necho 1\n"),
        ("a.txt", "one\ntwo\n"),
        ("old.txt", "x\n"),
    ]);
    fs::set_permissions(project.path("bin/go.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(project.path("a.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let patch = envelope(
        "*** Add File: new/dir/n.txt\n+1\n*** Update File: bin/go.sh\n*** Move to: bin/run.sh\n@@\n-echo 1\n+echo 2\n\
         *** Update File: a.txt\n@@\n-two\n+2\n+3\n*** Delete File: old.txt\n",
    );
    project.check(
        Tool::ApplyPatch,
        patch,
        "Added new/dir/n.txt (1 line).\nMoved bin/go.sh to bin/run.sh: line 2.\nUpdated a.txt: lines 2-3.\nDeleted old.txt.",
    );
    assert_eq!(project.text("a.txt"), "one\n2\n3\n");
    assert_eq!((mode(&project.path("bin/run.sh")), mode(&project.path("a.txt"))), (0o755, 0o640));
    let names: Vec<_> = tree(project.folder.path()).into_keys().collect();
    assert_eq!(names, ["a.txt", "bin/run.sh", "new/dir/n.txt"]);
    let modes = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n";
    project.check(Tool::ApplyPatch, args!("patch": modes), "Updated a.txt; executable now.");
    assert_eq!(mode(&project.path("a.txt")), 0o750);
}

#[test]
fn a_patch_that_fails_leaves_everything_as_it_was() {
    let project = Project::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "x\n"), ("d/e.txt", "y\n")]);
    let change = "*** Update File: a.txt\n@@\n-two\n+2\n";
    for (rest, part) in [
        ("*** Update File: b.txt\n@@\n-none\n+y\n", "b.txt, hunk 1 of 1: "),
        ("*** Add File: b.txt\n+y\n", "exists already"),
        ("*** Add File: b.txt/c\n+y\n", "b.txt/c: not a directory"),
        (
            // Nothing says before it is tried that both cannot be.
            "*** Delete File: b.txt\n*** Add File: new/deep/n\n+y\n*** Add File: x\n+1\n*** Add File: x/y\n+2\n",
            "x: file exists",
        ),
        ("*** Delete File: d\n", "is a directory"),
    ] {
        leaves(&project, Tool::ApplyPatch, envelope(&format!("{change}{rest}")), part);
    }
    for made in ["new", "x"] {
        assert!(!project.path(made).exists(), "a directory that was made is taken away again");
    }
}

#[test]
fn links_are_written_through_and_not_taken_away() {
    let project = Project::new(&[("real/t.txt", "old\n")]);
    symlink("real/t.txt", project.path("link.txt")).unwrap();
    project.check(
        Tool::ApplyPatch,
        envelope("*** Update File: link.txt\n@@\n-old\n+new\n"),
        "Updated link.txt: line 1.",
    );
    assert!(fs::symlink_metadata(project.path("link.txt")).unwrap().is_symlink());
    assert_eq!(project.text("real/t.txt"), "new\n");
    leaves(
        &project,
        Tool::ApplyPatch,
        envelope("*** Delete File: link.txt\n"),
        "Only regular files",
    );
    leaves(
        &project,
        Tool::ApplyPatch,
        envelope("*** Update File: real/t.txt\n@@\n-new\n+1\n*** Add File: link.txt\n+2\n"),
        "exists already",
    );
    project.check(
        Tool::ApplyPatch,
        envelope(
            "*** Update File: real/t.txt\n@@\n-new\n+1\n*** Update File: link.txt\n@@\n-1\n+2\n",
        ),
        "Updated real/t.txt: line 1.\nUpdated link.txt: line 1.",
    );
    assert_eq!(project.text("real/t.txt"), "2\n");
}

#[test]
fn several_edits_are_made_or_none() {
    let project = Project::new(&[("a.txt", "one\r\ntwo\r\n")]);
    leaves(
        &project,
        Tool::Multiedit,
        args!("path": "a.txt", "edits": [{"old": "one", "new": "1"}, {"old": "three", "new": "3"}]),
        "No edit was made, because edit 2 of 2 cannot be.",
    );
    project.check(
        Tool::Multiedit,
        args!("path": "a.txt", "edits": [{"old": "one\n", "new": "1\n1b\n"}, {"old": "1b", "new": "$&"}]),
        "Edited a.txt with 2 edits, lines 1-2.",
    );
    assert_eq!(project.text("a.txt"), "1\r\n$&\r\ntwo\r\n");
}

#[test]
fn what_somebody_else_changed_is_kept_and_told() {
    let said = "[a.txt has changed since it was last read, by a command or by somebody else (`-` is what was read, `+` is what is there now):\n-\t3\n+3\tby hand\n]";
    for (tool, args, told) in [
        (Tool::Edit, args!("path": "a.txt", "old": "1", "new": "one"), "Edited a.txt, line 1."),
        (
            Tool::Multiedit,
            args!("path": "a.txt", "edits": [{"old": "1", "new": "one"}]),
            "Edited a.txt with 1 edit, line 1.",
        ),
        (
            Tool::ApplyPatch,
            envelope("*** Update File: a.txt\n@@\n-1\n+one\n"),
            "Updated a.txt: line 1.",
        ),
    ] {
        let project = Project::new(&[("a.txt", "1\n2\n3\n")]);
        project.check(Tool::Read, args!("path": "a.txt"), "1\t1\n2\t2\n3\t3");
        project.put("a.txt", b"1\n2\nby hand\n");
        project.check(tool, args, &format!("{told}\n{said}"));
        assert_eq!(project.text("a.txt"), "one\n2\nby hand\n");
        let touched = args!("path": "a.txt", "old": "2", "new": "two");
        project.put("a.txt", b"one\n2\nby hand\n");
        project.check(Tool::Edit, touched, "Edited a.txt, line 2.");
    }
}

#[test]
fn a_file_that_somebody_else_changed_is_not_deleted_as_a_whole() {
    let project = Project::new(&[("a.txt", "1\n")]);
    project.check(Tool::Read, args!("path": "a.txt"), "1\t1");
    project.put("a.txt", b"by hand\n");
    leaves(
        &project,
        Tool::ApplyPatch,
        envelope("*** Delete File: a.txt\n"),
        "by a command or by somebody else",
    );
    let seen = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    leaves(&project, Tool::ApplyPatch, args!("patch": seen), "not in the file");
}

/// A tree of few files with few lines each, so that two of them have much in common.
fn files() -> impl Strategy<Value = BTreeMap<String, (Vec<u8>, bool)>> {
    let name = prop_oneof!["[ab]", "d/[ab]", "[de] f", "ä", "q\"t"];
    let line = prop_oneof![4 => "[xyz{}]", 1 => Just(String::new()), 1 => Just("-- x".to_owned())];
    let ending = prop_oneof![6 => Just("\n"), 1 => Just("\r\n")];
    let text =
        (prop::collection::vec((line, ending), 0..14), any::<bool>()).prop_map(|(lines, open)| {
            let text: String = lines.into_iter().map(|(line, ending)| line + ending).collect();
            if open {
                text.trim_end_matches('\n').to_owned().into_bytes()
            } else {
                text.into_bytes()
            }
        });
    prop::collection::btree_map(name, (text, any::<bool>()), 0..5)
}

fn put_tree(root: &Path, files: &BTreeMap<String, (Vec<u8>, bool)>) {
    for (name, (bytes, executable)) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let mode = if *executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn git(root: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    let none = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")];
    let who = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x",
        "-c",
        "core.autocrlf=false",
        "-c",
        "core.fileMode=true",
    ];
    let ran = git.current_dir(root).envs(none).args(who).args(args).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Returns what git says leads from one tree to the other.
fn git_diff(
    old: &BTreeMap<String, (Vec<u8>, bool)>,
    new: &BTreeMap<String, (Vec<u8>, bool)>,
    how: &[&str],
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q"]);
    put_tree(root, old);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "old"]);
    old.keys().for_each(|name| fs::remove_file(root.join(name)).unwrap());
    put_tree(root, new);
    git(root, &["add", "-A"]);
    git(root, &[&["diff", "--cached"], how].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Applied to the first tree, what git says makes the second; applied to any other it changes nothing if it fails.
    #[test]
    fn what_git_says_between_two_trees_makes_the_second(old in files(), new in files(), other in files(), how in 0usize..4) {
        let options: [&[&str]; 4] = [&[], &["-M"], &["-C", "--find-copies-harder"], &["-U7", "-B"]];
        let patch = git_diff(&old, &new, options[how]);
        if patch.is_empty() {
            return Ok(());
        }
        let project = Project::new(&[]);
        put_tree(project.folder.path(), &old);
        let found = project.call(Tool::ApplyPatch, args!("patch": patch));
        prop_assert!(!found.error, "{}\n{patch}", found.text);
        prop_assert_eq!(tree(project.folder.path()), new, "{}", patch);
        let project = Project::new(&[]);
        put_tree(project.folder.path(), &other);
        let found = project.call(Tool::ApplyPatch, args!("patch": patch));
        if found.error {
            prop_assert_eq!(tree(project.folder.path()), other, "{}", found.text);
        }
    }

    #[test]
    fn several_edits_that_fail_change_nothing(file in "[ab\n]{0,12}", edits in prop::collection::vec(("[ab\n]{1,3}", "[abc\n]{0,3}"), 1..4)) {
        let project = Project::new(&[("a.txt", &file)]);
        let edits: Vec<_> = edits.iter().map(|(old, new)| args!("old": old, "new": new)).collect();
        let found = project.call(Tool::Multiedit, args!("path": "a.txt", "edits": edits));
        if found.error {
            prop_assert_eq!(project.text("a.txt"), file);
        }
    }
}
