//! Goroutines of a live process: all of one instant, with the stacks of those that wait.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use gen_cores::Case;
use kcore::{LiveOptions, LiveProcess, OpenOptions};

use crate::{Opened, crossing, made, states, trace};

struct Target {
    child: Child,
    dir: PathBuf,
}

impl Target {
    /// The program of a case in a folder of its own, once it has told what its goroutines do.
    fn start(case: &Case) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("live-{number}-{}", case.name().replace('/', "-"));
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder");
        let mut command = Command::new(&case.exe);
        command.arg("wait").env("KCORE_TRUTH", "account").current_dir(&dir);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
        let target = Self { child, dir };
        let start = Instant::now();
        while !target.dir.join("account").is_file() {
            assert!(start.elapsed() < Duration::from_secs(60), "it tells");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(100));
        target
    }

    fn snapshot(&self, case: &Case) -> Opened {
        let pid = kcore::Pid::new(i32::try_from(self.child.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        let core =
            LiveProcess::of(pid).snapshot(&live, &OpenOptions::default()).expect("a snapshot");
        let name = format!("{} live", case.name());
        Opened { name, core: Arc::new(core), told: Vec::new() }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[test]
fn snapshots_have_all_goroutines_with_their_stacks() {
    for variant in ["go1.19", "go1.27-stripped-pie"] {
        let Some(case) = made("goroutines", variant) else { continue };
        let target = Target::start(&case);
        let text = fs::read_to_string(target.dir.join("trace.txt")).expect("what it told");
        states::check(&Opened { told: trace::parse(&text), ..target.snapshot(&case) });
    }
}

#[test]
fn snapshots_have_the_stacks_of_c_between_those_of_go() {
    for variant in ["go1.19", "go1.27-stripped-pie"] {
        let Some(case) = made("go-cgo", variant) else { continue };
        let target = Target::start(&case);
        // The first goroutine told how it will end, which it does not here.
        let told = crossing::told(&target.dir).into_iter().filter(|told| told.goroutine != 1);
        crossing::check(&target.snapshot(&case), told.collect(), variant.contains("stripped"));
    }
}

/// By the clock of the process: nothing that its runtime wrote down is of so late a time.
#[test]
fn goroutines_of_a_snapshot_have_waited_up_to_its_instant() {
    for variant in ["go1.19", "go1.27-stripped-pie"] {
        let Some(case) = made("goroutines", variant) else { continue };
        let start = Instant::now();
        let target = Target::start(&case);
        std::thread::sleep(Duration::from_secs(3));
        let core = target.snapshot(&case);
        let most = start.elapsed().as_secs();
        let waiting = core.records("::goroutines -s waiting");
        let times: Vec<u64> =
            waiting.iter().filter_map(|row| row["waits_seconds"].as_u64()).collect();
        assert!(times.iter().filter(|time| **time >= 3).count() > 5, "{}: {times:?}", core.name);
        assert!(times.iter().all(|time| *time <= most), "{}: {times:?}", core.name);
        let clock = core.records("::status").remove(0)["clock_ns"].as_u64().expect("a clock");
        let is_stack = |row: &serde_json::Value| row["kind"] == "thread_stack";
        assert!(!core.records("::mappings").iter().any(is_stack), "{}", core.name);
        let sleepers = core.records("::goroutines -r sleep");
        let until = sleepers.iter().filter_map(|row| row["sleeps_until"].as_u64());
        assert!(until.into_iter().any(|until| until > clock), "{}", core.name);
    }
}
