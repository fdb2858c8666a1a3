//! What the server keeps of its requests, and what it refuses.

use crate::client::{Client, body, post, serve};
use lembas_scripted_server::{How, Reply, Scenario, Server, Step, Verdict};
use serde_json::{Value, json};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

fn two() -> Server {
    Server::start(Scenario::new().reply(Reply::text("one")).reply(Reply::text("two"))).unwrap()
}

#[test]
fn requests_are_kept_as_they_came() {
    let server = two();
    let mut client = Client::connect(&server);
    let text = "{ \"model\": \"m\",\t\"stream\":true, \"messages\": [{\"role\": \"user\", \"content\": \"\\u00e4ä\"}] }";
    client.send(format!("POST /v1/chat/completions?x=1 HTTP/1.1\r\ncontent-type: application/json\r\nAuthorization: Bearer k\r\nContent-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    assert!(client.answer().text().contains("one"));
    assert!(client.ask(&body("again")).text().contains("two"), "the connection is kept");
    let [first, second] = &server.requests()[..] else { panic!() };
    assert_eq!((first.method.as_str(), first.path.as_str()), ("POST", "/v1/chat/completions?x=1"));
    assert_eq!(first.body, text.as_bytes());
    assert_eq!((first.header("AUTHORIZATION"), first.header("none")), (Some("Bearer k"), None));
    assert_eq!((&first.verdict, &second.verdict), (&Verdict::Reply(0), &Verdict::Reply(1)));
    assert_eq!(second.json(), body("again"));
    assert!(first.received_at < second.received_at);
    assert!(
        server.wait_until(LONG, |requests| requests.iter().all(|request| request.end.is_some()))
    );
    assert_eq!(server.requests()[1].end.unwrap().how, How::Complete);
    assert_eq!(server.verify(), Ok(()));
}

#[test]
fn chunked_requests_are_put_together() {
    let server = two();
    let mut client = Client::connect(&server);
    let text = body("hi").to_string();
    let (one, two) = text.split_at(9);
    client.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    client.wait_for("100 Continue\r\n\r\n");
    client.send(
        format!("{:x}\r\n{one}\r\n{:X}\r\n{two}\r\n0\r\n\r\n", one.len(), two.len()).as_bytes(),
    );
    assert_eq!(client.answer().status, 200);
    assert_eq!(server.requests()[0].body, text.as_bytes());
}

#[test]
fn a_request_beyond_the_script() {
    let server = two();
    let mut client = Client::connect(&server);
    client.ask(&body("hi"));
    assert_eq!(server.verify().unwrap_err(), "replies[1] was never asked for");
    client.ask(&body("hi"));
    let answer = client.ask(&body("hi"));
    assert_eq!(answer.status, 500);
    assert!(
        answer.text().contains("no reply left") && answer.text().contains("server_error"),
        "{}",
        answer.text()
    );
    assert_eq!(server.unexpected().len(), 1);
    assert!(
        server
            .verify()
            .unwrap_err()
            .starts_with("request 2 (POST /v1/chat/completions): the scenario has no reply")
    );
    assert_eq!((server.unused(), server.violations()), (vec![], vec![]));
}

#[test]
fn an_invalid_request() {
    let invalid = json!({"model": "m", "stream": true, "messages": [{"role": "tool", "tool_call_id": "a", "content": ""}]});
    let server = two();
    let mut client = Client::connect(&server);
    let answer = client.ask(&invalid);
    assert_eq!(answer.status, 400);
    assert!(
        answer.text().contains("messages[0]: is a result")
            && answer.text().contains("invalid_request_error")
    );
    assert!(client.ask(&body("hi")).text().contains("one"), "it used no reply up");
    assert_eq!(server.violations().len(), 1);
    assert!(
        server.verify().unwrap_err().contains("request 0 (POST /v1/chat/completions): messages[0]")
    );
    let lenient = Scenario { validate: false, ..Scenario::new() }.reply(Reply::text("fine"));
    let server = Server::start(lenient).unwrap();
    assert!(Client::connect(&server).ask(&invalid).text().contains("fine"));
    assert_eq!(server.verify(), Ok(()));
}

#[test]
fn what_is_no_http() {
    let server = two();
    let mut client = Client::connect(&server);
    client.send(b"hello\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 400);
    assert!(answer.head.contains("Connection: close"));
    assert!(server.violations()[0].contains("no HTTP request"));
}

#[test]
fn other_paths() {
    let server = serve(&json!({"models": ["a", {"id": "b", "meta": {"n_ctx": 4096}}]}));
    let mut client = Client::connect(&server);
    client.send(b"GET /v1/models HTTP/1.1\r\n\r\n");
    let models: Value = serde_json::from_str(&client.answer().text()).unwrap();
    assert_eq!(
        (&models["data"][0]["id"], &models["data"][1]),
        (&json!("a"), &json!({"id": "b", "meta": {"n_ctx": 4096}}))
    );
    client.send(b"GET /props HTTP/1.1\r\n\r\n");
    let missing = client.answer();
    assert!(missing.status == 404 && missing.text().contains("GET /props"));
    client.send(b"GET /v1/chat/completions HTTP/1.1\r\n\r\n");
    assert_eq!(client.answer().status, 405);
    let verdicts: Vec<_> = server.requests().into_iter().map(|request| request.verdict).collect();
    assert!(
        matches!(verdicts[..], [Verdict::Models, Verdict::NotFound, Verdict::Violation(_)]),
        "{verdicts:?}"
    );
}

#[test]
fn connections_are_closed_when_asked() {
    for head in ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"] {
        let server = two();
        let mut client = Client::connect(&server);
        client.send(format!("GET /v1/models {head}\r\n\r\n").as_bytes());
        assert!(client.answer().head.contains("Connection: close"));
        assert_eq!(client.answer().head, "", "closed");
    }
    let server = serve(
        &json!({"replies": [{"headers": {"Connection": "close"}, "steps": [{"text": "a"}]}]}),
    );
    let mut client = Client::connect(&server);
    assert_eq!(client.ask(&body("hi")).status, 200);
    assert_eq!(client.answer().head, "", "closed");
}

#[test]
fn requests_sent_ahead_are_answered_in_order() {
    let server = Server::start(
        Scenario::new()
            .reply(Reply::steps([Step::DelayMs(20), Step::Text("one".to_owned())]))
            .reply(Reply::call("bash", json!({}))),
    )
    .unwrap();
    let mut client = Client::connect(&server);
    client.send(&[post(&body("a")), post(&body("b"))].concat());
    assert!(client.answer().text().contains("one"));
    assert!(client.answer().text().contains("\"call_2_0\""));
}

#[test]
fn how_an_answer_ended() {
    let server = serve(&json!({"replies": [
        {"steps": [{"text": "a"}, {"delay_ms": 600_000}]},
        {"steps": [{"text": "a"}, "cut"]},
        {"delay_ms": 600_000, "body": "late"},
    ]}));
    let ended = |count: usize, how: How| {
        let last = |end: Option<lembas_scripted_server::End>| end.is_some_and(|end| end.how == how);
        server.wait_until(LONG, |requests| requests.len() == count && last(requests[count - 1].end))
    };
    let mut client = Client::connect(&server);
    client.send(&post(&body("hi")));
    client.wait_for("\"a\"");
    drop(client);
    assert!(ended(1, How::HungUp));
    Client::connect(&server).ask(&body("hi"));
    assert!(ended(2, How::Cut));
    let mut client = Client::connect(&server);
    client.send(&post(&body("hi")));
    assert!(server.wait_until(LONG, |requests| requests.len() == 3));
    drop(client);
    assert!(ended(3, How::HungUp));
    assert!(!server.wait_until(Duration::from_millis(1), |requests| requests.len() > 3));
}

#[test]
fn a_dropped_server_closes_its_connections() {
    let server = serve(&json!({"replies": [{"delay_ms": 600_000, "body": "late"}]}));
    let mut client = Client::connect(&server);
    client.send(&post(&body("hi")));
    assert!(server.wait_until(LONG, |requests| requests.len() == 1));
    drop(server);
    assert_eq!(client.answer().head, "");
}
