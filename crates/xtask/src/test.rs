//! `test`: everything that the tests need, then the tests.

use std::{
    fs,
    io::{BufRead, BufReader, PipeReader, Write, pipe, stdout},
    path::PathBuf,
};

use anyhow::{Context, Result, bail};
use gen_cores::NOT_TESTED;

use crate::{
    cargo::{cargo, command, shown},
    packages,
    summary::Summary,
};

/// Installs what is missing, makes the cores, runs the tests of all crates, and says at the end what failed and what
/// was skipped. A failure does not keep later steps from running.
pub fn run(_args: &[String]) -> Result<()> {
    let summary = run_all()?;
    println!("test: {summary}");
    if !summary.is_good() {
        bail!("{}", summary.failures());
    }
    Ok(())
}

/// Like [`run`], but returns the summary instead of failing.
pub fn run_all() -> Result<Summary> {
    let mut summary = Summary::default();
    summary.note("packages", packages::ensure());
    // Made before, with a line for each core.
    summary.note("gen-cores", cargo(&["run", "-p", "gen-cores"]));
    test(&mut summary)?;
    Ok(summary)
}

fn test(summary: &mut Summary) -> Result<()> {
    let list = list_of_skips()?;
    let mut tests = command(env!("CARGO"), &["test", "--workspace", "--no-fail-fast"]);
    // One pipe for both streams, so that failures are read in the order of their targets.
    let (output, errors) = pipe()?;
    tests.env(NOT_TESTED, &list).stdout(errors.try_clone()?).stderr(errors);
    println!("+ {}", shown(&tests));
    let mut running = tests.spawn().with_context(|| format!("cannot run {}", shown(&tests)))?;
    // The command holds the write end; reading ends when every copy of it is closed.
    drop(tests);
    watch(output, summary)?;
    summary.end_of_tests(running.wait()?);
    summary.skipped(&fs::read_to_string(list).unwrap_or_default());
    Ok(())
}

/// Passes the output on line by line, and takes in what failed.
fn watch(output: PipeReader, summary: &mut Summary) -> Result<()> {
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        stdout().write_all(&line)?;
        stdout().write_all(b"\n")?;
        summary.line(&String::from_utf8_lossy(&line));
    }
    Ok(())
}

/// An empty file to which tests add what they skip.
fn list_of_skips() -> Result<PathBuf> {
    let path = gen_cores::workspace_dir().join("target/not-tested.txt");
    fs::write(&path, "").with_context(|| path.display().to_string())?;
    Ok(path)
}
