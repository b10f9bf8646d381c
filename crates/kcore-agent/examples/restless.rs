//! A process that does not rest while it asks itself 20 times a second: threads are born and die, memory is taken
//! and given back, libraries are loaded and unloaded, programs are started, and a profile is taken all the while.
//!
//! ```sh
//! cargo run -p kcore-agent --example restless -- 60 100 [patient]
//! ```
//!
//! That is for 60 seconds, with about 100 threads born in each; how much else is done follows from that, and 0 is as
//! much as the machine can do. With `patient`, signals wait until a thread takes its next turn: handlers then break into
//! no code of a sanitizer that does not allow for it. It fails when a thread that must be there was not told, nor reported as missing. Built
//! with a sanitizer, the agent's own code is watched too: see `docs/book/src/agent.md`.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    hint::black_box,
    io::Write,
    process::Command,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use kcore_agent::{Group, Settings, Stacks};

/// Requests in a second.
const REQUESTS: u32 = 20;

static OVER: AtomicBool = AtomicBool::new(false);
static TURNS: AtomicU64 = AtomicU64::new(0);
/// Threads that are born in a second.
static PACE: AtomicU64 = AtomicU64::new(0);
/// Whether signals wait for the next turn.
static PATIENT: AtomicBool = AtomicBool::new(false);
/// Threads that are there all the time, and the functions that their stacks have.
static LASTING: Mutex<BTreeMap<u32, &str>> = Mutex::new(BTreeMap::new());

/// Turns, so many in a second; those that could not be taken in time are left out.
struct Turns {
    each: Duration,
    next: Instant,
}

impl Turns {
    /// `share` of the pace, in a thread that is there from now on, in the function `name`.
    fn new(name: &'static str, share: f64) -> Self {
        last(name);
        let in_a_second = PACE.load(Ordering::Relaxed) as f64 * share;
        let each = Duration::try_from_secs_f64(1.0 / in_a_second).unwrap_or_default();
        Self { each, next: Instant::now() }
    }

    /// Waits for the next turn; says whether there is one.
    fn take(&mut self) -> bool {
        let_signals_in();
        hold_signals_back();
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
        self.next = (self.next + self.each).max(Instant::now());
        TURNS.fetch_add(1, Ordering::Relaxed);
        !OVER.load(Ordering::Relaxed)
    }
}

fn hold_signals_back() {
    if PATIENT.load(Ordering::Relaxed) {
        mask_signals(libc::SIG_BLOCK);
    }
}

fn let_signals_in() {
    if PATIENT.load(Ordering::Relaxed) {
        mask_signals(libc::SIG_UNBLOCK);
    }
}

/// Blocks the signals of the agent in this thread, or no longer. Handlers run before this returns.
#[allow(unsafe_code)]
fn mask_signals(how: i32) {
    // The one of a profile's timers as well.
    let signals = [35, libc::SIGUSR2, libc::SIGURG];
    let signals = signals.into_iter().fold(0_u64, |set, number| set | 1 << (number - 1));
    // SAFETY: the kernel reads a set of 8 bytes. Sanitizers do not come between as for functions of this purpose.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const signals, 0, 8) };
}

/// The stacks of all threads, also of this one.
fn stacks() -> Result<Stacks, kcore_agent::AgentError> {
    let_signals_in();
    let stacks = kcore_agent::stacks();
    hold_signals_back();
    stacks
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    if depth == 0 { 1 } else { black_box(deep(depth - 1)) + 1 }
}

#[inline(never)]
fn be_born() {
    let mut turns = Turns::new("be_born", 1.0 / 8.0);
    while turns.take() {
        let threads: Vec<_> = (0..8).map(|i| thread::spawn(move || deep(i * 5))).collect();
        for (i, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().ok(), Some(i as u64 * 5 + 1));
        }
    }
}

#[inline(never)]
fn take_memory() {
    let mut kept = vec![Vec::new(); 64];
    let mut turns = Turns::new("take_memory", 50.0);
    let mut bytes = 0;
    while turns.take() {
        bytes = (bytes + 7919) % 100_000;
        kept[bytes % 64] = vec![1_u8; 1 + bytes];
        black_box(&kept);
    }
}

#[inline(never)]
fn load_libraries() {
    let names = [c"libm.so.6", c"librt.so.1", c"libutil.so.1", c"libanl.so.1", c"libresolv.so.2"];
    let mut turns = Turns::new("load_libraries", 2.0);
    for name in names.iter().cycle() {
        if !turns.take() {
            break;
        }
        load_one(name);
    }
}

#[allow(unsafe_code)]
fn load_one(name: &std::ffi::CStr) {
    // SAFETY: the name ends with a NUL; these libraries do nothing when they are loaded.
    unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
        if !library.is_null() {
            libc::dlclose(library);
        }
    }
}

#[inline(never)]
fn start_programs() {
    let mut turns = Turns::new("start_programs", 1.0 / 4.0);
    while turns.take() {
        let ended = Command::new("/bin/true").env_clear().status();
        assert!(ended.is_ok_and(|ended| ended.success()), "/bin/true");
    }
}

const ALWAYS: [fn(); 4] = [be_born, take_memory, load_libraries, start_programs];

/// Says that the thread that calls is there from now on, in the function `name`.
#[allow(unsafe_code)]
fn last(name: &'static str) {
    // SAFETY: it takes nothing.
    let tid = unsafe { libc::gettid() }.unsigned_abs();
    lasting().insert(tid, name);
}

fn lasting() -> MutexGuard<'static, BTreeMap<u32, &'static str>> {
    LASTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of the threads that are there all the time, in all answers together.
#[derive(Default)]
struct Counts {
    told: u64,
    incomplete: u64,
    late: u64,
    lost: u64,
}

impl Counts {
    fn add(&mut self, stacks: &Stacks) {
        for (tid, name) in lasting().iter() {
            let group = stacks.groups.iter().find(|group| group.tids.contains(tid));
            let is_late = stacks.missing.iter().any(|(late, _)| late == tid);
            match group {
                Some(group) if has_function(group, name) => self.told += 1,
                Some(group) if is_incomplete(group) => self.incomplete += 1,
                None if is_late => self.late += 1,
                _ => {
                    self.lost += 1;
                    eprintln!("no {name}, {tid}, in\n{}", stacks.text);
                }
            }
        }
    }
}

fn has_function(group: &Group, name: &str) -> bool {
    let mut functions = group.frames.iter().filter_map(|frame| frame.function.as_deref());
    functions.any(|function| function.ends_with(name))
}

/// Whether a stack says of itself that it is not whole: in a library that was loaded a moment ago.
fn is_incomplete(group: &Group) -> bool {
    ["return address", "no way to unwind"].iter().any(|words| group.end.contains(words))
}

/// Sends the thread that calls the signal that begins a profile, and ends it.
#[allow(unsafe_code)]
fn profile() {
    // SAFETY: it takes a number.
    unsafe { libc::raise(libc::SIGUSR2) };
}

/// Starts the threads, and waits until each of them is where it stays.
fn begin() -> Vec<thread::JoinHandle<()>> {
    last("main");
    let threads: Vec<_> = ALWAYS.into_iter().map(thread::spawn).collect();
    while lasting().len() <= threads.len() {
        thread::sleep(Duration::from_millis(1));
    }
    threads
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: u32 = env::args().nth(1).map_or(Ok(60), |seconds| seconds.parse())?;
    let pace = env::args().nth(2).map_or(Ok(100), |pace| pace.parse())?;
    PACE.store(pace, Ordering::Relaxed);
    PATIENT.store(env::args().nth(3).is_some_and(|word| word == "patient"), Ordering::Relaxed);
    // The profile ends when it is told to.
    let profile_time = Duration::from_secs(24 * 3600);
    kcore_agent::install(Settings { profile_time, ..Settings::from_environment()? })?;
    hold_signals_back();
    let threads = begin();
    profile();
    let begun = Instant::now();
    let (mut asked, mut counts) = (0, Counts::default());
    while asked < seconds * REQUESTS {
        let due = begun + Duration::from_secs(1) * asked / REQUESTS;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        asked += 1;
        counts.add(&stacks()?);
    }
    let took = begun.elapsed();
    OVER.store(true, Ordering::Relaxed);
    profile();
    // The first one may be answered before the profile is written, the second one is not.
    for _ in 0..2 {
        stacks()?;
    }
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")?;
    }
    let turns = TURNS.load(Ordering::Relaxed);
    let Counts { told, incomplete, late, lost } = counts;
    writeln!(
        std::io::stdout(),
        "asked {asked} in {took:.1?} ; told {told} incomplete {incomplete} late {late} lost {lost} ; turns {turns}"
    )?;
    if lost == 0 { Ok(()) } else { Err("threads were lost".into()) }
}
