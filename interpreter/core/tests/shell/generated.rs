//! Lines made from pieces of the grammar, the same for the same seed. They are harmless: their programs are stubs, and
//! they write to files of their own directory only.

use crate::pieces::Dice;

/// Returns that many lines.
pub(crate) fn lines(seed: u64, count: usize) -> Vec<String> {
    let mut dice = Dice(seed);
    (0..count).map(|_| list(&mut dice, 3)).collect()
}

const PROGRAMS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "no", "bash -c k"];
const NAMES: [&str; 3] = ["x", "y", "z"];

fn list(dice: &mut Dice, depth: usize) -> String {
    let mut text = pipeline(dice, depth);
    for _ in 0..dice.roll(3) {
        text.push_str(dice.pick(&["; ", " && ", " || ", "\n", ";\n", " | ", " & "]));
        text.push_str(&pipeline(dice, depth));
    }
    text
}

fn pipeline(dice: &mut Dice, depth: usize) -> String {
    let front = dice.pick(&["", "", "", "", "! ", "time "]);
    format!("{front}{}", command(dice, depth))
}

fn command(dice: &mut Dice, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return simple(dice, 0) };
    let mut inner = || list(dice, depth);
    let (first, second) = (inner(), inner());
    let name = dice.pick(&NAMES);
    let words = format!("{} {}", word(dice, depth), word(dice, depth));
    let compound = match dice.roll(24) {
        0 => format!("( {first} )"),
        1 => format!("{{ {first}\n}}"),
        2 => format!("if {first}\nthen {second}\nfi"),
        3 => format!("if {first}\nthen {second}\nelse {first}\nfi"),
        4 => format!("for {name} in {words}; do {first}\ndone"),
        5 => format!("for {name} in {}; do ${name} {words}\ndone", PROGRAMS[..4].join(" ")),
        6 => format!("while no; do {first}\ndone"),
        7 => format!("while {first}\ndo {second}\nbreak\ndone"),
        8 => format!("case {name} in {name}) {first};; *) {second};; esac"),
        9 => format!("w() {{ {first}\n}}; w {words}"),
        10 => format!("eval {}", quoted(&first)),
        11 => format!("bash -c {}", quoted(&first)),
        12 => format!("x=$( {first}\n)"),
        13 => format!("{name}={}; ${name} {words}", word(dice, depth)),
        14 => format!("set -- {words}; \"$@\""),
        15 => format!("{name}=({words}); \"${{{name}[@]}}\""),
        16 => format!("[[ {} ]] && {first}", word(dice, depth)),
        17 => format!("cat <<E | bash\n{first}\nE\n"),
        18 => format!("cat <<'E' > f1\n{first}\nE\n"),
        19 => format!("trap {} EXIT", quoted(&first)),
        _ => return simple(dice, depth),
    };
    match dice.roll(4) {
        0 if !compound.ends_with('\n') => format!("{compound}{}", redirect(dice, depth)),
        _ => compound,
    }
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let mut text = String::new();
    if dice.roll(5) == 0 {
        let (name, value) = (dice.pick(&NAMES), word(dice, depth));
        text.push_str(&format!("{name}={value}{}", dice.pick(&[" ", "; ", "\n"])));
    }
    let program = dice.pick(&PROGRAMS);
    let program = match dice.roll(12) {
        0 => format!("'{program}'"),
        1 => format!("\\{program}"),
        2 => format!("$'{program}'"),
        3 => format!("\"\"{program}"),
        4 => format!("${{w:-{program}}}"),
        5 => format!("$(echo {program})"),
        6 => format!("{{{program},{program}}}"),
        7 => format!("${}", dice.pick(&NAMES)),
        _ => program.to_string(),
    };
    text.push_str(&program);
    for _ in 0..dice.roll(3) {
        text.push(' ');
        text.push_str(&word(dice, depth));
    }
    if dice.roll(5) == 0 {
        text.push_str(&redirect(dice, depth));
    }
    text
}

fn word(dice: &mut Dice, depth: usize) -> String {
    let mut text = part(dice, depth);
    if dice.roll(3) == 0 {
        text.push_str(&part(dice, depth));
    }
    text
}

/// Words that run nothing, or one program.
const PLAIN: [&str; 30] = [
    "l",
    "m",
    "n o",
    "'p q'",
    "\"r s\"",
    "'it'\\''s'",
    "\\;",
    "'$(q)'",
    "\"\\$(q)\"",
    "{l,m}",
    "{1..2}",
    "$'l\\x20m'",
    "''",
    "\"\"",
    "'#'",
    "#l",
    "l#m",
    "~",
    "*",
    "?",
    "[l]",
    "a=b",
    "-l",
    "--",
    "$((1+1))",
    "`r`",
    "\"`s`\"",
    "$(t)",
    "'\"'",
    "\"'\"",
];

/// Uses of a variable, for which `N` stands.
const VALUES: [&str; 10] = [
    "$N",
    "\"$N\"",
    "${N}",
    "\"${N:-l}\"",
    "${N:+m}",
    "${N%l}",
    "${#N}",
    "${N:0:1}",
    "${N,,}",
    "${N//l/m}",
];

fn part(dice: &mut Dice, depth: usize) -> String {
    let name = dice.pick(&NAMES);
    if let Some(depth) = depth.checked_sub(1).filter(|_| dice.roll(3) == 0) {
        let inner = list(dice, depth);
        return match dice.roll(9) {
            0 => format!("$( {inner}\n)"),
            1 => format!("\"$( {inner}\n)\""),
            2 => format!("${{{name}:-$( {inner}\n)}}"),
            3 => format!("\"${{{name}:-'$( {inner}\n)'}}\""),
            4 => format!("${{{name}:-'$( {inner}\n)'}}"),
            5 => format!("<( {inner}\n)"),
            6 => format!("$(( $( {inner}\n) + 0 ))"),
            7 => quoted(&inner),
            _ => format!("\"{}\"", inner.replace(['"', '`', '\\', '$'], "")),
        };
    }
    match dice.roll(4) {
        0 => dice.pick(&VALUES).replace('N', name),
        _ => dice.pick(&PLAIN).to_string(),
    }
}

fn redirect(dice: &mut Dice, depth: usize) -> String {
    let inner = word(dice, depth);
    match dice.roll(8) {
        0 => format!(" <<< {inner}"),
        1 => " 2>&1".into(),
        2 => " >&2".into(),
        3 => " < /dev/null".into(),
        4 => format!(" < <(echo {inner})"),
        5 => " >> f2".into(),
        6 => " 3> f3".into(),
        _ => " > f4".into(),
    }
}

/// Returns a text in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
