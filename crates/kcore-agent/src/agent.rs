//! The thread that serves requests: it runs from the first one to the last.

#![allow(unsafe_code)]

use std::{
    fs::File,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    asks, call,
    collector::Collector,
    error::AgentError,
    handler,
    install::{settings, timeout},
    output,
    outside::{self, Outcome, Outside},
    report::{self, Stacks},
    requests,
    sampler::{self, Sampler},
    settings::Settings,
    slots::Slots,
    sys,
};

static AGENT: AtomicPtr<Agent> = AtomicPtr::new(ptr::null_mut());

/// Bytes that have to be there before a request: twice what one of a small program takes.
const ROOM: usize = 64 << 20;
/// Files that a request has open at a time, and some more.
const FILES: usize = 4;

/// What the thread keeps from one request to the next.
struct Agent {
    collector: Collector,
    /// This thread alone: what kcore does in parallel elsewhere must not make threads here.
    pool: Option<ThreadPool>,
}

/// Runs the thread.
pub extern "C" fn run() -> ! {
    requests::enter();
    while let Some(request) = requests::take_or_end() {
        // A panic in another program's process is not its business: it gets an answer all the same.
        let served = catch_unwind(AssertUnwindSafe(|| serve(request)));
        if served.is_err() {
            call::begin();
            call::answer(Err(AgentError::Failed));
        }
    }
    sys::leave_thread()
}

/// Gives the thread up, in the middle of whatever it does: no request is served any more. It takes no memory.
pub fn abandon() -> ! {
    const SAID: &[u8] =
        b"kcore-agent: had to stop in the middle of a request, and serves none any more\n";
    requests::give_up();
    if let Some(slots) = Slots::known() {
        slots.close();
    }
    sys::end_timers();
    // Who is answered may end the process.
    sys::write_all(output::STDERR, SAID, timeout());
    call::answer_nothing();
    sys::leave_thread()
}

/// Forgets what the thread was in the middle of, in a process that was forked off.
pub fn forget() {
    AGENT.store(ptr::null_mut(), Ordering::Release);
}

fn serve(request: u32) {
    if request & requests::STACKS != 0 {
        match stacks() {
            Ok(stacks) => output::write(stacks.text.as_bytes()),
            Err(error) => output::say(&error.to_string()),
        }
    }
    if request & requests::ASK != 0 {
        asks::answer(&stacks());
    }
    if request & requests::CALL != 0 {
        call::begin();
        call::answer(stacks());
    }
    if request & requests::PROFILE != 0 {
        match profile() {
            Ok(written) => output::say(&written),
            Err(error) => output::say(&error.to_string()),
        }
    }
}

/// Takes a profile, until somebody asks again or its time is over: another process does where the program runs a
/// language, and else, or where that cannot be, this thread. Other requests are served meanwhile.
fn profile() -> Result<String, AgentError> {
    check_room()?;
    let settings = settings();
    let runs_language = settings.languages && agent()?.collector.runs_language()?;
    if !runs_language {
        return own_profile(settings, None);
    }
    match Outside::start(&settings).map_or_else(Outcome::Refused, of_outside) {
        Outcome::Done(said) => Ok(said),
        Outcome::Refused(why) => own_profile(settings, Some(why)),
    }
}

/// Waits for what another process samples.
fn of_outside(mut outside: Outside) -> Outcome {
    loop {
        let request = requests::take_within(outside::TURN);
        if request & requests::PROFILE != 0 {
            outside.end();
        }
        serve(request & !requests::PROFILE);
        if let Some(outcome) = outside.hear() {
            return outcome;
        }
    }
}

/// Takes a profile of native frames in this thread. `native` is why it has no others, where there are some.
fn own_profile(settings: Settings, native: Option<String>) -> Result<String, AgentError> {
    let mut sampler = Sampler::start(settings, native, &mut agent()?.collector)?;
    loop {
        let request = requests::take_within(sampler::TURN);
        let asks_for_end = request & requests::PROFILE != 0;
        let goes_on = sampler.turn(&mut agent()?.collector) && !asks_for_end;
        // Also what came with the end: nobody else has it any more.
        let others = request & !requests::PROFILE;
        if others != 0 {
            sampler.pause(&mut agent()?.collector);
            serve(others);
            agent()?.collector.open_slots()?;
        }
        if !goes_on {
            break;
        }
    }
    let Agent { collector, pool } = agent()?;
    match pool {
        Some(pool) => pool.install(|| sampler.finish(collector)),
        None => sampler.finish(collector),
    }
}

/// Collects and names the stacks of all threads.
fn stacks() -> Result<Stacks, AgentError> {
    handler::check()?;
    check_room()?;
    let settings = settings();
    let agent = agent()?;
    let Agent { collector, pool } = agent;
    let collection = collector.collect(settings.signal, settings.timeout)?;
    match pool {
        Some(pool) => pool.install(|| report::of(collector, collection)),
        None => report::of(collector, collection),
    }
}

/// Begins no request where memory or files are so scarce that it would end in the middle, or tell what is not so.
fn check_room() -> Result<(), AgentError> {
    if !sys::has_memory(ROOM) {
        return Err(AgentError::system("memory for a request", libc::ENOMEM));
    }
    let files: io::Result<Vec<File>> = (0..FILES).map(|_| File::open("/proc/self/maps")).collect();
    match files {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
            Err(AgentError::System { what: "files for a request", error })
        }
        _ => Ok(()),
    }
}

/// What the thread keeps, made by the first request.
fn agent() -> Result<&'static mut Agent, AgentError> {
    if AGENT.load(Ordering::Acquire).is_null() {
        let collector = Collector::new()?;
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
        AGENT.store(Box::into_raw(Box::new(Agent { collector, pool })), Ordering::Release);
    }
    // SAFETY: it is a leaked box that this thread alone uses, one request after the other.
    unsafe { AGENT.load(Ordering::Acquire).as_mut() }.ok_or(AgentError::Failed)
}
