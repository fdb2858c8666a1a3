//! What a build says about a spec that is wrong, or that asks for code that is not there.
//!
//! A crate outside the workspace is built by the real `build.rs` from a changed copy of the spec. It takes in core's
//! own modules of generated code and has a handler for everything that the unchanged spec names.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lembas_codegen::{
    acp::Sender,
    emit::text::{camel, snake},
    files::Files,
    whole::Whole,
};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// What is done to a file of the spec: a text in it becomes another, or a file is added.
enum Change {
    Replace(&'static str, &'static str, &'static str),
    Add(&'static str, String),
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Where the crate stands: always the same place, so that its dependencies are built once.
fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-errors")
}

/// Builds the crate from a changed spec and looks for lines that start like this; none means that it builds.
fn check(changes: &[Change], expected: &[&str]) {
    let place = place();
    fs::create_dir_all(&place).unwrap();
    let lock = File::create(place.join("lock")).unwrap();
    lock.lock().unwrap();
    let handlers = write_crate(&place);
    for change in changes {
        apply(&place.join("harness"), change);
    }
    let said = build(&place);
    let expected = expected.iter().map(|line| handlers.put_into(line));
    let mut missing =
        expected.filter(|line| !said.lines().any(|each| each.contains(line.as_str())));
    assert_eq!(missing.next(), None, "\n{said}");
    assert_eq!(said.contains("Finished"), changes.is_empty(), "\n{said}");
}

fn build(place: &Path) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let done = Command::new(env!("CARGO"))
        .args([
            "check",
            "--offline",
            "--message-format",
            "short",
            "--color",
            "never",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(place.join("interpreter/fixture"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn apply(harness: &Path, change: &Change) {
    match change {
        Change::Replace(file, from, to) => {
            let text = fs::read_to_string(harness.join(file)).unwrap();
            assert!(text.contains(from), "{file} has no {from}");
            fs::write(harness.join(file), text.replacen(from, to, 1)).unwrap();
        }
        Change::Add(file, text) => fs::write(harness.join(file), text).unwrap(),
    }
}

/// Where the handlers stand in the crate, as `file:line:column`.
struct Handlers {
    answers: String,
    tools: String,
    agent: String,
}

impl Handlers {
    fn put_into(&self, line: &str) -> String {
        let line = line.replace("{answers}", &self.answers).replace("{tools}", &self.tools);
        line.replace("{agent}", &self.agent)
    }
}

fn write_crate(place: &Path) -> Handlers {
    let root = root();
    for folder in ["harness", "schema", "interpreter"] {
        let _ = fs::remove_dir_all(place.join(folder));
    }
    let spec = Files::read(&root.join("harness")).unwrap();
    let schemas = Files::read(&root.join("schema")).unwrap();
    write_files(&place.join("harness"), &spec);
    write_files(&place.join("schema"), &schemas);
    fs::create_dir_all(place.join("interpreter/fixture/src")).unwrap();
    fs::copy(root.join("build.rs"), place.join("build.rs")).unwrap();
    let home = place.join("interpreter/fixture");
    fs::copy(root.join("Cargo.lock"), home.join("Cargo.lock")).unwrap();
    fs::write(home.join("Cargo.toml"), manifest(&root)).unwrap();
    let code = code(&root, &Whole::load(&spec, &schemas).unwrap());
    fs::write(home.join("src/lib.rs"), &code).unwrap();
    let line = |start: &str| {
        let line = code.lines().position(|line| line.starts_with(start)).unwrap() + 1;
        format!("src/lib.rs:{line}:1")
    };
    Handlers {
        answers: line("impl spec::Answers"),
        tools: line("impl spec::Tools"),
        agent: line("impl acp::AgentMethods"),
    }
}

fn write_files(dir: &Path, files: &Files) {
    for (name, text) in files.all() {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The profiles are the workspace's, so that what it has built is used.
fn manifest(root: &Path) -> String {
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let profiles = workspace.find("[profile.dev]").map_or("", |at| &workspace[at..]);
    let codegen = root.join("codegen");
    format!(
        "[package]\nname = \"fixture\"\nversion = \"0.0.0\"\nedition = \"2024\"\nbuild = \"../../build.rs\"\n\
         [workspace]\n[dependencies]\nlembas-codegen = {{ path = {codegen:?} }}\n\
         compact_str = {{ version = \"0.10\", features = [\"serde\"] }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = {{ version = \"1\" }}\n\
         [build-dependencies]\nlembas-codegen = {{ path = {codegen:?} }}\n{profiles}"
    )
}

fn code(root: &Path, whole: &Whole) -> String {
    let core = root.join("interpreter/core/src");
    let mut out = String::from("//! A handler for everything that the spec names.\n");
    for module in ["spec", "acp"] {
        let path = core.join(format!("{module}.rs"));
        writeln!(out, "#[path = {path:?}]\npub mod {module};").unwrap();
    }
    writeln!(out, "use serde_json::Value;\npub struct Here;\nimpl spec::Answers for Here {{")
        .unwrap();
    for file in &whole.cases {
        let name = snake(&file.area);
        writeln!(
            out,
            "    fn {name}(&self, _: &Value) -> Result<Value, String> {{ Ok(Value::Null) }}"
        )
        .unwrap();
    }
    writeln!(
        out,
        "}}\nimpl spec::Tools for Here {{\n    type Output = ();\n    type Context = ();"
    )
    .unwrap();
    for tool in &whole.spec.tools {
        let (name, args) = (snake(&tool.id), camel(&tool.id));
        writeln!(out, "    async fn {name}(&self, _: &(), _: spec::{args}Args) {{}}").unwrap();
    }
    writeln!(out, "}}\nimpl acp::AgentMethods for Here {{\n    type Error = ();").unwrap();
    for method in whole.protocol.methods.iter().filter(|method| method.from == Sender::Client) {
        let (name, types) = (snake(&method.name), camel(&method.name));
        let output = method.result.as_ref().map_or("()".into(), |_| format!("acp::{types}Result"));
        writeln!(
            out,
            "    async fn {name}(&self, _: acp::{types}Params) -> Result<{output}, ()> {{ Err(()) }}"
        )
        .unwrap();
    }
    out.push_str("}\npub const SAID: spec::ReadSay = spec::ReadSay::More;");
    out.push_str("\npub fn speak(dialect: spec::DialectName) {\n    match dialect {\n");
    for dialect in &whole.spec.dialects {
        writeln!(out, "        spec::DialectName::{} => {{}}", camel(&dialect.id)).unwrap();
    }
    out.push_str("    }\n}\n");
    out
}

#[test]
fn the_real_spec_builds() {
    check(&[], &[]);
}

/// A file of one rule on four lines; the condition stands at 2:9 and what it does at 3:7.
fn rule(about: &str, when: &str, action: &str) -> String {
    format!(
        "{{ \"rules\": [{{ \"id\": \"a\", \"about\": {about:?},\n\"when\": {when},\n\"do\": {action},\n\
         \"examples\": {{ \"hit\": [{{}}], \"miss\": [{{}}] }} }}] }}"
    )
}

#[test]
fn what_is_wrong_with_the_spec_stops_the_build() {
    let misspelt = rule("command", "{ \"programme\": \"rm\" }", "{ \"act_as_status\": 500 }");
    let unknown = rule("frame", "{}", "{ \"act_like\": 500 }");
    check(
        &[
            Change::Add("permission/hardline.json", misspelt),
            Change::Add("quirks.json", unknown),
            Change::Add("prompts/blocks/steer.md", "{{ text }}\n{{ txet }}\n".into()),
            Change::Replace("acp.md", "### `session/cancel`", "### session/cancel"),
        ],
        &[
            "harness/permission/hardline.json:2:24: no fact \"programme\" here; there are: ",
            "harness/quirks.json:3:21: no key \"act_like\" here; there are: ",
            "harness/prompts/blocks/steer.md:2:4: the text uses {{txet}}, which prompts/index.json does not declare",
            ": a method's heading is: ",
        ],
    );
}

const METHOD: &str = r#"### `session/sing` — client → agent → result

Sings.

```params
sessionId: string — which session
```

```result
song: string — the song
```

```json example session/sing params
{ "sessionId": "ses_1" }
```

```json example session/sing result
{ "song": "A Elbereth" }
```

### `session/cancel`"#;

#[test]
fn what_has_no_handler_stops_the_build() {
    let read = fs::read_to_string(root().join("harness/tools/read.json")).unwrap();
    let mut tool: Value = serde_json::from_str(&read).unwrap();
    tool["name"] = "wc".into();
    tool["aliases"] = json!({});
    let area = r#"{ "area": "elvish", "cases": [] }"#;
    check(
        &[
            Change::Add("tools/wc.json", tool.to_string()),
            Change::Add("conformance/elvish.json", area.into()),
            Change::Replace("acp.md", "### `session/cancel`", METHOD),
            Change::Replace("tools/read.json", "\"more\":", "\"further\":"),
        ],
        &[
            "{tools}: error[E0046]: not all trait items implemented, missing: `wc`",
            "named `More` found for enum `ReadSay`",
            "{answers}: error[E0046]: not all trait items implemented, missing: `elvish`",
            "{agent}: error[E0046]: not all trait items implemented, missing: `session_sing`",
        ],
    );
}

#[test]
fn a_dialect_that_nothing_speaks_stops_the_build() {
    let dialect = fs::read_to_string(root().join("harness/dialects/openai-chat.json")).unwrap();
    check(
        &[Change::Add("dialects/quenya.json", dialect)],
        &["error[E0004]: non-exhaustive patterns: `DialectName::Quenya` not covered"],
    );
}
