//! `! command`: a command of the user's shell, alone or behind a pipeline.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, Stdio};

use kcore_dcmd::{DcmdError, Result, Sink};
use kcore_render::{Format, RedirectSink, io_reason};

/// Runs `command` on the terminal, and waits. Its exit status is its own affair.
///
/// # Errors
/// When the shell cannot be started.
pub(crate) fn run(command: &str) -> Result<()> {
    let shell = shell();
    shell_command(&shell, command).status().map(drop).map_err(|error| inaccessible(&shell, &error))
}

/// Runs `command`, feeds it with the results of `produce`, and waits. Failures go to `aside`.
///
/// # Errors
/// When the shell cannot be started.
pub(crate) fn feed<T>(
    command: &str,
    format: Format,
    aside: &mut dyn Sink,
    produce: impl FnOnce(&mut dyn Sink) -> T,
) -> Result<T> {
    let shell = shell();
    let mut child = shell_command(&shell, command)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| inaccessible(&shell, &error))?;
    let produced = match child.stdin.take() {
        Some(stdin) => {
            let results = format.plain_sink(stdin, io::sink());
            let mut sink = RedirectSink::new(results, aside);
            let produced = produce(&mut sink);
            // A command that no longer reads has what it wanted.
            let _ = sink.finish();
            produced
        }
        None => produce(aside),
    };
    child.wait().map_err(|error| inaccessible(&shell, &error))?;
    Ok(produced)
}

fn shell() -> OsString {
    env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into())
}

fn shell_command(shell: &OsStr, command: &str) -> Command {
    let mut process = Command::new(shell);
    process.arg("-c").arg(command);
    process
}

fn inaccessible(shell: &OsStr, error: &io::Error) -> DcmdError {
    DcmdError::failed(format!("cannot access {}: {}", shell.to_string_lossy(), io_reason(error)))
}
