//! Which models servers said they have, as they were asked last. It is kept in `models.json`, so that nothing needs to be asked
//! before the first request. It asks nobody.

use super::{connections::Connection, kept::Kept, paths::Paths, problem::Problem};
use lembas_core::discover::Model;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of all connections, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct List {
    connections: BTreeMap<String, Offer>,
}

/// What a connection's server said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Where it was asked.
    pub(crate) base_url: String,
    /// The id of its kind.
    pub(crate) server: String,
    /// When, in seconds since 1970.
    pub(crate) asked_at: i64,
    /// Its models.
    pub(crate) models: Vec<Model>,
}

impl Offer {
    /// Returns a model by its id.
    pub(crate) fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    /// Whether it was asked for so long ago that it is asked for again.
    pub(crate) fn is_old(&self, now: i64, fresh_s: u64) -> bool {
        let age = now.saturating_sub(self.asked_at);
        !(0..=i64::try_from(fresh_s).unwrap_or(i64::MAX)).contains(&age)
    }
}

/// What all servers said.
#[derive(Debug)]
pub(crate) struct Offered {
    kept: Kept<List>,
}

impl Offered {
    /// Returns the list kept below the state root. Nothing is read yet.
    pub(crate) fn new(paths: &Paths) -> Self {
        Self { kept: Kept::new(&paths.state, "models.json", "remove it: servers are asked again") }
    }

    /// Returns what a connection's server said; `None` where it was not asked, or the connection led elsewhere then.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(crate) fn of(&self, connection: &Connection) -> Result<Option<Offer>, Problem> {
        let offer = self.kept.read()?.connections.remove(&connection.name);
        Ok(offer.filter(|offer| offer.base_url == connection.base_url))
    }

    /// Keeps what a connection's server said.
    ///
    /// # Errors
    /// A file that cannot be read or written, or is damaged; then it is as it was.
    pub(crate) fn keep(&self, connection: &str, offer: Offer) -> Result<(), Problem> {
        self.kept.change(|list| drop(list.connections.insert(connection.into(), offer)))
    }
}
