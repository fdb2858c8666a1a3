//! A server whose certificate is for another name than the one it is asked under. The key in `tls/` is for this alone.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The certificate of the authority that signed the server's, for `SSL_CERT_FILE`.
pub(crate) const AUTHORITY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/tls/authority.pem");

/// Starts such a server, for as long as the tests run, and returns its address.
pub(crate) fn of_another_name() -> String {
    let chain = CertificateDer::from_pem_slice(include_bytes!("tls/certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            shake(stream, Arc::clone(&config));
        }
    });
    format!("https://{address}")
}

/// Shakes hands until the client turns away.
fn shake(mut stream: TcpStream, config: Arc<ServerConfig>) {
    let mut connection = ServerConnection::new(config).unwrap();
    while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
}
