//! `test`: everything that the tests need, then the tests.

use anyhow::Result;

use crate::{cargo::cargo, packages};

/// Installs what is missing, makes the cores, runs the tests of all crates.
pub fn run(_args: &[String]) -> Result<()> {
    packages::ensure()?;
    // Made before, with a line for each core.
    cargo(&["run", "-p", "gen-cores"])?;
    cargo(&["test", "--workspace"])
}
