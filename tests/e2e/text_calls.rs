//! Tool calls that a model writes as text: they are run where the connection, the server or its chat template says that the
//! model writes so, and stay text elsewhere, with a hint. A recording says how it was read.

use crate::process::Ran;
use crate::support::Home;
use lembas_scripted_server::{Dialect, Reply, Scenario, Step};
use serde_json::{Value, json};
use std::fs;

const CALL: &str =
    "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>";

/// What is said of the model, and by whom.
#[derive(Default)]
struct Said<'a> {
    dialect: Dialect,
    /// More of its entry in the connection.
    listed: &'a str,
    /// What the server lists.
    models: Vec<Value>,
    /// What it answers besides, by path.
    answers: Value,
}

/// Runs one prompt that is answered by a call in the text, records it, plays the recording, and asserts that the call ran, or
/// did not, both times.
fn check(said: Said<'_>, runs: bool) {
    let Said { dialect, listed, models, answers } = said;
    let answers = answers.as_object().cloned().unwrap_or_default().into_iter().collect();
    let lists = !models.is_empty();
    let call = Reply::steps([Step::Text(format!("I look.\n{CALL}"))]);
    let replies = [call].into_iter().chain(runs.then(|| Reply::text("alpha it is"))).collect();
    let scenario = Scenario { dialect, models, answers, replies, ..Scenario::new() };
    let model = format!("    models: [ {{ id: test-model{listed} }} ]\n");
    let (server, home) = Home::listing(scenario, &model);
    fs::write(home.project().join("a.txt"), "alpha\n").unwrap();
    if lists {
        assert_eq!(home.run(&["models"]).code, Some(0));
    }
    let told = match (runs, listed.contains("kimi")) {
        (true, _) => Some("text_tool_call"),
        (false, true) => None,
        (false, false) => Some("unread_text_call"),
    };
    is(&home.run(&["run", "--json", "go", "--record", "r.replay"]), runs, told);
    server.verify().unwrap();
    is(&home.run(&["run", "--json", "go", "--replay", "r.replay"]), runs, told);
}

fn is(ran: &Ran, runs: bool, told: Option<&str>) {
    let shown = format!("{}\n{}", ran.stdout, ran.stderr);
    let answer = if runs { "alpha it is".into() } else { format!("I look.\n{CALL}") };
    assert_eq!((ran.code, ran.all("tool_end").len()), (Some(0), usize::from(runs)), "{shown}");
    assert_eq!(ran.all("done")[0]["answer"], answer, "{shown}");
    let notices = ran.all("notice");
    let notice = notices.first().map(|notice| notice["about"].as_str().unwrap());
    assert_eq!((notice, notices.len()), (told, usize::from(told.is_some())), "{shown}");
}

fn model(says: &Value) -> Value {
    let mut model = json!({"id": "test-model"});
    model.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
    model
}

#[test]
fn nobody_says_that_the_model_writes_calls() {
    for dialect in Dialect::ALL {
        check(Said { dialect, ..Said::default() }, false);
    }
}

#[test]
fn the_connection_says_so() {
    for dialect in Dialect::ALL {
        check(Said { dialect, listed: ", text_calls: [hermes]", ..Said::default() }, true);
    }
    check(Said { listed: ", text_calls: [kimi]", ..Said::default() }, false);
}

#[test]
fn the_server_says_so() {
    let models = || vec![model(&json!({"text_calls": ["hermes"]}))];
    check(Said { models: models(), ..Said::default() }, true);
    check(Said { models: models(), listed: ", text_calls: []", ..Said::default() }, false);
}

#[test]
fn the_template_says_so() {
    let template = |template: &str| json!({"/props": {"total_slots": 1, "default_generation_settings": {"n_ctx": 8192}, "chat_template": template}});
    let models = || vec![model(&json!({}))];
    let asks = "return a json object within <tool_call></tool_call> tags";
    check(Said { models: models(), answers: template(asks), ..Said::default() }, true);
    let plain = "<|im_start|>{{ role }}";
    check(Said { models: models(), answers: template(plain), ..Said::default() }, false);
}
