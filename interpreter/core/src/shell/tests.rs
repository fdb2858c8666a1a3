//! The reader's own tests: each line beside the commands it must become.

use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits {
    max_bytes: 65536,
    max_depth: 48,
    max_words: 4096,
    max_expanded: 1 << 20,
    max_nested: 8,
    max_spellings: 64,
    max_spelled: 4096,
    max_commands: 1024,
    max_files: 2048,
    max_lines: 16,
    max_globbed: 48,
    max_work: 1 << 20,
    work_per_byte: 4,
    max_unknown: 32,
    max_verbs: 4,
    max_targets: 16,
    max_functions: 64,
    max_directories: 8,
    shown_chars: 120,
};

fn shown(line: &str) -> Vec<String> {
    let read = read(line, &LIMITS);
    let mut shown: Vec<String> = read
        .commands
        .iter()
        .map(|command| {
            let mut parts: Vec<String> = command
                .assignments
                .iter()
                .map(|a| format!("{}={}", a.name, a.value.text))
                .collect();
            parts.extend(command.words.iter().map(|word| {
                if word.text.is_empty() { "''".into() } else { word.text.to_string() }
            }));
            parts.extend(command.redirects.iter().map(|redirect| {
                let fd = redirect.fd.clone().unwrap_or_default();
                let text = redirect
                    .document
                    .and_then(|index| read.documents.get(index))
                    .map(|document| document.text.clone());
                format!(
                    "[{fd}{:?} {}]",
                    redirect.kind,
                    text.unwrap_or(redirect.target.text.to_string()).trim_end()
                )
            }));
            parts.join(" ")
        })
        .collect();
    shown.extend(read.unseen.iter().map(|why| format!("? {why:?}")));
    shown
}

fn check(line: &str, expected: &[&str]) {
    assert_eq!(shown(line), expected, "{line:?}");
}

#[test]
fn operators() {
    check("a;b&&c||d|e|&f&g\nh", &["a", "b", "c", "d", "e", "f", "g", "h"]);
    check("  ls -la  ", &["ls -la"]);
    check("! a | b; time -p c", &["a", "b", "c"]);
    check("a &\\\n& b", &["a", "b"]);
    check("", &[]);
    check("a ;; b", &["a", "? Syntax"]);
    check("ls # c; d\nb", &["ls", "b"]);
    check("echo a#b", &["echo a#b"]);
}

#[test]
fn quotes() {
    check(r#"r''m "a b" 'c"d' \e"#, &[r#"rm a b c"d e"#]);
    check(r"$'\x72\155\u0041' $'a\'b'", &["rmA a'b"]);
    check("r\\m -rf \\\n/", &["rm -rf /"]);
    check("echo \"a \\\"b; c\\\" d\" $\"x\"", &["echo a \"b; c\" d x"]);
    check("echo 'it'\\''s' ; t", &["echo it's", "t"]);
    check("echo a #'\nt #'", &["echo a", "t"]);
    check("echo 'a", &["echo ''", "? Unended"]);
    check("echo '' \"\"", &["echo '' ''"]);
    check("git\u{a0}status", &["git\u{a0}status"]);
}

#[test]
fn expansion() {
    check("{git,push} a{1..3}b {} {a} x{,y}", &["git push a1b a2b a3b {} {a} x xy"]);
    check("rm$IFS-rf${IFS}/", &["rm -rf /"]);
    check("g=git; $g push", &["g=git", "git push"]);
    check("a=gi; ${a}t push", &["a=gi", "git push"]);
    check("a='x y'; $a \"$a\"", &["a=x y", "x y x y"]);
    check("echo ~/a $HOME x=~ ~", &["echo ~/a $HOME x=~ ~"]);
    check("${x:-rm} ${x:+} re$@boot", &["rm reboot"]);
    check("echo $((1+2)) $(( (1) ))", &["echo $((1+2)) $(( (1) ))"]);
    check("export g=git; $g", &["export g=git", "git"]);
}

#[test]
fn nested() {
    check("echo $(ls $(pwd)) `b c`", &["pwd", "ls $(pwd)", "b c", "echo $(ls $(pwd)) `b c`"]);
    check("a \"$(b \"c d\")\" <(d)", &["b c d", "d", "a $(b \"c d\") <(d)"]);
    check("echo `echo \\`x\\``", &["x", "echo `x`", "echo `echo \\`x\\``"]);
    check("echo ${x:-$(t)}", &["t", "echo $(t)"]);
    check("$((a) )", &["a", "$((a) )"]);
    check("echo $(cat <<E\nx\nE\n) b", &["cat [Document x]", "echo $(cat <<E\nx\nE\n) b"]);
}

#[test]
fn compounds() {
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done; until c\ndo d\ndone", &["a", "b", "c", "d"]);
    check("for f in a b; do t \"$f.x\"; done", &["t a.x"]);
    check("for ((i=0;i<3;i++)); do a; done", &["(( ((i=0;i<3;i++))", "a"]);
    check("case a in (a|b) c;; d) e; esac", &["c", "e"]);
    check("(a; b) && { c; d; }", &["a", "b", "c", "d"]);
    check("f() { a; }; function g { b; }\nf", &["a", "b", "f"]);
    check(":(){ :|:& };:", &[":", ":", ":"]);
    check("coproc a; coproc N { b; }", &["a", "b"]);
    check("[[ $a =~ ^(x|y)$ && -f b ]] && c", &["[[ $a =~ ^(x|y)$ & & -f b", "c"]);
    check("whi\\\nle a; do b; done", &["a", "b"]);
    check("ls *(e:'t':)", &["? Syntax"]);
    check("{ a; b; } > o", &["a", "b", "[Write o]"]);
    check("if a; then b", &["a", "b", "? Unended"]);
}

#[test]
fn redirects() {
    check(
        "a >b 2>&1 >>c <d &>e >|f <>g 3<&- {fd}>h >&i",
        &[
            "a [Write b] [2Duplicate 1] [Append c] [Read d] [Write e] [Write f] [ReadWrite g] [3Duplicate -] [fdWrite h] [Write i]",
        ],
    );
    check("> o ls", &["ls [Write o]"]);
    check("cat <<'E'OF | g\n$(x)\nEOF\nt", &["cat [Document $(x)]", "g", "t"]);
    check("cat <<E\n$(x)\nE", &["cat [Document $(x)]", "x"]);
    check("cat <<-E\n\ta\n\tE\nt", &["cat [Document a]", "t"]);
    check("cat <<A <<B; t\n1\nA\n2\nB", &["cat [Document 1] [Document 2]", "t"]);
    check("cat <<E\na\\\nE\nE\nt", &["cat [Document aE]", "t"]);
    check("sh <<< 'a b'", &["sh [Document a b]"]);
    check("cat <<E", &["cat [Document ]", "? Unended"]);
    check("a 2 > b", &["a 2 [Write b]"]);
}

#[test]
fn knowledge() {
    let known = |line: &str| {
        let read = read(line, &LIMITS);
        read.unseen.is_empty()
            && read.commands.last().is_some_and(|command| command.words.iter().all(Word::is_known))
    };
    for line in [
        "cat a",
        "x=a; cat $x",
        "for f in a b; do cat $f; done",
        "cat ~/x",
        "cat *.c",
        "(x=b); y=a; cat $y",
        "x=a; (x=b); cat $x",
    ] {
        assert!(known(line), "{line}");
    }
    for line in [
        "cat $x",
        "x=a; read x; cat $x",
        "x=a; eval y; cat $x",
        "true && x=a; cat $x",
        "x=a | b; cat $x",
        "x=a; for i in 1 2; do cat $x; x=b; done",
        "f(){ x=b; }; x=a; f; cat $x",
        "x=a; f(){ cat $x; }",
        "cat $(x)",
        "cat ${x@P}",
        "cat ~bob/x",
        "x=a; (( x = 3 )); cat $x",
    ] {
        assert!(!known(line), "{line}");
    }
}

#[test]
fn loops_keep_every_value() {
    let read = read("for c in ls reboot; do $c -x; done", &LIMITS);
    let word = &read.commands[0].words[0];
    assert_eq!(
        (word.variant(0).text.clone(), word.variant(1).text.clone()),
        ("ls".into(), "reboot".into())
    );
}

#[test]
fn pipes() {
    let read = read("a $(x) | { b; c; } | d", &LIMITS);
    let shown: Vec<_> = read
        .commands
        .iter()
        .map(|c| (c.words[0].text.as_str(), c.feeds.clone(), c.fed_by.clone()))
        .collect();
    assert_eq!(
        shown,
        [
            ("x", 0..0, 0..0),
            ("a", 2..4, 0..0),
            ("b", 4..5, 0..2),
            ("c", 4..5, 0..2),
            ("d", 0..0, 2..4)
        ]
    );
}

#[test]
fn commands_say_where_they_stand() {
    for (line, expected) in [
        ("a; b c", ["a", "b c"]),
        ("cat <<E\nx $(b)\nE\n", ["cat <<E", "b"]),
        ("echo $(b c)", ["b c", "echo $(b c)"]),
    ] {
        let read = read(line, &LIMITS);
        let mut parts: Vec<_> = read.commands.iter().map(|each| &line[each.span.clone()]).collect();
        let mut expected = expected;
        parts.sort_unstable();
        expected.sort_unstable();
        assert_eq!(parts, expected, "{line:?}");
    }
}

#[test]
fn hostile_sizes_are_refused_quickly() {
    for line in [
        "(".repeat(60000),
        "$((".repeat(20000),
        "{".repeat(60000),
        "{a,b}".repeat(10000),
        format!("{}x{}", "{a,".repeat(9000), "}".repeat(9000)),
        "x=aaaaaaaaaaaaaaaa;".to_string() + &"x=$x$x;".repeat(8000),
        format!("x={}; echo {}", "a".repeat(30000), "$x ".repeat(10000)),
        "a|".repeat(30000),
        "`".repeat(60000),
        "a=1;".repeat(16000),
        "\"$(".repeat(20000),
        "${x:-".repeat(13000),
        "case a in a) ".repeat(5000),
        "a[ ".repeat(20000),
        "<<E ".repeat(16000) + "\n" + &"E\n".repeat(10),
        "{a..".repeat(10000),
        "${x=(--".repeat(9000),
        "${x=a}${x:=b}${x:+c}".repeat(3000),
        "x=a;for i in a;do x=b;x+=c;done;".repeat(2000),
        format!("x={};{}", "a".repeat(30000), "true&&x+=b;".repeat(3000)),
        format!("set -- {};{}", "a ".repeat(20000), "\"$@\";".repeat(3000)),
        format!("x=({});{}", "a ".repeat(20000), "x+=(b);".repeat(3000)),
        "{1..999999999999999999}".to_string(),
        "((a) ;".repeat(10000),
        "for i in a;do a=1;done;".repeat(2500),
    ] {
        read(&line, &LIMITS);
    }
    assert_eq!(read(&"a".repeat(70000), &LIMITS).unseen, [Unseen::TooLong]);
}

proptest! {
    #[test]
    fn never_panics(line in "[a-c=1~*?$(){}\\[\\]<>|&;#!'\"`\\\\ \\n\\-,.:@-]{0,80}") {
        read(&line, &LIMITS);
    }

    #[test]
    fn never_panics_on_words(parts in proptest::collection::vec(prop_oneof![
        Just("if "), Just("then "), Just("fi "), Just("do "), Just("done "), Just("case "), Just(" in "), Just("esac "), Just("$("), Just(")"),
        Just("${"), Just("}"), Just("{ "), Just("<<E"), Just("\nE\n"), Just("\""), Just("'"), Just(";"), Just("x=1"), Just("$x"), Just("((" ), Just("))"),
        Just("\\\n"), Just("[["), Just("]]"), Just("`"), Just("for "), Just("é"), Just("a"), Just(" "), Just("f()"),
    ], 0..40)) {
        read(&parts.concat(), &LIMITS);
    }

    #[test]
    fn any_text_is_read(line in "\\PC{0,60}") {
        read(&line, &LIMITS);
    }
}
