//! Model references, `<connection>/<model>`: which model of which connection is meant.
//! Only the first `/` divides; a model's id may contain more of them.

use super::{
    connections::{Connection, Connections},
    load::none_yet,
    model::Model,
    problem::hint,
};

/// A model that was found, and the connection it is spoken to through.
#[derive(Debug, Clone)]
pub(crate) struct Choice<'a> {
    /// The connection.
    pub(crate) connection: &'a Connection,
    /// The model, as the connection lists it, or with nothing but its id.
    pub(crate) model: Model,
}

impl Choice<'_> {
    /// Returns the reference, `<connection>/<model>`.
    pub(crate) fn reference(&self) -> String {
        format!("{}/{}", self.connection.name, self.model.id)
    }
}

/// Finds the model that `wanted` (from the command line or the configuration) refers to or, if nothing is wanted,
/// the only model of the only connection. The error says what to write instead.
pub(crate) fn resolve<'a>(
    wanted: Option<&str>,
    connections: &'a Connections,
) -> Result<Choice<'a>, String> {
    if connections.is_empty() {
        return Err(none_yet(connections.file()));
    }
    match wanted {
        Some(wanted) => named(wanted, connections),
        None => only(connections),
    }
}

/// Finds the model that makes vectors: the one `wanted` refers to, or serves under that id alone, or else the only one that
/// a server is known to have. `offered` returns the ids of those a connection's server has. Connections list the models that
/// reply, so one that makes vectors need not be in the list. The error says what to write instead.
pub(crate) fn embedding<'a>(
    wanted: Option<&str>,
    connections: &'a Connections,
    offered: impl Fn(&Connection) -> Vec<String>,
) -> Result<Choice<'a>, String> {
    if connections.is_empty() {
        return Err(none_yet(connections.file()));
    }
    if let Some((name, id)) = wanted.and_then(|wanted| wanted.split_once('/'))
        && let Some(connection) = connections.get(name)?
        && !id.is_empty()
    {
        return Ok(Choice { connection, model: Model::named(id) });
    }
    let known: Vec<Choice<'_>> = connections
        .ok
        .iter()
        .flat_map(|connection| {
            let models = offered(connection).into_iter().map(|id| Model::named(&id));
            models.map(move |model| Choice { connection, model })
        })
        .filter(|choice| wanted.is_none_or(|wanted| choice.model.id == wanted))
        .collect();
    match (<[_; 1]>::try_from(known), wanted) {
        (Ok([choice]), _) => Ok(choice),
        (Err(known), None) => Err(no_embedding("No model for vectors is chosen", &known)),
        (Err(known), Some(wanted)) => {
            Err(no_embedding(&format!("`{wanted}` does not say which connection has it"), &known))
        }
    }
}

fn no_embedding(what: &str, known: &[Choice<'_>]) -> String {
    let known: Vec<String> = known.iter().map(Choice::reference).collect();
    let there = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!(
        "{what}{there}; name one with --model <connection>/<model>, or as `embedding` in config.yaml."
    )
}

fn named<'a>(wanted: &str, connections: &'a Connections) -> Result<Choice<'a>, String> {
    let (name, id) = wanted.split_once('/').unwrap_or((wanted, ""));
    let Some(connection) = connections.get(name)? else {
        return Err(no_connection(wanted, name, connections));
    };
    if id.is_empty() {
        return Err(format!(
            "`{wanted}` names no model; write {name}/<model>.{}",
            hint("", &ids(connection))
        ));
    }
    let listed = connection.models.iter().find(|model| model.id == id).cloned();
    match listed {
        Some(model) => Ok(Choice { connection, model }),
        None if connection.models.is_empty() => Ok(Choice { connection, model: Model::named(id) }),
        None => Err(format!(
            "The connection {name} lists no model `{id}`.{} Or add it to `models` in {}.",
            hint(id, &ids(connection)),
            connections.file().display()
        )),
    }
}

fn no_connection(wanted: &str, name: &str, connections: &Connections) -> String {
    let holder = connections
        .ok
        .iter()
        .find(|connection| connection.models.iter().any(|model| model.id == wanted));
    match holder {
        Some(holder) => format!("`{wanted}` lacks its connection; write {}/{wanted}.", holder.name),
        None => connections.unknown(name),
    }
}

fn only(connections: &Connections) -> Result<Choice<'_>, String> {
    let choose = "name one with --model <connection>/<model>, or as `model` in config.yaml";
    let names = connections.names();
    let [name] = names[..] else {
        return Err(format!(
            "No model is chosen and there are several connections ({}); {choose}.",
            names.join(", ")
        ));
    };
    match connections.get(name)? {
        Some(connection) if connection.models.len() == 1 => {
            let model = connection.models.first().cloned().unwrap_or_default();
            Ok(Choice { connection, model })
        }
        Some(connection) => {
            Err(format!("No model is chosen; {choose}.{}", hint("", &ids(connection))))
        }
        None => Err(format!("No model is chosen; {choose}.")),
    }
}

fn ids(connection: &Connection) -> Vec<&str> {
    connection.models.iter().map(|model| model.id.as_str()).collect()
}
