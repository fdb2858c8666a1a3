//! Turns `harness/` into the types and the packed spec that the interpreter's core is built on.
#![expect(clippy::disallowed_methods, reason = "a build script is IO; the limits are core's own")]

use lembas_codegen::{emit, files::Files, problem::Problem, whole::Whole};
use std::{env, error::Error, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in ["harness", "schema"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    match generate(&root) {
        Ok(problems) if problems.is_empty() => return ExitCode::SUCCESS,
        Ok(problems) => problems.iter().for_each(|each| println!("cargo::error=harness/{each}")),
        Err(error) => println!("cargo::error={error}"),
    }
    ExitCode::FAILURE
}

fn generate(root: &Path) -> Result<Vec<Problem>, Box<dyn Error>> {
    let files = Files::read(&root.join("harness"))?;
    let schemas = Files::read(&root.join("schema"))?;
    let whole = match Whole::load(&files, &schemas) {
        Ok(whole) => whole,
        Err(problems) => return Ok(problems),
    };
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("spec.rs"), emit::rust(&whole))?;
    fs::write(Path::new(&out).join("acp.rs"), emit::acp::rust(&whole.protocol))?;
    fs::write(Path::new(&out).join("pack.rs"), emit::pack(&whole, &files, &schemas)?)?;
    Ok(Vec::new())
}
