//! The model that makes vectors, by the command line and the configuration. It asks nothing of its server.

use super::{
    Setting,
    model::{spoken, target_at},
};
use crate::{
    config::{
        connections::Connection,
        key::key,
        offered::Offered,
        refs::{Choice, embedding},
    },
    provider::{Embedder, Live},
    stop::Stop,
};
use lembas_core::embed;

/// Returns the model that makes vectors; `wanted` stands over the configured one.
///
/// # Errors
/// No usable connection, no model that is meant, a dialect without vectors, a key that cannot be had.
pub(crate) async fn embedder<'s>(
    setting: &Setting<'s>,
    wanted: Option<&str>,
) -> Result<Embedder<'s>, Stop> {
    let loaded = &setting.loaded;
    let offered = |connection: &Connection| {
        let offer = Offered::new(&setting.paths).of(connection).ok().flatten();
        let models = offer.into_iter().flat_map(|offer| offer.models);
        models.filter(|model| model.embeds == Some(true)).map(|model| model.id).collect()
    };
    let wanted = wanted.or(loaded.config.embedding.as_deref());
    let choice = embedding(wanted, &loaded.connections, offered).map_err(Stop::usage)?;
    let Choice { connection, model } = choice;
    let dialect = spoken(setting.spec, connection)?.file;
    let path = embed::path(dialect, &model.id).map_err(|why| {
        Stop::usage(format!("The connection {} cannot be asked: {why}.", connection.name))
    })?;
    let key = key(connection).await.map_err(Stop::usage)?;
    let secrets = connection.secrets(key.as_ref());
    let target = target_at(connection, &path, dialect, key, &setting.spec.limits);
    Ok(Embedder {
        spec: setting.spec,
        dialect,
        connection: connection.name.clone(),
        model: model.id,
        live: Live::new(target).map_err(Stop::usage)?,
        secrets,
    })
}
