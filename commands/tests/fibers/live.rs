//! Fibers of live processes: all of one instant, with the stacks of those that wait.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use gen_cores::Case;
use kcore::{Core, LiveOptions, OpenOptions};

use crate::{Opened, Symbols, made, stacks, states, told_in};

/// A process that is killed when the test is done with it.
struct Target {
    child: Child,
    dir: PathBuf,
}

impl Target {
    /// The program of a case in a folder of its own, which it tells what it does.
    fn start(case: &Case) -> Self {
        let name = format!("live-{}", case.name().replace('/', "-"));
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder");
        let mut command = Command::new(&case.exe);
        command.arg("wait").current_dir(&dir).stdin(Stdio::null()).stdout(Stdio::null());
        Self { child: command.spawn().expect("it starts"), dir }
    }

    /// Waits until its first thread has nothing more to do.
    fn settle(&mut self) {
        let start = Instant::now();
        let stat = format!("/proc/{}/syscall", self.child.id());
        // The number of `pause` on x86-64.
        while !fs::read_to_string(&stat).is_ok_and(|text| text.starts_with("34 ")) {
            assert!(self.child.try_wait().expect("a state").is_none(), "it lives");
            assert!(start.elapsed() < Duration::from_secs(120), "it waits in the end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn snapshot(&self, name: &str) -> Opened {
        let pid = kcore::Pid::new(i32::try_from(self.child.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        let core = Core::of_process(pid, &live, &OpenOptions::default()).expect("a snapshot");
        let told = told_in(&self.dir.join("values.jsonl"));
        Opened { name: name.to_owned(), symbols: Symbols::Debug, core: Arc::new(core), told }
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
fn snapshots_have_all_fibers_with_their_stacks() {
    for scenario in ["fibers", "fibers-shared", "fibers-stealing"] {
        let Some(case) = made(scenario, "O2-pie") else { continue };
        let mut target = Target::start(&case);
        target.settle();
        let opened = target.snapshot(&case.name());
        states::check(&opened);
        stacks::check(&opened);
    }
}
