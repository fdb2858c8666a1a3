//! Servers that speak TLS: one whose certificate is for another name than the one it is asked under, and one whose certificate
//! only the authority in `tls/` vouches for. The key in `tls/` is for these alone.

use crate::support::{Session, check};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The certificate of the authority that signed the server's, for `SSL_CERT_FILE`.
pub(crate) const AUTHORITY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/tls/authority.pem");

/// Starts a server of another name, for as long as the tests run, and returns its address.
pub(crate) fn of_another_name() -> String {
    serve(include_bytes!("tls/other.pem"), |mut connection, mut stream| {
        shake(&mut connection, &mut stream);
    })
}

/// Starts a server that gives every request this whole HTTP answer, for as long as the tests run, and returns its address.
pub(crate) fn that_answers(answer: String) -> String {
    serve(include_bytes!("tls/here.pem"), move |connection, stream| {
        let mut stream = StreamOwned::new(connection, stream);
        let (mut request, mut chunk) = (Vec::new(), [0; 4096]);
        while !is_whole(&request) {
            match stream.read(&mut chunk) {
                Ok(read @ 1..) => request.extend_from_slice(&chunk[..read]),
                _ => return,
            }
        }
        let _ = stream.write_all(answer.as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    })
}

/// Whether all bytes that a request's head announces are there.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    body.len() >= length.map_or(0, |length| length.trim().parse().unwrap())
}

fn serve(
    certificate: &[u8],
    each: impl Fn(ServerConnection, TcpStream) + Send + Sync + 'static,
) -> String {
    let chain = CertificateDer::from_pem_slice(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let (address, each) = (listener.local_addr().unwrap(), Arc::new(each));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let each = Arc::clone(&each);
            thread::spawn(move || each(connection, stream));
        }
    });
    format!("https://{address}")
}

/// Shakes hands until the client turns away.
fn shake(connection: &mut ServerConnection, stream: &mut TcpStream) {
    while connection.is_handshaking() && connection.complete_io(stream).is_ok() {}
}

/// A server that only an authority of its own vouches for is trusted where the connection names that authority, and refused
/// with a sentence elsewhere.
#[test]
fn an_authority_of_a_connection() {
    let frame = r#"{"choices":[{"index":0,"delta":{"content":"sealed"},"finish_reason":"stop"}]}"#;
    let url = that_answers(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {frame}\n\ndata: [DONE]\n\n"
    ));
    let session = |connection: &str, code, stdout: &str, stderr: &str| {
        check(Session {
            argv: &["run", "hello"],
            url: Some(&url),
            spec: &[("loop.json", "/retry/base_ms", json!(1))],
            connection,
            code,
            stdout: &[stdout],
            stderr: &[stderr],
            ..Session::default()
        });
    };
    session(&format!("tls: {{ ca: {AUTHORITY} }}"), 0, "sealed", "");
    session(
        "",
        3,
        "",
        "lembas: Connection local (model test-model): could not connect to https://",
    );
}
