//! `lembas models`: which models there are, what is known of them and by whose word. It talks to servers only to ask for these.

use crate::{
    app::{self, Setting, ask},
    config::{
        connections::Connection,
        learned::Learned,
        model::Model,
        offered::{Offer, Offered},
    },
    stop::{self, Stop},
    table::table,
};
use lembas_core::{discover::Window, spec::Spec};
use serde::Serialize;
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

/// Lists the models of the connections, and what is known of them.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelsArgs {
    /// Only the models of this connection
    connection: Option<String>,
    /// Ask the servers again, and forget the windows that refusals taught
    #[arg(long)]
    refresh: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Use the spec in this directory instead of the one in the program
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
}

/// The list, as `--json` gives it.
#[derive(Default, Serialize)]
struct Listing {
    models: Vec<Row>,
    problems: Vec<String>,
}

/// What is known of one model.
#[derive(Serialize)]
struct Row {
    r#ref: String,
    connection: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    context: u64,
    context_source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vision: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    efforts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    text_calls: Vec<String>,
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// A configuration with an error in it, or a connection that there is not.
pub(crate) fn models(args: ModelsArgs) -> Result<u8, Stop> {
    let spec = Arc::new(app::spec(args.harness.as_deref())?);
    let setting = Setting::open(&spec, None)?;
    let connections = &setting.loaded.connections;
    if connections.is_empty() {
        return Err(Stop::usage(crate::config::load::none_yet(connections.file())));
    }
    let wanted: Vec<&Connection> = match &args.connection {
        Some(name) => match connections.get(name).map_err(Stop::usage)? {
            Some(connection) => vec![connection],
            None => return Err(Stop::usage(connections.unknown(name))),
        },
        None => connections.ok.iter().collect(),
    };
    let mut listing = Listing::default();
    if args.connection.is_none() {
        let broken = connections.broken.iter();
        let broken =
            broken.map(|(name, why)| format!("The connection {name} cannot be used: {why}"));
        listing.problems.extend(broken);
    }
    let runtime = app::runtime()?;
    for connection in wanted {
        let offer = runtime.block_on(offer(&setting, connection, args.refresh));
        let offer = offer.map_err(|why| listing.problems.push(why)).ok();
        let rows = rows(&spec, &setting, connection, offer.as_ref(), &mut listing.problems);
        listing.models.extend(rows);
    }
    print(&listing, args.json)?;
    Ok(if listing.problems.is_empty() { 0 } else { stop::PROVIDER })
}

/// Returns what a connection's server says it has, asking it where that is not known or wanted anew.
async fn offer(
    setting: &Setting<'_>,
    connection: &Connection,
    refresh: bool,
) -> Result<Offer, String> {
    let known =
        Offered::new(&setting.paths).of(connection).map_err(|problem| problem.to_string())?;
    match known.filter(|_| !refresh) {
        Some(offer) => Ok(offer),
        None => {
            let offer = ask(setting.spec, &setting.paths, connection).await?;
            if refresh {
                Learned::forget_windows(&setting.paths, &connection.name)
                    .map_err(|problem| problem.to_string())?;
            }
            Ok(offer)
        }
    }
}

/// Returns the models that can be chosen: those the configuration lists, or else all the server has that reply.
fn rows(
    spec: &Spec,
    setting: &Setting<'_>,
    connection: &Connection,
    offer: Option<&Offer>,
    problems: &mut Vec<String>,
) -> Vec<Row> {
    let reply = |model: &&lembas_core::discover::Model| model.embeds != Some(true);
    let offered = offer.into_iter().flat_map(|offer| offer.models.iter().filter(reply));
    let models: Vec<Model> = match connection.models.is_empty() {
        true => offered.map(|model| Model::named(&model.id)).collect(),
        false => connection.models.clone(),
    };
    let row = |model: Model| {
        let found = offer.and_then(|offer| offer.model(&model.id));
        let reference = format!("{}/{}", connection.name, model.id);
        let learned =
            Learned::new(&setting.paths, reference.clone(), connection.base_url.clone()).lesson();
        let learned = learned.map_err(|problem| problems.push(problem.to_string()));
        let learned = learned.ok().and_then(|lesson| lesson.context);
        let window = Window::of(model.context, found, learned, spec.limits.discovery.window);
        let whole = model.completed(found);
        Row {
            r#ref: reference,
            connection: connection.name.clone(),
            server: offer.map(|offer| offer.server.clone()),
            context: window.tokens,
            context_source: window.source.name(),
            name: whole.name,
            max_output: whole.max_output,
            vision: whole.vision,
            tools: whole.tools,
            reasoning: found.and_then(|found| found.reasoning),
            efforts: whole.effort.map(|effort| effort.levels).unwrap_or_default(),
            text_calls: whole.text_calls.unwrap_or_default(),
        }
    };
    models.into_iter().map(row).collect()
}

fn print(listing: &Listing, json: bool) -> Result<(), Stop> {
    let text = if json {
        serde_json::to_string_pretty(listing).map(|text| text + "\n")
    } else {
        Ok(table(0, &listing.models.iter().map(cells).collect::<Vec<_>>()))
    };
    let text = text.map_err(|error| Stop::internal(error.to_string()))?;
    // The work is done; whether anybody reads it changes nothing.
    let _ = io::stdout().write_all(text.as_bytes());
    for problem in listing.problems.iter().filter(|_| !json) {
        let _ = writeln!(io::stderr(), "lembas: {problem}");
    }
    Ok(())
}

fn cells(row: &Row) -> Vec<String> {
    let can = |what: &str, can: Option<bool>| can.filter(|can| *can).map(|_| what.to_string());
    let output = row.max_output.map(|most| format!("output {most}"));
    let notes = [
        output,
        can("images", row.vision),
        can("reasons", row.reasoning),
        row.tools.filter(|can| !can).map(|_| "no tools".to_string()),
        (!row.efforts.is_empty()).then(|| format!("effort {}", row.efforts.join("|"))),
        (!row.text_calls.is_empty()).then(|| format!("text calls {}", row.text_calls.join("|"))),
    ];
    vec![
        row.r#ref.clone(),
        format!("{} ({})", row.context, row.context_source),
        notes.into_iter().flatten().collect::<Vec<_>>().join(", "),
    ]
}
