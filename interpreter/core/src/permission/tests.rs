//! Runs the examples of the permission rules, and a file of cases named by `LEMBAS_PERMISSION_CASES`.

use super::*;
use crate::spec::{Spec, packed};
use serde_json::{Value, json};
use std::path::Path;

/// A disk on which only the named links exist.
struct Links(Vec<(PathBuf, PathBuf)>);

impl Disk for Links {
    fn real(&self, path: &Path) -> PathBuf {
        let mut path = normal(path);
        for _ in 0..8 {
            let link = self
                .0
                .iter()
                .find_map(|(from, to)| Some((to, path.strip_prefix(from).ok()?.to_path_buf())));
            let Some((to, rest)) = link else { break };
            path = normal(&to.join(rest));
        }
        path
    }
}

fn text<'a>(input: &'a Value, key: &str, default: &'a str) -> &'a str {
    input[key].as_str().unwrap_or(default)
}

fn judged(spec: &Spec, input: &Value) -> Verdict {
    let project = PathBuf::from(text(input, "project", "/home/dev/proj"));
    let links = input["setup"].as_array().into_iter().flatten();
    let links = links.map(|link| {
        let from = normal(&project.join(text(link, "symlink", "")));
        let to = normal(&from.parent().unwrap().join(text(link, "to", "")));
        (from, to)
    });
    let disk = Links(links.collect());
    let home = PathBuf::from(text(input, "home", "/home/dev"));
    let own = home.join(".config/lembas");
    let cwd = PathBuf::from(text(input, "cwd", "/home/dev/proj"));
    let world = World { home: &home, cwd: &cwd, project: Some(&project), own: &own, disk: &disk };
    let mut policy = Policy { mode: text(input, "mode", "manual").into(), ..Policy::default() };
    for (index, layer) in input["rules"].as_array().into_iter().flatten().enumerate() {
        if let Some(lines) = layer["always"].as_array() {
            let lines = lines.iter().filter_map(Value::as_str);
            let patterns: Vec<String> =
                lines.filter_map(|line| always(spec, line)).flatten().collect();
            policy.layers.push(Layer::approved(&patterns));
            continue;
        }
        let scope = if layer["scope"] == "project" { Scope::Project } else { Scope::Global };
        let mut rules = layer.clone();
        rules.as_object_mut().unwrap().shift_remove("scope");
        policy.layers.push(Layer::read(scope, &format!("layer {index}"), &rules).unwrap());
    }
    judge(spec, &policy, world, &call(input))
}

fn call(input: &Value) -> Call {
    let tool = text(input, "tool", "bash");
    let (class, rule) = match tool {
        "read" => ("read", "read"),
        "write" | "edit" => ("write", "edit"),
        _ => ("run", "bash"),
    };
    let command = input["command"].as_str().map(String::from);
    let paths = input["path"].as_str().map(PathBuf::from).into_iter().collect();
    Call {
        tool: tool.into(),
        class: class.into(),
        rule: rule.into(),
        paths,
        command,
        ..Call::default()
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a measuring run reads the file it is told")]
fn cases_of_a_file() {
    let Some(file) = std::env::var_os("LEMBAS_PERMISSION_CASES") else { return };
    let spec = packed().unwrap();
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut failed = Vec::new();
    let cases = cases["cases"].as_array().unwrap();
    for case in cases {
        let verdict = judged(&spec, &case["in"]);
        let got = json!(verdict.decision);
        let right = match case["expect"]["one_of"].as_array() {
            Some(list) => list.contains(&got),
            None => case["expect"] == got,
        };
        if !right {
            let trace: Vec<String> = verdict
                .trace
                .iter()
                .map(|s| format!("{:?}:{}@{}<{}>", s.then, s.rule, s.from, s.of))
                .collect();
            failed.push(format!(
                "{} expected {} got {got}: {} {}\n      {}",
                case["name"],
                case["expect"],
                case["in"]["command"],
                case["in"]["path"],
                trace.join("; ")
            ));
        }
    }
    panic!("{} of {} pass\n{}", cases.len() - failed.len(), cases.len(), failed.join("\n"));
}
