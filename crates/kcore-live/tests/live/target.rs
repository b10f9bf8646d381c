//! A process of the program `target.c`, which is killed when the test is done with it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use kcore_elf::core_file::MapLine;
use kcore_live::{LiveError, LiveMemory, Pid, Plan, Process, Snapshot, StackLimit, capture};
use kcore_mem::{Addr, AddrRange};

/// What a test waits for at most until the target is as it should be.
const PATIENCE: Duration = Duration::from_secs(20);

/// The compiled program.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/target.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join(format!("live-target-{}", std::process::id()));
        let built =
            Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
        assert!(built.expect("a C compiler").success());
        program
    })
}

pub struct Target {
    child: Child,
    /// What it said of itself.
    pub line: String,
}

impl Target {
    pub fn start(way: &str) -> Self {
        Self::start_by(Command::new(program()).arg(way))
    }

    pub fn start_by(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the target said nothing");
        Self { child, line }
    }

    pub fn pid(&self) -> Pid {
        Pid::new(i32::try_from(self.child.id()).unwrap())
    }

    /// The addresses in the line.
    pub fn addresses(&self) -> Vec<Addr> {
        let words = self.line.split_ascii_whitespace().filter_map(|word| word.strip_prefix("0x"));
        words.map(|digits| Addr::new(u64::from_str_radix(digits, 16).unwrap())).collect()
    }

    pub fn state(&self) -> char {
        state_of(self.pid()).unwrap()
    }

    /// What it counts.
    pub fn count(&self) -> u64 {
        let process = Process::open(self.pid()).unwrap();
        let memory = LiveMemory::open(&process).unwrap();
        let bytes = memory.read(AddrRange::with_len(self.addresses()[0], 8)).unwrap();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    }

    /// That no thread of it is stopped or traced, soon.
    pub fn assert_runs(&self) {
        let ids = || fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let all_run = || {
            ids().filter_map(Result::ok).all(|task| {
                let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
                let line = |key: &str| {
                    status.lines().find(|line| line.starts_with(key)).map(str::to_owned)
                };
                let state = line("State:").unwrap_or_default();
                let tracer = line("TracerPid:").unwrap_or_default();
                !state.contains("stop") && tracer.split_whitespace().nth(1).unwrap_or("0") == "0"
            })
        };
        until("the target is stopped or traced", all_run);
    }

    /// Sends a signal to it.
    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a process of this test.
        assert_eq!(unsafe { libc::kill(self.pid().get(), signal) }, 0);
    }

    /// Takes a snapshot.
    pub fn capture(&self, timeout: Duration, rolling: bool) -> Result<Snapshot, LiveError> {
        capture_of(self.pid(), timeout, rolling)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn capture_of(pid: Pid, timeout: Duration, rolling: bool) -> Result<Snapshot, LiveError> {
    let process = Process::open(pid)?;
    let memory = LiveMemory::open(&process)?;
    let (_, maps) = process.maps()?;
    capture(&plan(&process, &memory, &maps, timeout, rolling))
}

pub fn plan<'a>(
    process: &'a Process,
    memory: &'a LiveMemory,
    maps: &'a [MapLine],
    timeout: Duration,
    rolling: bool,
) -> Plan<'a> {
    Plan {
        process,
        memory,
        maps,
        threads: None,
        memory_too: &[],
        follow: false,
        stacks: StackLimit::default(),
        floating_up_to: 32,
        timeout,
        copy_timeout: timeout,
        budget: timeout.saturating_mul(2),
        stop: None,
        rolling,
        at: None,
    }
}

/// The letter of the state of a process.
pub fn state_of(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Waits until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}
