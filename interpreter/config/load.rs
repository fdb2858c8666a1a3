//! Reads the whole configuration: the connections, the person's settings and those of a trusted project.
//! It always returns; what could not be read is in the problems.

use super::{
    connections::{self, Connections},
    fill::{Env, Filler},
    paths::Paths,
    problem::{Level, Problem},
    settings::{self, Config, Known, Merging},
    trust::Trusted,
};
use serde_json::Value;
use std::path::Path;

/// The schema of `connections.yaml`, as an editor gets it.
pub(crate) const CONNECTIONS_SCHEMA: &str = include_str!("../../schema/connections.schema.json");
/// The schema of `config.yaml`, as an editor gets it.
pub(crate) const CONFIG_SCHEMA: &str = include_str!("../../schema/config.schema.json");

/// What a configuration is read from.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    /// The global files.
    pub(crate) paths: &'a Paths,
    /// The project, only if it is trusted.
    pub(crate) project: Option<&'a Trusted>,
    /// The environment for placeholders.
    pub(crate) env: Env<'a>,
    /// The names the spec has.
    pub(crate) known: Known<'a>,
}

/// A configuration and everything that is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// The settings in force.
    pub(crate) config: Config,
    /// The connections.
    pub(crate) connections: Connections,
    /// Errors and warnings, file by file.
    pub(crate) problems: Vec<Problem>,
}

impl Loaded {
    /// Whether a file was left out whole. Then rules the person wrote may be missing, so nothing may be started.
    pub(crate) fn has_error(&self) -> bool {
        self.problems.iter().any(|problem| problem.level == Level::Error)
    }
}

/// Reads all files of `sources`.
pub(crate) fn load(sources: Sources<'_>) -> Loaded {
    let Sources { paths, project, env, known } = sources;
    let filler = |base| Filler { env, base, home: paths.home.as_deref() };
    let schema = schema(CONNECTIONS_SCHEMA);
    let with = connections::Reading {
        schema: &schema,
        dialects: known.dialects,
        spec: known.spec,
        filler: filler(&paths.config),
    };
    let (connections, mut problems) = Connections::load(&paths.connections_file(), with);
    let schema = self::schema(CONFIG_SCHEMA);
    let mut merging = Merging::default();
    let global = settings::Reading {
        schema: &schema,
        known,
        filler: filler(&paths.config),
        is_project: false,
    };
    problems.extend(merging.add(&paths.config_file(), global));
    if let Some(project) = project {
        let own =
            settings::Reading { filler: filler(project.config_dir()), is_project: true, ..global };
        problems.extend(merging.add(&project.config_file(), own));
    }
    let config = merging.finish().unwrap_or_else(|error| {
        problems.push(Problem::file(&paths.config_file(), format!("cannot be used: {error}")));
        Config::default()
    });
    Loaded { config, connections, problems }
}

/// Returns an embedded schema; a test reads both, so `Null` (which fits nothing) is never returned.
fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Says that there is no connection yet, and what to write where.
pub(crate) fn none_yet(file: &Path) -> String {
    let example =
        serde_yaml::to_string(&schema(CONNECTIONS_SCHEMA)["examples"][0]).unwrap_or_default();
    format!(
        "There is no connection to a model server yet. Write one into {}, such as:\n\n{example}",
        file.display()
    )
}
