//! Commands that need the rights of root.

use std::process::Command;

use anyhow::Result;

use crate::cargo;

/// A command with these rights. One of another user has them over the user's own files alone, which is enough here.
pub fn as_root(program: &str) -> Result<Command> {
    let id = cargo::output(&mut cargo::command("id", &["-u"]))?;
    Ok(match id.trim() {
        "0" => cargo::command(program, &[]),
        _ => cargo::command("unshare", &["--map-root-user", program]),
    })
}
