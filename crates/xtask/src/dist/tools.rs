//! The commands that packages are made with.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::{binary, package::KINDS};

/// A command, and what installs it on Debian.
pub struct Tool {
    /// Its name.
    pub command: &'static str,
    /// What to type.
    pub install: &'static str,
}

/// Fails at once if a command is missing, since a build takes minutes.
pub fn check() -> Result<()> {
    let all = KINDS.iter().map(|kind| &kind.tool).chain([&binary::TOOL]);
    let missing: Vec<String> = all
        .filter(|tool| find(tool.command).is_none())
        .map(|Tool { command, install }| format!("\n  {command}: {install}"))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        _ => bail!("commands are missing:{}", missing.concat()),
    }
}

/// The path of a command.
pub fn find(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}
