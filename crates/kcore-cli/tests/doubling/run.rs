//! Runs kcore on a generator's files, and compares what it costs.
#![allow(unsafe_code, reason = "no safe call tells what one child cost")]

use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::case::Case;

/// The power of N with which a cost may grow.
const MOST: f64 = 1.2;
/// How much longer the input of a step is than that of the one before.
const FACTOR: usize = 4;
/// The times of so many runs count, of which the least is the one that others disturbed least.
const RUNS: usize = 3;
/// Rounds over all sizes, of which the first that is linear is enough.
const ROUNDS: usize = 4;
/// What any run costs, which says nothing of N: microseconds, and bytes of memory and of output.
const FIXED: Cost = Cost { time: 60_000.0, memory: 24e6, output: 4e3 };
/// Seconds of work after which a run is over, since it is quadratic by then.
const HANGS: u64 = 20;

/// The memory that kcore may use: what bounds its work must not depend on the machine.
const MEMORY: &str = "2G";

/// What a run cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Microseconds of all processors.
    time: f64,
    /// Bytes of memory at one time.
    memory: f64,
    /// Bytes of output.
    output: f64,
}

impl Cost {
    fn least(self, other: Self) -> Self {
        let (time, memory) = (self.time.min(other.time), self.memory.min(other.memory));
        Self { time, memory, output: self.output.min(other.output) }
    }
}

/// Fails if N, 4 N and 16 N cost more than in proportion. What others do at the same time makes a run longer and
/// never shorter, so the least of several rounds counts, or a round by itself: in one whose runs were disturbed alike
/// the least of one size is not compared with the usual of another. Quadratic work is quadratic in all of them.
pub fn assert_linear(name: &str, n: usize, make: impl Fn(usize) -> Case) {
    let cases = [n, n * FACTOR, n * FACTOR * FACTOR].map(|n| (n, make(n)));
    let round = || cases.each_ref().map(|(n, case)| cost(name, *n, case));
    let mut least = round();
    let mut last = least;
    for _ in 1..ROUNDS {
        if more_than_linear(&least).and(more_than_linear(&last)).is_none() {
            return;
        }
        last = round();
        least = std::array::from_fn(|at| least[at].least(last[at]));
    }
    let kind = more_than_linear(&least).and(more_than_linear(&last));
    assert!(kind.is_none(), "{name}: {kind:?} is not linear: {least:?}, {last:?} at last");
}

/// What grows faster than N.
fn more_than_linear(costs: &[Cost; 3]) -> Option<&'static str> {
    let of = |pick: fn(&Cost) -> f64| costs.each_ref().map(pick);
    let kinds = [
        ("time", of(|cost| cost.time), FIXED.time),
        ("memory", of(|cost| cost.memory), FIXED.memory),
        ("output", of(|cost| cost.output), FIXED.output),
    ];
    let allowed = |middle: f64, fixed: f64| fixed.max(middle) * (FACTOR as f64).powf(MOST);
    let exceeds =
        |(_, [_, middle, most], fixed): &(_, [f64; 3], f64)| *most > allowed(*middle, *fixed);
    kinds.into_iter().find(exceeds).map(|(kind, ..)| kind)
}

/// What the commands cost on these files, the least of some runs.
fn cost(name: &str, n: usize, case: &Case) -> Cost {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("core"), &case.core).unwrap();
    for (name, bytes) in &case.beside {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    if let Some(program) = &case.program {
        fs::write(dir.path().join("program"), program).unwrap();
    }
    let mut least = run(dir.path(), case);
    for _ in 1..RUNS {
        if least.time < FIXED.time || least.time > 1e6 {
            break;
        }
        least = least.least(run(dir.path(), case));
    }
    println!("{name} {n}: {} bytes, {least:?}", case.len());
    least
}

fn run(dir: &Path, case: &Case) -> Cost {
    let out = dir.join("out");
    let mut kcore = Command::new("prlimit");
    kcore.arg(format!("--cpu={HANGS}")).arg(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--no-rc", "--color", "never", "--max-memory", MEMORY, "-c", case.commands]);
    if case.program.is_some() {
        kcore.arg("program");
    }
    kcore.arg("core").current_dir(dir).env("XDG_CACHE_HOME", dir.join("cache"));
    kcore.stdin(Stdio::null()).stdout(File::create(&out).unwrap());
    kcore.stderr(File::create(dir.join("errors")).unwrap());
    let (status, time, memory) = usage(&mut kcore);
    let errors = fs::read_to_string(dir.join("errors")).unwrap();
    let shown: String = errors.chars().take(2000).collect();
    assert!(libc::WIFEXITED(status), "{status:#x}: {shown}");
    assert!(matches!(libc::WEXITSTATUS(status), 0 | 1), "{status:#x}: {shown}");
    assert!(!errors.contains("panicked"), "{shown}");
    let output = fs::metadata(&out).unwrap().len() + errors.len() as u64;
    assert!(output > 0, "it must say something");
    Cost { time, memory, output: output as f64 }
}

/// How the child ended, the microseconds that it worked, and the bytes that it had at one time.
#[allow(clippy::zombie_processes, reason = "it is waited for by its number")]
fn usage(command: &mut Command) -> (i32, f64, f64) {
    let child = command.spawn().unwrap();
    let pid = child.id().cast_signed();
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places live through the call, and nobody else waits for the child.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    assert_eq!(waited, pid);
    // SAFETY: the call filled it.
    let usage = unsafe { usage.assume_init() };
    let micros = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    (status, micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss as f64 * 1024.0)
}
