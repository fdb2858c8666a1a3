//! The program `scripted-server`: serves a scenario file until it is killed.

use lembas_scripted_server::{Scenario, Server};
use std::fs::{self, File};
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: scripted-server --scenario FILE [--port N] [--log FILE]";

fn main() -> ExitCode {
    let started = start(std::env::args().skip(1));
    let server = match started {
        Ok(server) => server,
        Err(why) => {
            // There is nowhere left to say it.
            let _ = writeln!(io::stderr(), "scripted-server: {why}");
            return ExitCode::from(2);
        }
    };
    // Nobody may be listening to the output; the server runs all the same.
    let _ = writeln!(io::stdout(), "listening on {}", server.url());
    loop {
        std::thread::park();
    }
}

fn start(mut arguments: impl Iterator<Item = String>) -> Result<Server, String> {
    let (mut scenario, mut port, mut log) = (None, 0, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--scenario" => scenario = Some(value),
            "--port" => {
                port = value.parse().map_err(|_| format!("--port: \"{value}\" is no port"))?
            }
            "--log" => {
                log = Some(File::create(&value).map_err(|error| format!("{value}: {error}"))?)
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    let path = scenario.ok_or(USAGE)?;
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::parse(&text).map_err(|error| format!("{path}: {error}"))?;
    Server::start_logging(scenario, port, log).map_err(|error| format!("port {port}: {error}"))
}
