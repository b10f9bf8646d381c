//! Cores by the kernel: the program dies in its folder and the kernel writes the core there.

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use crate::Result;
use crate::command::Line;
use crate::error::AtPath;
use crate::run::{Run, death};

/// Runs the program to its death and leaves the core as `core`.
pub(crate) fn make(run: &Run<'_>) -> Result<()> {
    await_death(run, run.spawn(&run.program())?)?;
    let core = find_core(run.dir)?.ok_or_else(|| run.error("the kernel wrote no core"))?;
    let to = run.dir.join("core");
    std::fs::rename(&core, &to).at(&core)
}

/// Waits for the death of the program, or brings it about if it only waits.
pub(crate) fn await_death(run: &Run<'_>, mut child: Child) -> Result<()> {
    if let Some(signal) = &run.scenario.recipe.kill {
        run.wait_ready(&mut child)?;
        kill(run, &child, signal)?;
    }
    let status = run.wait(&mut child)?;
    check_death(run, status)
}

fn kill(run: &Run<'_>, child: &Child, signal: &str) -> Result<()> {
    let name = signal.trim_start_matches("SIG");
    let script = format!("kill -{name} {}", child.id());
    Line::new("sh").args(["-c", &script]).run(run.dir).map(drop)
}

/// The program must die by a signal; a parent that outlives its child may just exit.
fn check_death(run: &Run<'_>, status: ExitStatus) -> Result<()> {
    if status.success() || death(status).is_some() {
        return Ok(());
    }
    Err(run.error(format!("ended with {status}: {}", run.output())))
}

/// The core in a folder: `core`, or `core.` and something.
pub(crate) fn find_core(dir: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(dir).at(dir)? {
        let entry = entry.at(dir)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "core" || name.starts_with("core.") {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}
