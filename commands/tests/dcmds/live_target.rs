//! Programs of cases that live on, to be looked at while they do.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use gen_cores::Case;
use kcore::{Core, LiveOptions, LiveProcess, OpenOptions};

/// A process that is killed when the test is done with it.
pub struct Target {
    child: Child,
    dir: PathBuf,
}

impl Target {
    /// The program of a case, with its libraries, in a folder of its own, which it tells what it does.
    pub fn start(case: &Case) -> Self {
        let name = format!("live-{}", case.name().replace('/', "-"));
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder");
        for entry in fs::read_dir(&case.dir).expect("the case's folder").flatten() {
            if entry.path().extension().is_some_and(|kind| kind == "so") {
                std::os::unix::fs::symlink(entry.path(), dir.join(entry.file_name()))
                    .expect("a link");
            }
        }
        let mut command = Command::new(&case.exe);
        command.arg("wait").current_dir(&dir).stdin(Stdio::null()).stdout(Stdio::null());
        Self { child: command.spawn().expect("it starts"), dir }
    }

    /// Waits until its first thread has nothing more to do.
    pub fn settle(&mut self) {
        let start = Instant::now();
        let stat = format!("/proc/{}/syscall", self.child.id());
        // The number of `pause` on x86-64.
        while !fs::read_to_string(&stat).is_ok_and(|text| text.starts_with("34 ")) {
            assert!(self.child.try_wait().expect("a state").is_none(), "it lives");
            assert!(start.elapsed() < Duration::from_secs(120), "it waits in the end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// All of it at one instant.
    pub fn snapshot(&self) -> Arc<Core> {
        let pid = kcore::Pid::new(i32::try_from(self.child.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        Arc::new(LiveProcess::of(pid).snapshot(&live, &OpenOptions::default()).expect("a snapshot"))
    }

    /// Where it tells what it knows.
    pub fn values(&self) -> PathBuf {
        self.dir.join("values.jsonl")
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}
