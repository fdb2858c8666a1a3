//! How long a verdict takes: lines of the usual length, and the longest the reader takes. Figures only, no bounds.

use divan::{Bencher, black_box};
use lembas_core::permission::{Call, Disk, Policy, World, judge};
use lembas_core::spec::{self, Spec};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static SPEC: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap_or_default());

/// A disk without links.
struct Plain;

impl Disk for Plain {}

fn main() {
    LazyLock::force(&SPEC);
    divan::main();
}

/// Lines of 200 bytes: what an agent usually runs, and what tries to hide.
const LINES: [(&str, &str); 4] = [
    (
        "usual",
        "cd crates/core && cargo test --all-features --no-fail-fast -- --nocapture parser::tests::reads_every_kind_of_quote 2>&1 | grep -E 'FAILED|panicked|test result' | sort -u | head -n 40 > target/failures.txt",
    ),
    (
        "readers",
        "git log --oneline -n 20 -- src/main.rs && git diff --stat HEAD~3..HEAD -- src tests && rg -n --glob '*.rs' 'fn (read|write)_all' src | head -n 50 && find . -name '*.toml' -not -path './target/*' | wc -l",
    ),
    (
        "wrapped",
        "sudo -u build env -i PATH=/usr/bin:/bin nice -n 5 timeout -k 2 60 bash -c 'for f in a b c; do /usr/local/bin/danger --force \"$f\" || echo failed; done' < /dev/null > /tmp/out.txt 2>&1 & wait; echo done ok",
    ),
    (
        "quoted",
        "git commit -m \"Reader: words keep their quotes until the end\" -m 'Before, rm -rf / in a message was taken for a command; now it is text, as in bash. See $(none) here.' --author='A B <a@b.example>' --no-verify",
    ),
];

fn verdict(spec: &Spec, line: &str) -> lembas_core::permission::Verdict {
    let root = Path::new("/home/dev/proj");
    let own = ["/home/dev/.config/lembas", "/home/dev/.local/state/lembas"].map(PathBuf::from);
    let world = World {
        home: Path::new("/home/dev"),
        cwd: root,
        project: Some(root),
        own: &own,
        disk: &Plain,
    };
    let policy = Policy { mode: "manual".into(), ..Policy::default() };
    let call = Call {
        tool: "bash".into(),
        class: "run".into(),
        rule: "bash".into(),
        command: Some(line.into()),
        ..Call::default()
    };
    judge(spec, &policy, world, &call)
}

#[divan::bench(args = LINES.map(|(name, _)| name))]
fn bytes_200(bencher: Bencher<'_, '_>, name: &str) {
    let line = LINES.iter().find(|(known, _)| *known == name).map_or("", |(_, line)| line);
    bencher.bench(|| verdict(&SPEC, black_box(line)));
}

/// The first verdict of a process: what it is judged by is read for it.
#[divan::bench(args = ["true", "git status --short | head -n 5"])]
fn first(bencher: Bencher<'_, '_>, line: &str) {
    let fresh = || spec::packed().unwrap_or_default();
    bencher.with_inputs(fresh).bench_refs(|spec| verdict(spec, black_box(line)));
}

/// What a hostile line of 2,000 bytes is made of: each part makes the rest one layer deeper, or longer.
const PARTS: [&str; 12] = [
    "sudo ",
    "env A=B ",
    "xargs ",
    "timeout 5 ",
    "nice -n 5 ",
    "{a,b}",
    "$(echo ",
    "sh -c \"",
    "find . -exec ",
    "x=$x$x; ",
    "( ",
    "rm a* ",
];

#[divan::bench(args = PARTS, sample_count = 10)]
fn bytes_2_000(bencher: Bencher<'_, '_>, part: &str) {
    let line = part.repeat(2_000 / part.len());
    bencher.bench(|| verdict(&SPEC, black_box(&line)));
}

#[divan::bench(args = ["commands", "one_word", "quotes", "pipes", "heredoc", "files", "words"], sample_count = 10)]
fn bytes_100_000(bencher: Bencher<'_, '_>, shape: &str) {
    let line = match shape {
        "commands" => "echo one two three; ".repeat(5_000),
        "one_word" => format!("echo {}", "a".repeat(99_995)),
        "quotes" => format!("echo {}", "'a b' ".repeat(16_665)),
        "files" => (0..).map(|file| format!("rm f{file}; ")).take(9_000).collect(),
        "words" => {
            format!("rm {}", (0..).map(|file| format!("f{file} ")).take(15_000).collect::<String>())
        }
        "pipes" => format!("cat x{}", " | sort".repeat(14_284)),
        _ => format!("cat <<E\n{}E\n", "some text of a line\n".repeat(4_999)),
    };
    bencher.bench(|| verdict(&SPEC, black_box(&line)));
}
