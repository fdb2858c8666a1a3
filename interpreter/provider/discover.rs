//! Makes the requests of a discovery. What to ask and what the answers mean is core's business.

use super::live::{Reach, client};
use crate::config::secret::Secret;
use lembas_core::{
    discover::{Discovery, Found, Request},
    spec::{Dialect, DiscoveryLimits, Spec},
};
use reqwest::Client;
use serde_json::Value;
use std::time::Duration;

/// Who asks: the headers that requests carry, beside those of their dialect.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    /// Headers of the connection's own.
    pub(crate) headers: Vec<(String, Secret)>,
    /// The key, if the server wants one.
    pub(crate) key: Option<Secret>,
}

impl Asker {
    /// Returns the headers of a request in a dialect, the credential among them.
    pub(crate) fn headers(&self, dialect: &Dialect) -> Vec<(String, Secret)> {
        let fixed = dialect.http.headers.iter();
        let fixed = fixed.map(|(name, value)| (name.clone(), Secret::new(value.clone())));
        let mut headers: Vec<(String, Secret)> =
            fixed.chain(self.headers.iter().cloned()).collect();
        if let Some(key) = &self.key {
            let value = format!("{}{}", dialect.http.auth_prefix, key.expose());
            headers.push((dialect.http.auth_header.clone(), Secret::new(value)));
        }
        headers
    }
}

/// Asks until nothing is left to find out at `url`; `None`: nothing that is known speaks there.
///
/// # Errors
/// A sentence: nobody could be reached there.
pub(crate) async fn discover(
    spec: &Spec,
    reach: &Reach,
    asker: &Asker,
    url: &str,
    mut discovery: Discovery<'_>,
) -> Result<Option<Found>, String> {
    let client = client(reach, url)?;
    let mut answered = false;
    while let Some(request) = discovery.next() {
        let (status, body) = match answer(spec, &client, asker, &request).await {
            Ok(answer) => {
                answered = true;
                answer
            }
            // Some servers hang up on, or never answer, what they do not know; but somebody must be there.
            Err(_) if answered => (0, Value::Null),
            Err(why) => return Err(format!("{} could not be asked: {why}", request.url)),
        };
        discovery.take(status, &body);
    }
    Ok(discovery.found())
}

/// Makes one request. What is no JSON, or too long, is null.
async fn answer(
    spec: &Spec,
    client: &Client,
    asker: &Asker,
    request: &Request,
) -> Result<(u16, Value), String> {
    let DiscoveryLimits { answer_ms, bytes, .. } = spec.limits.discovery;
    let builder = match &request.send {
        Some(body) => client
            .post(&request.url)
            .header("content-type", "application/json")
            .body(body.to_string()),
        None => client.get(&request.url),
    };
    let headers = spec.dialect(&request.dialect).map(|dialect| asker.headers(dialect));
    let builder = headers
        .into_iter()
        .flatten()
        .fold(builder, |builder, (name, value)| builder.header(name, value.expose()));
    let whole = async {
        let mut response = builder.send().await.map_err(|error| super::live::cause(&error))?;
        let mut text = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| super::live::cause(&error))?
        {
            text.extend_from_slice(&chunk);
            if text.len() > bytes {
                text.clear();
                break;
            }
        }
        let body = serde_json::from_slice(&text).unwrap_or_default();
        Ok((response.status().as_u16(), body))
    };
    let limit = Duration::from_millis(answer_ms);
    let late = |_| format!("there was no answer within {} s", limit.as_secs_f64());
    tokio::time::timeout(limit, whole).await.map_err(late)?
}
