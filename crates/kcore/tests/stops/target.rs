//! A process that is stopped and let go on.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kcore::{Core, LiveOptions, LiveProcess, OpenOptions, Pid, Stack, Tid, Trust};
use rustix::process::{Signal, kill_process};

use crate::claim::Claim;

/// Until a signal has stopped all threads.
const PATIENCE: Duration = Duration::from_secs(10);
/// Threads of one stop that are looked at: more are much the same.
const MAX_THREADS: usize = 4;
/// Frames that are asked for: calls by which a function ended, which nothing returns to, may come first.
const MAX_FRAMES: usize = 8;

/// A process that is killed when the test is done with it.
pub struct Target(Child);

/// What kcore says of one thread.
pub struct Said {
    pub tid: u64,
    pub stack: Stack,
    /// The caller of the innermost frame, unless there is none.
    pub claim: Option<Claim>,
    /// How it was found.
    pub trust: Trust,
    /// Whether it is marked as a guess.
    pub is_guess: bool,
}

impl Target {
    pub fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.spawn().unwrap())
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn signal(&self, signal: Signal) -> bool {
        kill_process(rustix::process::Pid::from_child(&self.0), signal).is_ok()
    }

    /// Stops all threads; says whether there is anything left to stop.
    pub fn stop(&self) -> bool {
        let start = Instant::now();
        self.signal(Signal::STOP)
            && loop {
                match self.state() {
                    Some('T' | 't') => break true,
                    Some('Z' | 'X') | None => break false,
                    _ if start.elapsed() > PATIENCE => break false,
                    _ => std::thread::yield_now(),
                }
            }
    }

    /// The state of the process as the kernel names it: the letter behind the name.
    fn state(&self) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).ok()?;
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// A snapshot of it.
    pub fn core(&self) -> Option<Core> {
        let pid = Pid::new(i32::try_from(self.0.id()).unwrap());
        LiveProcess::of(pid).snapshot(&LiveOptions::default(), &OpenOptions::default()).ok()
    }
}

/// What is said of some threads that run: one that waits in the kernel need not come back soon.
pub fn said(core: &Core) -> Vec<Said> {
    let running = core.tids().into_iter().filter(|tid| core.waits_in(*tid).is_none());
    running.take(MAX_THREADS).map(|tid| said_of(core, tid)).collect()
}

fn said_of(core: &Core, tid: Tid) -> Said {
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    // What ended by a jump has nothing to come back to.
    let outer = stack.frames.iter().skip(1).find(|frame| frame.trust != Trust::TailCall);
    // The caller of what interrupted it is no caller: nothing returns there.
    let outer = outer.filter(|frame| frame.trust != Trust::Signal).copied();
    let claim = outer.map(|frame| Claim {
        tid: tid.get().into(),
        pc: frame.pc.addr().get(),
        sp: frame.sp.map(|sp| sp.get()),
    });
    Said {
        tid: tid.get().into(),
        stack,
        claim,
        trust: outer.map_or(Trust::Context, |frame| frame.trust),
        is_guess: outer.is_some_and(|frame| frame.guess),
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Compiles a program that stands beside this file.
pub fn build(dir: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stops").join(source);
    let program = dir.join(source.trim_end_matches(".c"));
    let status = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(from)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    program
}
