//! One conversation that moves from provider to provider, in the middle of turns too: no request of it is refused, and what a
//! provider signed comes back to it. It drives core as the engine does, for a run of the program has one model.

use lembas_core::dialect::{Ask, Spoken};
use lembas_core::event::{Event, Finish};
use lembas_core::message::{Image, Message, Part, Role, ToolResult};
use lembas_core::prompt::ToolDefinition;
use lembas_core::repair::{Mending, Repairs};
use lembas_core::spec::{Spec, packed};
use lembas_core::stream::{Assembled, Assembly, Context, Ending, Reply as Reading};
use lembas_scripted_server::{Dialect, Reply, Scenario, Server, Step};
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The models, by dialect.
fn model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenaiChat => "anthropic/claude-opus-4.6",
        Dialect::Responses => "gpt-5.2",
        Dialect::Anthropic => "claude-opus-4-6",
        Dialect::Gemini => "gemini-3-pro",
        Dialect::Ollama => "gpt-oss",
    }
}

/// Returns what a model says that looks at two things.
fn looks() -> Reply {
    Reply::steps([
        Step::Reasoning("I should look.".into()),
        Step::Text("Looking.".into()),
        Step::call("view_image", json!({"path": "a.png"})),
        Step::call("read", json!({"path": "a.txt"})),
    ])
}

fn answers() -> Reply {
    Reply::steps([Step::Reasoning("Now I know.".into()), Step::Text("It is a pixel.".into())])
}

/// The conversation, and a server for each dialect.
struct Conversation {
    spec: Spec,
    servers: Vec<(Dialect, Server)>,
    messages: Vec<Message>,
    tools: Vec<ToolDefinition>,
}

impl Conversation {
    /// Returns one in which each server gives these replies.
    fn new(replies: &[Reply]) -> Conversation {
        let serve = |dialect| {
            let scenario = Scenario { dialect, replies: replies.to_vec(), ..Scenario::new() };
            (dialect, Server::start(scenario).unwrap())
        };
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            description: "Looks.".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}),
        };
        Conversation {
            spec: packed().unwrap(),
            servers: Dialect::ALL.into_iter().map(serve).collect(),
            messages: vec![Message::text(Role::System, "Be brief.")],
            tools: vec![tool("view_image"), tool("read")],
        }
    }

    fn says(&mut self, text: &str) {
        let image = Part::Image(Image { mime: "image/png".into(), data: PIXEL.into() });
        self.messages.push(Message { role: Role::User, parts: vec![Part::said(text), image] });
    }

    /// Asks a provider, and runs what it calls. Returns how its reply ended.
    fn asks(&mut self, dialect: Dialect) -> Finish {
        let context = Context {
            model: model(dialect).into(),
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            call_prefix: format!("call_{}_", self.messages.len()),
            ..Context::default()
        };
        let spoken = Spoken::named(&self.spec, dialect.name()).unwrap();
        let ask = Ask {
            model: model(dialect),
            host: "127.0.0.1",
            messages: &self.messages,
            tools: &self.tools,
            may_call: true,
            effort: Some("high"),
            window: Some(32_768),
            max_output: None,
            sends_reasoning: false,
            vision: true,
            extra: &Map::new(),
            mending: Mending { limits: &self.spec.limits.repair, repairs: &Repairs::default() },
        };
        let body = spoken.request(&self.spec.quirks, &ask).unwrap();
        let (_, server) = self.servers.iter().find(|(known, _)| *known == dialect).unwrap();
        let path = spoken.file.http.path.replace("{model}", model(dialect));
        let bytes = post(server, &format!("{}{path}", dialect.prefix()), &body);
        let Assembled { message, finish, .. } = read(&self.spec, spoken, &context, &bytes);
        self.messages.push(message.unwrap());
        self.runs();
        finish.unwrap()
    }

    /// Answers the calls of the last message, the first with a picture.
    fn runs(&mut self) {
        let parts = &self.messages.last().unwrap().parts;
        let calls = parts
            .iter()
            .filter_map(|part| if let Part::ToolCall(it) = part { Some(it) } else { None });
        let result = |(at, call): (usize, &lembas_core::message::ToolCall)| {
            let image = Image { mime: "image/png".into(), data: PIXEL.into() };
            Part::ToolResult(ToolResult {
                id: call.id.clone(),
                name: call.name.clone(),
                text: if at == 0 { "a.png, 1 x 1".into() } else { "no such file".into() },
                error: at > 0,
                images: if at == 0 { vec![image] } else { Vec::new() },
            })
        };
        let parts: Vec<Part> = calls.enumerate().map(result).collect();
        if !parts.is_empty() {
            self.messages.push(Message { role: Role::Tool, parts });
        }
    }

    fn verify(&self) {
        for (dialect, server) in &self.servers {
            server.verify().unwrap_or_else(|wrong| {
                let last = server.requests().last().map(|request| request.json());
                panic!("{dialect:?}: {wrong}\n{:#}", last.unwrap_or_default())
            });
        }
    }
}

/// Posts a body and returns the bytes of the reply's.
fn post(server: &Server, path: &str, body: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nanthropic-version: 2023-06-01\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let (head, rest) = bytes.split_at(end);
    let head = String::from_utf8_lossy(head);
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {}\n{body}", String::from_utf8_lossy(rest));
    unchunked(rest)
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 4 + size..];
    }
}

fn read(spec: &Spec, spoken: Spoken<'_>, context: &Context, bytes: &[u8]) -> Assembled {
    let (mut reading, mut events) = (Reading::new(spec, spoken, context), Vec::new());
    reading.status(200, std::iter::empty());
    reading.push(bytes, &mut events);
    reading.end(&Ending::Complete, &mut events);
    let mut assembly = Assembly::default();
    events.iter().for_each(|event: &Event| assembly.take(event));
    assert_eq!(assembly.failure(), None);
    assembly.done()
}

#[test]
fn a_turn_each_with_every_provider() {
    let mut conversation = Conversation::new(&[looks(), answers(), looks(), answers()]);
    for round in 0..2 {
        for dialect in Dialect::ALL {
            conversation.says(&format!("What is it, {round}?"));
            assert_eq!(conversation.asks(dialect), Finish::ToolCalls);
            assert_eq!(conversation.asks(dialect), Finish::Stop);
        }
    }
    conversation.verify();
}

#[test]
fn another_provider_in_the_middle_of_every_turn() {
    for shift in 1..5 {
        let mut conversation =
            Conversation::new(&[looks(), answers(), looks(), looks(), answers()]);
        for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
            conversation.says("What is it?");
            conversation.asks(dialect);
            conversation.asks(Dialect::ALL[(at + shift) % 5]);
        }
        for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
            conversation.says("And now?");
            conversation.asks(dialect);
            conversation.asks(Dialect::ALL[(at + shift) % 5]);
            conversation.asks(dialect);
        }
        conversation.verify();
    }
}

#[test]
fn what_a_provider_signed_comes_back_to_it() {
    let mut conversation = Conversation::new(&[looks(), answers(), answers()]);
    for dialect in Dialect::ALL {
        conversation.says("What is it?");
        conversation.asks(dialect);
        conversation.asks(dialect);
    }
    conversation.says("And now?");
    for dialect in Dialect::ALL {
        conversation.asks(dialect);
        conversation.messages.pop();
    }
    conversation.verify();
    let sent = |wanted: Dialect| -> Value {
        let (_, server) = conversation.servers.iter().find(|(known, _)| *known == wanted).unwrap();
        server.requests()[2].json()
    };
    let counts = |wanted: Dialect, part: &str| sent(wanted).to_string().matches(part).count();
    assert_eq!(counts(Dialect::OpenaiChat, "\"signature\""), 2);
    assert_eq!(counts(Dialect::Anthropic, "\"signature\""), 2);
    assert_eq!(counts(Dialect::Responses, "\"encrypted_content\""), 2);
    assert_eq!(counts(Dialect::Gemini, "skip_thought_signature_validator"), 4);
    assert_eq!(counts(Dialect::Gemini, "\"thoughtSignature\""), 5);
}
