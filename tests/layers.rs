//! Imports of the program go down only. The order of the layers is the `layers` block of ARCHITECTURE.md.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The row of every module of the block, from 0 at the top.
fn layers() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = text.split_once("```layers\n").expect("ARCHITECTURE.md has a layers block").1;
    let block = block.split_once("```").expect("the block ends").0;
    let rows = block.lines().enumerate();
    rows.flat_map(|(row, line)| line.split_whitespace().map(move |name| (name.to_string(), row)))
        .collect()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path != root().join("interpreter/core") {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// The modules `text` imports, from `use crate::a::…` and `use crate::{a::…, b}`, and from paths in the code.
fn imports(text: &str) -> Vec<String> {
    let name = |rest: &str| {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => found.push(name(rest)),
            Some(list) => {
                let mut depth = 0;
                let mut start = true;
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && !c.is_whitespace() => {
                            found.push(name(&list[i..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

#[test]
fn imports_go_down() {
    let layers = layers();
    let mut files = Vec::new();
    sources(&root().join("interpreter"), &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(root().join("interpreter")).unwrap().to_path_buf();
        let first = relative.iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        let Some(row) = layers.get(module) else {
            wrong.push(format!("{}: {module} is in no row of ARCHITECTURE.md", relative.display()));
            continue;
        };
        for import in imports(&fs::read_to_string(&file).unwrap()) {
            let below = layers.get(&import).is_some_and(|other| other > row);
            if import != module && !below {
                wrong.push(format!("{}: {module} may not import {import}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_read() {
    let text = "use crate::{a::{B, c::D}, e,\n f::G};\nuse crate::h; fn x() { crate::i::j(); lembas_crate::k(); }";
    assert_eq!(imports(text), ["a", "e", "f", "h", "i"]);
}
