//! A person who connects to a server, and one who looks over the configuration.

use crate::process::Ran;
use crate::support::{Home, LEMBAS};
use lembas_scripted_server::{Dialect, Reply, Scenario, Server};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;

/// Returns a server that lists these models and answers `ok`.
fn server(dialect: Dialect, models: &[Value], answers: Value) -> Server {
    let answers = answers.as_object().cloned().unwrap_or_default().into_iter().collect();
    let replies = vec![Reply { repeat: true, ..Reply::text("ok") }];
    let scenario =
        Scenario { dialect, models: models.to_vec(), answers, replies, ..Scenario::new() };
    Server::start(scenario).unwrap()
}

/// Returns a home with this file of connections; nothing: there is none.
fn home(connections: Option<&str>) -> Home {
    let home = Home::at("http://127.0.0.1:1", "", "");
    home.configure("config.yaml", "");
    match connections {
        Some(text) => home.configure("connections.yaml", text),
        None => fs::remove_file(home.lembas().join("config/connections.yaml")).unwrap(),
    }
    home
}

fn text(home: &Home) -> String {
    fs::read_to_string(home.lembas().join("config/connections.yaml")).unwrap_or_default()
}

/// Connects, and returns what was said.
fn connect(home: &Home, arguments: &[&str], code: i32) -> Ran {
    let ran = home.run(&[&["connect"], arguments].concat());
    assert_eq!(ran.code, Some(code), "{}\n{}", ran.stdout, ran.stderr);
    ran
}

#[test]
fn every_kind_of_server_is_known_by_its_answers() {
    let props = json!({"/props": {"default_generation_settings": {"n_ctx": 4096}}});
    let version = json!({"/version": {"version": "0.32.0"}});
    let openai = [json!({"id": "m"})];
    let gemini = [json!({"name": "models/m", "supportedGenerationMethods": ["generateContent"]})];
    let anthropic = [json!({"id": "m", "type": "model"})];
    for (spoken, models, answers, name, dialect) in [
        (Dialect::OpenaiChat, &openai[..], props, "llama-cpp", "openai-chat"),
        (Dialect::OpenaiChat, &openai[..], version, "vllm", "openai-chat"),
        (Dialect::OpenaiChat, &openai[..], json!({}), "openai", "openai-chat"),
        (Dialect::Ollama, &[json!({"model": "m"})][..], json!({}), "ollama", "ollama"),
        (Dialect::Gemini, &gemini[..], json!({}), "gemini", "gemini"),
        (Dialect::Anthropic, &anthropic[..], json!({}), "anthropic", "anthropic"),
    ] {
        let (server, home) = (server(spoken, models, answers), home(None));
        let ran = connect(&home, &[&server.url()], 0);
        assert!(ran.stdout.contains(&format!("  {name}/m\n")), "{name}: {}", ran.stdout);
        let base = format!("{}{}", server.url(), spoken.prefix());
        let entry =
            format!("connections:\n  {name}:\n    dialect: {dialect}\n    base_url: {base}\n");
        assert_eq!(text(&home), entry);
        let ran = home.run(&["run", "--model", &format!("{name}/m"), "hello"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "ok\n"), "{name}: {}", ran.stderr);
        assert_eq!(home.run(&["config", "check"]).code, Some(0));
    }
}

#[test]
fn what_a_person_wrote_stays() {
    let server = server(Dialect::OpenaiChat, &[json!({"id": "a"}), json!({"id": "b"})], json!({}));
    let own = "# my servers\nconnections:\n  box: # the old one\n    dialect: openai-chat\n    base_url: http://127.0.0.1:1/v1\n";
    let home = home(Some(own));
    let file = home.lembas().join("config/connections.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    connect(&home, &[&server.url(), "--name", "mine", "--model", "a"], 0);
    let url = server.url();
    let entry = format!(
        "  mine:\n    dialect: openai-chat\n    base_url: {url}/v1\n    models:\n    - id: a\n"
    );
    assert_eq!(text(&home), format!("{own}{entry}"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // It leads there already, and its name is taken.
    let ran = connect(&home, &[&server.url()], 2);
    assert!(ran.stderr.contains("The connection mine leads to"), "{}", ran.stderr);
    connect(&home, &[&server.url(), "--name", "box"], 2);
    assert_eq!(text(&home), format!("{own}{entry}"));
    connect(&home, &[&url, "--name", "again", "--dialect", "responses"], 0);
    let again = format!("  again:\n    dialect: responses\n    base_url: {url}/v1\n");
    assert!(text(&home).contains(&again), "{}", text(&home));
    connect(&home, &[&url, "--name", "odd", "--dialect", "gemini"], 0);
    let ran = connect(&home, &[&url, "--name", "odder", "--dialect", "latin"], 2);
    assert!(ran.stderr.contains("no dialect \"latin\"; there are: anthropic"), "{}", ran.stderr);
}

#[test]
fn a_key_is_written_as_where_it_is() {
    let server = server(Dialect::OpenaiChat, &[json!({"id": "a"})], json!({}));
    let url = server.url();
    let keys = tempfile::tempdir().unwrap();
    let file = keys.path().join("key");
    fs::write(&file, "sk-in-a-file\n").unwrap();
    let shown = file.to_str().unwrap();
    for (arguments, input, written, sent) in [
        (&["--key-file", shown][..], None, format!("key: '{{file:{shown}}}'"), "sk-in-a-file"),
        (&["--key-cmd", "echo sk-said"], None, "key_cmd: echo sk-said".into(), "sk-said"),
        (&["--store-key"], Some("sk-itself\n"), "key: sk-itself".into(), "sk-itself"),
    ] {
        let home = home(None);
        let argv = [&["connect", url.as_str()], arguments].concat();
        let ran = home.run_with(LEMBAS, &argv, input, crate::process::LIMIT);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(text(&home).contains(&written), "{}", text(&home));
        assert!(!ran.stdout.contains(sent) && !ran.stderr.contains(sent));
        let last = server.requests().pop().unwrap();
        assert_eq!(last.header("authorization"), Some(format!("Bearer {sent}").as_str()));
    }
    let home = home(None);
    let ran = home.run_with(
        "env",
        &["BOX_KEY=sk-of-the-box", LEMBAS, "connect", &url, "--key-env", "BOX_KEY"],
        None,
        crate::process::LIMIT,
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(text(&home).contains("key: '{env:BOX_KEY}'"), "{}", text(&home));
    // What is not there now will not be there later.
    let ran = connect(&home, &[&url, "--name", "b", "--key-env", "NO_SUCH_KEY"], 2);
    assert!(ran.stderr.contains("NO_SUCH_KEY is not set"), "{}", ran.stderr);
}

/// Starts a server that lists a model to whoever has the key, for as long as the tests run, and returns its address.
fn wants_a_key(key: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut chunk) = (String::new(), [0; 4096]);
            while let Ok(read @ 1..) = stream.read(&mut chunk) {
                head.push_str(&String::from_utf8_lossy(&chunk[..read]));
                if head.contains("\r\n\r\n") {
                    break;
                }
            }
            let (status, body) = match (head.contains(key), head.starts_with("GET /v1/models ")) {
                (false, _) => ("401 Unauthorized", json!({"error": {"message": "no key"}})),
                (true, false) => ("404 Not Found", json!({"error": {"message": "not here"}})),
                (true, true) => ("200 OK", json!({"object": "list", "data": [{"id": "m"}]})),
            };
            let body = body.to_string();
            let length = body.len();
            let _ = stream.write_all(
                format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").as_bytes(),
            );
        }
    });
    format!("http://{address}")
}

#[test]
fn what_was_not_given_is_asked_at_a_terminal() {
    let (url, home) = (wants_a_key("sk-of-the-box"), home(None));
    let mut running = home.start_at_terminal("env", &["BOX_KEY=sk-of-the-box", LEMBAS, "connect"]);
    running.answer("Address of the server: ", &url);
    running.answer("Environment variable that holds the key: ", "BOX_KEY");
    running.answer("Name of the connection [openai]: ", "box");
    let ran = running.finish(crate::process::LIMIT);
    assert_eq!((ran.code, ran.late), (Some(0), None), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("  box/m\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("sk-") && !ran.stderr.contains("sk-"), "{}", ran.stderr);
    let written = text(&home);
    for part in ["  box:\n", &format!("base_url: {url}/v1\n"), "key: '{env:BOX_KEY}'\n"] {
        assert!(written.contains(part), "{written}");
    }
    // Nothing said is the usual name, or no answer at all.
    let mut running = home.start_at_terminal(LEMBAS, &["connect", &format!("{url}/")]);
    running.answer("Environment variable that holds the key: ", "");
    let ran = running.finish(crate::process::LIMIT);
    assert!(ran.stderr.contains("it wants a key: name it with --key-env"), "{}", ran.stderr);
    assert_eq!((ran.code, text(&home)), (Some(2), written));
}

#[test]
fn what_cannot_be_connected_to() {
    let home = home(None);
    for (arguments, code, why) in [
        (&[][..], 2, "Which server?"),
        (&["ftp://x"], 2, "must begin with http"),
        (&["http://user:secret@127.0.0.1"], 2, "must not hold a user or password"),
        (&["127.0.0.1:1"], 3, "http://127.0.0.1:1/api/v1/models could not be asked"),
    ] {
        let ran = connect(&home, arguments, code);
        assert!(ran.stderr.contains(why) && !ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    let page =
        Server::start(Scenario { dialect: Dialect::Gemini, models: Vec::new(), ..Scenario::new() });
    let page = page.unwrap();
    let ran = connect(&home, &[&page.url()], 2);
    assert!(ran.stderr.contains("nothing that is known"), "{}", ran.stderr);
    let server = server(Dialect::OpenaiChat, &[json!("m")], json!({}));
    let ran = connect(&home, &[&server.url(), "--name", "a/b"], 2);
    assert!(ran.stderr.contains("connection's name has no `/`"), "{}", ran.stderr);
    assert_eq!(text(&home), "");
}

#[test]
fn the_configuration_is_looked_over() {
    let check = |connections: &str, code: i32, part: &str| {
        let home = home(Some(connections));
        let ran = home.run(&["config", "check"]);
        assert_eq!(ran.code, Some(code), "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(part), "no {part:?} in {}", ran.stdout);
    };
    let with = |line: &str, url: &str| {
        format!("connections:\n  box:\n    dialect: openai-chat\n    base_url: {url}\n    {line}\n")
    };
    check("connections: {}\n", 0, "Nothing is wrong; connections: 0");
    check(&with("timeout: { connect_s: 3 }", "http://127.0.0.1/v1"), 0, "connections: 1");
    check(&with("timeout: { connect_s: 0 }", "http://127.0.0.1/v1"), 2, "connections.yaml:5:27");
    check(&with("kee: x", "http://127.0.0.1/v1"), 0, "`kee` is not a key here");
    check(&with("key: \"{env:NO_SUCH_KEY}\"", "http://127.0.0.1/v1"), 2, "NO_SUCH_KEY is not set");
    check(&with("tls: { insecure: true }", "https://[::1]/v1"), 0, "connections: 1");
    check(
        &with("tls: { insecure: true }", "https://example.org/v1"),
        2,
        "only for a server on this machine",
    );
    check(&with("tls: { ca: no.pem }", "https://example.org/v1"), 2, "there is no file");
    check(
        &with("models: [ { id: a, effort: { default: low } } ]", "http://127.0.0.1/v1"),
        2,
        "connections.yaml:5:",
    );
}
