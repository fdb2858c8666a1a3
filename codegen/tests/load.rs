//! Spec directories that are wrong: every problem is one line with its place, and all are told at once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lembas_codegen::{files::Files, problem::Problem, whole::Whole};
use std::path::{Path, PathBuf};

/// What is done to a file of the real spec.
#[derive(Clone, Copy)]
enum Change {
    /// It gets another text.
    Text(&'static str),
    /// A text in it becomes another one.
    Replace(&'static str, &'static str),
    /// It is taken away.
    Gone,
}
use Change::{Gone, Replace, Text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn changed(changes: &[(&str, Change)]) -> Files {
    let real = Files::read(&root().join("harness")).unwrap();
    let mut files = Files::default();
    for (name, text) in real.all() {
        if !changes.iter().any(|(file, change)| *file == name && matches!(change, Gone)) {
            files.set(name, text.into());
        }
    }
    for (file, change) in changes {
        match change {
            Gone => {}
            Text(text) => files.set(file, (*text).into()),
            Replace(from, to) => {
                let text = files.text(file).unwrap();
                assert!(text.contains(from), "{file} has no {from}");
                files.set(file, text.replacen(from, to, 1));
            }
        }
    }
    files
}

fn problems(files: &Files) -> Vec<Problem> {
    let schemas = Files::read(&root().join("schema")).unwrap();
    Whole::load(files, &schemas).map(drop).err().unwrap_or_default()
}

/// Where `marker` first stands in a file, as an editor counts; an empty one stands at the start.
fn place(files: &Files, file: &str, marker: &str) -> (usize, usize) {
    let text = files.text(file).unwrap_or_default();
    let at = text.find(marker).unwrap_or_default();
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, at - start + 1)
}

/// Changes the spec and expects exactly these problems: the file, what stands where it points, its sentence's start.
fn check(changes: &[(&str, Change)], expected: &[(&str, &str, &str)]) {
    let files = changed(changes);
    let found = problems(&files);
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    for (file, marker, message) in expected {
        let (line, column) = place(&files, file, marker);
        let start = format!("{file}:{line}:{column}: {message}");
        assert!(lines.iter().any(|each| each.starts_with(&start)), "{lines:#?}\nno {start}");
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains('\n')), "{lines:#?}");
}

const HARDLINE: &str = "permission/hardline.json";
const DEFAULTS: &str = "permission/defaults.json";
const MODES: &str = "permission/modes.json";

/// A hardline file of one rule with this condition.
macro_rules! floor {
    ($when:literal) => {
        Text(concat!(
            "{ \"sets\": { \"roots\": [\"/\"] },\n\"rules\": [{ \"id\": \"a\", \"about\": \"command\",\n\"when\": ",
            $when,
            ",\n\"examples\": { \"hit\": [\"x\"], \"miss\": [\"y\"] } }] }"
        ))
    };
}

/// A file of one mode with this row.
macro_rules! row {
    ($row:expr) => {
        Text(concat!(
            "{ \"default\": \"a\", \"modes\": [{ \"id\": \"a\", \"prompt\": \"modes/plan.md\", \"about\": \"\",\n\"decide\": [",
            $row,
            "] }] }"
        ))
    };
}

#[test]
fn the_real_spec_is_right() {
    check(&[], &[]);
}

#[test]
fn files() {
    check(&[("quirks.json", Text("{\n  \"rules\": [ }"))], &[("quirks.json", "}", "not JSON: ")]);
    check(&[("quirks.json", Gone)], &[("quirks.json", "", "the file is missing")]);
    check(&[("VERSION", Text("\n"))], &[("VERSION", "", "the file is missing or empty")]);
    check(&[("VERSION", Gone)], &[("VERSION", "", "the file is missing or empty")]);
    check(
        &[("quirks.json", Text("{ \"rules\": [],\n\"rules\": [] }"))],
        &[("quirks.json", "[] }", "/rules stands here a second time")],
    );
    check(
        &[("quirks.json", Text("{ \"rules\": {},\n \"ruels\": [] }"))],
        &[
            ("quirks.json", "{}", "{} is not of type \"array\""),
            ("quirks.json", "[] }", "no key \"ruels\" here; there are: sets, rules"),
        ],
    );
    check(&[("facts.json", Text("{"))], &[("facts.json", "", "not JSON: ")]);
    check(&[("quirks.json", Text("{}"))], &[("quirks.json", "", "\"rules\" is missing here")]);
}

#[test]
fn conditions() {
    for (change, marker, message) in [
        (floor!("{ \"programme\": \"rm\" }"), "\"rm\"", "no fact \"programme\" here; there are: "),
        (
            floor!("{ \"operands\": { \"any\": \"@root\" } }"),
            "\"@root\"",
            "no set \"@root\" in this file; there are: roots",
        ),
        (
            floor!("{ \"program\": { \"like\": \"rm\" } }"),
            "\"rm\"",
            "no test \"like\"; there are: starts_with",
        ),
        (floor!("{ \"program\": 1 }"), "1 }", "1 is no text"),
        (floor!("{ \"flags\": \"r\" }"), "\"r\" }", "a list of strings is tested with"),
        (
            floor!("{ \"program\": { \"matches\": \"\\\\w+\" } }"),
            "\"\\\\w+\"",
            "\\w is not in the portable subset",
        ),
        (
            floor!("{ \"program\": { \"matches\": \"(\" } }"),
            "{ \"program\"",
            "a pattern that does not compile: ",
        ),
        (
            floor!("{ \"program\": { \"glob\": \"a[\" } }"),
            "{ \"program\"",
            "a glob that does not compile: ",
        ),
        (
            floor!("{ \"any\": { \"program\": \"rm\" } }"),
            "{ \"program\"",
            "it takes a list of conditions",
        ),
        (floor!("[]"), "[],", "[] is not of type \"object\""),
    ] {
        check(&[(HARDLINE, change)], &[(HARDLINE, marker, message)]);
    }
}

#[test]
fn rules() {
    let rule = "{ \"rules\": [{ \"id\": \"a\", \"about\": \"comand\", \"when\": {}, \"examples\": { \"hit\": [\"x\"], \"miss\": [\"y\"] } }] }";
    check(
        &[(HARDLINE, Text(rule))],
        &[(HARDLINE, "\"comand\"", "facts.json has no record \"comand\"; there are: answer, ")],
    );
    let quirk = "{ \"rules\": [{ \"id\": \"a\", \"about\": \"frame\", \"when\": {}, \"do\": { \"act_like\": 500 },\n\"examples\": { \"hit\": [{}] } }] }";
    check(
        &[("quirks.json", Text(quirk))],
        &[
            ("quirks.json", "500", "no key \"act_like\" here; there are: "),
            ("quirks.json", "{ \"hit\"", "\"miss\" is missing in /rules/0/examples"),
        ],
    );
    let twice = "{ \"rules\": [{ \"id\": \"a\", \"tool\": \"bash\", \"pattern\": \"ls\", \"then\": \"allow\", \"examples\": { \"hit\": [\"ls\"], \"miss\": [\"rm\"] } },\n{ \"id\": \"a\", \"tool\": \"bash\", \"pattern\": \"rm\", \"then\": \"allow\", \"examples\": { \"hit\": [\"rm\"], \"miss\": [\"ls\"] } }] }";
    let files = changed(&[(DEFAULTS, Text(twice))]);
    let lines: Vec<String> = problems(&files).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["permission/defaults.json:2:9: a second rule called \"a\"; ids are unique in a file"]
    );
    let then = "{ \"rules\": [{ \"id\": \"a\", \"tool\": \"bash\", \"pattern\": \"ls\", \"then\": \"perhaps\", \"examples\": { \"hit\": [\"ls\"], \"miss\": [\"rm\"] } }] }";
    check(
        &[(DEFAULTS, Text(then))],
        &[(DEFAULTS, "\"perhaps\"", "\"perhaps\" is none of: \"allow\", \"ask\", \"deny\"")],
    );
    check(
        &[(
            DEFAULTS,
            Replace("what later commands mean: {{ of }}", "what later commands mean: {{ off }}"),
        )],
        &[(
            DEFAULTS,
            "\"It changes what later",
            "a sentence has no {{off}}; there are: of, rule, from, then",
        )],
    );
}

#[test]
fn modes() {
    check(
        &[(MODES, Replace("\"modes/plan.md\"", "\"modes/plans.md\""))],
        &[(MODES, "\"modes/plans.md\"", "prompts/modes/plans.md is missing")],
    );
    check(
        &[(MODES, Replace("\"default\": \"manual\"", "\"default\": \"manuel\""))],
        &[(MODES, "\"manuel\"", "there is no mode \"manuel\" in this file")],
    );
    for (row, marker, message) in [
        (
            row!(
                "{ \"when\": { \"clas\": \"read\" }, \"then\": \"allow\", \"examples\": { \"hit\": [\"x\"], \"miss\": [\"y\"] } }"
            ),
            "\"read\"",
            "no fact \"clas\" here; there are: ",
        ),
        (
            row!(
                "{ \"when\": {}, \"then\": \"deny\", \"examples\": { \"hit\": [\"x\"], \"miss\": [\"y\"] } }"
            ),
            "{ \"when\"",
            "\"say\" is missing in /modes/0/decide/0",
        ),
    ] {
        check(&[(MODES, row)], &[(MODES, marker, message)]);
    }
}

/// A file of each kind of rule that judges a call, with one rule that has this behind all else it must have.
macro_rules! rules_with {
    ($given:literal) => {
        [
            (HARDLINE, Text(concat!("{ \"rules\": [{  \"id\": \"a\", \"about\": \"command\", \"when\": {}", $given, "}] }"))),
            (
                DEFAULTS,
                Text(concat!("{ \"rules\": [{  \"id\": \"a\", \"tool\": \"bash\", \"pattern\": \"ls\", \"then\": \"ask\"", $given, "}] }")),
            ),
            (MODES, row!(concat!("{  \"when\": {}, \"then\": \"ask\"", $given, "}"))),
        ]
    };
}

#[test]
fn rules_without_a_hit_and_a_miss() {
    for (files, marker, message) in [
        (rules_with!(""), "{  ", "\"examples\" is missing in "),
        (
            rules_with!(", \"examples\": { \"hit\": [\"x\"] }"),
            "{ \"hit\"",
            "\"miss\" is missing in ",
        ),
        (
            rules_with!(", \"examples\": { \"hit\": [\"x\"], \"miss\": [] }"),
            "[] }",
            "[] has less than 1 item",
        ),
    ] {
        files.iter().for_each(|(file, text)| check(&[(file, *text)], &[(file, marker, message)]));
    }
}

#[test]
fn tools() {
    let read = "tools/read.json";
    check(
        &[(
            read,
            Replace("\"argument_aliases\": {", "\"argument_aliases\": { \"scroll\": \"paht\","),
        )],
        &[(read, "\"paht\"", "an alias leads from a name that is no argument to one that is")],
    );
    check(
        &[(read, Replace("\"paths\": [\"path\"]", "\"paths\": [\"paht\"]"))],
        &[(read, "{ \"rule\"", "no argument \"paht\"; there are: path")],
    );
    check(
        &[(read, Replace("\"name\": \"read\"", "\"name\": \"write\""))],
        &[("tools/write.json", "\"write\"", "tools/read.json is called \"write\" already")],
    );
    check(
        &[(read, Replace("\"description\": \"", "\"description\": \"{{ nothing }} "))],
        &[(read, "\"{{ nothing }}", "the text uses {{nothing}}, which the tool does not declare")],
    );
    check(
        &[(read, Replace("{{ path }} is empty.", "{{ path | upper }} is empty."))],
        &[(read, "\"{{ path | upper }} is empty.\"", "a text has no filter \"upper\"")],
    );
}

#[test]
fn what_tools_name_elsewhere() {
    let (list, read) = ("tools/list.json", "tools/read.json");
    check(
        &[(read, Replace("\"modes\": \"all\"", "\"modes\": [\"plan\", \"manuel\"]"))],
        &[(read, "\"manuel\"", "there is no mode \"manuel\"; there are: ")],
    );
    check(
        &[(read, Replace("\"rule\": \"read\"", "\"rule\": \"raed\""))],
        &[(
            read,
            "\"raed\"",
            "permission/defaults.json has no rule for \"raed\"; it has rules for: bash, ",
        )],
    );
    check(
        &[(read, Replace(", \"paths\": [\"path\"]", ""))],
        &[(
            read,
            "{ \"rule\"",
            "a tool of class \"read\" names the arguments it is judged by, as \"paths\"",
        )],
    );
    check(&[(read, Replace("\"paths\": [\"path\"]", "\"paths\": []"))], &[]);
    check(
        &[(read, Replace("\"view\"", "\"ls\""))],
        &[(read, "\"ls\"", "tools/list.json has the alias \"ls\" already")],
    );
    check(
        &[(list, Replace("\"ls\"", "\"read\""))],
        &[(list, "\"read\", \"list_dir\"", "tools/read.json is called \"read\"")],
    );
}

#[test]
fn prompts() {
    let (steer, index) = ("prompts/blocks/steer.md", "prompts/index.json");
    check(
        &[(steer, Text("a\nb {{ texts }} {{ text }}\n"))],
        &[(
            steer,
            "texts",
            "the text uses {{texts}}, which prompts/index.json does not declare; declared: text",
        )],
    );
    check(
        &[(steer, Text("a\n"))],
        &[(index, "\"text\"] }", "prompts/blocks/steer.md does not use {{text}}")],
    );
    check(
        &[("prompts/blocks/more.md", Text("a\n"))],
        &[("prompts/blocks/more.md", "", "prompts/index.json does not list this text")],
    );
}

#[test]
fn cases() {
    let file = "conformance/edit.json";
    check(
        &[(
            file,
            Text(
                "{ \"area\": \"edti\", \"cases\": [{ \"name\": \"a\", \"in\": 1 },\n{ \"name\": \"a\", \"in\": 2 }] }",
            ),
        )],
        &[
            (file, "\"edti\"", "the area of this file is \"edit\", as its name says"),
            (file, "\"a\", \"in\": 2", "a second case called \"a\"; names are unique in an area"),
        ],
    );
}

#[test]
fn the_protocol_page() {
    check(
        &[(
            "acp.md",
            Replace("### `session/cancel` — client → agent", "### session/cancel — client → agent"),
        )],
        &[("acp.md", "session/cancel — client → agent", "a method's heading is: ### `name` — ")],
    );
}

#[test]
fn everything_wrong_is_told_at_once() {
    let files = changed(&[
        ("VERSION", Gone),
        ("quirks.json", Text("{")),
        (HARDLINE, floor!("{ \"programme\": \"rm\" }")),
        ("tools/read.json", Replace("\"name\": \"read\"", "\"name\": \"write\"")),
        ("prompts/blocks/more.md", Text("a\n")),
        ("conformance/edit.json", Text("[]")),
        ("acp.md", Replace("### `session/cancel` — client", "### session/cancel — client")),
    ]);
    let found: Vec<String> = problems(&files).into_iter().map(|problem| problem.file).collect();
    let expected = [
        "VERSION",
        "acp.md",
        "conformance/edit.json",
        HARDLINE,
        "prompts/blocks/more.md",
        "quirks.json",
        "tools/write.json",
    ];
    assert_eq!(found, expected);
}
