//! hang-rust: two threads wait for each other's Mutex, others for objects of the standard library. No Mutex knows its
//! owner.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, RwLock};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// Each of two threads has its first Mutex before either asks for its second.
static BOTH_HOLD: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
static A: Mutex<u32> = Mutex::new(1);
static B: Mutex<u32> = Mutex::new(2);
static WRITTEN: RwLock<u32> = RwLock::new(3);
static READ: RwLock<u32> = RwLock::new(4);
static JOBS: Mutex<u32> = Mutex::new(0);
static FILLED: Condvar = Condvar::new();
static ONCE: Once = Once::new();

unsafe extern "C" {
    safe fn gettid() -> i32;
}

/// Says what the calling thread is about to wait for.
fn tell<T>(kind: &str, at: Option<&'static T>, holder: &str, holder_tid: i32) {
    let (tid, at) = (gettid(), at.map_or(0, |at| std::ptr::from_ref(at).addr()));
    let kind = format!(r#""kind":"{kind}","at":"{at:#x}""#);
    println!(r#"{{"tid":{tid},{kind},"holder":"{holder}","holder_tid":{holder_tid}}}"#);
}

/// Notes a call that does not come back.
macro_rules! wait {
    ($name:expr, $call:expr) => {{
        truth::push($name, file!(), line!(), Some(false));
        truth::gap("std");
        $call
    }};
}

#[inline(never)]
fn lock_mutex(mutex: &'static Mutex<u32>) -> u32 {
    wait!("lock_mutex", *black_box(mutex.lock()).unwrap())
}

#[inline(never)]
fn lock_for_reading(lock: &'static RwLock<u32>) -> u32 {
    wait!("lock_for_reading", *black_box(lock.read()).unwrap())
}

#[inline(never)]
fn lock_for_writing(lock: &'static RwLock<u32>) -> u32 {
    wait!("lock_for_writing", *black_box(lock.write()).unwrap())
}

#[inline(never)]
fn wait_for_job() -> u32 {
    let jobs = JOBS.lock().unwrap();
    wait!("wait_for_job", *black_box(FILLED.wait(jobs)).unwrap())
}

#[inline(never)]
fn do_once() -> u32 {
    wait!("do_once", ONCE.call_once(|| ()));
    1
}

#[inline(never)]
fn park() -> u32 {
    wait!("park", std::thread::park());
    1
}

#[inline(never)]
fn join_thread(thread: JoinHandle<u32>) -> u32 {
    wait!("join_thread", black_box(thread.join()).unwrap_or(1))
}

#[inline(never)]
fn doze() -> u32 {
    wait!("doze", black_box(sleep(Duration::from_secs(100_000))));
    1
}

/// The outermost function of each thread is a closure in main.
fn start<F: FnOnce() -> u32 + Send + 'static>(role: &'static str, job: F) -> JoinHandle<u32> {
    let before = truth::threads();
    let thread = spawn(move || {
        truth::thread(role);
        black_box(job())
    });
    while truth::threads() == before {
        sleep(Duration::from_millis(1));
    }
    thread
}

fn main() {
    truth::thread("main");
    start("a then b", || {
        let _held = A.lock().unwrap();
        BOTH_HOLD.wait();
        tell("rust_mutex", Some(&B), "not_recorded", 0);
        lock_mutex(&B)
    });
    start("b then a", || {
        let _held = B.lock().unwrap();
        BOTH_HOLD.wait();
        tell("rust_mutex", Some(&A), "not_recorded", 0);
        lock_mutex(&A)
    });
    let (sender, holder) = std::sync::mpsc::channel();
    let joined = start("holds", move || {
        let _written = WRITTEN.write().unwrap();
        let _read = READ.read().unwrap();
        ONCE.call_once(|| {
            sender.send(gettid()).unwrap();
            doze();
        });
        1
    });
    let holder = holder.recv().unwrap();
    start("reads", || {
        tell("rust_rwlock", Some(&WRITTEN), "not_recorded", 0);
        lock_for_reading(&WRITTEN)
    });
    start("writes", || {
        tell("rust_rwlock", Some(&READ), "readers", 0);
        lock_for_writing(&READ)
    });
    for _ in 0..2 {
        start("worker", || {
            tell("rust_condvar", Some(&FILLED), "nobody", 0);
            wait_for_job()
        });
    }
    start("once", || {
        tell("rust_once", Some(&ONCE), "not_recorded", 0);
        do_once()
    });
    start("parks", || {
        tell("rust_parker", None::<&u32>, "nobody", 0);
        park()
    });
    start("joins", move || {
        tell("join", None::<&u32>, "thread", holder);
        join_thread(joined)
    });
    sleep(Duration::from_millis(300));
    truth::push("main", file!(), 0, Some(false));
    truth::gap("std");
    truth::write_waiting();
    loop {
        black_box(sleep(Duration::from_secs(100_000)));
    }
}
