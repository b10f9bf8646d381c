//! `test`: everything that the tests need, then the tests.

mod cores;
mod options;
mod packages;
mod plan;
mod progress;
mod run;
mod summary;
mod targets;

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitStatus},
    time::Instant,
};

use anyhow::{Context, Result, bail};
use gen_cores::NOT_TESTED;

pub use options::Options;
use plan::Plan;
use progress::Progress;
use run::Event;
use summary::Summary;
use targets::Target;

use crate::cargo::command;

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
        summary.note("packages", packages::install(plan.missing(), options.all));
    }
    // Made before, with a line for each core.
    cores::make(&mut cargo(options, &["run", "-p", "gen-cores"]), &mut summary);
    test(options, &mut summary)?;
    Ok(summary)
}

fn test(options: Options, summary: &mut Summary) -> Result<()> {
    let (targets, built) = targets::build();
    summary.note("build", built);
    let list = list_of_skips()?;
    let mut progress = Progress::new(targets.len());
    let command = |target: &Target| {
        let mut command = target.command(options);
        command.env(NOT_TESTED, &list);
        command
    };
    run::run_all(&targets, command, |event| match event {
        Event::Begun(index) => println!("{}", progress.begun(&targets[index].name)),
        Event::Ended(index, ended, time) => {
            summary.took(&targets[index].name, time);
            end(&targets[index], ended, summary);
        }
    });
    summary.skipped(&fs::read_to_string(list).unwrap_or_default());
    Ok(())
}

/// Takes in what a program printed, and shows what of it is not usual.
fn end(target: &Target, ended: Result<(String, ExitStatus)>, summary: &mut Summary) {
    match ended {
        Ok((output, status)) => {
            let unusual: Vec<&str> =
                output.lines().filter(|line| !progress::is_usual(line)).collect();
            if !unusual.is_empty() {
                println!("{}:\n{}", target.name, unusual.join("\n"));
            }
            output.lines().for_each(|line| summary.line(line));
            summary.ended(&target.words, status.success());
        }
        Err(error) => summary.note(&target.name, Err(error)),
    }
}

/// Cargo in the environment that the options ask for.
fn cargo(options: Options, args: &[&str]) -> Command {
    let mut cargo = command(env!("CARGO"), args);
    cargo.envs(options.environment());
    cargo
}

/// An empty file to which tests add what they skip.
fn list_of_skips() -> Result<PathBuf> {
    let path = gen_cores::workspace_dir().join("target/not-tested.txt");
    fs::write(&path, "").with_context(|| path.display().to_string())?;
    Ok(path)
}
