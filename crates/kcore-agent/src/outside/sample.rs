//! What the process does that takes a profile of the one that started it.

#![allow(unsafe_code)]

use std::{
    ffi::{CStr, OsStr, c_int},
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    str::FromStr,
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use kcore::{
    HeldShare, LiveError, LiveOptions, LiveProcess, OpenError, OpenOptions, Pid, ProfileCost,
    ProfileOptions, ProfileProgress, profile::Profile,
};

use super::said;
use crate::sampler::write_profile;

/// What its name is in lists of processes: not that of the program, which is sent signals by its name.
const NAME: &CStr = c"kcore-profile";
/// How often it is looked whether the first sample was taken.
const LOOK: Duration = Duration::from_millis(20);
/// The share of the time in which the process may stand still, in hundredths.
const HELD: f64 = 1.0;

/// What it is told.
struct Order {
    pid: Pid,
    hertz: u32,
    time: Duration,
    folder: PathBuf,
}

impl Order {
    fn of(arguments: &[&CStr]) -> Option<Self> {
        fn number<T: FromStr>(text: &CStr) -> Option<T> {
            text.to_str().ok()?.parse().ok()
        }
        let [pid, hertz, nanos, folder] = arguments else { return None };
        Some(Self {
            pid: Pid::new(number(pid)?),
            hertz: number(hertz)?,
            time: Duration::from_nanos(number(nanos)?),
            folder: PathBuf::from(OsStr::from_bytes(folder.to_bytes())),
        })
    }

    fn options(&self) -> ProfileOptions {
        ProfileOptions {
            live: LiveOptions::default(),
            frequency: self.hertz,
            held: HeldShare::of_percent(HELD).unwrap_or_default(),
            duration: self.time,
            states: None,
            on_cpu: true,
            native: false,
        }
    }
}

/// Takes a profile, as the arguments say; the answer is the exit status.
pub fn run(arguments: &[&CStr]) -> c_int {
    let Some(order) = Order::of(arguments) else { return 2 };
    be_a_process_of_its_own();
    let mut input = BufReader::new(io::stdin());
    // Without the word, the process that started this one has ended.
    if !input.read_line(&mut String::new()).is_ok_and(|read| read > 0) {
        return 1;
    }
    let said = match watched(&order, input) {
        Ok((profile, cost)) => done(&order, &profile, &cost),
        Err(why) => said::refused(&why),
    };
    say(&said);
    0
}

/// Is not ended by what ends the other one, keeps none of its files open, and takes one processor at a time.
fn be_a_process_of_its_own() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    // SAFETY: a name that ends with a NUL, signals that are left to nobody, and a set that is filled before it is used.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGPIPE, libc::SIGUSR1, libc::SIGUSR2] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        for file in files() {
            libc::close(file);
        }
    }
    // Where no thread can be made, this one does all.
    let _ = pool.build_global();
}

/// The files that were inherited: listening sockets may be among them, whose ports are wanted for another process.
fn files() -> Vec<c_int> {
    let listed = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|file| *file > libc::STDERR_FILENO).collect()
}

/// Samples, says when that begins, and ends it when the other process wants that, or has ended.
fn watched(
    order: &Order,
    input: impl Read + Send + 'static,
) -> Result<(Profile, ProfileCost), String> {
    let progress = ProfileProgress::default();
    let stop = progress.stop.clone();
    let listen = move || {
        let mut input = input;
        let _ = io::copy(&mut input, &mut io::sink());
        stop.store(true, Ordering::Relaxed);
    };
    thread::Builder::new().spawn(listen).map_err(|error| error.to_string())?;
    let sample = || {
        let (wanted, options) = (order.options(), OpenOptions::default());
        LiveProcess::of(order.pid).profile(&wanted, &options, &progress)
    };
    thread::scope(|scope| {
        let sampling = thread::Builder::new().spawn_scoped(scope, sample);
        let sampling = sampling.map_err(|error| error.to_string())?;
        while !sampling.is_finished() && progress.samples.load(Ordering::Relaxed) == 0 {
            thread::sleep(LOOK);
        }
        if progress.samples.load(Ordering::Relaxed) > 0 {
            say(said::BEGUN);
        }
        let taken = sampling.join().map_err(|_| "sampling ended in a panic".to_owned())?;
        taken.map_err(|error| reason(&error))
    })
}

/// Why nothing could be sampled, without what a person would ask the agent instead.
fn reason(error: &OpenError) -> String {
    let said = error.to_string();
    match (error, said.split_once("; ")) {
        (OpenError::Live(LiveError::NotPermitted { .. }), Some((why, _))) => why.to_owned(),
        _ => said,
    }
}

/// Writes the profile, and says what is to be known of it.
fn done(order: &Order, profile: &Profile, cost: &ProfileCost) -> String {
    let pid = order.pid.get().unsigned_abs();
    match write_profile(profile, &order.folder, pid) {
        Ok(written) => said::done(cost, &written),
        Err(error) => said::failed(&error.to_string()),
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // Nobody may listen any more: the files are there.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}
