//! Every conformance case and every rule's examples as one named trial each, by the runner that everybody uses.

use lembas_conformance::{Here, check};
use lembas_core::{
    examples,
    spec::{self, files},
};
use libtest_mimic::{Arguments, Trial};
use std::{process::ExitCode, sync::Arc};

fn main() -> Result<ExitCode, String> {
    let packed = spec::packed().map_err(|problems| format!("{problems:?}"))?;
    let files = files();
    let cases = spec::cases(&files, None).map_err(|problems| format!("{problems:?}"))?;
    let mut trials = Vec::new();
    for ran in examples::run(&packed) {
        let lines: Vec<String> =
            ran.problems.iter().map(|each| format!("harness/{each}")).collect();
        let name = format!("example::{}::{}", ran.file.trim_end_matches(".json"), ran.rule);
        trials.push(Trial::test(name, move || match lines.is_empty() {
            true => Ok(()),
            false => Err(lines.join("\n").into()),
        }));
    }
    let here = Arc::new(Here::new(packed));
    for file in cases {
        let area: Arc<str> = file.area.into();
        for case in file.cases {
            let (here, area) = (here.clone(), area.clone());
            let name = format!("{area}::{}", case.name);
            trials.push(Trial::test(name, move || Ok(check(&here, &area, &case)?)));
        }
    }
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}
