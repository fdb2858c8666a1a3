//! `lembas connect`: finds out what speaks at an address, and writes it down as a connection. It makes no request for a reply.

mod ask;
mod secret_form;

use crate::{
    app::{self, Setting},
    config::{
        connections::{Connection, Credential, NAME, check_url, is_name},
        entry,
        fill::Filler,
        key::key,
        offered::{Offer, Offered},
    },
    provider::{Asker, discover},
    shown,
    stop::{self, Stop},
};
use ask::Terminal;
use lembas_core::{
    discover::{Discovery, Found, address},
    spec::Spec,
};
use secret_form::{SecretArgs, SecretForm};
use serde_json::{Map, Value, json};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

/// Adds a connection to a model server: says what speaks at an address and lists its models.
#[derive(Debug, clap::Args)]
pub(crate) struct ConnectArgs {
    /// The server's address, such as http://127.0.0.1:8080
    url: Option<String>,
    /// What the connection is called
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    secret: SecretArgs,
    /// Speak this dialect, also where nothing that is known answers
    #[arg(long)]
    dialect: Option<String>,
    /// List this model, and no others; may be given more than once
    #[arg(long, value_name = "ID")]
    model: Vec<String>,
    /// A PEM file with the certificate of the server's authority
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Use the spec in this directory instead of the one in the program
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
}

/// Runs the verb and returns the exit code.
///
/// # Errors
/// Nothing that is known speaks there, a key is missing, or the connection cannot be written.
pub(crate) fn connect(args: ConnectArgs) -> Result<u8, Stop> {
    let spec = Arc::new(app::spec(args.harness.as_deref())?);
    let setting = Setting::open(&spec, None)?;
    let terminal = Terminal::of_process();
    let url = match &args.url {
        Some(url) => url.clone(),
        None => terminal.ask("Address of the server").ok_or_else(|| {
            Stop::usage("Which server? Give its address: lembas connect http://127.0.0.1:8080")
        })?,
    };
    let url = with_scheme(&url);
    check_url(&url).map_err(|why| Stop::usage(format!("That address {why}.")))?;
    let runtime = app::runtime()?;
    let connecting = Connecting { spec: &spec, setting: &setting, args: &args, url: &url };
    let (form, found) = runtime.block_on(connecting.look(&terminal))?;
    let name = connecting.name(&found, &terminal)?;
    connecting.write(&name, form.as_ref(), &found)?;
    let said = connecting.said(&name, &found);
    // The connection is written; whether anybody reads this changes nothing.
    let _ = io::stdout().write_all(said.as_bytes());
    Ok(0)
}

/// What is connected to, and by whose wishes.
struct Connecting<'a> {
    spec: &'a Spec,
    setting: &'a Setting<'a>,
    args: &'a ConnectArgs,
    url: &'a str,
}

impl Connecting<'_> {
    /// Finds out what is there. A server that wants a key and was given none is asked again once a person has named one.
    async fn look(&self, terminal: &Terminal) -> Result<(Option<SecretForm>, Found), Stop> {
        let mut form = self.args.secret.form().map_err(Stop::usage)?;
        let mut found = self.found(form.as_ref()).await?;
        let wants_key = |found: &Found| found.refused.filter(|status| [401, 403].contains(status));
        if let (Some(status), None) = (wants_key(&found), &form) {
            let name = "Environment variable that holds the key";
            let Some(variable) = terminal.ask(name) else {
                let so = "it wants a key: name it with --key-env, --key-file or --key-cmd";
                return Err(refused(status, so));
            };
            form = Some(SecretForm::Variable(variable));
            found = self.found(form.as_ref()).await?;
        }
        match found.refused.filter(|_| found.models.is_empty() && self.args.model.is_empty()) {
            None => Ok((form, found)),
            Some(status) if wants_key(&found).is_some() => {
                Err(refused(status, "look whether the key is right"))
            }
            Some(status) => {
                let so = "if it is not just starting, say with --model which it has";
                Err(refused(status, so))
            }
        }
    }

    async fn found(&self, form: Option<&SecretForm>) -> Result<Found, Stop> {
        let connection = self.connection(form)?;
        let asker = Asker { key: key(&connection).await.map_err(Stop::usage)?, ..Asker::default() };
        let search = Discovery::anywhere(self.spec, self.url, self.args.dialect.as_deref());
        let reach = app::reach(&connection, &self.spec.limits);
        let found = discover(self.spec, &reach, &asker, self.url, search).await;
        let unreachable = |why| Stop { code: stop::PROVIDER, ..Stop::usage(format!("{why}.")) };
        match (found.map_err(unreachable)?, &self.args.dialect) {
            (Some(found), _) => Ok(found),
            (None, Some(dialect)) if self.spec.dialect(dialect).is_some() => Ok(Found {
                server: String::new(),
                dialect: dialect.clone(),
                base_url: address(self.spec, self.url).into(),
                models: Vec::new(),
                refused: None,
            }),
            (None, Some(dialect)) => {
                let known: Vec<&str> =
                    self.spec.dialects.iter().map(|dialect| dialect.id.as_str()).collect();
                Err(Stop::usage(format!(
                    "There is no dialect {dialect:?}; there are: {}.",
                    known.join(", ")
                )))
            }
            (None, None) => Err(Stop::usage(format!(
                "Something answers at {}, but nothing that is known. If it is a model server, say what it speaks with --dialect, \
                 and its models with --model.",
                self.url
            ))),
        }
    }

    /// Returns the connection as far as looking for its server needs it.
    fn connection(&self, form: Option<&SecretForm>) -> Result<Connection, Stop> {
        let env = |name: &str| std::env::var_os(name);
        let paths = &self.setting.paths;
        let filler = Filler { env: &env, base: &paths.config, home: paths.home.as_deref() };
        let credential = match form {
            None => Credential::None,
            Some(form) => form.credential(&filler).map_err(Stop::usage)?,
        };
        Ok(Connection {
            name: "that is made".into(),
            dialect: String::new(),
            base_url: self.url.into(),
            credential,
            headers: Vec::new(),
            models: Vec::new(),
            connect: None,
            idle: None,
            authority: self.args.ca.clone(),
            insecure: false,
            sends_reasoning: false,
            extra: Map::new(),
        })
    }

    /// Returns the connection's name: the one that was asked for, or one after the server that is not taken.
    fn name(&self, found: &Found, terminal: &Terminal) -> Result<String, Stop> {
        let connections = &self.setting.loaded.connections;
        let taken = connections.names();
        if let Some(known) = connections.ok.iter().find(|known| known.base_url == found.base_url)
            && self.args.name.is_none()
        {
            return Err(Stop::usage(format!(
                "The connection {} leads to {} already; give another one its own name with --name.",
                known.name, found.base_url
            )));
        }
        let usual = suggested(&found.server, &found.base_url);
        let mut free = (1..).map(|n| if n == 1 { usual.clone() } else { format!("{usual}-{n}") });
        let free = free.find(|name| !taken.contains(&name.as_str())).unwrap_or_default();
        let wanted = self.args.name.clone();
        let wanted = wanted.or_else(|| terminal.ask_with("Name of the connection", &free));
        let name = wanted.unwrap_or(free);
        if !is_name(&name) {
            return Err(Stop::usage(format!("A connection's name {NAME}.")));
        }
        if taken.contains(&name.as_str()) {
            let file = connections.file().display();
            return Err(Stop::usage(format!("There is a connection {name} in {file} already.")));
        }
        Ok(name)
    }

    fn write(&self, name: &str, form: Option<&SecretForm>, found: &Found) -> Result<(), Stop> {
        let mut entry = json!({ "dialect": found.dialect, "base_url": found.base_url });
        if let Some(form) = form {
            let (field, value) = form.written();
            entry[field] = value.into();
        }
        if let Some(ca) = &self.args.ca {
            let ca = std::path::absolute(ca).unwrap_or_else(|_| ca.clone());
            entry["tls"] = json!({ "ca": ca });
        }
        if !self.args.model.is_empty() {
            let model = |id: &String| json!({ "id": id });
            entry["models"] = self.args.model.iter().map(model).collect::<Vec<Value>>().into();
        }
        let file = self.setting.paths.connections_file();
        entry::add(&file, name, &entry).map_err(Stop::usage)?;
        let offer = Offer {
            base_url: found.base_url.clone(),
            server: found.server.clone(),
            asked_at: jiff::Timestamp::now().as_second(),
            models: found.models.clone(),
        };
        // What cannot be kept is asked for again.
        let _ = Offered::new(&self.setting.paths).keep(name, offer);
        Ok(())
    }

    fn said(&self, name: &str, found: &Found) -> String {
        let server = self.spec.servers.iter().find(|server| server.id == found.server);
        let server = server.map_or("a server", |server| &server.name);
        let file = self.setting.paths.connections_file();
        let mut said = format!(
            "{name}: {server} at {}, spoken to in {}. It is in {} now.\n",
            found.base_url,
            found.dialect,
            file.display()
        );
        let reply = found.models.iter().filter(|model| model.embeds != Some(true));
        let found: Vec<&str> = reply.map(|model| model.id.as_str()).collect();
        let chosen: Vec<&str> = self.args.model.iter().map(String::as_str).collect();
        let models = if chosen.is_empty() { found } else { chosen };
        for model in &models {
            said.push_str(&format!("  {name}/{}\n", shown::line(model)));
        }
        said.push_str(&match models.first() {
            Some(model) => format!("Try it: lembas run --model {name}/{} hello\n", shown::line(model)),
            None => "It does not say which models it has: lembas run --model <connection>/<model> hello\n".into(),
        });
        said
    }
}

fn refused(status: u16, so: &str) -> Stop {
    Stop::usage(format!("The server refuses to list its models (status {status}); {so}."))
}

/// Returns an address with its scheme: what a person types for a server on this machine seldom has one.
fn with_scheme(url: &str) -> String {
    let url = url.trim();
    if url.contains("://") { url.into() } else { format!("http://{url}") }
}

/// Returns a name after the kind of server, or after its host where many are of that kind.
fn suggested(server: &str, url: &str) -> String {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.domain().map(String::from));
    let labels: Vec<&str> = host.as_deref().unwrap_or_default().split('.').collect();
    match labels.as_slice() {
        [.., name, _] => (*name).into(),
        _ if server.is_empty() => "server".into(),
        _ => server.replace('.', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (server, url, expected) in [
            ("llama.cpp", "http://127.0.0.1:8080/v1", "llama-cpp"),
            ("ollama", "http://localhost:11434", "ollama"),
            ("openai", "https://api.groq.com/openai/v1", "groq"),
            ("vllm", "http://[::1]:8000/v1", "vllm"),
            ("", "http://127.0.0.1", "server"),
        ] {
            assert_eq!(suggested(server, url), expected, "{url}");
        }
        assert_eq!(with_scheme(" 127.0.0.1:80 "), "http://127.0.0.1:80");
        assert_eq!(with_scheme("https://x"), "https://x");
    }
}
