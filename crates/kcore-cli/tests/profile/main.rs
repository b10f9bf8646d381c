//! `kcore profile`: what it says of programs that know where they spend their time.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod busy;
mod changing;
mod ended;
mod formats;
#[path = "../support/process.rs"]
mod process;
mod python;
mod subprocesses;
mod target;
mod top;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gen_cores::{Outcome, ensure};
use process::compiled;
use target::{Target, count, folded, kcore, profile};

const FUNCTIONS: [&str; 3] = ["seventy", "twenty", "ten"];

/// Each share of the samples against the share of the time that the program itself counted. A sample is at
/// a moment that chance chooses, so what it counts is binomial: five times its deviation is passed once in
/// two million times; `words` must not have samples taken so rarely that one stands for several. The program's own count begins a little before the profile, and ends a little after it,
/// which is what the last part of the bound is for.
fn assert_shares(target: &mut Target, words: &[&str]) {
    const BEYOND: f64 = 0.03;
    let before = target.sums();
    let pid = target.pid();
    let stacks = folded(&[words, &["-d", "4", &pid]].concat());
    let times: Vec<f64> =
        target.sums().iter().zip(&before).map(|(after, before)| after - before).collect();
    let counts = FUNCTIONS.map(|name| count(&stacks, name) as f64);
    let (samples, time) = (counts.iter().sum::<f64>(), times.iter().sum::<f64>());
    assert!(samples >= 10.0, "{samples} samples in four seconds: {stacks:?}");
    for (index, name) in FUNCTIONS.iter().enumerate() {
        let (seen, share) = (counts[index] / samples, times[index] / time);
        let bound = 5.0 * (share * (1.0 - share) / samples).sqrt() + BEYOND;
        let told = format!("{name}: {seen:.3} of {samples} samples, {share:.3} of the time");
        assert!((seen - share).abs() < bound, "{told}: {stacks:?}");
    }
}

#[test]
fn shares_of_samples_are_shares_of_time() {
    let mut target = Target::start();
    assert_shares(&mut target, &["--hold", "100"]);
    assert_shares(&mut target, &["--rolling", "--hold", "100"]);
    assert_shares(&mut target, &["--cpu"]);
}

#[test]
fn where_the_kernel_counts_for_nobody_threads_are_stopped() {
    let (target, refused) = (Target::start(), compiled("profile/refused.c"));
    let kcore = [env!("CARGO_BIN_EXE_kcore"), "profile", "--cpu", "-d", "2", &target.pid()];
    let output = Command::new(refused).args(kcore).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("was held for ") && said.contains("counts for nobody here: "), "{said}");
    let stacks = String::from_utf8(output.stdout).unwrap();
    assert!(stacks.contains("spin_until") && !stacks.contains("sleep_for_good"), "{stacks}");
}

#[test]
fn threads_that_sleep_count_by_the_clock_and_not_where_only_those_count_that_run() {
    let target = Target::start();
    let by_clock = folded(&["-d", "1", "--hold", "100", &target.pid()]);
    let (sleeps, spins) = (count(&by_clock, "sleep_for_good"), count(&by_clock, "spin_until"));
    assert!(sleeps > 0 && spins > 0, "{by_clock:?}");
    // Both threads are in every sample, but for the first one that is cut short.
    assert!(sleeps.abs_diff(count(&by_clock, "main")) <= 2, "{by_clock:?}");
    let running = folded(&["-d", "1", "--hold", "100", "--state", "R", &target.pid()]);
    assert_eq!(count(&running, "sleep_for_good"), 0, "{running:?}");
    assert!(count(&running, "spin_until") > 0, "{running:?}");
}

#[test]
fn functions_of_javascript_stand_among_native_ones() {
    const SCRIPT: &str = "
        class Worker { step(depth) { if (depth > 0) return this.step(depth - 1); return spin(20); } }
        function spin(time) { const end = Date.now() + time; while (Date.now() < end); }
        setInterval(function tick() { new Worker().step(4); }, 1);";
    for release in ["node18", "node22", "node24"] {
        let case = match ensure("node-waiting", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let target = Target::of(Command::new(case.exe).args(["-e", SCRIPT]));
        let start = Instant::now();
        // It must have begun first, which takes its time on a busy machine.
        loop {
            let stacks = folded(&["-d", "2", "--hold", "100", &target.pid()]);
            let wanted = ["node::Start", "tick", "Worker.step", "spin"];
            let in_order = |stack: &[String]| {
                let mut names = stack.iter();
                wanted.iter().all(|wanted| names.any(|name| name.contains(wanted)))
            };
            if stacks.iter().any(|(stack, _)| in_order(stack)) {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{release}: {stacks:?}");
        }
    }
}

#[test]
fn what_it_costs_is_said() {
    let target = Target::start();
    let (_, said) = profile(&["-d", "0.5", &target.pid()]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("samples of 2 threads in 0."), "{said}");
    assert!(lines[1].contains(&format!("process {} was held for ", target.pid())), "{said}");
}

#[test]
fn ctrl_c_ends_it_early_and_writes_what_there_is() {
    let (target, folder) = (Target::start(), tempfile::tempdir().unwrap());
    let file = folder.path().join("early.folded");
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.args(["profile", "-d", "600", &target.pid(), "-o"]).arg(&file).stderr(Stdio::piped());
    let sampling = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(!file.exists());
    let id = sampling.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = sampling.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && start.elapsed() < Duration::from_secs(300), "{said}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("spin_until"), "{said}");
}

#[test]
fn a_process_that_ends_leaves_what_there_is() {
    let mut target = Target::start();
    let pid = target.pid();
    let sampling = std::thread::spawn(move || folded(&["-d", "600", &pid]));
    std::thread::sleep(Duration::from_secs(4));
    target.process.0.kill().unwrap();
    target.process.0.wait().unwrap();
    assert!(count(&sampling.join().unwrap(), "spin_until") > 0);
}

#[test]
fn what_cannot_be_is_one_clear_line() {
    let target = Target::start();
    let pid = &target.pid()[..];
    for (words, status, said) in [
        (&["2147483647"][..], 2, "no process has the id 2147483647"),
        (&[pid, "-o", "x.png"], 2, "x.png: no suffix that tells a format"),
        (&[pid, "--state", "Q"], 2, "Q: no states of threads"),
        (&[pid, "-o", "/nosuch/x.svg"], 1, "/nosuch/x.svg: no such file or directory"),
        (&["-d", "0.2", pid, "--format", "folded", "-o", "/dev/full"], 1, "/dev/full: no space"),
    ] {
        let output = kcore(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(text.starts_with(&format!("kcore: {said}")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
