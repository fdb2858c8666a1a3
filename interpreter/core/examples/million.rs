//! Judges random lines and says which took longest: `scripts/million [LINES] [SEED]`. It ends with 1 if a line makes the
//! program panic. What a line may cost is read from the report; nothing here fails by time.
#![expect(clippy::disallowed_methods, reason = "core has no clock; this measures it")]
#![expect(clippy::print_stdout, reason = "the report is its output")]

use lembas_core::permission::{Call, Disk, Layer, Policy, Scope, World, judge};
use lembas_core::spec::{self, Spec};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

/// The longest line that is made, in bytes, before its last piece.
const LONGEST: usize = 2_000;

/// How many of the slowest lines are shown, and how much of each.
const SHOWN: (usize, usize) = (12, 400);

/// A disk without links.
struct Plain;

impl Disk for Plain {}

/// Pieces of lines; one with a blank between opens what the other end closes.
const PIECES: &[&str] = &[
    " ",
    " ",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "\n",
    "(",
    ")",
    "{ ",
    " ;}",
    "$(",
    "`",
    "$((",
    "))",
    "((",
    "${",
    "}",
    "\"",
    "'",
    "$'",
    "\\",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<(",
    ">",
    "2>&1",
    "{a,",
    ",b}",
    "{1..9}",
    "{a,b}",
    "x=",
    "x=a ",
    "x+=$x",
    "x=(",
    "x[",
    "]=",
    "$x",
    "$x$x",
    "${x:-",
    "${x#",
    "${x/a/b}",
    "${!x}",
    "${x[@]}",
    "$@",
    "\"$@\"",
    "if ",
    "then ",
    "else ",
    "fi ",
    "for x in ",
    "for x; ",
    "do ",
    "done ",
    "while ",
    "case x in ",
    "esac ",
    ";; ",
    "x() ",
    "[[ ",
    " ]] ",
    "a",
    "a b",
    "-x",
    "--",
    "--x=y",
    "é",
    "*",
    "?",
    "~/",
    "/etc/",
    "../",
    "a/b ",
    "rm -rf ",
    "git ",
    "-c x=y ",
    "push ",
    "cd a ",
    "cd .. ",
    "set -- ",
    "read x ",
];

/// Programs that run another one, as they are written in front of it.
const WRAPPERS: &[&str] = &[
    "env A=B ",
    "env -i ",
    "env -S 'a b' ",
    "sudo ",
    "sudo -u a ",
    "xargs ",
    "xargs -I{} ",
    "timeout 5 ",
    "nice -n 5 ",
    "nohup ",
    "command ",
    "exec ",
    "builtin ",
    "time ",
    "setsid ",
    "stdbuf -oL ",
    "find . -exec ",
    "bash -c ",
    "bash -c \"",
    "sh -c '",
    "eval ",
    "trap ",
    "ssh a ",
    "su -c ",
    "parallel ",
    "watch ",
    "strace -f ",
    "docker run a ",
    "npx ",
    "git -c a=b ",
    "busybox ",
    "doas ",
    "flock a ",
    "script -c ",
    "chroot / ",
    "ionice -c 2 ",
    "taskset 1 ",
    "make -f a ",
    "python3 -c ",
    "awk 'BEGIN{system(\"",
    "sed e ",
];

/// What is put around something again and again.
const AROUND: &[(&str, &str)] = &[
    ("(", ")"),
    ("{ ", ";}"),
    ("$(", ")"),
    ("\"$(", ")\""),
    ("`", "`"),
    ("<(", ")"),
    ("$((", "))"),
    ("${x:-", "}"),
    ("\"${x:-", "}\""),
    ("{a,", "}"),
    ("if ", ";then b;fi"),
    ("while ", ";do b;done"),
    ("for x in a b;do ", ";done"),
    ("case a in a) ", ";;esac"),
    ("f(){ ", ";}"),
    ("[[ ", " ]]"),
    ("eval \"", "\""),
    ("bash -c '", "'"),
    ("echo ", "|sh"),
    ("", "|xargs "),
    ("cat <<E\n", "\nE\n"),
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below.max(1) as u64).unwrap_or(0)
    }

    fn pick<T: Copy + Default>(&mut self, of: &[T]) -> T {
        of.get(self.roll(of.len())).copied().unwrap_or_default()
    }

    /// Returns a line: pieces, wrappers, or one of both again and again, with something around.
    fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.roll(LONGEST);
        let kind = self.roll(5);
        let few: Vec<&str> = (0..1 + self.roll(4)).map(|_| self.piece(kind)).collect();
        while line.len() < length {
            match kind {
                0 | 1 => line.push_str(self.piece(kind)),
                2 | 3 => few.iter().for_each(|piece| line.push_str(piece)),
                _ => {
                    let (front, back) = self.pick(AROUND);
                    let times = 1 + self.roll(12);
                    let inner =
                        if line.is_empty() { "a b".to_string() } else { std::mem::take(&mut line) };
                    line = format!("{}{inner}{}", front.repeat(times), back.repeat(times));
                }
            }
        }
        if self.roll(3) == 0 {
            line.push_str(" rm -rf a");
        }
        line
    }

    fn piece(&mut self, kind: usize) -> &'static str {
        let wrapped = if kind.is_multiple_of(2) { self.roll(8) == 0 } else { self.roll(4) > 0 };
        if wrapped { self.pick(WRAPPERS) } else { self.pick(PIECES) }
    }
}

fn verdict(spec: &Spec, policy: &Policy, line: &str) {
    let root = Path::new("/home/dev/proj");
    let world = World {
        home: Path::new("/home/dev"),
        cwd: root,
        project: Some(root),
        own: &[],
        disk: &Plain,
    };
    let call = Call {
        tool: "bash".into(),
        class: "run".into(),
        rule: "bash".into(),
        command: Some(line.into()),
        ..Call::default()
    };
    judge(spec, policy, world, &call);
}

fn main() -> Result<ExitCode, String> {
    let mut given = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let mut number = |otherwise| given.next().transpose().map(|number| number.unwrap_or(otherwise));
    let wrong = |why| format!("usage: million [LINES] [SEED]: {why}");
    let (count, seed) = (number(1_000_000).map_err(wrong)?, number(1).map_err(wrong)?);
    let spec = spec::packed().map_err(|problems| format!("{problems:?}"))?;
    let rules = serde_json::json!({ "bash": { "*": "allow", "a *": "deny", "git push *": "ask" } });
    let layers = vec![Layer::read(Scope::Global, "rules", &rules)?];
    let policy = Policy { mode: "auto".into(), layers, ..Policy::default() };
    let (mut dice, mut panics, mut slowest) = (Dice(seed), 0u64, Vec::<(Duration, String)>::new());
    for _ in 0..count {
        let line = dice.line();
        let start = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| verdict(&spec, &policy, &line))).is_ok();
        let took = start.elapsed();
        if !ended {
            panics += 1;
            println!("panic: {line:?}");
        }
        if slowest.len() < SHOWN.0 || slowest.last().is_some_and(|(least, _)| took > *least) {
            slowest.push((took, line));
            slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
            slowest.truncate(SHOWN.0);
        }
    }
    println!("lines {count}, seed {seed}, panics {panics}");
    for (took, line) in &slowest {
        let shown: String = line.chars().take(SHOWN.1).collect();
        println!("{:.2} ms, {} bytes: {shown:?}", took.as_secs_f64() * 1e3, line.len());
    }
    Ok(if panics == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
