//! `gen-cores`: makes the cores that the tests read.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use gen_cores::{Case, Event, Extent, Maker, Outcome, Report, Selection};

const USAGE: &str = "\
usage: gen-cores [--jobs N] [--force] [--full] [NAME[/VARIANT]...]   make all cores, or the named ones
       gen-cores --list                                     list scenarios and their variants
       gen-cores --check [NAME[/VARIANT]...]                compare the truths with other tools
       gen-cores --missing-tools                            list missing tools and their packages
       gen-cores testdata                                   make the committed cores again";

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    jobs: usize,
    force: bool,
    extent: Extent,
    action: Action,
    names: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Action {
    #[default]
    Make,
    List,
    Check,
    MissingTools,
    Testdata,
    Help,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Err(error) => {
            eprintln!("gen-cores: {error:#}\n{USAGE}");
            ExitCode::from(2)
        }
        Ok(options) => run(&options).unwrap_or_else(|error| {
            eprintln!("gen-cores: {error:#}");
            ExitCode::from(1)
        }),
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options> {
    let mut options = Options { jobs: 2, ..Options::default() };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--jobs" | "-j" => {
                let value = args.next().context("--jobs needs a number")?;
                options.jobs = value.parse().with_context(|| format!("--jobs {value}"))?;
            }
            "--force" => options.force = true,
            "--full" => options.extent = Extent::Full,
            "--list" => options.action = Action::List,
            "--check" => options.action = Action::Check,
            "--missing-tools" => options.action = Action::MissingTools,
            "--help" | "-h" => options.action = Action::Help,
            "testdata" => options.action = Action::Testdata,
            unknown if unknown.starts_with('-') => bail!("unknown option {unknown}"),
            _ => options.names.push(arg),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<ExitCode> {
    match options.action {
        Action::Make => make(options),
        Action::List => list(),
        Action::Check => check(options),
        Action::MissingTools => missing_tools(),
        Action::Testdata => testdata(),
        Action::Help => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Makes the cores, and those that failed once more: a network or a machine that is busy for a moment ends no run. What
/// the first try said stands in the output.
fn make(options: &Options) -> Result<ExitCode> {
    let start = Instant::now();
    let mut report = ensure(options)?;
    if !report.failed.is_empty() {
        let again = ensure_named(options, &failed_names(&report))?;
        report.cases.extend(again.cases);
        report.made += again.made;
        report.failed = again.failed;
    }
    println!(
        "{} cores ({} made now), {} skipped, {} failed, {:.1} s",
        report.cases.len(),
        report.made,
        report.skipped.len(),
        report.failed.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(code(report.failed.is_empty()))
}

fn failed_names(report: &Report) -> Vec<String> {
    report.failed.iter().map(|(name, _)| name.clone()).collect()
}

fn ensure(options: &Options) -> Result<Report> {
    match options.names.as_slice() {
        [] => ensure_selected(options, Selection::All(options.extent)),
        names => ensure_named(options, names),
    }
}

fn ensure_named(options: &Options, names: &[String]) -> Result<Report> {
    ensure_selected(options, Selection::Names(names, options.extent))
}

fn ensure_selected(options: &Options, selection: Selection<'_>) -> Result<Report> {
    let watch = |event: Event<'_>| match event.outcome {
        Ok(Outcome::Made(case)) => println!("{}: made by {:?}", event.name, case.maker),
        Ok(Outcome::Fresh(_)) if options.action == Action::Check => (),
        Ok(Outcome::Fresh(_)) => println!("{}: up to date", event.name),
        Ok(Outcome::Skipped(skipped)) => println!("{}: skipped: {}", event.name, skipped.reason),
        Err(error) => println!("{}: FAILED: {error}", event.name),
    };
    Ok(gen_cores::ensure_selected(selection, options.jobs, options.force, &watch)?)
}

fn list() -> Result<ExitCode> {
    for scenario in gen_cores::scenarios()? {
        println!("{}: {}", scenario.name, scenario.recipe.shows);
        let variants: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
        println!("    {}", variants.join(" "));
        if !scenario.on_demand.is_empty() {
            let more = scenario.on_demand.iter().map(|v| v.name.as_str());
            println!("    on demand: {}", more.collect::<Vec<_>>().join(" "));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares what is there with other tools; differences of stacks that a recipe explains do not count.
fn check(options: &Options) -> Result<ExitCode> {
    let report = ensure(options)?;
    let next = AtomicUsize::new(0);
    let wrong = AtomicUsize::new(report.failed.len());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                while let Some(case) = report.cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let good = check_one(case).unwrap_or_else(|error| {
                        println!("{}: {error:#}", case.name());
                        false
                    });
                    wrong.fetch_add(usize::from(!good), Ordering::Relaxed);
                }
            });
        }
    });
    let wrong = wrong.into_inner();
    println!("{} cores checked, {wrong} differ", report.cases.len());
    Ok(code(wrong == 0))
}

/// Whether another tool agrees: gdb, or elfutils where gdb does not know the architecture or the runtime.
fn check_one(case: &Case) -> Result<bool> {
    let is_compiled = gen_cores::scenario(&case.scenario)?.recipe.language.is_compiled();
    match case.maker {
        Maker::Kernel | Maker::Gcore if is_compiled => check_stacks(case),
        _ => check_notes(case),
    }
}

fn check_notes(case: &Case) -> Result<bool> {
    let found = gen_cores::elfutils::differences(case)?;
    found.iter().for_each(|difference| println!("{}: {difference}", case.name()));
    Ok(found.is_empty())
}

/// Whether gdb agrees, or is known to be wrong.
fn check_stacks(case: &Case) -> Result<bool> {
    let found = gen_cores::gdb::differences(case)?;
    let known = gen_cores::gdb::known_difference(case)?;
    for difference in found.facts.iter().chain(&found.stacks) {
        println!("{}: {difference}", case.name());
    }
    if let Some(reason) = &known
        && !found.stacks.is_empty()
    {
        println!("{}: gdb is wrong: {reason}", case.name());
    }
    Ok(found.facts.is_empty() && (known.is_some() || found.stacks.is_empty()))
}

fn missing_tools() -> Result<ExitCode> {
    for tool in gen_cores::missing_tools() {
        println!("{} {}", tool.command, tool.package);
    }
    Ok(ExitCode::SUCCESS)
}

fn testdata() -> Result<ExitCode> {
    for dir in gen_cores::testdata::make_all()? {
        println!("{}", dir.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
