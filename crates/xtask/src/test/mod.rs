//! `test`: everything that the tests need, then the tests.

mod options;
mod packages;
mod plan;
mod progress;
mod summary;
mod targets;

use std::{
    fs,
    io::{BufRead, BufReader, PipeReader, pipe},
    path::PathBuf,
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use gen_cores::NOT_TESTED;

pub use options::Options;
use plan::Plan;
use progress::Progress;
use summary::Summary;
use targets::Targets;

use crate::cargo::{command, run as run_command, shown};

/// Shows the plan, installs what is missing, makes the cores, runs the tests of all crates, and says at the end what
/// failed and what was skipped. A failure does not keep later steps from running.
pub fn run(args: &[String]) -> Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{}", options::USAGE);
        return Ok(());
    }
    let options = Options::parse(args)?;
    let plan = Plan::new(options)?;
    println!("{plan}");
    let start = Instant::now();
    let summary = run_all(options, &plan)?;
    let time = progress::minutes(start.elapsed());
    println!("{summary}, in {time}");
    if !summary.is_good() {
        bail!("{}", summary.failures());
    }
    plan.keep_time(&time);
    Ok(())
}

fn run_all(options: Options, plan: &Plan) -> Result<Summary> {
    let mut summary = Summary::default();
    if !options.no_install {
        summary.note("packages", packages::install(plan.missing()));
    }
    // Made before, with a line for each core.
    summary.note("gen-cores", run_command(&mut cargo(options, &["run", "-p", "gen-cores"])));
    test(options, &mut summary)?;
    Ok(summary)
}

fn test(options: Options, summary: &mut Summary) -> Result<()> {
    // What does not compile is noted when the tests run, and costs those lines their number alone.
    let targets = Targets::build().unwrap_or_default();
    let list = list_of_skips()?;
    let mut tests = cargo(options, &["test", "--workspace", "--no-fail-fast"]);
    // One pipe for both streams, so that failures are read in the order of their targets.
    let (output, errors) = pipe()?;
    tests.env(NOT_TESTED, &list).stdout(errors.try_clone()?).stderr(errors);
    println!("+ {}", shown(&tests));
    let mut running = tests.spawn().with_context(|| format!("cannot run {}", shown(&tests)))?;
    // The command holds the write end; reading ends when every copy of it is closed.
    drop(tests);
    watch(output, Progress::new(targets), summary)?;
    summary.end_of_tests(running.wait()?);
    summary.skipped(&fs::read_to_string(list).unwrap_or_default());
    Ok(())
}

/// Cargo in the environment that the options ask for.
fn cargo(options: Options, args: &[&str]) -> Command {
    let mut cargo = command(env!("CARGO"), args);
    cargo.envs(options.environment());
    cargo
}

/// Shows how far the tests are, and takes in what failed.
fn watch(output: PipeReader, mut progress: Progress, summary: &mut Summary) -> Result<()> {
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        summary.line(&line);
        if let Some(line) = progress.shown(&line) {
            println!("{line}");
        }
    }
    Ok(())
}

/// An empty file to which tests add what they skip.
fn list_of_skips() -> Result<PathBuf> {
    let path = gen_cores::workspace_dir().join("target/not-tested.txt");
    fs::write(&path, "").with_context(|| path.display().to_string())?;
    Ok(path)
}
