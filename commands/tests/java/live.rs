//! Threads of a live process: a snapshot has what their frames need.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use gen_cores::{Case, scenario};
use kcore::{LiveOptions, LiveProcess, OpenOptions};

use crate::{Opened, made, stacks, threads, told_in};

struct Target {
    child: Child,
    dir: PathBuf,
}

impl Target {
    /// The program of a case in a folder of its own, once it has told what its threads do.
    fn start(case: &Case, flags: &[&str]) -> Self {
        let name = format!("live-{}", case.name().replace('/', "-"));
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder");
        let recipe = scenario("java-threads").expect("a scenario").recipe;
        let mut command = Command::new(case.dir.join("java-threads"));
        command.args(&recipe.flags).args(flags).arg("-cp").arg(&case.dir).arg("Threads");
        command.env("KCORE_TRUTH", "account").current_dir(&dir);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
        let target = Self { child, dir };
        let start = Instant::now();
        while !target.dir.join("account").is_file() {
            assert!(start.elapsed() < Duration::from_secs(60), "it tells");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        target
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
fn snapshots_have_the_frames_and_threads_of_java() {
    for (variant, flags) in [("java11", &[][..]), ("java25", &["-Xint"])] {
        let Some(case) = made("java-threads", variant) else { continue };
        let target = Target::start(&case, flags);
        let pid = kcore::Pid::new(i32::try_from(target.child.id()).expect("a pid"));
        let live = LiveOptions { stop_timeout: Duration::from_secs(20), ..LiveOptions::default() };
        let core =
            LiveProcess::of(pid).snapshot(&live, &OpenOptions::default()).expect("a snapshot");
        let name = format!("{} live", case.name());
        let opened = Opened { name, core: Arc::new(core), told: told_in(&target.dir) };
        stacks::check(&opened);
        threads::check(&opened);
    }
}
