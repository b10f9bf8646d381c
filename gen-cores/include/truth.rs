//! A Rust program's own account of its stacks; see truth.h, whose counterpart this is.
//!
//! Used by `#[path = "../../include/truth.rs"] mod truth;`. `call!` notes a call, `die!` the statement that dies.
#![allow(dead_code, unused_macros)]

use std::cell::Cell;
use std::fmt::Write;
use std::sync::Mutex;

/// One thread's notes.
struct Account {
    tid: u32,
    role: String,
    crashed: bool,
    frames: Vec<String>,
}

static ACCOUNTS: Mutex<Vec<Account>> = Mutex::new(Vec::new());
static FACTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The calling thread joins the account.
#[inline(never)]
pub fn thread(role: &str) {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    let tid = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let frames = vec![r#"{"gap":"start"}"#.to_owned()];
    let mut accounts = ACCOUNTS.lock().unwrap();
    MINE.set(Some(accounts.len()));
    accounts.push(Account { tid, role: role.to_owned(), crashed: false, frames });
}

fn with_mine(change: impl FnOnce(&mut Account)) {
    if MINE.get().is_none() {
        thread("main");
    }
    change(&mut ACCOUNTS.lock().unwrap()[MINE.get().unwrap()]);
}

/// Notes a frame. A name that begins with `:` or `{` is a part of one that compilers spell in several ways, others are
/// paths in the crate. A line that is not known is 0, `inline` is `Some` where it is known in every variant.
#[inline(never)]
pub fn push(function: &str, file: &str, line: u32, inline: Option<bool>) {
    let file = file.rsplit('/').next().unwrap();
    let inline = inline.map_or("null".to_owned(), |inline| inline.to_string());
    let (function, matching) = match function.starts_with([':', '{']) {
        true => (function.to_owned(), "contains"),
        false => (format!("{}::{function}", module_path!().replace("::truth", "")), "demangled"),
    };
    let line = if line == 0 { "null".to_owned() } else { line.to_string() };
    let frame = format!(
        r#"{{"function":{function:?},"match":{matching:?},"file":{file:?},"line":{line},"inline":{inline}}}"#
    );
    with_mine(|mine| mine.frames.push(frame));
}

/// Notes frames that are not the program's own.
#[inline(never)]
pub fn gap(what: &str) {
    with_mine(|mine| mine.frames.push(format!(r#"{{"gap":{what:?}}}"#)));
}

/// Takes the newest note back.
#[inline(never)]
pub fn pop() {
    with_mine(|mine| drop(mine.frames.pop()));
}

/// The newest note may be shown or not.
#[inline(never)]
pub fn optional() {
    with_mine(|mine| {
        if let Some(frame) = mine.frames.last_mut() {
            frame.insert_str(1, r#""mark":"optional","#);
        }
    });
}

/// A fact of the process.
pub fn fact(key: &str, value: &str) {
    FACTS.lock().unwrap().push(format!(r#"{{"fact":{{{key:?}:{value:?}}}}}"#));
}

/// Writes the account; the calling thread is the one that dies.
#[inline(never)]
pub fn write() {
    with_mine(|mine| mine.crashed = true);
    write_waiting();
}

/// Writes the account of a process that waits to be dumped.
#[inline(never)]
pub fn write_waiting() {
    let Ok(path) = std::env::var("KCORE_TRUTH") else { return };
    let args: Vec<String> = std::env::args().map(|arg| format!("{arg:?}")).collect();
    let mut text = format!("{{\"pid\":{}}}\n{{\"argv\":[{}]}}\n", std::process::id(), args.join(","));
    for account in ACCOUNTS.lock().unwrap().iter() {
        let frames: Vec<&str> = account.frames.iter().rev().map(String::as_str).collect();
        writeln!(
            text,
            r#"{{"thread":{{"tid":{},"role":{:?},"crashed":{},"frames":[{}],"end":"outermost"}}}}"#,
            account.tid,
            account.role,
            account.crashed,
            frames.join(",")
        )
        .unwrap();
    }
    for fact in FACTS.lock().unwrap().iter() {
        writeln!(text, "{fact}").unwrap();
    }
    std::fs::write(path, text + "{\"done\":true}\n").unwrap();
}

/// How many threads are in the account.
pub fn threads() -> usize {
    ACCOUNTS.lock().unwrap().len()
}

/// `call!("name", expression)`: the function's name, then the call that it makes.
macro_rules! call {
    ($name:expr, $call:expr) => {{
        crate::truth::push($name, file!(), line!(), Some(false));
        let result = $call;
        crate::truth::pop();
        std::hint::black_box(result)
    }};
}

/// `die!("name", statement)`, or with a gap below: `die!("name", "std", statement)`.
macro_rules! die {
    ($name:expr, $gap:literal, $die:expr) => {{
        crate::truth::push($name, file!(), line!(), Some(false));
        crate::truth::gap($gap);
        crate::truth::write();
        $die
    }};
    ($name:expr, $die:expr) => {{
        crate::truth::push($name, file!(), line!(), Some(false));
        crate::truth::write();
        $die
    }};
}

pub(crate) use {call, die};
