//! The name that a Rust program gave a thread.
//!
//! A thread-local variable of the standard library leads to the thread's `Inner`, by itself or in an `Arc`,
//! which begins with two counts. `Inner` has the name as a `CString`: address, and length with the zero at its
//! end. The order of its fields is the compiler's: that text at an address is as long as the next word says, up
//! to a zero, tells it.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::payload::{text, word_at};
use crate::Core;

/// The variable, by its name in the standard library of several versions (1.63; 1.77; 1.83; 1.95).
const VARIABLES: [&str; 4] = [
    "std::thread::current::CURRENT",
    "std::thread::CURRENT::{{constant}}::{{closure}}::VAL",
    "std::thread::CURRENT::__getit::VAL",
    "std::sys_common::thread_info::THREAD_INFO::__getit::VAL",
];
/// Words of the variable, and of what it leads to.
const VARIABLE_WORDS: u64 = 6;
const INNER_WORDS: u64 = 8;
const MAX_NAME: u64 = 4096;

/// The name of a thread; that of the first one is `main` unless it got another.
pub fn find(core: &Core, tid: Tid) -> Option<String> {
    let given = VARIABLES.iter().find_map(|name| core.tls().variable(tid, None, name).ok());
    let given = given.and_then(|variable| name_behind(core, variable));
    given.or_else(|| (core.process().pid() == Some(tid.get())).then(|| "main".to_owned()))
}

fn name_behind(core: &Core, variable: Addr) -> Option<String> {
    let words =
        (0..VARIABLE_WORDS).filter_map(|index| word_at(core, variable, index.checked_mul(8)?));
    let mut inner = words.filter(|at| at.is_multiple_of(8)).map(Addr::new);
    inner.find_map(|inner| name_in(core, inner))
}

fn name_in(core: &Core, inner: Addr) -> Option<String> {
    (0..INNER_WORDS).find_map(|index| {
        let offset = index.checked_mul(8)?;
        let start = word_at(core, inner, offset)?;
        let len = word_at(core, inner, offset.checked_add(8)?)?;
        let whole = text(core, start, Some(len).filter(|len| *len <= MAX_NAME)?)?;
        let name = whole.strip_suffix('\0')?;
        (!name.is_empty() && !name.contains('\0')).then(|| name.to_owned())
    })
}
