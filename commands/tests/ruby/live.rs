//! Ruby in a live process: a snapshot has what its frames need.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use gen_cores::{Case, Truth};
use kcore::{LiveOptions, LiveProcess, OpenOptions};

use crate::{Opened, made, stacks};

struct Target {
    child: Child,
    dir: PathBuf,
}

impl Target {
    /// The program of a case in its own folder, once it has told where its threads stand and waits.
    fn start(case: &Case) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("live-ruby");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder");
        let mut command = Command::new(&case.exe);
        command.args(["--disable-gems", "main.rb", "wait"]).current_dir(&case.dir).env_clear();
        command.env("LD_LIBRARY_PATH", "lib").env("RUBYLIB", "std:ext");
        command.env("KCORE_TRUTH", dir.join("account"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
        let target = Self { child, dir };
        let start = Instant::now();
        while !target.account().ends_with("{\"done\":true}\n") {
            assert!(start.elapsed() < Duration::from_secs(60), "it tells");
            std::thread::sleep(Duration::from_millis(20));
        }
        // The thread that spins lets others run now and then.
        std::thread::sleep(Duration::from_secs(1));
        target
    }

    fn account(&self) -> String {
        fs::read_to_string(self.dir.join("account")).unwrap_or_default()
    }

    /// The threads that it told.
    fn truth(&self, case: &Case) -> Truth {
        let text = self.account();
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let threads = lines.filter_map(|line: serde_json::Value| line.get("thread").cloned());
        let threads = threads.map(|thread| serde_json::from_value(thread).expect("a thread"));
        Truth { threads: threads.collect(), ..case.truth().expect("a truth") }
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
fn snapshots_have_the_frames_of_all_threads() {
    let Some(case) = made("ruby-stack", "ruby3.3") else { return };
    let target = Target::start(&case);
    let pid = kcore::Pid::new(i32::try_from(target.child.id()).expect("a pid"));
    let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
    let core = LiveProcess::of(pid).snapshot(&live, &OpenOptions::default()).expect("a snapshot");
    let (name, dir) = (format!("{} live", case.name()), case.dir.clone());
    stacks::check(&Opened { name, dir, core: Arc::new(core), truth: target.truth(&case) });
}
