//! A client for the tests that sends any bytes and shows an answer down to its chunks.

use lembas_scripted_server::{Scenario, Server};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Starts a server for a scenario written as JSON.
pub(crate) fn serve(scenario: &Value) -> Server {
    Server::start(Scenario::parse(&scenario.to_string()).unwrap()).unwrap()
}

/// Returns a valid request body, with one message of a person.
pub(crate) fn body(text: &str) -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]})
}

/// Returns the bytes of a request for a reply.
pub(crate) fn post(body: &Value) -> Vec<u8> {
    post_to("/v1/chat/completions", body)
}

/// Returns the bytes of a request for a reply at a path.
pub(crate) fn post_to(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nAnthropic-Version: 2023-06-01\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As HTTP says.
    Well,
    /// The connection was closed in the middle.
    Closed,
    /// The connection was reset.
    Reset,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The pieces of the body: the HTTP chunks, or the whole of it.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) ended: Ended,
}

impl Answer {
    /// Returns the body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.chunks.concat()).into_owned()
    }

    /// Returns the JSON of each event, and other lines as strings.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let read = |line: &str| {
            let data = line.strip_prefix("data: ").unwrap_or(line);
            serde_json::from_str(data).unwrap_or_else(|_| data.into())
        };
        text.split("\n\n").filter(|line| !line.is_empty()).map(read).collect()
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    held: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(server: &Server) -> Client {
        Client::to(server.address())
    }

    pub(crate) fn to(address: SocketAddr) -> Client {
        Client { stream: TcpStream::connect(address).unwrap(), held: Vec::new() }
    }

    /// Reads until a text has come, and drops it and what came before.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.until(text.as_bytes()).unwrap();
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a request for a reply and reads the answer.
    pub(crate) fn ask(&mut self, body: &Value) -> Answer {
        self.send(&post(body));
        self.answer()
    }

    /// Reads one answer.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer =
            Answer { status: 0, head: String::new(), chunks: Vec::new(), ended: Ended::Well };
        match self.read(&mut answer) {
            Ok(()) => {}
            Err(ErrorKind::UnexpectedEof) => answer.ended = Ended::Closed,
            Err(ErrorKind::ConnectionReset) => answer.ended = Ended::Reset,
            Err(kind) => panic!("{kind}"),
        }
        answer
    }

    fn read(&mut self, answer: &mut Answer) -> Result<(), ErrorKind> {
        answer.head = String::from_utf8(self.until(b"\r\n\r\n")?).unwrap();
        answer.status = answer.head.split(' ').nth(1).unwrap().parse().unwrap();
        let Some((_, length)) = answer.head.split_once("Content-Length: ") else {
            return self.read_chunks(answer);
        };
        let length = length.lines().next().unwrap().parse().unwrap();
        answer.chunks.push(self.take(length)?);
        Ok(())
    }

    fn read_chunks(&mut self, answer: &mut Answer) -> Result<(), ErrorKind> {
        assert!(answer.head.contains("Transfer-Encoding: chunked"), "{}", answer.head);
        loop {
            let line = String::from_utf8(self.until(b"\r\n")?).unwrap();
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let chunk = self.take(size)?;
            assert_eq!(self.take(2)?, b"\r\n");
            if size == 0 {
                return Ok(());
            }
            answer.chunks.push(chunk);
        }
    }

    fn until(&mut self, mark: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        loop {
            if let Some(at) = self.held.windows(mark.len()).position(|window| window == mark) {
                return self.take(at + mark.len());
            }
            self.more()?;
        }
    }

    fn take(&mut self, count: usize) -> Result<Vec<u8>, ErrorKind> {
        while self.held.len() < count {
            self.more()?;
        }
        Ok(self.held.drain(..count).collect())
    }

    fn more(&mut self) -> Result<(), ErrorKind> {
        let mut piece = [0; 65536];
        let count = self.stream.read(&mut piece).map_err(|error| error.kind())?;
        self.held.extend_from_slice(&piece[..count]);
        if count == 0 { Err(ErrorKind::UnexpectedEof) } else { Ok(()) }
    }
}
