//! The model a session talks to: what the configuration, its server and earlier refusals say of it, as one provider.

use super::{Chosen, Session, ask_with, reach};
use crate::{
    config::{
        connections::Connection,
        key::key,
        learned::{Learned, Lesson},
        model::{Effort, Model},
        offered::{Offer, Offered},
        paths::Paths,
        refs::{Choice, resolve},
        secret::Secret,
    },
    provider::{Asker, Live, Provider, Target, Wire},
    stop::Stop,
};
use lembas_core::{
    dialect::Spoken,
    discover::{self, Window},
    prompt, repair,
    spec::{Dialect, Fix, Limits, Spec},
    stream::Context,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::oneshot;

impl<'s> Session<'s> {
    /// Returns the model that was chosen. Nothing is asked of its server: what is not known yet is asked for while the first
    /// request is on its way.
    pub(super) async fn connected(&mut self, limits: &Limits) -> Result<Chosen<'s>, Stop> {
        let config = &self.setting.loaded.config;
        let wanted = self.options.model.as_deref().or(config.model.as_deref());
        let choice = resolve(wanted, &self.setting.loaded.connections).map_err(Stop::usage)?;
        let reference = choice.reference();
        let Choice { connection, model } = choice;
        let dialect = spoken(self.spec, connection)?;
        let known = Known::of(&self.setting.paths, connection, &reference, &mut self.warnings);
        let Known { learned, lesson: Lesson { context: taught, repairs }, offer } = known;
        let found = offer.as_ref().and_then(|offer| offer.model(&model.id));
        let window = Window::of(model.context, found, taught, limits.discovery.window);
        let model = model.completed(found);
        let key = key(connection).await.map_err(Stop::usage)?;
        let secrets = connection.secrets(key.as_ref());
        let asks = model.context.is_none() && is_wanting(offer.as_ref(), &model.id, limits);
        let found = asks.then(|| self.asking(connection, &model.id, key.clone()));
        let effort = effort(config.effort.as_deref(), model.effort.as_ref(), dialect.file, limits);
        let effort = effort.unwrap_or_else(|(asked, instead)| {
            self.warnings.push(not_taken(&reference, &asked, instead.as_deref()));
            instead
        });
        let family = model.family.as_deref().and_then(|family| prompt::family(self.spec, family));
        let target = target(connection, &model.id, dialect.file, key, limits);
        let live = Live::new(target).map_err(Stop::usage)?;
        let provider = Provider {
            spec: self.spec,
            dialect,
            connection: connection.name.clone(),
            host: host(&connection.base_url),
            max_output: model.max_output,
            effort,
            vision: model.vision.unwrap_or(false) && !repairs.has(Fix::DropImages),
            window: window.tokens,
            sends_reasoning: connection.sends_reasoning,
            extra: connection.extra.clone(),
            context: context(&model, window),
            found,
            repairs,
            learned: Some(learned),
            wire: Wire::Live(Box::new(live)),
            model: model.id,
            recorder: None,
            secrets,
        };
        let tools = model.tools.unwrap_or(true);
        Ok(Chosen {
            vision: provider.vision,
            provider,
            reference,
            tools,
            family: family.map(String::from),
        })
    }

    /// Asks the server for its models beside the work, and returns where the answer about this one will be.
    fn asking(
        &self,
        connection: &Connection,
        model: &str,
        key: Option<Secret>,
    ) -> oneshot::Receiver<discover::Model> {
        let (told, found) = oneshot::channel();
        let (spec, paths) = (Arc::clone(self.spec), self.setting.paths.clone());
        let (connection, model) = (connection.clone(), model.to_string());
        tokio::spawn(async move {
            // The first request goes ahead: no work waits for this, nor should it compete with any.
            tokio::time::sleep(Duration::from_millis(spec.limits.discovery.delay_ms)).await;
            // A server that does not say it is asked again next time; nobody waits for this.
            let Ok(offer) = ask_with(&spec, &paths, &connection, key).await else { return };
            if let Some(model) = offer.model(&model) {
                let _ = told.send(model.clone());
            }
        });
        found
    }
}

/// Returns the dialect a connection's server speaks.
pub(super) fn spoken<'s>(spec: &'s Spec, connection: &Connection) -> Result<Spoken<'s>, Stop> {
    Spoken::named(spec, &connection.dialect).ok_or_else(|| {
        Stop::usage(format!("This program speaks no dialect {:?}.", connection.dialect))
    })
}

/// Says that a model does not take an effort, and what is asked for in its place.
fn not_taken(reference: &str, asked: &str, instead: Option<&str>) -> String {
    let level = instead.unwrap_or("none");
    format!("The model {reference} takes no effort {asked:?}; {level} is asked for instead.")
}

/// Returns what is known of every request to a model.
fn context(model: &Model, window: Window) -> Context {
    Context {
        model: model.id.clone(),
        context_window: window.known(),
        max_output_tokens: model.max_output,
        opens_in_think: model.opens_in_think.unwrap_or(false),
        // What the server says of this later counts from the next session on: one is read in one way.
        text_calls: Some(model.text_calls.clone().unwrap_or_default()),
        ..Context::default()
    }
}

/// What earlier runs left about a model.
struct Known {
    learned: Learned,
    lesson: Lesson,
    offer: Option<Offer>,
}

impl Known {
    /// Reads it; what cannot be read is a warning, for it can be learned anew.
    fn of(
        paths: &Paths,
        connection: &Connection,
        reference: &str,
        warnings: &mut Vec<String>,
    ) -> Known {
        let learned = Learned::new(paths, reference.into(), connection.base_url.clone());
        let lesson = learned.lesson().map_err(|problem| warnings.push(problem.to_string()));
        let offer = Offered::new(paths).of(connection);
        let offer = offer.map_err(|problem| warnings.push(problem.to_string()));
        let (lesson, offer) = (lesson.unwrap_or_default(), offer.unwrap_or_default());
        Known { learned, lesson, offer }
    }
}

/// Whether a server has not said yet, or said long ago, what there is to know of a model.
fn is_wanting(offer: Option<&Offer>, model: &str, limits: &Limits) -> bool {
    let now = jiff::Timestamp::now().as_second();
    let fresh = offer.filter(|offer| !offer.is_old(now, limits.discovery.fresh_s));
    fresh.is_none_or(|offer| offer.model(model).is_none())
}

/// Returns the effort to ask for; the error is one that the model is known not to take, and what is asked for in its place.
fn effort(
    wanted: Option<&str>,
    model: Option<&Effort>,
    dialect: &Dialect,
    limits: &Limits,
) -> Result<Option<String>, (String, Option<String>)> {
    let usual = model.and_then(|effort| effort.default.as_deref());
    let Some(asked) = wanted.or(usual) else { return Ok(None) };
    let levels = model.map(|effort| effort.levels.as_slice()).unwrap_or_default();
    if levels.is_empty()
        || dialect.request.efforts.contains_key(asked)
        || levels.iter().any(|level| level == asked)
    {
        return Ok(Some(asked.into()));
    }
    Err((asked.into(), repair::nearest(&limits.repair, asked, levels).map(String::from)))
}

/// Where requests for replies go.
fn target(
    connection: &Connection,
    model: &str,
    dialect: &Dialect,
    key: Option<Secret>,
    limits: &Limits,
) -> Target {
    let path = dialect.http.path.replace("{model}", model);
    target_at(connection, &path, dialect, key, limits)
}

/// Returns where requests for this path of a connection's server go.
pub(super) fn target_at(
    connection: &Connection,
    path: &str,
    dialect: &Dialect,
    key: Option<Secret>,
    limits: &Limits,
) -> Target {
    let asker = Asker { headers: connection.headers.clone(), key };
    Target {
        reach: reach(connection, limits),
        url: format!("{}{path}", connection.base_url),
        headers: asker.headers(dialect),
        idle: connection.idle.unwrap_or(Duration::from_millis(limits.server.idle_ms)),
    }
}

/// Returns the host of a URL, in lower case; an IPv6 address is in its brackets.
fn host(url: &str) -> String {
    let url = reqwest::Url::parse(url).ok();
    url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (url, expected) in [
            ("http://[::1]:8080/v1", "[::1]"),
            ("https://API.example.com/v1", "api.example.com"),
            ("http://127.0.0.1:1", "127.0.0.1"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
