//! The core of a program that is no scenario: built elsewhere, with nothing told of what is true of it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::core_pattern::Pattern;
use crate::error::AtPath;
use crate::{Error, Result, kernel};

/// A program that dies by itself.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Its file.
    pub path: &'a Path,
    /// Its arguments.
    pub args: &'a [&'a str],
    /// The limit of its main thread's stack.
    pub stack_kib: u32,
}

/// Runs a program to its death in `dir`, and leaves its core there as `core`; what it prints goes to
/// `output.txt`.
///
/// # Errors
/// It cannot be run, does not die by a signal, or the kernel sends cores elsewhere and may not be told
/// otherwise.
pub fn core_of(program: &Program<'_>, dir: &Path) -> Result<PathBuf> {
    // Held until the core is written.
    let pattern = Pattern::take()?;
    if matches!(pattern, Pattern::Elsewhere) {
        return Err(program.error("core_pattern sends cores elsewhere"));
    }
    let status = program.command(dir)?.status().at(program.path)?;
    if status.success() {
        return Err(program.error("did not die"));
    }
    let core = kernel::find_core(dir)?.ok_or_else(|| program.error("the kernel wrote no core"))?;
    let to = dir.join("core");
    std::fs::rename(&core, &to).at(&core)?;
    Ok(to)
}

impl Program<'_> {
    /// By way of a shell, which sets the limits.
    fn command(&self, dir: &Path) -> Result<Command> {
        let limits = format!("ulimit -S -c \"$(ulimit -H -c)\" && ulimit -S -s {}", self.stack_kib);
        let output = dir.join("output.txt");
        let file = File::create(&output).at(&output)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{limits} && exec \"$@\""), "sh"])
            .arg(self.path)
            .args(self.args)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(file.try_clone().at(&output)?)
            .stderr(file);
        Ok(command)
    }

    fn error(&self, reason: &str) -> Error {
        Error::Run { case: self.path.display().to_string(), reason: reason.to_owned() }
    }
}
