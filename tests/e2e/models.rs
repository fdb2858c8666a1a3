//! Which models there are and how large their windows are: by the configuration, the server, a refusal, or nobody's word.

use crate::support::{Home, write};
use lembas_scripted_server::{Dialect, Reply, Scenario, Server};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Returns a server of models, and a home with a connection to it that lists these.
fn home(dialect: Dialect, models: &[Value], answers: Value, listed: &str) -> (Server, Home) {
    let answers = answers.as_object().cloned().unwrap_or_default().into_iter().collect();
    let scenario = Scenario { dialect, models: models.to_vec(), answers, ..Scenario::new() };
    Home::listing(scenario, listed)
}

/// Runs the verb and returns what it printed as JSON: the rows without what they all have.
fn listed(home: &Home, arguments: &[&str], code: i32) -> (Vec<Value>, Vec<String>) {
    let ran = home.run(&[&["models", "--json"], arguments].concat());
    assert_eq!(ran.code, Some(code), "{}\n{}", ran.stdout, ran.stderr);
    let listing: Value = serde_json::from_str(&ran.stdout).unwrap();
    let problems = listing["problems"].as_array().unwrap().iter();
    let problems = problems.map(|problem| problem.as_str().unwrap().to_string()).collect();
    let mut models = listing["models"].as_array().unwrap().clone();
    for model in &mut models {
        let model = model.as_object_mut().unwrap();
        assert_eq!(model.remove("connection"), Some("local".into()));
    }
    (models, problems)
}

#[test]
fn a_server_is_asked_once_and_again_when_wanted() {
    let models = [json!({"id": "a", "max_model_len": 4096}), json!({"id": "b/c"})];
    let (server, home) = home(Dialect::OpenaiChat, &models, json!({}), "");
    let expected = [
        json!({"ref": "local/a", "server": "openai", "context": 4096, "context_source": "server"}),
        json!({"ref": "local/b/c", "server": "openai", "context": 32768, "context_source": "default"}),
    ];
    assert_eq!(listed(&home, &[], 0).0, expected);
    let asked = server.requests().len();
    assert_eq!(listed(&home, &["local"], 0).0, expected);
    assert_eq!(server.requests().len(), asked);
    listed(&home, &["--refresh"], 0);
    assert_eq!(server.requests().len(), 2 * asked);
    let file = home.lembas().join("state/models.json");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let ran = home.run(&["models"]);
    assert_eq!(ran.stdout, "local/a    4096 (server)\nlocal/b/c  32768 (default)\n");
}

#[test]
fn who_said_how_large_a_window_is() {
    let models = [
        json!({"id": "a", "max_model_len": 4096}),
        json!({"id": "b", "max_model_len": 8192}),
        json!({"id": "c"}),
    ];
    let listing = "    models: [ { id: a, context: 1000, name: A, effort: { levels: [low, high] } }, { id: b }, { id: c } ]\n";
    let (server, home) = home(Dialect::OpenaiChat, &models, json!({}), listing);
    let url = format!("{}/v1", server.url());
    let learned = json!({"models": {
        "local/a": {"base_url": url, "context": 10}, "local/b": {"base_url": url, "context": 2048},
        "local/c": {"base_url": "http://elsewhere", "context": 20}}});
    write(&home.lembas().join("state/learned.json"), learned.to_string().as_bytes());
    let row = |id: &str, context: u64, source: &str| json!({"ref": format!("local/{id}"), "server": "openai", "context": context, "context_source": source});
    let a = json!({"ref": "local/a", "server": "openai", "name": "A", "context": 1000, "context_source": "config", "efforts": ["low", "high"]});
    let (models, _) = listed(&home, &[], 0);
    assert_eq!(models, [a, row("b", 2048, "learned"), row("c", 32768, "default")]);
    let (models, _) = listed(&home, &["--refresh"], 0);
    assert_eq!(models[1], row("b", 8192, "server"));
}

#[test]
fn what_ollama_says() {
    let show = json!({"model_info": {"qwen3.context_length": 40960}, "parameters": "num_ctx 8192", "capabilities": ["completion", "vision"]});
    let answers = json!({"/api/show": show, "/api/ps": {"models": []}});
    let models = [json!({"model": "qwen3:8b"})];
    let (server, home) = home(Dialect::Ollama, &models, answers, "");
    let row = json!({"ref": "local/qwen3:8b", "server": "ollama", "context": 8192, "context_source": "server",
        "vision": true, "tools": false, "reasoning": false});
    assert_eq!(listed(&home, &[], 0).0, [row]);
    let shown = server.requests().into_iter().find(|request| request.path == "/api/show").unwrap();
    assert_eq!(shown.json(), json!({"model": "qwen3:8b"}));
    let ran = home.run(&["models"]);
    assert_eq!(ran.stdout, "local/qwen3:8b  8192 (server)  images, no tools\n");
}

#[test]
fn a_run_makes_room_for_the_window_and_asks_beside_its_work() {
    let show = json!({"model_info": {"x.context_length": 131072}, "parameters": "num_ctx 8192"});
    let scenario = Scenario {
        dialect: Dialect::Ollama,
        models: vec![json!({"model": "m"})],
        answers: [("/api/show".into(), show)].into(),
        replies: vec![Reply { repeat: true, delay_ms: 200, ..Reply::text("ok") }],
        ..Scenario::new()
    };
    let server = Server::start(scenario).unwrap();
    let home = Home::speaking(Dialect::Ollama, &server.url(), "", "");
    home.configure(
        "connections.yaml",
        &format!("connections:\n  local:\n    dialect: ollama\n    base_url: {}\n", server.url()),
    );
    // Nobody waits for the answer: a run may be over before it comes.
    let known = home.lembas().join("state/models.json");
    for _ in 0..50 {
        if known.exists() {
            break;
        }
        assert_eq!(home.run(&["run", "--model", "local/m", "hello"]).code, Some(0));
    }
    home.run(&["run", "--model", "local/m", "hello"]);
    let chats: Vec<Value> = server
        .requests()
        .iter()
        .filter(|request| request.path == "/api/chat")
        .map(|request| request.json()["options"]["num_ctx"].clone())
        .collect();
    assert_eq!((&chats[0], chats.last().unwrap()), (&json!(32768), &json!(8192)), "{chats:?}");
}

#[test]
fn a_run_lets_its_first_request_go_ahead() {
    let reply = Reply { repeat: true, delay_ms: 200, ..Reply::text("ok") };
    let (server, home) = Home::listing(Scenario::new().reply(reply), "");
    let spec = home.spec(&[("loop.json", "/discovery/delay_ms", json!(60_000))]);
    let run = ["run", "--model", "local/m", "--harness", &spec, "hello"];
    assert_eq!(home.run(&run).code, Some(0));
    let asked: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/v1/chat/completions"]);
}

#[test]
fn servers_that_do_not_say() {
    let (server, home) = home(Dialect::OpenaiChat, &[], json!({}), "    models: [ { id: a } ]\n");
    drop(server);
    let (models, problems) = listed(&home, &[], 3);
    assert_eq!(models, [json!({"ref": "local/a", "context": 32768, "context_source": "default"})]);
    assert!(
        problems[0].starts_with("The models of the connection local are not known: http://"),
        "{problems:?}"
    );
    let ran = home.run(&["models", "locl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("no connection `locl`"), "{}", ran.stderr);
    home.configure("connections.yaml", "connections: {}\n");
    assert!(home.run(&["models"]).stderr.contains("no connection to a model server yet"));
}

#[test]
fn an_effort_the_model_does_not_take_is_not_asked_for() {
    let server = Server::start(Scenario::new().reply(Reply::text("ok"))).unwrap();
    let home = Home::at(&server.url(), "", "effort: medium\n");
    home.configure(
        "connections.yaml",
        &format!(
            "connections:\n  local:\n    dialect: openai-chat\n    base_url: {}/v1\n    sends_reasoning: true\n    \
             extra: {{ temperature: 0.2 }}\n    models: [ {{ id: test-model, context: 9, effort: {{ levels: [low, high] }} }} ]\n",
            server.url()
        ),
    );
    let ran = home.run(&["run", "hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("takes no effort \"medium\"; low is asked for instead"),
        "{}",
        ran.stderr
    );
    let body = server.requests()[0].json();
    assert_eq!((&body["reasoning_effort"], &body["temperature"]), (&json!("low"), &json!(0.2)));
}
