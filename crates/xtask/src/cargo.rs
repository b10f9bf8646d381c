//! Commands that tasks run in the root of the workspace.

use std::{
    env,
    ffi::OsStr,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Runs cargo, showing the command and all that it prints.
pub fn cargo(args: &[&str]) -> Result<()> {
    run(&mut command(env!("CARGO"), args))
}

/// A command in the root of the workspace that reads nothing.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(gen_cores::workspace_dir()).stdin(Stdio::null());
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether `cargo xtask` set a variable because this package runs. A build script that asks for it, as ring's does, would
/// run again, and all that is built on it would be built again each time that people turn from cargo to this program.
fn is_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Runs a command, showing it and all that it prints.
pub fn run(command: &mut Command) -> Result<()> {
    println!("+ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and gives what it wrote to standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} failed: {}", shown(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("output of {}", shown(command)))
}

/// A command as it is typed.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
