//! HTTP/1.1 as far as a server in tests needs it: reads requests off a connection and writes heads.
//! It knows no dialect and no scenario.

use std::collections::BTreeMap;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most headers a request may have.
const MAX_HEADERS: usize = 100;
/// How much room is made before each read, in bytes.
const READ_AHEAD: usize = 64 * 1024;

/// A request as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Incoming {
    /// The method.
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// The headers in order, names as they were written.
    pub(crate) headers: Vec<(String, String)>,
    /// The content, taken out of its chunks but not decoded further.
    pub(crate) body: Vec<u8>,
    /// Whether the client wants the connection closed after the reply.
    pub(crate) close: bool,
}

impl Incoming {
    /// Returns the first header of a name, in any case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the path without its query.
    pub(crate) fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

/// Returns the first header of a name, in any case.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// Reads the next request; `buffer` holds what was read beyond the one before.
/// Returns nothing when the client closed the connection between requests.
///
/// # Errors
/// A sentence, if it is no HTTP or the connection ended in the middle.
pub(crate) async fn read<S>(
    stream: &mut S,
    buffer: &mut Vec<u8>,
) -> Result<Option<Incoming>, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut request, used) = loop {
        if let Some(found) = head(buffer)? {
            break found;
        }
        if !more(stream, buffer).await {
            return if buffer.is_empty() {
                Ok(None)
            } else {
                Err("the connection ended inside a head".to_owned())
            };
        }
    };
    buffer.drain(..used);
    let framing = Framing::of(&request)?;
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            .await
            .map_err(|error| error.to_string())?;
    }
    let used = loop {
        if let Some((body, used)) = framing.take(buffer)? {
            request.body = body;
            break used;
        }
        if !more(stream, buffer).await {
            return Err("the connection ended inside a body".to_owned());
        }
    };
    buffer.drain(..used);
    Ok(Some(request))
}

/// Reads more into a buffer and tells whether there was any: a broken connection has ended like a closed one.
pub(crate) async fn more<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut Vec<u8>) -> bool {
    buffer.reserve(READ_AHEAD);
    matches!(stream.read_buf(buffer).await, Ok(count) if count > 0)
}

/// Reads a head at the start of a buffer, and says how long it is; nothing if more is needed.
fn head(buffer: &[u8]) -> Result<Option<(Incoming, usize)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let used =
        match parsed.parse(buffer).map_err(|error| format!("this is no HTTP request: {error}"))? {
            httparse::Status::Partial => return Ok(None),
            httparse::Status::Complete(used) => used,
        };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: Vec<_> =
        parsed.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect();
    let connection = header(&headers, "connection").unwrap_or_default().to_ascii_lowercase();
    let close =
        if parsed.version == Some(0) { connection != "keep-alive" } else { connection == "close" };
    let request = Incoming {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        headers,
        body: Vec::new(),
        close,
    };
    Ok(Some((request, used)))
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
}

impl Framing {
    fn of(request: &Incoming) -> Result<Framing, String> {
        if request
            .header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
        {
            return Ok(Framing::Chunked);
        }
        let length = request.header("content-length").unwrap_or("0");
        length
            .trim()
            .parse()
            .map(Framing::Length)
            .map_err(|_| format!("content-length: \"{length}\" is no number"))
    }

    /// Takes a body from the start of a buffer, and says how many bytes it took up; nothing if more is needed.
    fn take(self, buffer: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
        match self {
            Framing::Length(length) => Ok(buffer.get(..length).map(|body| (body.to_vec(), length))),
            Framing::Chunked => chunks(buffer),
        }
    }
}

fn chunks(buffer: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let (mut body, mut used) = (Vec::new(), 0_usize);
    loop {
        let rest = buffer.get(used..).unwrap_or_default();
        let (start, size) = match httparse::parse_chunk_size(rest) {
            Err(_) => return Err("the body is not chunked as it says".to_owned()),
            Ok(httparse::Status::Partial) => return Ok(None),
            Ok(httparse::Status::Complete(found)) => found,
        };
        let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
        let end = end.ok_or("a chunk of the body is too long")?;
        let Some((chunk, line_end)) =
            rest.get(start..end).zip(rest.get(end..).and_then(|rest| rest.get(..2)))
        else {
            return Ok(None);
        };
        if line_end != b"\r\n" {
            return Err("a chunk of the body does not end where it says".to_owned());
        }
        body.extend_from_slice(chunk);
        used += end + 2;
        if size == 0 {
            return Ok(Some((body, used)));
        }
    }
}

/// Returns the head of a reply. `own` are the server's headers; those of a scenario replace the ones of the same name.
pub(crate) fn reply_head(
    status: u16,
    own: &[(&str, &str)],
    given: &BTreeMap<String, String>,
) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let replaced = |name: &str| given.keys().any(|known| known.eq_ignore_ascii_case(name));
    let own = own.iter().copied().filter(|(name, _)| !replaced(name));
    for (name, value) in
        own.chain(given.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads all requests of a connection whose client writes these pieces and then closes.
    fn requests(pieces: &[&[u8]]) -> Result<Vec<Incoming>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut client, mut server) = tokio::io::duplex(1 << 20);
            for piece in pieces {
                client.write_all(piece).await.unwrap();
            }
            client.shutdown().await.unwrap();
            let (mut buffer, mut found) = (Vec::new(), Vec::new());
            while let Some(request) = read(&mut server, &mut buffer).await? {
                found.push(request);
            }
            Ok(found)
        })
    }

    #[test]
    fn several_requests_on_one_connection() {
        let text = b"POST /a?b=c HTTP/1.1\r\nX-One: 1\r\nContent-Length: 3\r\n\r\nabc\
            POST /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x=y\r\nf\r\n0\r\n\r\n\
            GET /g HTTP/1.0\r\n\r\n";
        let found = requests(&[text]).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.method.as_str(), one.route(), one.body.as_slice(), one.close))
            .collect();
        assert_eq!(
            shown,
            [
                ("POST", "/a", &b"abc"[..], false),
                ("POST", "/d", b"def", false),
                ("GET", "/g", b"", true)
            ]
        );
        assert_eq!(found[0].header("x-ONE"), Some("1"));
    }

    #[test]
    fn what_is_no_request() {
        for (text, part) in [
            (&b"hello there\r\n\r\n"[..], "no HTTP request"),
            (b"POST / HTTP/1.1\r\nContent-", "inside a head"),
            (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc", "inside a body"),
            (b"POST / HTTP/1.1\r\nContent-Length: five\r\n\r\nabc", "no number"),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not chunked"),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "does not end"),
            (
                b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                "too long",
            ),
        ] {
            let error = requests(&[text]).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn given_headers_replace_own() {
        let given = BTreeMap::from([("content-TYPE".to_owned(), "a/b".to_owned())]);
        let head = reply_head(503, &[("Content-Type", "c/d"), ("X", "1")], &given);
        assert_eq!(head, b"HTTP/1.1 503 Service Unavailable\r\nX: 1\r\ncontent-TYPE: a/b\r\n\r\n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(pieces: Vec<Vec<u8>>) {
            let _ = requests(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }

        #[test]
        fn any_chunks_are_read_or_refused(rest in "[0-9a-f\r\n;]{0,40}") {
            let text = format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
            let _ = requests(&[text.as_bytes()]);
        }

        #[test]
        fn pieces_do_not_matter(body: Vec<u8>, at in 0_usize..200) {
            let mut text = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
            text.extend(&body);
            let (one, two) = text.split_at(at.min(text.len()));
            prop_assert_eq!(&requests(&[one, two]).unwrap()[0].body, &body);
        }
    }
}
