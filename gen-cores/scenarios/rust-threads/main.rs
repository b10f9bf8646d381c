//! rust-threads: nine threads wait in four ways, a tenth indexes past the end of a slice.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;
use truth::die;

/// Notes a call that does not come back.
macro_rules! wait {
    ($name:expr, $call:expr) => {{
        truth::push($name, file!(), line!(), Some(false));
        truth::gap("std");
        $call
    }};
}

#[inline(never)]
fn wait_for_job(jobs: &Receiver<u32>) -> u32 {
    wait!("wait_for_job", black_box(jobs.recv())).unwrap_or(1)
}

#[inline(never)]
fn wait_for_lock(lock: &Mutex<u32>) -> u32 {
    wait!("wait_for_lock", *black_box(lock.lock()).unwrap())
}

#[inline(never)]
fn wait_for_event(event: &(Mutex<u32>, Condvar)) -> u32 {
    let guard = event.0.lock().unwrap();
    wait!("wait_for_event", *black_box(event.1.wait(guard)).unwrap())
}

#[inline(never)]
fn doze(seconds: u64) -> u32 {
    wait!("doze", black_box(sleep(Duration::from_secs(seconds))));
    1
}

#[inline(never)]
fn pick(values: &[u32], index: usize) -> u32 {
    die!("pick", "std", values[index])
}

/// Whether the last thread is made: the system call that makes it has no unwind information, so
/// main must have left it when the program dies.
static IS_MADE: AtomicBool = AtomicBool::new(false);

/// The outermost function of each thread is a closure in main.
fn start<F: FnOnce() -> u32 + Send + 'static>(role: &'static str, job: F) {
    let before = truth::threads();
    spawn(move || {
        truth::thread(role);
        black_box(job())
    });
    while truth::threads() == before {
        sleep(Duration::from_millis(1));
    }
}

fn main() {
    truth::thread("main");
    let lock = Arc::new(Mutex::new(1));
    let _held = lock.lock().unwrap();
    let event = Arc::new((Mutex::new(1), Condvar::new()));
    for _ in 0..3 {
        let (sender, receiver) = channel();
        std::mem::forget(sender);
        start("worker", move || wait_for_job(&receiver));
    }
    for _ in 0..2 {
        let (lock, event) = (lock.clone(), event.clone());
        start("locker", move || wait_for_lock(&lock));
        start("listener", move || wait_for_event(&event));
        start("sleeper", move || doze(1000));
    }
    truth::push("main", file!(), 0, Some(false));
    truth::gap("std");
    sleep(Duration::from_millis(100));
    spawn(|| {
        truth::thread("picker");
        while !IS_MADE.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        black_box(pick(black_box(&[1, 2, 3]), black_box(7)))
    });
    IS_MADE.store(true, Ordering::Release);
    sleep(Duration::from_secs(1000));
}
