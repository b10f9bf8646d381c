//! `! command`: a command of the user's shell, alone or behind a pipeline.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use kcore::Core;
use kcore_dcmd::{DcmdError, Result, Sink};
use kcore_render::{Format, RedirectSink, io_reason};

use crate::limits;

/// The signal of ctrl-C.
const SIGINT: i32 = 2;
/// Between two looks at whether ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether commands are run at all.
///
/// # Errors
/// When nobody trusts the core: what it shows may be made for the command that reads it.
pub(crate) fn check(core: &Core) -> Result<()> {
    if core.is_untrusted() {
        return Err(DcmdError::failed("shell commands do not run with --untrusted"));
    }
    Ok(())
}

/// Runs `command` on the terminal, and waits. Its exit status is its own affair, and so is a ctrl-C of
/// which it did not die: then `interrupt` is as if nobody had pressed it.
///
/// # Errors
/// When the shell cannot be started.
pub(crate) fn run(command: &str, interrupt: &AtomicBool) -> Result<()> {
    let shell = shell();
    let status = shell_command(&shell, command).status();
    let status = status.map_err(|error| inaccessible(&shell, &error))?;
    interrupt.store(status.signal() == Some(SIGINT), Ordering::SeqCst);
    Ok(())
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
    let produced = produce_into(child.stdin.take(), format, aside, produce);
    child.wait().map_err(|error| inaccessible(&shell, &error))?;
    Ok(produced)
}

/// The same, and what `command` prints, which is not shown. At most so much of it is read as fits
/// into a pipe of values.
///
/// # Errors
/// When the shell cannot be started, or prints more; and when `interrupt` is set while something that
/// the command left behind keeps its output open.
pub(crate) fn capture<T>(
    command: &str,
    format: Format,
    interrupt: &AtomicBool,
    aside: &mut dyn Sink,
    produce: impl FnOnce(&mut dyn Sink) -> T,
) -> Result<(T, String)> {
    let shell = shell();
    let failed = |error: &io::Error| inaccessible(&shell, error);
    let mut child = shell_command(&shell, command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    // Who reads while the command is fed: it may print before it has read all.
    let printed = read_aside(child.stdout.take()).map_err(|error| failed(&error))?;
    let produced = produce_into(child.stdin.take(), format, aside, produce);
    child.wait().map_err(|error| failed(&error))?;
    let printed = received(&printed, interrupt)?;
    if printed.len() as u64 > limits::SHELL_OUTPUT {
        let most = limits::SHELL_OUTPUT;
        return Err(DcmdError::failed(format!(
            "the output of '{command}' is longer than {most} bytes: none of it was used"
        )));
    }
    Ok((produced, String::from_utf8_lossy(&printed).into_owned()))
}

/// Hands what is produced to the command, if it reads.
fn produce_into<T>(
    stdin: Option<ChildStdin>,
    format: Format,
    aside: &mut dyn Sink,
    produce: impl FnOnce(&mut dyn Sink) -> T,
) -> T {
    let Some(stdin) = stdin else { return produce(aside) };
    let results = format.plain_sink(stdin, io::sink());
    let mut sink = RedirectSink::new(results, aside);
    let produced = produce(&mut sink);
    // A command that no longer reads has what it wanted.
    let _ = sink.finish();
    produced
}

/// Reads on a thread of its own what a command prints.
fn read_aside(stdout: Option<ChildStdout>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = stdout {
        let read = move || drop(sender.send(read_all(stdout)));
        thread::Builder::new().spawn(read)?;
    }
    Ok(receiver)
}

fn received(printed: &Receiver<Vec<u8>>, interrupt: &AtomicBool) -> Result<Vec<u8>> {
    loop {
        match printed.recv_timeout(PATIENCE) {
            Ok(bytes) => return Ok(bytes),
            Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::SeqCst) => {
                return Err(DcmdError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn read_all(stdout: ChildStdout) -> Vec<u8> {
    let mut printed = Vec::new();
    // What could be read is what was printed.
    let _ = stdout.take(limits::SHELL_OUTPUT + 1).read_to_end(&mut printed);
    printed
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
