//! Files and directories that are swapped after they were judged.

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
    assert_eq!(outside.text("a.txt") + &outside.text("deep/b.txt"), "secret\nsecret\n", "{about}");
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
