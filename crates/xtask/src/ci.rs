//! `ci`: everything that a change has to pass, the quick checks first.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{
    arch,
    cargo::{cargo, command, run as run_command},
    docs, fuzz, test,
};

/// A check, by name.
struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: format },
    Step { name: "architecture", run: || arch::run(&[]) },
    Step { name: "clippy", run: clippy },
    Step { name: "test", run: || test::run(&[]) },
    Step { name: "documentation", run: rustdoc },
    Step { name: "generated documents", run: || docs::run(&["--check".to_owned()]) },
    Step { name: "fuzz targets", run: || fuzz::run(&[]) },
];

/// Runs all checks and stops at the first that fails.
pub fn run(_args: &[String]) -> Result<()> {
    for step in STEPS {
        println!("== {}", step.name);
        let start = Instant::now();
        (step.run)().context(step.name)?;
        println!("== {}: passed in {} s", step.name, start.elapsed().as_secs());
    }
    Ok(())
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
