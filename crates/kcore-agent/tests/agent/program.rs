//! Programs that run with the agent.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// The library, which cargo builds beside the tests.
pub fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.parent().unwrap();
    let beside = folder.join("libkcore_agent.so");
    assert!(beside.exists(), "{} was not built", beside.display());
    beside
}

/// A folder in which programs that are linked with the library find it when they are started: by the name of its
/// version, which only installing gives it.
pub fn library_folder() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("agent-library-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let name = format!("libkcore_agent.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
        let _ = fs::remove_file(folder.join(&name));
        symlink(library(), folder.join(name)).unwrap();
        folder
    };
    MADE.get_or_init(make).clone()
}

/// A program of `tests/programs`, compiled with these options of a C compiler; once for each name.
pub fn built(source: &str, name: &str, options: &[&str]) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("agent-{name}-{}", std::process::id()));
    if !program.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let compiler = if source.extension().is_some_and(|it| it == "cpp") { "c++" } else { "cc" };
        let mut command = Command::new(compiler);
        command.arg("-o").arg(&program).arg(source).args(options);
        assert!(command.status().expect("a compiler").success(), "{command:?}");
    }
    program
}

/// The same as compilers make programs that are shipped: no frame pointers, jumps for last calls.
pub fn known() -> PathBuf {
    let options = ["-O2", "-fomit-frame-pointer", "-pthread", "-ldl"];
    built("known.c", "known", &options)
}

/// The command that runs a program with the agent.
pub fn with_agent(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).stdin(Stdio::null());
    command
}

/// A process that has said that it is ready, and is killed when the test is done with it.
pub struct Running {
    child: Child,
    errors: BufReader<ChildStderr>,
}

impl Running {
    /// Starts it, and waits for its first line.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        assert!(line.starts_with("ready"), "it said {line:?}");
        Self { child, errors }
    }

    /// Starts one that says nothing of itself on standard output.
    pub fn start_silent(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// The time of a processor that it has had (`proc_pid_stat(5)`: fields 14 and 15, in hundredths of a second).
    pub fn used(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        Duration::from_millis(
            10 * fields.skip(11).take(2).map(|it| it.parse::<u64>().unwrap()).sum::<u64>(),
        )
    }

    /// Sends it a signal.
    pub fn signal(&self, number: i32) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").arg(format!("-{number}")).arg(pid).status().unwrap();
        assert!(sent.success(), "kill -{number}");
    }

    /// What it writes to standard error on the signal: lines up to the end of the last group.
    pub fn stacks(&mut self) -> String {
        self.signal(35);
        let mut text = String::new();
        let mut groups = None;
        let mut seen = 0;
        while groups.is_none_or(|groups| seen < groups) {
            let mut line = String::new();
            let read = self.errors.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended after {text:?}");
            if let Some((counted, _)) = line.split_once(" unique stack") {
                groups = counted.rsplit(' ').next().unwrap().parse().ok();
            }
            seen += usize::from(line == "\n");
            text += &line;
        }
        text
    }

    /// The next line of standard error that has this.
    pub fn line_with(&mut self, wanted: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.errors.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended without {wanted:?}");
            if line.contains(wanted) {
                return line;
            }
        }
    }

    /// How many threads the system counts.
    pub fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap().count()
    }

    /// What the system maps in it.
    pub fn maps(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/maps", self.pid())).unwrap()
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process has had so much time of a processor, however busy the machine is.
pub fn run_for(process: &Running, time: Duration) {
    let end = process.used() + time;
    while process.used() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
}
