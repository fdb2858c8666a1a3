//! What the configuration says to good and bad files, one entry a case.

use super::{
    connections::Credential,
    load::{CONFIG_SCHEMA, CONNECTIONS_SCHEMA, Loaded, Sources, load, none_yet},
    paths::Paths,
    problem::Level,
    refs::resolve,
    secret::Secret,
    settings::Known,
    trust::{Project, Trust},
};
use lembas_core::{
    permission::{Layer, Scope},
    spec::{self, Late, ModeSpec, Rule, Spec, When},
};
use serde_json::Value;
use std::{
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::TempDir;

const FACTS: &str = r#"{ "command": { "program": { "type": "string", "doc": "Its name." } } }"#;

static PACKED: LazyLock<Spec> = LazyLock::new(|| spec::packed().unwrap());

/// A spec with a few names of everything a configuration may name.
fn spec() -> Spec {
    let mut spec = Spec::default();
    spec.records = Late::now(serde_json::from_str(FACTS).unwrap());
    spec.modes = ["plan", "manual", "edit", "auto"].map(mode).into();
    spec.default_mode = "manual".into();
    spec.defaults = PACKED.defaults.clone();
    spec.tools = PACKED.tools.clone();
    spec.quirks = PACKED.quirks.clone();
    spec.hardline = Late::now(vec![rule("rm-root"), rule("fork-bomb")].into());
    spec
}

fn mode(id: &str) -> ModeSpec {
    ModeSpec { id: id.into(), prompt: String::new(), about: String::new(), decide: Vec::new() }
}

fn rule(id: &str) -> Rule {
    Rule {
        id: id.into(),
        about: "command".into(),
        when: Late::now(When::All(Vec::new())),
        say: String::new(),
        action: None,
        examples: Late::default(),
        file: String::new(),
        pointer: String::new(),
    }
}

/// A home of its own: `config/` as in `LEMBAS_HOME`, and a project `work/`.
pub(super) struct Home {
    root: PathBuf,
    _dir: TempDir,
}

impl Home {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = Self { root, _dir: dir };
        fs::create_dir_all(home.path("work/.agent")).unwrap();
        fs::create_dir_all(home.path("config")).unwrap();
        for (name, text) in files {
            home.write(name, text.as_bytes());
        }
        home
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// `connections.yaml`, `config.yaml` and `project.yaml` go where they belong; anything else is a path.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        let path = match name {
            "connections.yaml" | "config.yaml" => self.path("config").join(name),
            "project.yaml" => self.path("work/.agent/config.yaml"),
            _ => self.path(name),
        };
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(super) fn paths(&self) -> Paths {
        Paths { home: Some(self.path("")), config: self.path("config"), state: self.path("state") }
    }

    fn load(&self, env: &[(&str, String)], is_trusted: bool) -> Loaded {
        let paths = self.paths();
        let trust = Trust::new(&paths);
        let project = Project::find(&self.path("work"), paths.home.as_deref()).unwrap();
        let trusted = if is_trusted {
            Some(trust.trust(&project).unwrap())
        } else {
            trust.is_trusted(&project).unwrap()
        };
        let env = |name: &str| {
            env.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value.as_str()))
        };
        let (dialects, personalities) = (&["openai-chat", "anthropic"], &["concise", "friendly"]);
        let known = Known { spec: &spec(), dialects, personalities };
        load(Sources { paths: &paths, project: trusted.as_ref(), env: &env, known })
    }

    /// The problems and broken connections as lines, without this home's path.
    fn says(&self, loaded: &Loaded) -> Vec<String> {
        let problems = loaded.problems.iter().map(|problem| match problem.level {
            Level::Error => format!("error {problem}"),
            Level::Warning => format!("warning {problem}"),
        });
        let broken = &loaded.connections.broken;
        let broken = broken.iter().map(|(name, why)| format!("broken {name}: {why}"));
        problems.chain(broken).map(|line| self.short(&line)).collect()
    }

    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
    }
}

/// One entry of `samples.txt`.
#[derive(Default)]
struct Sample<'a> {
    name: &'a str,
    files: Vec<(&'a str, String)>,
    env: Vec<(&'a str, String)>,
    says: Vec<&'a str>,
}

impl<'a> Sample<'a> {
    fn read(text: &'a str) -> Self {
        let (name, parts) = text.split_once('\n').unwrap();
        let mut sample = Sample { name, ..Self::default() };
        for part in parts.split("--- ").skip(1) {
            let (title, text) = part.split_once('\n').unwrap();
            let lines = text.lines().filter(|line| !line.is_empty());
            match title {
                "says" => sample.says = lines.collect(),
                "env" => {
                    let variables = lines.map(|line| line.split_once('=').unwrap());
                    sample.env = variables.map(|(name, value)| (name, value.into())).collect();
                }
                file => sample.files.push((file, text.into())),
            }
        }
        sample
    }

    fn check(&self) {
        let files: Vec<_> = self.files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let home = Home::new(&files);
        let loaded = home.load(&self.env, files.iter().any(|(name, _)| *name == "project.yaml"));
        let says = home.says(&loaded);
        let fits = says.len() == self.says.len()
            && says.iter().zip(&self.says).all(|(line, expected)| line.starts_with(expected));
        assert!(fits, "{}:\n got      {says:#?}\n expected {:#?}", self.name, self.says);
        let shown = format!("{says:?} {loaded:?}");
        assert!(!shown.contains("hush"), "{} shows a value: {shown}", self.name);
    }
}

#[test]
fn samples() {
    let samples = include_str!("samples.txt").split("\n=== ").skip(1);
    assert!(samples.map(|text| Sample::read(text).check()).count() > 60);
}

const ALL: &str = r#"
model: box/org/model
mode: edit
effort: off
permission:
  "*": ask
  bash: { "*": ask, "git diff *": allow }
  external_directory: { "~/notes/**": allow }
hardline_extra:
  - { id: own, about: command, when: { program: terraform }, say: it is not mine, examples: { hit: [terraform apply] } }
hardline_disable: [fork-bomb]
instructions: |
  Answer in rhyme.
personality: concise
personality_custom: A pirate.
steps: 50
budget: { wall_s: 600, output_tokens: 20000 }
"#;

#[test]
fn whole_settings_are_read() {
    let config = loads(&[("config.yaml", ALL)], &[]).config;
    assert_eq!(config.model.as_deref(), Some("box/org/model"));
    assert_eq!(config.effort.as_deref(), Some("off"));
    assert_eq!(config.instructions.as_deref(), Some("Answer in rhyme.\n"));
    assert_eq!(
        (config.steps, config.budget.wall_s, config.budget.output_tokens),
        (Some(50), Some(600), Some(20_000))
    );
    assert_eq!(config.hardline_disable, ["fork-bomb"]);
    let rules = [
        "6: * * Ask",
        "7: bash * Ask",
        "7: bash git diff * Allow",
        "8: external_directory ~/notes/** Allow",
    ];
    assert_eq!(written(&config.permission[0]), rules);
    let extra = config.hardline_extra.first().unwrap();
    assert_eq!((extra.id.as_str(), extra.pointer.as_str()), ("own", "/hardline_extra/0"));
    assert!(extra.file.ends_with("config/config.yaml") && extra.examples.hit.len() == 1);
}

/// Returns the rules of a layer as lines.
fn written(layer: &Layer) -> Vec<String> {
    let rules = layer.rules.iter().map(|rule| {
        let line = rule.line.unwrap_or_default();
        format!("{line}: {} {} {:?}", rule.tool, rule.pattern, rule.then)
    });
    rules.collect()
}

/// Loads `files` and checks that there is nothing to say.
fn loads(files: &[(&str, &str)], env: &[(&str, &str)]) -> Loaded {
    let home = Home::new(files);
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let loaded = home.load(&env, files.iter().any(|(name, _)| *name == "project.yaml"));
    assert_eq!(home.says(&loaded), [""; 0]);
    loaded
}

#[test]
fn files_that_cannot_be_read() {
    let home = Home::new(&[]);
    let file = home.path("config/config.yaml");
    let check = |expected: &str| {
        let says = home.says(&home.load(&[], false));
        assert!(says.len() == 1 && says[0].starts_with(expected), "{says:?}, not {expected}");
    };
    home.write("config.yaml", format!("# {}\nmode: plan\n", "x".repeat(300 * 1024)).as_bytes());
    check("error config/config.yaml: is larger than 256 KiB");
    home.write("config.yaml", b"mode: plan\ninstructions: caf\xe9\n");
    check("error config/config.yaml:2:18: this byte is not UTF-8");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    check("error config/config.yaml: is not a regular file");
    fs::remove_dir(&file).unwrap();
    symlink("nowhere", &file).unwrap();
    check("error config/config.yaml: is a link to a file that does not exist");
    fs::remove_file(&file).unwrap();
    home.write("connections.yaml", b"connections:\n");
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(home.path("config/connections.yaml"), mode).unwrap();
    check(
        "warning config/connections.yaml: can be read by other users of this machine; run `chmod",
    );
    fs::remove_dir_all(home.path("config")).unwrap();
    assert_eq!(home.says(&home.load(&[], false)), [""; 0]);
}

#[test]
fn hostile_files_are_answered() {
    let deep = "[".repeat(200_000);
    let long = format!("{}:\n{}", "k".repeat(100_000), "  - a\n".repeat(20_000));
    let wide = "? [a, {b: c}]\n: d\n".repeat(2);
    for text in [deep, long, wide] {
        let loaded = Home::new(&[("config.yaml", &text)]).load(&[], false);
        assert!(!loaded.problems.is_empty());
    }
}

#[test]
fn bytes_before_and_after_lines() {
    let loaded = loads(&[("config.yaml", "\u{feff}mode: plan\r\nsteps: 4.0\r\n")], &[]);
    assert_eq!((loaded.config.mode.as_deref(), loaded.config.steps), (Some("plan"), Some(4)));
    let merge =
        "budget: &b {wall_s: 5}\npermission:\n  bash: &r {ls: allow}\n  edit: {<<: *r, b: ask}\n";
    let loaded = loads(&[("config.yaml", merge)], &[]);
    // What is merged in stands in a place of its own; the rule is placed by what is around it.
    let rules = ["3: bash ls Allow", "4: edit b Ask", "4: edit ls Allow"];
    assert_eq!(written(&loaded.config.permission[0]), rules);
}

#[test]
fn filling() {
    let text = "model: '{env:C}/{env:M}-x'\ninstructions: '{file:me.md} {file:~/note.md}'\npermission: {bash: {'{env:NO}': deny}}\n";
    let files = [
        ("config/me.md", "Be brief.\n\n"),
        ("note.md", "From home {env:NO}"),
        ("config.yaml", text),
    ];
    let loaded = loads(&files, &[("C", "box"), ("M", "{env:X}")]);
    assert_eq!(loaded.config.model.as_deref(), Some("box/{env:X}-x"));
    assert_eq!(loaded.config.instructions.as_deref(), Some("Be brief. From home {env:NO}"));
    assert_eq!(written(&loaded.config.permission[0]), ["3: bash {env:NO} Deny"]);
}

#[test]
fn a_project_is_laid_over_the_global_settings() {
    let global = "mode: edit\nmodel: box/a\nbudget: {wall_s: 5, output_tokens: 9}\npermission: {bash: {'git push *': deny}}\n";
    let own = "mode: plan\nbudget: {wall_s: 7}\npermission: {bash: {'git push *': allow}}\n";
    let config = loads(&[("config.yaml", global), ("project.yaml", own)], &[]).config;
    assert_eq!((config.mode.as_deref(), config.model.as_deref()), (Some("plan"), Some("box/a")));
    assert_eq!((config.budget.wall_s, config.budget.output_tokens), (Some(7), Some(9)));
    let layers = config.permission.iter().map(|layer| (layer.scope, written(layer)));
    assert!(layers.eq([
        (Scope::Global, vec!["4: bash git push * Deny".to_string()]),
        (Scope::Project, vec!["3: bash git push * Allow".to_string()])
    ]));
}

#[test]
fn a_project_that_is_not_trusted_is_not_opened() {
    let home = Home::new(&[("config.yaml", "mode: edit\n"), ("project.yaml", "mode: [nonsense\n")]);
    let loaded = home.load(&[], false);
    assert_eq!(home.says(&loaded), [""; 0]);
    assert_eq!(loaded.config.mode.as_deref(), Some("edit"));
    let loaded = home.load(&[], true);
    assert!(loaded.has_error() && loaded.config.mode.as_deref() == Some("edit"));
}

#[test]
fn connections() {
    let text = "connections:
  least: {dialect: openai-chat, base_url: 'http://127.0.0.1:9/v1/'}
  command: {dialect: openai-chat, base_url: 'http://box', key_cmd: 'echo {env:NO}'}
  all:
    dialect: anthropic
    base_url: 'http://{env:H}:{env:P}/v1'
    key: '{env:K}'
    headers: {X-Team: 'a {env:T}'}
    timeout: {idle_s: 30}
    models:
    - {id: org/a, context: 1000, max_output: 100, vision: true, tools: false, effort: low}
    - id: b
";
    let env = [("H", "127.0.0.1"), ("P", "8123"), ("K", "sk-123"), ("T", "red")];
    let loaded = loads(&[("connections.yaml", text)], &env);
    let [least, command, all] = &loaded.connections.ok[..] else { panic!("{loaded:?}") };
    assert_eq!((least.name.as_str(), least.base_url.as_str()), ("least", "http://127.0.0.1:9/v1"));
    assert_eq!((&least.credential, least.idle), (&Credential::None, None));
    assert_eq!(command.credential, Credential::Command("echo {env:NO}".into()));
    assert_eq!(all.base_url, "http://127.0.0.1:8123/v1");
    let printed = Secret::new("printed".into());
    let secrets = all.secrets(Some(&printed));
    assert!(secrets.iter().map(Secret::expose).eq(["sk-123", "printed", "a red"]));
    assert_eq!(all.idle.map(|idle| idle.as_secs()), Some(30));
    assert_eq!((all.models[0].context, all.models[1].context), (Some(1000), None));
    assert!(!format!("{loaded:?}").contains("sk-123"));
}

#[test]
fn references() {
    let many = "connections:
  local: {dialect: openai-chat, base_url: 'http://box', models: [{id: org/coder, context: 9}]}
  open: {dialect: openai-chat, base_url: 'http://box'}
  bad: {dialect: openai-chat, base_url: '{env:NO}'}
";
    let one =
        "connections:\n  box: {dialect: openai-chat, base_url: 'http://box', models: [{id: a}]}\n";
    let two = "connections:\n  box: {dialect: openai-chat, base_url: 'http://box', models: [{id: a}, {id: b}]}\n";
    let cases = [
        (many, Some("local/org/coder"), "ok local/org/coder"),
        (many, Some("open/any/thing:7b"), "ok open/any/thing:7b"),
        (
            many,
            Some("local/org/codr"),
            "The connection local lists no model `org/codr`. Did you mean `org/coder`? Or",
        ),
        (many, Some("lokal/x"), "There is no connection `lokal`. Did you mean `local`?"),
        (many, Some("zzz/x"), "There is no connection `zzz`. There are: local, open, bad."),
        (many, Some("org/coder"), "`org/coder` lacks its connection; write local/org/coder."),
        (many, Some("local"), "`local` names no model; write local/<model>. There are: org/coder."),
        (many, Some("local/"), "`local/` names no model"),
        (
            many,
            Some("bad/x"),
            "The connection bad cannot be used: config/connections.yaml:4:41: `base_url`",
        ),
        (many, Some(""), "There is no connection ``."),
        (many, None, "No model is chosen and there are several connections (local, open, bad);"),
        (
            "",
            None,
            "There is no connection to a model server yet. Write one into config/connections.yaml",
        ),
        ("", Some("a/b"), "There is no connection to a model server yet."),
        (one, None, "ok box/a"),
        (
            two,
            None,
            "No model is chosen; name one with --model <connection>/<model>, or as `model`",
        ),
    ];
    for (text, wanted, expected) in cases {
        let home = Home::new(&[("connections.yaml", text)]);
        let loaded = home.load(&[], false);
        let got = match resolve(wanted, &loaded.connections) {
            Ok(choice) => format!("ok {}", choice.reference()),
            Err(why) => home.short(&why),
        };
        assert!(got.starts_with(expected), "{wanted:?}: {got}, not {expected}");
    }
}

#[test]
fn the_example_is_a_connection() {
    let text = none_yet(Path::new("/c/connections.yaml"));
    let (_, example) = text.split_once("\n\n").unwrap();
    assert_eq!(example.lines().count(), 6, "{example}");
    let loaded = loads(&[("connections.yaml", example)], &[]);
    assert!(resolve(None, &loaded.connections).is_ok());
}

#[test]
fn the_schemas_describe_every_key() {
    fn walk(schema: &Value, at: &str) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{at}/{name} has no description");
            walk(property, &format!("{at}/{name}"));
        }
        for key in ["additionalProperties", "items"] {
            if schema[key].is_object() {
                walk(&schema[key], &format!("{at}/{key}"));
            }
        }
    }
    for text in [CONFIG_SCHEMA, CONNECTIONS_SCHEMA] {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::meta::is_valid(&schema));
        walk(&schema, "");
    }
}
