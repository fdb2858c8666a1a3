//! The HTTP side: one client per connection, no total timeout, errors as sentences that name what failed.

use super::failed;
use super::{Body, Opened};
use crate::config::{connections::is_loopback, secret::Secret};
use lembas_core::event::Failure;
use reqwest::{Certificate, Client, RequestBuilder, redirect::Policy};
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};

/// How a server is reached.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// The connection's name, for sentences.
    pub(crate) connection: String,
    /// How long connecting may take.
    pub(crate) connect: Duration,
    /// A file with the certificate of an authority beside those of the system.
    pub(crate) authority: Option<PathBuf>,
    /// Whether nobody needs to vouch for the server.
    pub(crate) insecure: bool,
}

/// Where requests go, and with what.
pub(crate) struct Target {
    /// How the server is reached.
    pub(crate) reach: Reach,
    /// The full URL of the endpoint.
    pub(crate) url: String,
    /// Headers of every request, the credential among them.
    pub(crate) headers: Vec<(String, Secret)>,
    /// How long the server may be silent.
    pub(crate) idle: Duration,
}

/// A client for one endpoint.
pub(crate) struct Live {
    target: Target,
    client: Client,
}

impl Live {
    /// Makes the client.
    ///
    /// # Errors
    /// A TLS setup that does not work, as a sentence.
    pub(crate) fn new(target: Target) -> Result<Live, String> {
        Ok(Live { client: client(&target.reach, &target.url)?, target })
    }

    /// Posts a JSON body and waits for the status.
    ///
    /// # Errors
    /// What failed before a status came.
    pub(super) async fn post(&self, body: String) -> Result<Opened, Box<Failure>> {
        let request = self.client.post(&self.target.url).header("content-type", "application/json");
        let sent =
            tokio::time::timeout(self.target.idle, self.with_headers(request).body(body).send())
                .await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unreachable(&error)),
            Err(_) => return Err(stalled(self.target.idle)),
        };
        Ok(Opened {
            status: response.status().as_u16(),
            headers: headers(&response),
            body: Body::Live(Box::new(response), self.target.idle),
        })
    }

    fn with_headers(&self, request: RequestBuilder) -> RequestBuilder {
        self.target
            .headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value.expose()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Box<Failure> {
        let (kind, what) = if error.is_builder() {
            ("bad_request", "the request could not be made")
        } else if !error.is_connect() {
            ("cut", "the connection broke before a reply came")
        } else if error.is_timeout() {
            ("connect", "connecting took too long")
        } else {
            ("connect", "could not connect")
        };
        let retry = if kind == "bad_request" { "no" } else { "wait" };
        let hint =
            if error.is_connect() { "; is the server running, and is base_url right?" } else { "" };
        let message = format!("{what} to {}: {}{hint}", self.target.url, cause(error));
        failed(kind, retry, message)
    }
}

/// Makes a client for an address. Certificates are loaded only for an `https` one: it costs milliseconds. A proxy of the
/// environment is used, but not to reach this machine.
///
/// # Errors
/// A certificate that cannot be read or a TLS setup that does not work, as a sentence.
pub(super) fn client(reach: &Reach, url: &str) -> Result<Client, String> {
    let mut builder = Client::builder()
        .connect_timeout(reach.connect)
        .redirect(Policy::none())
        .user_agent(concat!("lembas/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .tls_danger_accept_invalid_certs(reach.insecure);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.starts_with("http://") {
        builder = builder.tls_certs_only(std::iter::empty());
    } else if let Some(file) = &reach.authority {
        builder = builder.tls_certs_merge(certificates(file)?);
    }
    builder.build().map_err(|error| {
        let cause = cause(&error);
        format!("the HTTP client for connection {:?} could not be made: {cause}", reach.connection)
    })
}

fn certificates(file: &Path) -> Result<Vec<Certificate>, String> {
    let failed = |why: String| {
        format!("the certificate {} cannot be used: {why}; a PEM file is needed", file.display())
    };
    let pem = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(all) if all.is_empty() => Err(failed("there is none in it".into())),
        all => all.map_err(|error| failed(cause(&error))),
    }
}

/// Returns the headers of a reply, names in lower case. A server that does not say what time it is there gets ours: a wait
/// until some date is counted from it.
fn headers(response: &reqwest::Response) -> Vec<(String, String)> {
    let text = |value: &reqwest::header::HeaderValue| {
        String::from_utf8_lossy(value.as_bytes()).into_owned()
    };
    let headers = response.headers().iter();
    let mut headers: Vec<(String, String)> =
        headers.map(|(name, value)| (name.as_str().to_string(), text(value))).collect();
    if !headers.iter().any(|(name, _)| name == "date") {
        let now = jiff::fmt::rfc2822::DateTimePrinter::new();
        let now = now.timestamp_to_rfc9110_string(&jiff::Timestamp::now());
        headers.extend(now.map(|now| ("date".to_string(), now)));
    }
    headers
}

/// Returns the failure of a transfer that broke.
pub(super) fn broken(error: &reqwest::Error) -> Box<Failure> {
    let message = format!("the reply was cut: {}", cause(error));
    failed("cut", "once", message)
}

/// Returns the failure of a server that said nothing for `idle`.
pub(super) fn stalled(idle: Duration) -> Box<Failure> {
    let message = format!("the server was silent for {} s", idle.as_secs_f64());
    failed("timeout", "once", message)
}

/// Returns the failure a recording holds where its transfer broke.
pub(super) fn recorded_cut() -> Box<Failure> {
    let message = "the reply was cut, as it was when it was recorded".into();
    failed("cut", "once", message)
}

/// The innermost cause of an error: the client's own words around it only repeat the URL.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}
