//! Asks the server of a connection which models it has, and keeps what it says.

use crate::{
    config::{
        connections::Connection,
        key::key,
        offered::{Offer, Offered},
        paths::Paths,
        secret::Secret,
    },
    provider::{Asker, Reach, discover},
};
use lembas_core::{
    discover::{Discovery, Found},
    spec::{Limits, Spec},
};
use std::time::Duration;

/// Asks, with the connection's key, and keeps the answer.
///
/// # Errors
/// A sentence: no key can be had, nobody answers, or nobody says which models there are.
pub(crate) async fn ask(
    spec: &Spec,
    paths: &Paths,
    connection: &Connection,
) -> Result<Offer, String> {
    let key = key(connection).await?;
    ask_with(spec, paths, connection, key).await
}

/// Asks, with this key, and keeps the answer.
///
/// # Errors
/// As for `ask`.
pub(crate) async fn ask_with(
    spec: &Spec,
    paths: &Paths,
    connection: &Connection,
    key: Option<Secret>,
) -> Result<Offer, String> {
    let Connection { name, base_url, dialect, .. } = connection;
    let asker = Asker { headers: connection.headers.clone(), key };
    let reach = reach(connection, &spec.limits);
    let search = Discovery::of(spec, dialect, base_url);
    let found = discover(spec, &reach, &asker, base_url, search).await;
    let found = found
        .map_err(|why| format!("The models of the connection {name} are not known: {why}."))?;
    let refused = |status: u16| {
        format!(
            "The server of the connection {name} does not list its models (status {status}); is its key right?"
        )
    };
    let Found { server, models, .. } = match found {
        Some(Found { refused: Some(status), models, .. }) if models.is_empty() => {
            return Err(refused(status));
        }
        Some(found) => found,
        None => {
            return Err(format!(
                "The server of the connection {name} does not say which models it has; list them as `models`."
            ));
        }
    };
    let asked_at = jiff::Timestamp::now().as_second();
    let offer = Offer { base_url: base_url.clone(), server, asked_at, models };
    // What is written reaches the disk before it counts, and a call of the model must not wait for that.
    let (offered, name, kept) = (Offered::new(paths), name.clone(), offer.clone());
    let kept = tokio::task::spawn_blocking(move || offered.keep(&name, kept)).await;
    kept.map_err(|error| error.to_string())?.map_err(|problem| problem.to_string())?;
    Ok(offer)
}

/// Returns how the server of a connection is reached.
pub(crate) fn reach(connection: &Connection, limits: &Limits) -> Reach {
    Reach {
        connection: connection.name.clone(),
        connect: connection.connect.unwrap_or(Duration::from_millis(limits.server.connect_ms)),
        authority: connection.authority.clone(),
        insecure: connection.insecure,
    }
}
