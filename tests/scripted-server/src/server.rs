//! The server: a thread with a listener on 127.0.0.1, and the answers to what comes in.
//! What is said is in the scenario; this file only moves it.

use crate::dialect::{Asked, Vectors};
use crate::http::{self, Incoming};
use crate::plan::{self, Act, Plan};
use crate::record::{How, Record, Request, Verdict};
use crate::scenario::{Cut, Reply, Scenario};
use crate::script::{Picked, Script};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A running server. It stops, and closes all connections, when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server for tests on a free port.
    ///
    /// # Errors
    /// If the port cannot be opened or the thread not started.
    pub fn start(scenario: Scenario) -> io::Result<Server> {
        Server::launch(scenario, None, 0, Record::new(None, true))
    }

    /// Starts a server for tests whose replies are made when they are asked for: `author` is given the body of each
    /// request for a reply and may take its time. Without a reply the request is an unexpected one.
    ///
    /// # Errors
    /// As for `start`.
    pub fn start_authored(
        scenario: Scenario,
        author: impl FnMut(&Value) -> Option<Reply> + Send + 'static,
    ) -> io::Result<Server> {
        let author = Author(Mutex::new(Box::new(author)));
        Server::launch(scenario, Some(author), 0, Record::new(None, true))
    }

    /// Starts a server that runs for long: on a port (0: a free one), with a log, keeping no bodies.
    ///
    /// # Errors
    /// If the port cannot be opened or the thread not started.
    pub fn start_logging(scenario: Scenario, port: u16, log: Option<File>) -> io::Result<Server> {
        Server::launch(scenario, None, port, Record::new(log, false))
    }

    fn launch(
        scenario: Scenario,
        author: Option<Author>,
        port: u16,
        record: Record,
    ) -> io::Result<Server> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::new(Shared { scenario, author, script: Mutex::default(), record });
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, served) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new().name("scripted-server".to_owned()).spawn(run)?;
        Ok(Server { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the root of the server, such as `http://127.0.0.1:4321`; a dialect's prefix (`/v1`) is not part of it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all requests so far, in the order they came, whatever they asked for.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.record.all()
    }

    /// Waits until the requests are as wanted, or for as long as `limit`; tells which.
    pub fn wait_until(&self, limit: Duration, wanted: impl FnMut(&[Request]) -> bool) -> bool {
        self.shared.record.wait_until(limit, wanted)
    }

    /// Returns the rules that were broken, each with the place of the request.
    pub fn violations(&self) -> Vec<String> {
        self.said(|verdict| match verdict {
            Verdict::Violation(why) => Some(why),
            _ => None,
        })
    }

    /// Returns the requests the scenario had no reply for, each with the reason.
    pub fn unexpected(&self) -> Vec<String> {
        self.said(|verdict| match verdict {
            Verdict::Unexpected(why) => Some(why),
            _ => None,
        })
    }

    /// Returns which replies were never asked for, those that repeat left out.
    pub fn unused(&self) -> Vec<usize> {
        let script = self.shared.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.unused(&self.shared.scenario.replies)
    }

    /// Tells whether everything went by the script.
    ///
    /// # Errors
    /// All violations, unexpected requests and unused replies, one a line.
    pub fn verify(&self) -> Result<(), String> {
        let mut wrong = self.violations();
        wrong.extend(self.unexpected());
        wrong.extend(
            self.unused().iter().map(|index| format!("replies[{index}] was never asked for")),
        );
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    fn said(&self, pick: impl Fn(&Verdict) -> Option<&str>) -> Vec<String> {
        let requests = self.requests();
        let said = requests.iter().enumerate().filter_map(|(place, request)| {
            let why = pick(&request.verdict)?;
            Some(format!("request {place} ({} {}): {why}", request.method, request.path))
        });
        said.collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the thread has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Makes replies when they are asked for.
struct Author(Mutex<Box<Write>>);

/// Returns the reply to a request's body.
type Write = dyn FnMut(&Value) -> Option<Reply> + Send;

impl Author {
    fn reply(&self, body: &Value) -> Option<Reply> {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))(body)
    }
}

impl fmt::Debug for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Author")
    }
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    author: Option<Author>,
    script: Mutex<Script>,
    record: Record,
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&shared)))),
            // Out of files, most likely: some may be free in a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn connection(mut stream: TcpStream, shared: Arc<Shared>) {
    // Without it a piece may be held back, which only costs time.
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    loop {
        let (incoming, verdict, plan) = match http::read(&mut stream, &mut buffer).await {
            Ok(None) => return,
            Ok(Some(incoming)) => {
                let (verdict, plan) = shared.answer(&incoming);
                (incoming, verdict, plan)
            }
            Err(why) => {
                let plan = shared.refusal(400, &why, true);
                (Incoming::default(), Verdict::Violation(why), plan)
            }
        };
        let place = shared.record.begin(incoming, verdict);
        let how = perform(&plan, &mut stream, &mut buffer).await;
        shared.record.end(place, how);
        if plan.close || how != How::Complete {
            return;
        }
    }
}

impl Shared {
    fn answer(&self, request: &Incoming) -> (Verdict, Plan) {
        let (dialect, route) = (self.scenario.dialect.speech(), request.route());
        if dialect.is_chat(route) {
            return self.chat(request);
        }
        if let Some(vectors) = dialect.vectors().filter(|vectors| vectors.is_at(route)) {
            return self.vectors(vectors, request);
        }
        if dialect.is_models(route) && request.method == "GET" {
            let models = dialect.models(&self.scenario.models);
            return (Verdict::Models, plan::json(200, &models, request.close));
        }
        if let Some(answer) = self.scenario.answers.get(route) {
            return (Verdict::Models, plan::json(200, answer, request.close));
        }
        let why = format!("nothing is at {} {route} here", request.method);
        (Verdict::NotFound, self.refusal(404, &why, request.close))
    }

    fn chat(&self, request: &Incoming) -> (Verdict, Plan) {
        let dialect = self.scenario.dialect.speech();
        if request.method != "POST" {
            let why = format!("{} is asked with POST", request.route());
            let plan = self.refusal(405, &why, request.close);
            return (Verdict::Violation(why), plan);
        }
        if self.scenario.validate
            && let Err(why) = dialect.check(request)
        {
            let plan = self.refusal(400, &why, request.close);
            return (Verdict::Violation(why), plan);
        }
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let asked = dialect.asked(&body);
        let Some((picked, reply)) = self.pick(&body, &asked) else {
            let why = format!(
                "the scenario has no reply left for this request; it has {} in all",
                self.scenario.replies.len()
            );
            let plan = self.refusal(500, &why, request.close);
            return (Verdict::Unexpected(why), plan);
        };
        (
            Verdict::Reply(picked.index),
            plan::reply(self.scenario.dialect, &reply, picked.number, &asked, request.close),
        )
    }

    /// Answers a request for vectors: by a reply of the scenario, or where none is left, with vectors made from the texts.
    fn vectors(&self, vectors: Vectors, request: &Incoming) -> (Verdict, Plan) {
        let texts = match vectors.texts(request) {
            Ok(texts) => texts,
            Err(why) => {
                let plan = self.refusal(400, &why, request.close);
                return (Verdict::Violation(why), plan);
            }
        };
        let asked = Asked { text: texts.join("\n"), ..Asked::default() };
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        match self.pick(&body, &asked) {
            Some((picked, reply)) => (
                Verdict::Reply(picked.index),
                plan::reply(self.scenario.dialect, &reply, picked.number, &asked, request.close),
            ),
            None => (Verdict::Vectors, plan::json(200, &vectors.answer(&texts), request.close)),
        }
    }

    fn pick(&self, body: &Value, asked: &Asked) -> Option<(Picked, Cow<'_, Reply>)> {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(author) = &self.author {
            let reply = author.reply(body)?;
            return Some((script.made(), Cow::Owned(reply)));
        }
        let picked = script.pick(&self.scenario.replies, asked)?;
        let reply = self.scenario.replies.get(picked.index)?;
        Some((picked, Cow::Borrowed(reply)))
    }

    fn refusal(&self, status: u16, why: &str, close: bool) -> Plan {
        plan::json(status, &self.scenario.dialect.speech().error(status, why), close)
    }
}

/// Does what a plan says; `buffer` takes what the client sends meanwhile.
async fn perform(plan: &Plan, stream: &mut TcpStream, buffer: &mut Vec<u8>) -> How {
    for act in &plan.acts {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(bytes).await.is_err() {
                    return How::HungUp;
                }
            }
            Act::Wait(time) => {
                if !client_stays(*time, stream, buffer).await {
                    return How::HungUp;
                }
            }
            Act::End(cut) => {
                // Both fail only if the client is gone, which is as good.
                let _ = match cut {
                    Cut::Close => stream.shutdown().await,
                    Cut::Reset => stream.set_zero_linger(),
                };
                return How::Cut;
            }
        }
    }
    How::Complete
}

/// Waits, and tells whether the client is still there afterwards.
async fn client_stays(time: Duration, stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    let over = tokio::time::sleep(time);
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => return true,
            more = http::more(stream, buffer) => {
                if !more {
                    return false;
                }
            }
        }
    }
}
