//! Pages that are read, and what is said of pages that are wrong.

use super::*;
use proptest::prelude::*;

pub(crate) const PAGE: &str = r#"# A page

| Capability | What it promises |
|---|---|
| `steer` | `_x/steer` is answered |

| Limit | Value | What it bounds |
|---|---|---|
| `texts` | 4 | texts at once |

### `_x/steer` — client → agent → result (capability `steer`)

Adds a message,
as `_x/*` do.

```params
sessionId: string — the session
to?: Target — where it goes
```
```result
queued: integer — how many wait
```
```type Target by kind — a place
line — a line
  number: integer — which
  ...Marks
end — the end
```
```type Marks — marks
marks?: Mark[] | null — the marks
level: "low" | "high" — how bright
```
```type Mark — a mark
"red" — red
"green" — green
```
```json example _x/steer params
{ "sessionId": "s", "to": { "kind": "line", "number": 3,
  "marks": ["red"], "level": "low" }, "_meta": {} }
```
```json example _x/steer result
{ "queued": 1 }
```

### `told` — agent → client

Says nothing.

```params
```
"#;

/// Reads the page with `from` replaced by `to`. Each problem expected is what stands at its place, and how its
/// message starts; there must be no other.
#[track_caller]
fn check(from: &str, to: &str, expected: &[(&str, &str)]) {
    assert!(PAGE.contains(from), "the page has no {from:?}");
    let page = PAGE.replacen(from, to, 1);
    let found = Protocol::read(&page).err().unwrap_or_default();
    let found: Vec<(&str, &str)> =
        found.iter().map(|each| (standing_at(&page, each), each.message.as_str())).collect();
    let fits = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            found.0.starts_with(expected.0) && found.1.starts_with(expected.1)
        });
    let found: Vec<(&str, &str)> =
        found.iter().map(|(at, message)| (at.lines().next().unwrap_or(""), *message)).collect();
    assert!(fits, "{from:?} -> {to:?}\nexpected {expected:#?}\nfound {found:#?}");
}

fn standing_at<'a>(page: &'a str, problem: &Problem) -> &'a str {
    let above: usize = page.split_inclusive('\n').take(problem.line - 1).map(str::len).sum();
    &page[above + problem.column - 1..]
}

#[test]
fn a_good_page() {
    check("# A page", "# A page", &[]);
    let protocol = Protocol::read(PAGE).unwrap();
    let steer = protocol.method("_x/steer").unwrap();
    assert_eq!(steer.doc, "Adds a message, as `_x/*` do.");
    assert_eq!(steer.from, Sender::Client);
    assert_eq!(steer.capability.as_ref().map(|spot| spot.name.as_str()), Some("steer"));
    assert!(
        protocol
            .method("told")
            .is_some_and(|told| told.from == Sender::Agent && told.result.is_none())
    );
    let names =
        |of: &str| protocol.words(of).iter().map(|word| word.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("Capability"), ["steer"]);
    assert_eq!(names("Target"), ["line", "end"]);
    assert_eq!(names("Mark"), ["red", "green"]);
    assert_eq!(protocol.numbers[0].rows[0].1, 4);
    assert_eq!(protocol.examples.len(), 2);
}

#[test]
fn headings() {
    let form = "a method's heading is: ### `name` — client → agent";
    check(
        "— client → agent → result (capability `steer`)",
        "client → agent",
        &[("`_x/steer` client", form)],
    );
    check("client → agent → result (c", "client → client → result (c", &[("`_x/steer`", form)]);
    check("(capability `steer`)", "(capability steer)", &[("`_x/steer`", form)]);
    check("`_x/steer` — client", "_x/steer — client", &[("_x/steer — client", form)]);
    check("### `told`", "### `to ld`", &[("to ld", "a method's name holds")]);
    check(
        "capability `steer`)",
        "capability `stear`)",
        &[("stear", "the capability table has no \"stear\"; it has: steer")],
    );
    check(
        "→ agent → result",
        "→ agent",
        &[("### `_x/steer", "_x/steer has a result fence; its heading lacks → result")],
    );
    check(
        "told` — agent → client",
        "told` — agent → client → result",
        &[("### `told", "told is answered and has no result fence")],
    );
    check("Says nothing.", "", &[("### `told", "what does told do?")]);
    check(
        "`_x/*` do",
        "`_y/*` do, and `_x/stear`",
        &[("_y/*", "there is no method \"_y/*\""), ("_x/stear", "there is no method")],
    );
    let again = [
        ("### `_x/steer", "code would have a second XSteerParams; the first comes from line"),
        ("### `_x/steer", "the method \"_x/steer\" is here already"),
    ];
    check("`told`", "`_x/steer`", &again);
}

#[test]
fn fences() {
    check("```params\n```\n", "", &[("### `told", "told has no params fence")]);
    check(
        "nothing.\n\n```params\n```",
        "nothing.\n\n```params",
        &[("params\n", "this fence is still open at the end of the page")],
    );
    check("wait\n```\n", "wait\n", &[("result\nqueued", "this fence is still open at line ")]);
    check(
        "nothing.\n\n```params",
        "nothing.\n\n```parms",
        &[
            ("### `told", "told has no params fence"),
            ("parms", "there is no fence \"parms\"; there are: params, result, type Name"),
        ],
    );
    check(
        "nothing.\n",
        "nothing.\n```params\n```\n",
        &[("params\n```\n", "told has such a fence already")],
    );
    check("# A page", "```params\n```", &[("params", "this fence belongs to a method")]);
    check(
        "type Mark — a mark",
        "type Mark",
        &[("Mark[]", "there is no type \"Mark\""), ("Mark\n", "what is it? ")],
    );
    check(
        "type Mark — a mark",
        "type mark — a mark",
        &[("Mark[]", "there is no type \"Mark\""), ("mark", "a type's name starts with a capital")],
    );
}

#[test]
fn fields() {
    let form = "a field is: name[?]: type — what it is";
    let gone = ("\"s\"", "no field \"sessionId\" goes here; there are: to");
    check("sessionId: string — the session", "sessionId: string", &[("sessionId", form), gone]);
    check(
        "sessionId: string",
        "sessionId: strng",
        &[("strng", "there is no type \"strng\"; there are: string, integer"), gone],
    );
    check(
        "sessionId: string",
        "sessionId: string | integer",
        &[("string |", "\"string | integer\" is no type"), gone],
    );
    check("sessionId: string", "self: string", &[("self", form), gone]);
    check("sessionId: string", "session-id: string", &[("session-id", form), gone]);
    check("to?: Target", "to?: Taget", &[("Taget", "there is no type \"Taget\"")]);
    check(
        "number: integer — which",
        "number: integer — which\n  number: integer — again",
        &[("number: integer — again", "the field \"number\" is here already")],
    );
    check(
        "sessionId: string",
        "session_id?: json — x\nsessionId: string",
        &[("sessionId", "the field \"sessionId\" cannot be told from \"session_id\" in code")],
    );
}

#[test]
fn choices_and_types() {
    check(
        "  ...Marks",
        "  ...Mark",
        &[
            ("Mark\n", "there is no type of fields called \"Mark\""),
            ("[\"red\"]", "no field \"marks\""),
            ("\"low\"", "no field \"level\""),
        ],
    );
    check(
        "  number: integer — which",
        "  number: integer — which\n  kind?: json — x",
        &[("kind?", "\"kind\" already holds the variant's word")],
    );
    check(
        "  number: integer — which",
        "  number: integer — which\n  level?: json — x",
        &[("Marks\n", "the field \"level\" of Marks is here already")],
    );
    check(
        "line — a line\n",
        "",
        &[
            ("  number", "this field belongs to no variant"),
            ("  ...Marks", "this field belongs to no variant"),
            ("\"line\"", "the field \"kind\" is one of: end"),
        ],
    );
    check("\"green\"", "\"red\"", &[("red\" — green", "the word \"red\" is here already")]);
    check(
        "level: \"low\" | \"high\" — how bright",
        "level: \"low\" | \"high\" — how\ninner?: Marks — itself",
        &[("Marks —", "Marks contains itself")],
    );
    check(
        "to?: Target — where it goes",
        "to?: Target — where\n_meta?: Mark — x",
        &[("_meta", "_meta is written: _meta?: Name"), ("{} }", "{} is none of: red, green")],
    );
    check("type Mark —", "type Target2Kind —", &[("Mark[]", "there is no type \"Mark\"")]);
    check(
        "a mark\n",
        "a mark\n```\n```type String — text\n",
        &[("String", "the name String is taken in code"), ("\"red\"", "an object goes here")],
    );
    check(
        "a mark\n",
        "a mark\n\"blue\" — blue\n```\n```type TargetKind — kinds\n",
        &[
            ("TargetKind", "code would have a second TargetKind"),
            ("\"red\"", "\"red\" is none of: blue"),
        ],
    );
}

#[test]
fn tables() {
    check(
        "| `steer` |",
        "| steer |",
        &[
            ("steer |", "the first cell is a name in backticks"),
            ("steer`)", "the capability table has no \"steer\""),
        ],
    );
    check(
        "| Limit |",
        "| A limit |",
        &[("A limit", "the head of the first column names the numbers")],
    );
    check("| 4 |", "| four |", &[("four", "\"four\" is no whole number")]);
    check(
        "| `texts` | 4",
        "| `texts` | 5 | x |\n| `texts` | 4",
        &[("texts` | 4", "the number \"texts\" is here already")],
    );
}

#[test]
fn examples() {
    check(
        "\"queued\": 1",
        "\"queued\": \"1\"",
        &[("\"1\"", "a whole number goes here, not \"1\"")],
    );
    check(
        "\"queued\": 1",
        "\"queue\": 1",
        &[
            ("{ \"queue", "the field \"queued\" is missing"),
            ("1 }", "no field \"queue\" goes here; there are: queued"),
        ],
    );
    check("\"queued\": 1", "\"queued\" 1", &[("1 }", "not JSON")]);
    check(
        "\"kind\": \"line\"",
        "\"kind\": \"lines\"",
        &[("\"lines\"", "the field \"kind\" is one of: line, end")],
    );
    check("[\"red\"]", "[\"blue\"]", &[("\"blue\"", "\"blue\" is none of: red, green")]);
    check("[\"red\"]", "null", &[]);
    check("[\"red\"]", "\"red\"", &[("\"red\"", "a list goes here")]);
    check(
        "\"level\": \"low\"",
        "\"level\": \"mid\"",
        &[("\"mid\"", "\"mid\" is none of: low, high")],
    );
    check("{ \"queued\": 1 }", "[]", &[("[]", "an object goes here, not []")]);
    check(
        "example _x/steer result",
        "example _x/stear result",
        &[
            ("### `_x/steer", "no example shows the result of _x/steer"),
            ("_x/stear", "nothing of this name"),
        ],
    );
}

#[test]
fn the_page_of_the_spec_is_sound() {
    let read = Protocol::read(include_str!("../../../harness/acp.md"));
    let problems: Vec<String> =
        read.err().into_iter().flatten().map(|each| each.to_string()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

proptest! {
    #[test]
    fn no_page_is_too_strange(at in 0..PAGE.len(), length in 0..40usize, put in "[ -~\n`—→é|\"]{0,12}") {
        let text: String = PAGE.chars().take(at).chain(put.chars()).chain(PAGE.chars().skip(at + length)).collect();
        if let Ok(protocol) = Protocol::read(&text) {
            crate::emit::acp::rust(&protocol);
        }
    }
}
