//! rust-panic-backtrace: a named thread panics with a message that fits in no buffer, and its backtrace is printed.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use std::thread::Builder;
use truth::{call, die};

#[inline(never)]
fn connect(host: &str, attempts: u32) -> u32 {
    truth::fact("panic_place", &format!("{}:{}:28", file!(), line!() + 2));
    let tried = "again ".repeat(200);
    die!("connect", "std", panic!("no route to host {host}: {attempts} attempts, {tried}"))
}

#[inline(never)]
fn retry(host: &str) -> u32 {
    let attempts = black_box(3);
    call!("retry", connect(host, attempts)) + 1
}

fn main() {
    truth::thread("main");
    // SAFETY: there is no other thread yet.
    unsafe { std::env::set_var("RUST_BACKTRACE", "1") };
    let host = black_box(String::from("10.0.0.7"));
    let message = format!("no route to host {host}: 3 attempts, {}", "again ".repeat(200));
    truth::fact("panic_message", &message);
    truth::fact("panic_thread", "worker-seven");
    truth::push("main", file!(), 0, Some(false));
    truth::gap("std");
    let worker = Builder::new().name("worker-seven".to_owned());
    let thread = worker.spawn(move || {
        truth::thread("worker");
        black_box(retry(&host))
    });
    thread.unwrap().join().unwrap();
}
