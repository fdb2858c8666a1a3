//! What the readers find in scripts, and that no text makes them panic.

use super::{awk, jq, sed};
use proptest::prelude::*;

const STREAMS: [&str; 2] = ["/dev/stdout", "/dev/stderr"];

fn check(read: impl Fn(&str) -> Vec<String>, cases: &[(&str, &str)]) {
    for (script, found) in cases {
        assert_eq!(read(script).join("|"), *found, "{script}");
    }
}

fn sed(script: &str) -> Vec<String> {
    sed::read(script, &STREAMS.map(String::from))
}

fn awk(script: &str) -> Vec<String> {
    awk::read(script, &STREAMS.map(String::from))
}

#[test]
fn sed_commands() {
    check(
        sed,
        &[
            ("", ""),
            ("1,20p", "p"),
            ("/start/,/end/p;10q", "p|q"),
            ("$!{N;D}", "N|D"),
            ("0~3d;2,~4d;1,+2d;/x/I!d", "d|d|d|d"),
            ("s/we/us/g;s|w|e|2;y/we/ew/", "s|s|y"),
            ("s/a/b/w out", "s|w out"),
            ("s/a/b/gpw out\np", "s|w out|p"),
            ("s/a/touch x/e", "s|e"),
            ("s/a/b/w /dev/stdout", "s"),
            ("1e touch x", "e touch x"),
            ("e", "e"),
            ("w out.txt", "w out.txt"),
            ("w /dev/stderr\np", "p"),
            ("/write/w /dev/stdout.txt", "w /dev/stdout.txt"),
            ("W o;p", "W o;p"),
            ("r a\nR b", "r a|R b"),
            ("a\\ wrong", "a"),
            ("a\\\nw out\\\nw out\np", "a|p"),
            ("a hi\nw out", "a|w out"),
            ("i\\w out", "i"),
            (":a;w out", ":|w out"),
            (":a w out", ":|w out"),
            ("b x w out", "b|w out"),
            ("{p};w out", "p|w out"),
            ("#c\nw out", "w out"),
            ("\\wxww out", "w out"),
            ("s,a,b,;l 5;q5;F;z;=", "s|l|q|F|z|="),
            ("s/a\\/w x/b/", "s"),
            ("s/[^/]*$//", "s"),
            ("s/[/]/x/w out", "s|w out"),
            ("s/[[:space:]/]w/x/", "s"),
            ("s/[/]/]w out", "s|?"),
            ("/[/w out", "?|w out"),
            ("{p", "p|?"),
            ("p}", "p|?"),
            ("{p}w out", "p|?"),
            ("s/a/b", "s|?"),
            ("s/a/b/q", "s|?"),
            ("E", "E|?"),
            ("1,p", "?"),
        ],
    );
}

#[test]
fn awk_names_and_signs() {
    check(
        awk,
        &[
            ("{print $1}", "print"),
            ("$3 > 5 && $2 < 4 || /x|y/", ""),
            ("NR==1, /end/ {next} {print $NF / 2}", "NR|next|print|NF"),
            ("BEGIN{system(\"x\")}", "BEGIN|system|! x"),
            ("BEGIN{print \"a\"; system(\"b \" \"c\")}", "BEGIN|print|system|! b |! c|! b c"),
            ("{print > \"out\"}", "print|> out"),
            ("{print $1, $2 >> $3\".txt\"}", "print|>>"),
            ("{printf \"%s\", $1 > \"/dev/stderr\"}", "printf"),
            ("{print > \"/dev/std\" \"out\"}", "print|>"),
            ("{print (a > b), c > \"o\"}", "print|a|b|c|> o"),
            ("{print (a > b)}", "print|a|b"),
            ("{print a,\n b > \"o\"}", "print|a|b|> o"),
            ("{print a \\\n > \"o\"}", "print|a|> o"),
            ("{print a # x\n} b > c", "print|a|b|c"),
            ("{print | \"sh\"}", "print|||! sh"),
            ("\"x\" | getline y", "||getline|y|! x"),
            ("{print |& \"x\"}", "print||&|! x"),
            ("{getline; print}", "getline|print"),
            ("{while ((getline l < \"f\") > 0) n++}", "while|getline|l|<|n"),
            ("{getline $(1) < \"f\"}", "getline|<"),
            ("{if ((getline l) > 0 && n < 5) n++}", "if|getline|l|n|n"),
            ("@include \"x\"", "@|include"),
            ("{if (x) /\"/; system(\"y\"); z = /\"/}", "if|x|system|! y|z"),
            ("{x = (a + b) / system(\"y\") / 2}", "x|a|b|system|! y"),
            ("{n++ / system(\"y\") / 2}", "n|system|! y"),
            ("/[/]/ {print}", "?"),
            ("/[[:alpha:]]+ system(x)/", ""),
            ("{print \"system(x)\"} # system", "print"),
            ("{gsub(/\\//, \"|\"); sub(\"a\", \"b > c\")}", "gsub|sub"),
            ("{s += $1 * 1.5e3} END {print s/NR}", "s|END|print|s|NR"),
            ("{print 1system(\"x\")}", "print|?"),
            ("{print \"a", "print|?"),
            ("{a[$1]++} END {for (k in a) print k, a[k]}", "a|END|for|k|in|a|print|k|a|k"),
            ("{print ENVIRON[\"X\"]}", "print|ENVIRON"),
            ("!seen[$0]++", "seen"),
            ("BEGIN{FS=\",\"; OFS=\"\\t\"} $2 ~ /^a/ && !/b/", "BEGIN|FS|OFS"),
        ],
    );
}

#[test]
fn jq_names() {
    check(
        jq::read,
        &[
            (".a", ""),
            (".env | keys", "keys"),
            (".[\"env\"], .\"env\"", ""),
            ("env", "env"),
            ("env.PATH", "env"),
            (". as $x | $ENV.A", "as|$x|$ENV"),
            ("$ ENV", "$ENV"),
            ("{env: .a, b: .c}", ""),
            ("{env}", ""),
            ("{a: env}", "env"),
            ("{a, (env|keys[]): 1}", "env|keys"),
            ("{$ENV}", "$ENV"),
            ("\"a env \\(.b)\"", ""),
            ("\"\\(env.A)\"", "env"),
            ("\"\\(\"x\\(env)\")\"", "env"),
            ("@base64 \"\\(env)\"", "env"),
            (".a # env\n| length", "length"),
            (".a # x\\\n| env", "?"),
            ("import \"a\" as b; b::c", "import|as|b|b|c"),
            ("map(select(.debug > 1.5))[0:2]", "map|select"),
            (".5env", "env"),
            ("..|.env?", ""),
            ("\"a", "?"),
            ("(.a]", "?"),
            (".a)", "?"),
        ],
    );
}

proptest! {
    #[test]
    fn reading_never_panics(parts in proptest::collection::vec(prop_oneof![
        Just("s"), Just("/"), Just("["), Just("]"), Just("\\"), Just("\n"), Just("w"), Just("e"), Just("{"), Just("}"), Just("("), Just(")"),
        Just("\""), Just("\\("), Just(">"), Just("|"), Just("getline"), Just("print"), Just("$"), Just("."), Just("1"), Just("a"), Just(";"),
        Just(","), Just("#"), Just("é"), Just("[:"), Just("y"), Just(":"), Just("~"), Just("if"), Just(" "),
    ], 0..24)) {
        let text = parts.concat();
        sed(&text);
        awk(&text);
        jq::read(&text);
    }
}
