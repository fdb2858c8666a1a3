//! Fetches a connection's key, running its command only now that the key is needed.
//! What the command prints is shown to nobody, not even when it fails.

use super::{
    connections::{Connection, Credential},
    secret::Secret,
};
use reqwest::header::HeaderValue;
use std::{process::Stdio, time::Duration};
use tokio::{io::AsyncReadExt, process::Command, time::timeout};

/// How long a key command may take: long enough for a person to unlock a password store.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most bytes a key command may print.
const MAX_BYTES: u64 = 64 * 1024;

/// Returns the key of `connection`, `None` if it needs none. The error is a sentence with its name.
pub(crate) async fn key(connection: &Connection) -> Result<Option<Secret>, String> {
    match &connection.credential {
        Credential::None => Ok(None),
        Credential::Key(key) => Ok(Some(key.clone())),
        Credential::Command(command) => {
            let printed = timeout(PATIENCE, run(command))
                .await
                .unwrap_or_else(|_| Err("did not end within a minute".into()));
            printed.map(Some).map_err(|why| {
                format!(
                    "The key_cmd of the connection {} {why}; run it by hand to see why.",
                    connection.name
                )
            })
        }
    }
}

/// Runs `command` with the shell; the error is the rest of a sentence about it.
async fn run(command: &str) -> Result<Secret, String> {
    let spawned = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let mut child = spawned.map_err(|error| format!("could not be started ({error})"))?;
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let read = stdout.take(MAX_BYTES + 1).read_to_end(&mut printed).await;
        read.map_err(|error| format!("could not be read ({error})"))?;
    }
    if printed.len() as u64 > MAX_BYTES {
        return Err("printed far more than a key".into());
    }
    let status =
        child.wait().await.map_err(|error| format!("could not be waited for ({error})"))?;
    if !status.success() {
        return Err(format!("failed ({status})"));
    }
    let key = String::from_utf8(printed)
        .map_err(|_| "printed something that is not UTF-8".to_string())?;
    match key.trim() {
        "" => Err("printed nothing".into()),
        key if HeaderValue::from_str(key).is_err() => {
            Err("printed more than a key, such as a second line".into())
        }
        key => Ok(Secret::new(key.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(credential: Credential, expected: Result<Option<&str>, &str>) {
        let connection = Connection {
            name: "box".into(),
            dialect: "any".into(),
            base_url: "http://127.0.0.1:9/v1".into(),
            credential,
            headers: Vec::new(),
            models: Vec::new(),
            connect: None,
            idle: None,
            authority: None,
            insecure: false,
            sends_reasoning: false,
            extra: serde_json::Map::new(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let got = runtime.block_on(key(&connection));
        match (got, expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got.as_ref().map(Secret::expose), expected),
            (Err(got), Err(expected)) => {
                assert!(got.contains(expected) && got.contains("box"), "{got}");
                assert!(!got.contains("hush"), "the output is shown: {got}");
            }
            (got, expected) => panic!("{got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn keys() {
        let command = |text: &str| Credential::Command(text.into());
        check(Credential::None, Ok(None));
        check(Credential::Key(Secret::new("k".into())), Ok(Some("k")));
        check(command("printf ' sk-1\\n\\n'"), Ok(Some("sk-1")));
        check(command("echo \"$((40 + 2))\""), Ok(Some("42")));
        check(command("echo hush; echo hush >&2; exit 3"), Err("exit status: 3"));
        check(command("no-such-command-here hush"), Err("failed"));
        check(command("true"), Err("printed nothing"));
        check(command("printf 'hush\\nhush'"), Err("second line"));
        check(command("printf '\\377'"), Err("not UTF-8"));
        check(command("head -c 100000 /dev/zero"), Err("far more"));
        check(command("read -r line && echo hush"), Err("failed"));
    }
}
