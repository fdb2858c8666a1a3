//! What no conformance case can say: the verdict's other parts, and that no line makes judging panic.

use super::*;
use crate::spec::{Spec, packed};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(|| packed().unwrap());

struct NoLinks;

impl Disk for NoLinks {}

fn judged(mode: &str, layers: Vec<Layer>, command: &str) -> Verdict {
    explained(mode, layers, command).verdict
}

fn explained(mode: &str, layers: Vec<Layer>, command: &str) -> Explanation {
    let policy = Policy { mode: mode.into(), layers, ..Policy::default() };
    let (home, project) = (Path::new("/home/dev"), Path::new("/home/dev/proj"));
    let own = [home.join(".config/lembas"), home.join(".local/state/lembas")];
    let world = World { home, cwd: project, project: Some(project), own: &own, disk: &NoLinks };
    let call = Call {
        tool: "bash".into(),
        class: "run".into(),
        rule: "bash".into(),
        command: Some(command.into()),
        ..Call::default()
    };
    explain(&SPEC, &policy, world, &call)
}

fn written(rules: &str) -> Vec<Layer> {
    let rules = serde_json::from_str(rules).unwrap();
    vec![Layer::read(Scope::Global, "config.yaml", &rules).unwrap()]
}

#[test]
fn a_verdict_says_which_command_and_whose_rule() {
    let verdict =
        judged("auto", written(r#"{"bash": {"git push *": "deny"}}"#), "ls && sudo git push");
    assert_eq!(verdict.decision, Decision::Deny);
    assert_eq!(verdict.say, "The rule git push * in config.yaml says deny to: sudo git push");
    let step = verdict.trace.iter().find(|step| step.then == Decision::Deny).unwrap();
    assert_eq!(
        (step.of.as_str(), step.rule.as_str(), step.from.as_str()),
        ("sudo git push", "git push *", "config.yaml")
    );
}

#[test]
fn an_explanation_says_how_a_line_was_read() {
    let line = "A=1 sudo sh -c \"cat /etc/hosts; echo $B\" 2>> log | tee";
    let Explanation { commands, .. } = explained("manual", Vec::new(), line);
    let [outer, inner, echo, tee] = commands.as_slice() else { panic!("{commands:#?}") };
    assert_eq!(outer.words, ["sudo", "sh", "-c", "cat /etc/hosts; echo $B"]);
    assert_eq!(
        (outer.unknown.as_slice(), outer.assigns.as_slice()),
        ([3].as_slice(), ["A=1".to_string()].as_slice())
    );
    let redirect = &outer.redirects[0];
    assert_eq!((redirect.fd.as_deref(), redirect.target.as_str()), (Some("2"), "log"));
    assert_eq!(
        (outer.feeds.as_slice(), tee.fed_by.as_slice()),
        (["tee".to_string()].as_slice(), ["sudo".to_string()].as_slice())
    );
    assert_eq!(outer.spellings, [["sh", "-c", "cat /etc/hosts; echo $B"]]);
    assert_eq!(outer.runs, ["cat /etc/hosts; echo $B"]);
    assert_eq!(outer.unseen, ["nested", "variable"]);
    assert_eq!(
        [outer, inner, echo, tee].map(|command| command.within),
        [None, Some(0), Some(0), None]
    );
    let hosts = FileView {
        action: "read",
        path: "/etc/hosts".into(),
        real: "/etc/hosts".into(),
        inside: false,
    };
    assert_eq!(inner.files, [hosts]);
}

#[test]
fn an_explanation_names_what_is_overruled() {
    let mut layers = written(r#"{"bash": {"*": "ask", "make *": "ask"}}"#);
    let loose = serde_json::json!({"bash": {"make *": "allow"}});
    layers.push(Layer::read(Scope::Project, "project.yaml", &loose).unwrap());
    let overruled = |layers: Vec<Layer>| {
        let explained = explained("manual", layers, "make");
        let shown = explained
            .overruled
            .iter()
            .map(|each| format!("{} {} by {}", each.step.then.name(), each.step.rule, each.by));
        (explained.verdict.decision, shown.collect::<Vec<_>>())
    };
    let expected = vec!["ask * by make *".to_string(), "allow make * by make *".to_string()];
    assert_eq!(overruled(layers.clone()), (Decision::Ask, expected));
    layers.push(Layer::approved(&[Approval { tool: "bash".into(), pattern: "make".into() }]));
    let (decision, shown) = overruled(layers);
    assert_eq!((decision, shown.len()), (Decision::Allow, 3));
}

#[test]
fn the_floor_and_the_mode_say_their_own_sentence() {
    assert_eq!(judged("auto", Vec::new(), "sudo reboot").say, "It would shut the machine down.");
    assert!(judged("plan", Vec::new(), "touch x").say.starts_with("In plan mode"));
}

#[test]
fn a_default_rule_says_its_own_sentence() {
    let say = |command: &str| judged("manual", Vec::new(), command).say;
    let risky = "An option or operand of it may run, write or delete something: ";
    assert_eq!(say("ls; find . -delete"), format!("{risky}find . -delete"));
    assert_eq!(say("cat .env"), "It may hold secrets: cat .env");
    assert_eq!(say("make"), "No rule allows: make");
}

#[test]
fn always_is_offered_where_a_person_is_asked() {
    assert_eq!(
        judged("manual", Vec::new(), "make test").always,
        [Approval { tool: "bash".into(), pattern: "make test *".into() }]
    );
    assert_eq!(judged("manual", Vec::new(), "curl x | sh").always, []);
    assert_eq!(judged("manual", Vec::new(), "ls").always, []);
}

#[test]
fn a_step_says_the_line_of_a_written_rule() {
    let mut layers = written(r#"{"bash": {"*": "ask", "git push *": "deny"}}"#);
    layers[0].rules[1].line = Some(7);
    let verdict = judged("manual", layers, "git push && ls");
    let lines: Vec<_> = verdict.trace.iter().map(|step| (step.rule.as_str(), step.line)).collect();
    assert_eq!(lines, [("git push *", Some(7)), ("*", None)]);
}

#[test]
fn a_person_can_switch_a_rule_of_the_floor_off() {
    let call = Call {
        class: "run".into(),
        rule: "bash".into(),
        command: Some("reboot".into()),
        ..Call::default()
    };
    let policy = Policy { hardline_disable: vec!["power".into()], ..Policy::default() };
    let home = Path::new("/home/dev");
    let world = World { home, cwd: home, project: None, own: &[], disk: &NoLinks };
    assert!(hardline(&SPEC, &policy, world, &call).is_none());
}

#[test]
fn layers_that_cannot_be_read_say_where() {
    let wrong =
        Layer::read(Scope::Global, "config.yaml", &serde_json::json!({"bash": {"ls": "maybe"}}));
    assert_eq!(
        wrong.unwrap_err(),
        "config.yaml: bash: ls: \"maybe\" is no decision; write allow, ask or deny"
    );
}

#[test]
fn large_lines_are_judged() {
    for line in [
        "sudo ".repeat(1000) + "ls",
        format!("for c in {}; do $c; done", "a ".repeat(2000)),
        "sh -c ".repeat(1000) + "ls",
        "echo x | ".repeat(1000) + "sh",
        format!("cat {}", "../".repeat(5000)),
        "cd a; ".repeat(1000),
        "eval ".repeat(1000),
        format!("{}ls{}", "sh -c '".repeat(20), "'".repeat(20)),
        "f() { f | f & }; ".repeat(500),
        format!(
            "for c in {}; do sh -c \"$c; {}\"; done",
            "a ".repeat(200),
            "sudo ls; ".repeat(500)
        ),
    ] {
        assert_ne!(judged("manual", Vec::new(), &line).decision, Decision::Allow, "{line:.60}");
    }
}

#[test]
fn what_is_beyond_a_limit_is_asked_about_each_time() {
    let limits = &SPEC.limits.shell;
    let names = |count: usize| (0..count).map(|at| format!("f{at} ")).collect::<String>();
    for (line, allowed) in [
        ("echo a; ".repeat(limits.max_commands), true),
        ("echo a; ".repeat(limits.max_commands + 1), false),
        (format!("cat {}", names(limits.max_files)), true),
        (format!("cat {}", names(limits.max_files + 1)), false),
        ("x=$x$x\n".repeat(9), true),
        (format!("x={}\n{}", "a".repeat(99), "x=$x$x\n".repeat(9)), false),
    ] {
        for mode in ["manual", "auto"] {
            let verdict = judged(mode, Vec::new(), &line);
            let expected = if allowed { Decision::Allow } else { Decision::Ask };
            assert_eq!((verdict.decision, verdict.always), (expected, vec![]), "{mode} {line:.40}");
        }
    }
}

proptest! {
    #[test]
    fn judging_never_panics(parts in proptest::collection::vec(prop_oneof![
        Just("sudo "), Just("env "), Just("find "), Just("-exec "), Just("{} "), Just("+ "), Just("xargs "), Just("-I% "), Just("sh "),
        Just("-c "), Just("'"), Just("\""), Just("| "), Just("; "), Just("cd "), Just("~ "), Just("/ "), Just("../"), Just("rm "), Just("-rf "),
        Just("git "), Just("push "), Just("-C "), Just("$x "), Just("> "), Just("< "), Just("<<< "), Just("*"), Just("for c in a b; do "),
        Just("; done "), Just("kill "), Just("-1 "), Just("--"), Just("="), Just("é"), Just("f() { "), Just("} "), Just("`"), Just("$("), Just(") "),
    ], 0..24)) {
        judged("auto", Vec::new(), &parts.concat());
        always(&SPEC, &parts.concat());
    }
}
