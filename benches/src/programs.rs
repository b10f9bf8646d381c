//! Whole programs, from their start to their end.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use gen_cores::Case;

use crate::{
    sample::median,
    table::{Row, Table},
};

/// Runs of programs that take milliseconds.
const FAST: usize = 21;
/// Runs of programs that may take seconds.
const SLOW: usize = 3;

/// The stack of the crashed thread of a small core.
pub fn first_stack(case: &Case) -> Table {
    let rows = vec![
        row("kcore -c '$C'", FAST, || kcore(case, "$C")),
        row("eu-stack", FAST, || eu_stack(case)),
        row("gdb -batch -ex bt", FAST, || gdb(case, "bt")),
    ];
    Table { title: format!("first stack, {}", case.name()), rows }
}

/// The stacks of all threads.
pub fn all_stacks(case: &Case) -> Table {
    let rows = vec![
        row("kcore -c '::stacks'", SLOW, || kcore(case, "::stacks")),
        row("kcore -c '::walk thread | ::stack'", SLOW, || kcore(case, "::walk thread | ::stack")),
        row("eu-stack", SLOW, || eu_stack(case)),
        row("gdb -ex 'thread apply all bt'", SLOW, || gdb(case, "thread apply all bt")),
    ];
    Table { title: format!("stacks of 1,000 threads, {}", case.name()), rows }
}

/// A stack of 100,000 frames. gdb walks it all and prints the last frame only: to print all takes
/// it minutes. eu-stack is left out: it needs time in proportion to the square of the depth.
pub fn deep_stack(case: &Case) -> Table {
    let rows = vec![
        row("kcore -c '$C'", SLOW, || kcore(case, "$C")),
        row("gdb -batch -ex 'bt -1'", SLOW, || gdb(case, "bt -1")),
    ];
    Table { title: format!("100,000 frames, {}", case.name()), rows }
}

fn row(name: &str, runs: usize, command: impl Fn() -> Result<Command, String>) -> Row {
    let time = median(runs, || run(command()?));
    Row { name: name.to_owned(), time, frames: None }
}

fn run(mut command: Command) -> Result<(), String> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_remove("DEBUGINFOD_URLS")
        .status();
    let status = status.map_err(|error| format!("cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {status}")) }
}

/// kcore as it was built into the folder of this program.
fn kcore(case: &Case, commands: &str) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program: PathBuf = own.with_file_name("kcore");
    if !program.is_file() {
        return Err("no kcore beside this program: cargo build --release".to_owned());
    }
    let mut command = Command::new(program);
    command.args(["--no-rc", "-c", commands]).arg(&case.core);
    Ok(command)
}

fn eu_stack(case: &Case) -> Result<Command, String> {
    let mut command = Command::new("eu-stack");
    command.arg("--core").arg(&case.core).arg("-e").arg(&case.exe);
    Ok(command)
}

fn gdb(case: &Case, request: &str) -> Result<Command, String> {
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", request]);
    command.arg(&case.exe).arg(&case.core);
    Ok(command)
}
