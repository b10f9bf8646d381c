//! The manual page, `docs/kcore.1`, which kcore itself prints.

use anyhow::Result;

use crate::cargo;

/// The whole page.
pub fn text() -> Result<String> {
    let args = ["run", "--release", "-q", "--", "--man"];
    cargo::output(&mut cargo::command(env!("CARGO"), &args))
}
