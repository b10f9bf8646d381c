//! The manual page, `docs/kcore.1`, which kcore itself prints.

use anyhow::Result;

use super::program::Program;

/// The whole page.
pub fn text(kcore: &Program) -> Result<String> {
    kcore.output(&["--man"])
}
