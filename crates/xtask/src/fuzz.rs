//! `fuzz`: every fuzz target for a while, from its seeds, with what a stable toolchain allows.
//!
//! rustc's own flags put libFuzzer's counters in, without a sanitizer: the house has no `unsafe`
//! but the maps of files, and a panic ends a run as well.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use anyhow::{Context, Result, bail};

use crate::cargo::{command, output, run as run_command};

/// Seconds that each target runs when nobody says otherwise.
const SECONDS: u64 = 5;
/// What one input may take: megabytes, and seconds.
const MEMORY: u32 = 1024;
const TIMEOUT: u32 = 20;
/// Bytes of an input: what takes time in proportion to the square of its length is to show.
const LONGEST: u32 = 256 << 10;

/// What cargo-fuzz gives for `--sanitizer none`.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Builds all targets, runs those that are named, or all: `[--seconds N] [TARGET...]`.
pub fn run(args: &[String]) -> Result<()> {
    let (seconds, named) = parse(args)?;
    let all = targets()?;
    if let Some(unknown) = named.iter().find(|name| !all.contains(name)) {
        bail!("{unknown} is none of the targets: {}", all.join(" "));
    }
    check_seeds()?;
    let binaries = build()?;
    let chosen = if named.is_empty() { all } else { named };
    let failed = run_all(&binaries, chosen, seconds);
    if !failed.is_empty() {
        bail!("{} failed; the inputs lie in target/fuzz/found", failed.join(", "));
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<(u64, Vec<String>)> {
    match args {
        [flag, seconds, named @ ..] if flag == "--seconds" => {
            let seconds = seconds.parse().with_context(|| format!("--seconds {seconds}"))?;
            Ok((seconds, named.to_vec()))
        }
        [flag, ..] if flag.starts_with('-') => {
            bail!("usage: cargo xtask fuzz [--seconds N] [TARGET...]")
        }
        named => Ok((SECONDS, named.to_vec())),
    }
}

fn fuzz_dir() -> PathBuf {
    gen_cores::workspace_dir().join("fuzz")
}

fn target_dir() -> PathBuf {
    gen_cores::workspace_dir().join("target/fuzz")
}

/// Each target is a file.
fn targets() -> Result<Vec<String>> {
    let folder = fuzz_dir().join("fuzz_targets");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Builds all targets. Naming the machine keeps the flags away from build scripts.
fn build() -> Result<PathBuf> {
    let machine = host()?;
    let target_dir = target_dir();
    let mut build = command(env!("CARGO"), &["build", "--bins", "--target", &machine]);
    build.arg("--target-dir").arg(&target_dir);
    run_command(build.current_dir(fuzz_dir()).env("RUSTFLAGS", FLAGS))?;
    Ok(target_dir.join(machine).join("debug"))
}

/// Checks that what writes the seeds still compiles: nothing else builds it.
fn check_seeds() -> Result<()> {
    let mut check = command(env!("CARGO"), &["check", "--examples", "--target-dir"]);
    check.arg(gen_cores::workspace_dir().join("target"));
    run_command(check.current_dir(fuzz_dir()))
}

fn host() -> Result<String> {
    let version = output(&mut command("rustc", &["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what it runs on")
}

/// Runs the targets, as many at a time as there are processors; gives those that failed.
fn run_all(binaries: &Path, targets: Vec<String>, seconds: u64) -> Vec<String> {
    let waiting = Mutex::new(targets.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().map(|mut waiting| waiting.next()).unwrap_or_default();
    let work = || {
        while let Some(target) = next() {
            if let Err(error) = run_one(binaries, &target, seconds) {
                println!("{target}: {error:#}");
                failed.lock().map(|mut failed| failed.push(target)).unwrap_or_default();
            }
        }
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().unwrap_or_default()
}

/// What it finds on the way is kept from run to run; what fails is put aside.
fn run_one(binaries: &Path, target: &str, seconds: u64) -> Result<()> {
    let folder = |name: &str| target_dir().join(name).join(target);
    let (corpus, found) = (folder("corpus"), folder("found"));
    for folder in [&corpus, &found] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut fuzzer = command(&binaries.join(target).display().to_string(), &[]);
    fuzzer
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MEMORY}"))
        .arg(format!("-timeout={TIMEOUT}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args(["-print_final_stats=1", "-verbosity=0"])
        .args([&corpus, &fuzz_dir().join("seeds").join(target)]);
    tell(target, &mut fuzzer)
}

/// Shows the rate of a run that held, and all of one that failed.
fn tell(target: &str, fuzzer: &mut Command) -> Result<()> {
    let ran = fuzzer.output().with_context(|| target.to_owned())?;
    let text = String::from_utf8_lossy(&ran.stderr);
    if !ran.status.success() {
        bail!("{}\n{text}", ran.status);
    }
    let stat = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
        value.map_or("?", |value| value.trim_start_matches(':').trim()).to_owned()
    };
    let (runs, peak) = (stat("number_of_executed_units"), stat("peak_rss_mb"));
    println!("{target}: {runs} runs, at most {peak} MB");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn time_and_targets_are_optional() {
        assert_eq!(parse(&[]).unwrap(), (SECONDS, Vec::new()));
        let all = parse(&words(&["--seconds", "60", "cfi", "open"])).unwrap();
        assert_eq!(all, (60, words(&["cfi", "open"])));
        assert!(parse(&words(&["--seconds", "x"])).is_err());
        assert!(parse(&words(&["-x"])).is_err());
    }

    #[test]
    fn every_target_has_seeds() {
        for target in targets().unwrap() {
            let seeds = fuzz_dir().join("seeds").join(&target);
            assert!(fs::read_dir(seeds).is_ok_and(|mut seeds| seeds.next().is_some()), "{target}");
        }
    }
}
