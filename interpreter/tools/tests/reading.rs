//! What `read` shows of files.

use super::*;

#[test]
fn lines_and_ranges() {
    let text: String = (1..=2500).map(|line| format!("row {line}\n")).collect();
    let project = Project::new(&[("a.txt", "one\ntwo\r\nthree"), ("l.txt", &text), ("e.txt", "")]);
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
        "p.png is an image (PNG, 8 bytes) and is not shown as text; `view_image` shows it.",
    );
    assert!(
        project.call(Tool::Read, args!("path": "w.txt")).text.starts_with("w.txt is UTF-16 text")
    );
    let found = project.call(Tool::Read, args!("path": "l.txt")).text;
    assert!(
        found.starts_with("1\ta\n2\tcaf\u{fffd}\n[l.txt is not UTF-8;") && found.contains("line 2"),
        "{found}"
    );
    project.fails(Tool::Read, args!("path": "src"), "src is a directory. It holds:\na.rs\ndeep/");
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
    project.fails(Tool::Read, args!("path": "src/main.rs/x"), "src/main.rs/x: not a directory.");
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
