//! Cores by gdb's `gcore`: when the signal arrives, or of a process that waits.

use std::process::Child;

use crate::Result;
use crate::command::Line;
use crate::run::Run;
use crate::sparse;

/// Makes the core as `core` in the run's folder.
pub(crate) fn make(run: &Run<'_>) -> Result<()> {
    match run.scenario.recipe.kill {
        Some(_) => of_waiting(run)?,
        None => at_signal(run)?,
    }
    match run.dir.join("core").is_file() {
        true => sparse::punch(&run.dir.join("core")),
        false => Err(run.error(format!("gdb wrote no core: {}", run.output()))),
    }
}

/// The program runs under gdb until the signal that kills it.
fn at_signal(run: &Run<'_>) -> Result<()> {
    let mut gdb = gdb();
    // Else gdb puts its own terminal size into the program's environment.
    gdb.args(["-ex", "unset environment LINES", "-ex", "unset environment COLUMNS"]);
    gdb.args(["-ex", "set startup-with-shell off", "-ex", "set disable-randomization off"]);
    gdb.args(run.scenario.recipe.gdb_before.iter().flat_map(|line| ["-ex", line.as_str()]));
    for signal in &run.scenario.recipe.gdb_pass {
        gdb.arg("-ex").arg(format!("handle {signal} nostop noprint pass"));
    }
    // What stands before a program for env(1) is gdb's to set.
    let words = run.program();
    let (environment, program) =
        words.split_at(words.iter().take_while(|it| it.contains('=')).count());
    for word in environment {
        gdb.arg("-ex").arg(format!("set environment {word}"));
    }
    gdb.args(["-ex", "run", "-ex", "gcore core", "-ex", "kill", "--args"]).args(program);
    let mut child = run.spawn(&gdb.words())?;
    run.wait(&mut child).map(drop)
}

/// gdb attaches to the waiting program; afterwards the program is of no more use.
fn of_waiting(run: &Run<'_>) -> Result<()> {
    let mut child = run.spawn(&run.program())?;
    let made = run.wait_ready(&mut child).and_then(|()| attach(run, &child));
    // It may be dead already; what counts is that it does not stay.
    let _ = child.kill();
    let _ = child.wait();
    made
}

fn attach(run: &Run<'_>, child: &Child) -> Result<()> {
    let mut gdb = gdb();
    gdb.arg("-p").arg(child.id().to_string()).args(["-ex", "gcore core", "-ex", "detach"]);
    gdb.run(run.dir).map(drop)
}

fn gdb() -> Line {
    let mut line = Line::new("gdb");
    line.args(["-batch", "-nx", "-ex", "set confirm off", "-ex", "set pagination off"]);
    line
}
