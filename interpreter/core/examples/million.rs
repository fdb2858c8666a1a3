//! Judges random lines and says which took longest: `scripts/million [LINES] [SEED]`. It ends with 1 if a line makes the
//! program panic. What a line may cost is read from the report; nothing here fails by time.
#![expect(clippy::disallowed_methods, reason = "core has no clock; this measures it")]
#![expect(clippy::unwrap_used, reason = "the judge it shares with the tests fails by panicking")]
#![expect(clippy::print_stdout, reason = "the report is its output")]

#[path = "../tests/shell/pieces.rs"]
mod pieces;
#[path = "../tests/shell/verdict.rs"]
mod verdict;

use pieces::{Dice, GRAMMAR};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::{Duration, Instant},
};
use verdict::judged;

/// The longest line that is made, in bytes, before its last piece.
const LONGEST: usize = 2_000;

/// How many of the slowest lines are shown, and how much of each.
const SHOWN: (usize, usize) = (12, 400);

/// How often a slow line is judged again.
const RUNS: usize = 4;

/// Pieces that only this run needs.
const MORE: [&str; 22] = [
    " ;}", "{a,b}", "x=a ", "x+=$x", "$x$x", "${x/a/b}", "a b", "-x", "--", "--x=y", "?", "~/",
    "/etc/", "../", "a/b ", "rm -rf ", "git ", "-c x=y ", "push ", "cd a ", "cd .. ", "read x ",
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

/// Makes lines.
struct Maker {
    dice: Dice,
    pieces: Vec<&'static str>,
}

impl Maker {
    /// Returns a line: pieces, wrappers, or one of both again and again, with something around.
    fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.dice.roll(LONGEST);
        let kind = self.dice.roll(5);
        let few: Vec<&str> = (0..1 + self.dice.roll(4)).map(|_| self.piece(kind)).collect();
        while line.len() < length {
            match kind {
                0 | 1 => line.push_str(self.piece(kind)),
                2 | 3 => few.iter().for_each(|piece| line.push_str(piece)),
                _ => {
                    let (front, back) = self.dice.pick(AROUND);
                    let times = 1 + self.dice.roll(12);
                    let inner =
                        if line.is_empty() { "a b".to_string() } else { std::mem::take(&mut line) };
                    line = format!("{}{inner}{}", front.repeat(times), back.repeat(times));
                }
            }
        }
        if self.dice.roll(3) == 0 {
            line.push_str(" rm -rf a");
        }
        line
    }

    fn piece(&mut self, kind: usize) -> &'static str {
        let wrapped =
            if kind.is_multiple_of(2) { self.dice.roll(8) == 0 } else { self.dice.roll(4) > 0 };
        if wrapped { self.dice.pick(WRAPPERS) } else { self.dice.pick(&self.pieces) }
    }
}

/// Returns how long a line takes if nothing else keeps the machine busy: the shortest of some runs.
fn again(line: &str, rules: &serde_json::Value, first: Duration) -> Duration {
    let once = || {
        let start = Instant::now();
        judged(line, rules);
        start.elapsed()
    };
    (0..RUNS).map(|_| once()).fold(first, Duration::min)
}

fn main() -> Result<ExitCode, String> {
    let mut given = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let mut number = |otherwise| given.next().transpose().map(|number| number.unwrap_or(otherwise));
    let wrong = |why| format!("usage: million [LINES] [SEED]: {why}");
    let (count, seed) = (number(1_000_000).map_err(wrong)?, number(1).map_err(wrong)?);
    let rules = serde_json::json!({ "bash": { "*": "allow", "a *": "deny", "git push *": "ask" } });
    let mut maker = Maker { dice: Dice(seed), pieces: [GRAMMAR.as_slice(), &MORE].concat() };
    let (mut panics, mut slowest) = (0u64, Vec::<(Duration, String)>::new());
    // The spec is read with the first line.
    judged("", &rules);
    for _ in 0..count {
        let line = maker.line();
        let start = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| judged(&line, &rules))).is_ok();
        let took = start.elapsed();
        if !ended {
            panics += 1;
            println!("panic: {line:?}");
            continue;
        }
        let slow = |took| {
            slowest.len() < SHOWN.0 || slowest.last().is_some_and(|(least, _)| took > *least)
        };
        let took = if slow(took) { again(&line, &rules, took) } else { took };
        if slow(took) {
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
