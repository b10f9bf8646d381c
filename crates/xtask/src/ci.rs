//! `ci`: everything that a change has to pass, the quick checks first.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{
    api, arch,
    cargo::{cargo, command, run as run_command},
    docs, features, fuzz, supply, test,
};

/// A check, by name. It is given the options of the tests.
struct Step {
    name: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: |_| format() },
    Step { name: "architecture", run: |_| arch::run(&[]) },
    Step { name: "public API", run: |_| api::run(&["--check".to_owned()]) },
    Step { name: "supply", run: |_| supply::run(&[]) },
    Step { name: "clippy", run: |_| clippy() },
    Step { name: "features", run: |_| features::check() },
    Step { name: "documentation", run: |_| rustdoc() },
    Step { name: "generated documents", run: |_| docs::run(&["--check".to_owned()]) },
    Step { name: "fuzz targets", run: |_| fuzz::run(&[]) },
    // The last, so that what it says at its end ends the run.
    Step { name: "test", run: test::run },
];

/// Runs all checks, those behind one that fails too, and says at the end which failed. The options are those of the
/// tests.
pub fn run(args: &[String]) -> Result<()> {
    test::Options::parse(args)?;
    let mut failed = Vec::new();
    for step in STEPS {
        println!("== {}", step.name);
        let start = Instant::now();
        let result = (step.run)(args);
        let seconds = start.elapsed().as_secs();
        match result {
            Ok(()) => println!("== {}: passed in {seconds} s", step.name),
            Err(error) => {
                println!("== {}: FAILED in {seconds} s", step.name);
                failed.push(format!("{}: {error:#}", step.name));
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        _ => bail!("{} of {} steps failed: {}", failed.len(), STEPS.len(), failed.join("; ")),
    }
}

/// The fuzz targets are a workspace of their own.
fn format() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])
}

fn clippy() -> Result<()> {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn rustdoc() -> Result<()> {
    let mut doc = command(env!("CARGO"), &["doc", "--workspace", "--no-deps"]);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))
}
