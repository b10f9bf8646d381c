//! A process that does not rest while it asks itself 20 times a second: threads are born and die, memory is taken
//! and given back, libraries are loaded and unloaded, and a profile is taken all the while.
//!
//! ```sh
//! cargo run -p kcore-agent --example restless -- 60
//! ```
//!
//! It fails when a thread that must be there was not told, nor reported as missing. Built with a sanitizer, the
//! agent's own code is watched too: see `docs/agent.md`.

use std::{
    env,
    error::Error,
    hint::black_box,
    io::Write,
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use kcore_agent::{Settings, Stacks};

static OVER: AtomicBool = AtomicBool::new(false);
static TURNS: AtomicU64 = AtomicU64::new(0);

fn is_over() -> bool {
    TURNS.fetch_add(1, Ordering::Relaxed);
    OVER.load(Ordering::Relaxed)
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    if depth == 0 { 1 } else { black_box(deep(depth - 1)) + 1 }
}

#[inline(never)]
fn be_born() {
    while !is_over() {
        let threads: Vec<_> = (0..8).map(|i| thread::spawn(move || deep(i * 5))).collect();
        for (i, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().ok(), Some(i as u64 * 5 + 1));
        }
    }
}

#[inline(never)]
fn take_memory() {
    let mut kept = vec![Vec::new(); 64];
    for i in 0_usize.. {
        if is_over() {
            break;
        }
        kept[i % 64] = vec![1_u8; 1 + i * 7919 % 100_000];
        black_box(&kept);
    }
}

#[inline(never)]
fn load_libraries() {
    let names = [c"libm.so.6", c"librt.so.1", c"libutil.so.1", c"libanl.so.1", c"libresolv.so.2"];
    for name in names.iter().cycle() {
        if is_over() {
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
    while !is_over() {
        let ended = Command::new("/bin/true").env_clear().status();
        assert!(ended.is_ok_and(|ended| ended.success()), "/bin/true");
    }
}

const ALWAYS: [(&str, fn()); 4] = [
    ("be_born", be_born),
    ("take_memory", take_memory),
    ("load_libraries", load_libraries),
    ("start_programs", start_programs),
];

/// Functions of threads that must be there, and are neither told nor reported.
fn lost(stacks: &Stacks) -> Vec<&'static str> {
    let tells = |name: &str| {
        let mut frames = stacks.groups.iter().flat_map(|group| &group.frames);
        frames.any(|frame| frame.function.as_deref().is_some_and(|it| it.ends_with(name)))
    };
    // Of a thread in a library that was loaded a moment ago the stack may not be whole, and says so.
    let is_reported = !stacks.missing.is_empty()
        || ["-- return address", "-- no way to unwind"].iter().any(|it| stacks.text.contains(it));
    let names = ALWAYS.iter().map(|(name, _)| *name).chain(["main"]);
    names.filter(|name| !tells(name) && !is_reported).collect()
}

/// Sends the process the signal that begins a profile, and ends it.
fn profile() -> Result<(), Box<dyn Error>> {
    let pid = std::process::id().to_string();
    let sent = Command::new("kill").args(["-USR2", &pid]).status()?;
    if sent.success() { Ok(()) } else { Err("kill".into()) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(60), |seconds| seconds.parse())?;
    kcore_agent::install(Settings::from_environment())?;
    let threads: Vec<_> = ALWAYS.iter().map(|(_, run)| thread::spawn(run)).collect();
    thread::sleep(Duration::from_millis(100));
    profile()?;
    let begun = Instant::now();
    let (mut asked, mut failed) = (0, 0);
    while begun.elapsed() < Duration::from_secs(seconds) {
        let next = Instant::now() + Duration::from_millis(50);
        let stacks = kcore_agent::stacks()?;
        asked += 1;
        for name in lost(&stacks) {
            failed += 1;
            eprintln!("no {name} in\n{}", stacks.text);
        }
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    OVER.store(true, Ordering::Relaxed);
    profile()?;
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")?;
    }
    let turns = TURNS.load(Ordering::Relaxed);
    writeln!(std::io::stdout(), "asked {asked} failed {failed} turns {turns}")?;
    if failed == 0 { Ok(()) } else { Err("threads were lost".into()) }
}
