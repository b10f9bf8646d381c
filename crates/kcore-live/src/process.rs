//! A process that runs.

use std::{
    fmt, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use kcore_elf::core_file::{MapLine, parse_maps};
use kcore_mem::{Addr, Arch, Target};

use crate::{
    LiveError, Standing,
    agent::Agent,
    proc::{self, Status, TaskStat},
    rights,
    sys::{
        own::{own_auxv, own_thread},
        robust,
    },
};

/// A process id, as kcore sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(i32);

impl Pid {
    /// From its number.
    pub const fn new(pid: i32) -> Self {
        Self(pid)
    }

    /// The number.
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The machine that this kcore was built for: only such a process can be traced.
const OWN: Arch = if cfg!(target_arch = "aarch64") { Arch::Aarch64 } else { Arch::X86_64 };

/// A process that runs, of the machine that kcore was built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pid: Pid,
    folder: PathBuf,
    /// The thread by which its memory is found: the first one, unless that has ended.
    holder: i32,
    stat: TaskStat,
    status: Status,
}

impl Process {
    /// Looks at a process, without touching it.
    ///
    /// # Errors
    /// When there is no such process, it is none that can be traced, or a right is missing.
    pub fn open(pid: Pid) -> Result<Self, LiveError> {
        // While a thread that is not the first starts another program, the first one has ended, and the other one takes
        // its place in a moment: one that does so over and over may be met in that state several times.
        const MOMENT: Duration = Duration::from_millis(2);
        const LOOKS: usize = 10;
        let mut opened = Self::look_at(pid);
        for _ in 1..LOOKS {
            if !matches!(opened, Err(LiveError::Zombie(_))) {
                break;
            }
            thread::sleep(MOMENT);
            opened = Self::look_at(pid);
        }
        opened
    }

    /// The process that runs this, which cannot be stopped by it.
    ///
    /// # Errors
    /// When the system does not tell of it: there is no `/proc`.
    pub fn own() -> Result<Self, LiveError> {
        let pid = Pid(i32::try_from(std::process::id()).unwrap_or_default());
        let mut process = Self::read_of(pid)?;
        process.look_again();
        Ok(process)
    }

    /// Looks again by which thread its memory is found, of the process that runs this: the first one, or the one that
    /// asks when that has ended. Says whether it is another one than before.
    pub fn look_again(&mut self) -> bool {
        let first = self.pid.get();
        let is_there = self.has_thread(first);
        let holder = if is_there { first } else { own_thread() };
        std::mem::replace(&mut self.holder, holder) != holder
    }

    fn look_at(pid: Pid) -> Result<Self, LiveError> {
        let mut process = Self::read_of(pid)?;
        process.check()?;
        process.find_holder()?;
        process.check_machine()?;
        Ok(process)
    }

    fn read_of(pid: Pid) -> Result<Self, LiveError> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let refused = |error: io::Error| match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                LiveError::System { pid, what: "its files in /proc", error }
            }
            _ => LiveError::NoProcess(pid),
        };
        let stat = proc::read(&folder.join("stat")).map_err(refused)?;
        let stat = TaskStat::parse(&stat).ok_or(LiveError::NoProcess(pid))?;
        let status = proc::read(&folder.join("status")).map_err(refused)?;
        let status = Status::parse(&status);
        Ok(Self { pid, folder, holder: pid.get(), stat, status })
    }

    /// A first thread that has ended has no memory, but is there until the others have ended.
    fn find_holder(&mut self) -> Result<(), LiveError> {
        if !is_over(&self.stat) {
            return Ok(());
        }
        let living = self.task_ids()?.into_iter().find(|tid| self.has_thread(*tid));
        self.holder = living.ok_or(LiveError::Zombie(self.pid))?;
        Ok(())
    }

    fn check(&self) -> Result<(), LiveError> {
        let pid = self.pid;
        if self.status.process != pid.get() {
            return Err(LiveError::IsThread { tid: pid, process: Pid(self.status.process) });
        }
        if Ok(pid.get()) == i32::try_from(std::process::id()) {
            return Err(LiveError::Itself(pid));
        }
        if self.stat.is_kernel() {
            return Err(LiveError::Kernel(pid));
        }
        self.check_tracer()
    }

    /// Refuses a process that somebody traces.
    ///
    /// # Errors
    /// With the process that traces it.
    pub(crate) fn check_tracer(&self) -> Result<(), LiveError> {
        let status = proc::read(&self.folder.join("status")).unwrap_or_default();
        match Status::parse(&status).tracer {
            0 => Ok(()),
            tracer => {
                let name = proc::read(Path::new(&format!("/proc/{tracer}/comm"))).ok();
                let name = name.map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned());
                Err(LiveError::Traced { pid: self.pid, tracer: Pid(tracer), name })
            }
        }
    }

    /// Waits until tracers of this process of kcore, which have ended already, have let these threads
    /// go: the system does so a moment after they have ended.
    pub(crate) fn wait_until_free(&self, tids: &[i32]) {
        const MOMENT: Duration = Duration::from_micros(200);
        const LIMIT: Duration = Duration::from_millis(200);
        let start = Instant::now();
        let is_ours = |tid: &i32| {
            let status = proc::read(&self.task(*tid).join("status")).unwrap_or_default();
            let tracer = Status::parse(&status).tracer;
            tracer != 0 && Path::new(&format!("/proc/self/task/{tracer}")).exists()
        };
        while tids.iter().any(is_ours) && start.elapsed() < LIMIT {
            thread::sleep(MOMENT);
        }
    }

    /// The program says what machine it is for. Who may not read it may not trace it either.
    fn check_machine(&self) -> Result<(), LiveError> {
        // e_ident, e_type, e_machine.
        const HEADER: u64 = 20;
        use io::Read;
        let mut header = Vec::new();
        let file = std::fs::File::open(self.folder().join("exe"));
        let read = file.and_then(|file| file.take(HEADER).read_to_end(&mut header));
        read.map_err(|error| self.why("its program", error))?;
        let machine = header.get(18..).and_then(|rest| rest.first_chunk::<2>());
        // x32 programs are those of x86-64 with pointers of 32 bits.
        let is_wide = header.get(4) == Some(&2);
        let word = if is_wide { 8 } else { 4 };
        let found = machine.map(|machine| Arch::from_elf(u16::from_le_bytes(*machine), word));
        match found {
            Some(found) if found == OWN && is_wide => Ok(()),
            found => Err(LiveError::OtherMachine {
                pid: self.pid,
                found: found
                    .map_or_else(|| "unknown".to_owned(), |found| wide_name(found, is_wide)),
                own: if OWN == Arch::Aarch64 { "aarch64" } else { "x86-64" },
            }),
        }
    }

    /// Its id.
    pub const fn pid(&self) -> Pid {
        self.pid
    }

    /// The folder in `/proc` that tells of its memory and files.
    pub fn folder(&self) -> PathBuf {
        if self.holder == self.pid.get() { self.folder.clone() } else { self.task(self.holder) }
    }

    /// The folder of that thread as if it were a process: some files are only there.
    pub(crate) fn holder_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.holder))
    }

    /// What of its memory the kernel would dump: `coredump_filter`.
    ///
    /// # Errors
    /// When a right is missing, or the process has ended.
    pub(crate) fn core_filter(&self) -> Result<Vec<u8>, LiveError> {
        let path = self.holder_folder().join("coredump_filter");
        proc::read(&path).map_err(|error| self.why("its filter", error))
    }

    /// The thread by which its memory is found.
    pub(crate) const fn holder(&self) -> i32 {
        self.holder
    }

    /// How many threads the system counts: links of their folder, of which `.` and `..` are two.
    pub fn count_of_threads(&self) -> Option<u64> {
        std::fs::metadata(self.folder.join("task")).ok()?.nlink().checked_sub(2)
    }

    /// What the system says of its first thread.
    pub const fn stat(&self) -> &TaskStat {
        &self.stat
    }

    /// Its users, groups and ids.
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// Architecture, word size and byte order.
    pub const fn target(&self) -> Target {
        Target { arch: OWN, ..Target::X86_64 }
    }

    /// Its mappings, lowest address first, and the text that tells of them.
    ///
    /// # Errors
    /// When a right is missing, or the process has ended.
    pub fn maps(&self) -> Result<(Vec<u8>, Vec<MapLine>), LiveError> {
        let text = self.read("maps", "its mappings")?;
        let lines = parse_maps(&text);
        Ok((text, lines))
    }

    /// The bytes of one of the files of its folder.
    ///
    /// # Errors
    /// When a right is missing, or the process has ended; `what` is what was to be read.
    pub fn read(&self, name: &str, what: &'static str) -> Result<Vec<u8>, LiveError> {
        proc::read(&self.folder().join(name)).map_err(|error| self.why(what, error))
    }

    /// Its auxiliary vector. That of the process that runs this can be told even where its files are another user's:
    /// as long as it has privileges of a file, or has given up those that it was started with.
    ///
    /// # Errors
    /// When a right is missing, or the process has ended.
    pub(crate) fn auxv(&self) -> Result<Vec<u8>, LiveError> {
        let read = self.read("auxv", "its auxiliary vector");
        let is_own = u32::try_from(self.pid.get()) == Ok(std::process::id());
        if read.is_err() && is_own { Ok(own_auxv()) } else { read }
    }

    /// The ids of its threads.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn task_ids(&self) -> Result<Vec<i32>, LiveError> {
        proc::tasks(&self.folder).map_err(|error| self.why("its threads", error))
    }

    /// Whether its first thread has ended while others go on (pthread_exit(3) in `main`).
    pub fn first_has_ended(&self) -> bool {
        !self.has_thread(self.pid.get())
    }

    /// Whether a thread of it has not ended.
    pub(crate) fn is_there(&self) -> bool {
        self.task_ids().is_ok_and(|tids| tids.into_iter().any(|tid| self.has_thread(tid)))
    }

    /// Whether there is such a thread that has not ended.
    pub(crate) fn has_thread(&self, tid: i32) -> bool {
        self.task_stat(tid).is_some_and(|stat| !is_over(&stat))
    }

    /// What the system says of a thread; `None` when it has ended.
    pub fn task_stat(&self, tid: i32) -> Option<TaskStat> {
        TaskStat::parse(&proc::read(&self.task(tid).join("stat")).ok()?)
    }

    /// Processor time that all threads of the process have used, ended ones included; `None` once the process has
    /// ended.
    pub fn ran(&self) -> Option<Duration> {
        let stat = TaskStat::parse(&proc::read(&self.folder.join("stat")).ok()?)?;
        Some(stat.ran)
    }

    /// The id of a thread in the innermost pid namespace that it lives in.
    pub fn inner_id(&self, tid: i32) -> Option<u32> {
        // Only in another namespace are there two ids: nobody else's file need be read.
        if self.status.ids.len() < 2 {
            return u32::try_from(tid).ok();
        }
        Status::parse(&proc::read(&self.task(tid).join("status")).ok()?).inner_id()
    }

    /// Where a thread waits, without stopping it; `None` of one that runs. `/proc/PID/task/TID/syscall`
    /// ends with the stack pointer and the program counter (proc(5)).
    pub fn waits_at(&self, tid: i32) -> Option<Standing> {
        let text = proc::read(&self.task(tid).join("syscall")).ok()?;
        let text = std::str::from_utf8(&text).ok()?;
        let mut words = text.split_ascii_whitespace().rev().map(|word| {
            let digits = word.strip_prefix("0x")?;
            u64::from_str_radix(digits, 16).ok().map(Addr::new)
        });
        let (pc, sp) = (words.next()??, words.next()??);
        Some(Standing { pc, sp })
    }

    /// The futex that a thread sleeps on, without stopping it; `None` of one that does something else.
    /// `/proc/PID/task/TID/syscall` begins with the number of the system call and its arguments (proc(5)).
    pub fn sleeps_on(&self, tid: i32) -> Option<Addr> {
        const SLEEPS: [i64; 2] = [libc::SYS_futex, libc::SYS_restart_syscall];
        let text = proc::read(&self.task(tid).join("syscall")).ok()?;
        let mut words = std::str::from_utf8(&text).ok()?.split_ascii_whitespace();
        let number: i64 = words.next()?.parse().ok()?;
        let word = words.next()?.strip_prefix("0x").filter(|_| SLEEPS.contains(&number))?;
        u64::from_str_radix(word, 16).ok().map(Addr::new)
    }

    /// The head of the list of robust mutexes that a thread holds, without stopping it. glibc has it in its structure of
    /// each thread (`struct pthread`). `None` where the thread has none, or a right is missing.
    pub fn robust_list(&self, tid: i32) -> Option<Addr> {
        robust::list_of(tid)
    }

    pub(crate) fn task(&self, tid: i32) -> PathBuf {
        self.folder.join("task").join(tid.to_string())
    }

    /// What an error of the system means here.
    pub(crate) fn why(&self, what: &'static str, error: io::Error) -> LiveError {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => self.not_permitted(),
            Some(libc::ENOENT | libc::ESRCH) => LiveError::Gone(self.pid),
            _ => LiveError::System { pid: self.pid, what, error },
        }
    }

    /// That it may not be traced, and what is missing.
    pub(crate) fn not_permitted(&self) -> LiveError {
        match self.check_tracer() {
            Err(traced) => traced,
            Ok(()) => {
                let missing = rights::missing(self) + &Agent::hint(self.pid);
                LiveError::NotPermitted { pid: self.pid, missing }
            }
        }
    }
}

/// Whether a thread has ended.
const fn is_over(stat: &TaskStat) -> bool {
    matches!(stat.state, 'Z' | 'X')
}

fn wide_name(arch: Arch, is_wide: bool) -> String {
    if is_wide { arch.to_string() } else { format!("32-bit {arch}") }
}
