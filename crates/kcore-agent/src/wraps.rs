//! Functions of the C library that the agent's own thread must not reach.
//!
//! Where the linker is told to (`--wrap`: for the shared library in `build.rs`, for the static one by pkg-config), what
//! is linked together calls these instead; every other thread goes on to the function itself.
//!
//! - `__cxa_thread_atexit_impl` takes the dynamic linker's lock, which a thread that loads a library may have for as
//!   long as it likes. The agent's thread never ends as others do, so that nothing need be noted to run then.
//! - `abort` ends the process: of all things that Rust calls it for, most of all where memory is refused. The agent's
//!   thread is given up instead ([`agent::abandon`]), and the program goes on.

#![allow(unsafe_code)]

use std::{
    arch::global_asm,
    ffi::{c_int, c_void},
};

use crate::{agent, requests};

/// `__cxa_thread_atexit_impl`.
type AtExit = extern "C" fn(*const c_void, *const c_void, *const c_void) -> c_int;

// Names that no language but the linker's has, and the functions behind them; 0 where nothing is wrapped.
global_asm!(
    ".pushsection .text.kcore_agent_wraps, \"ax\", @progbits",
    ".hidden __wrap___cxa_thread_atexit_impl",
    ".globl __wrap___cxa_thread_atexit_impl",
    ".type __wrap___cxa_thread_atexit_impl, @function",
    "__wrap___cxa_thread_atexit_impl:",
    #[cfg(target_arch = "x86_64")]
    "jmp {at_exit}",
    #[cfg(target_arch = "aarch64")]
    "b {at_exit}",
    ".size __wrap___cxa_thread_atexit_impl, . - __wrap___cxa_thread_atexit_impl",
    ".hidden __wrap_abort",
    ".globl __wrap_abort",
    ".type __wrap_abort, @function",
    "__wrap_abort:",
    #[cfg(target_arch = "x86_64")]
    "jmp {abort}",
    #[cfg(target_arch = "aarch64")]
    "b {abort}",
    ".size __wrap_abort, . - __wrap_abort",
    ".popsection",
    ".pushsection .data.rel.ro.kcore_agent_wraps, \"aw\", @progbits",
    ".weak __real___cxa_thread_atexit_impl",
    ".weak __real_abort",
    ".hidden kcore_agent_real_at_exit",
    ".globl kcore_agent_real_at_exit",
    ".type kcore_agent_real_at_exit, @object",
    ".balign 8",
    "kcore_agent_real_at_exit:",
    ".quad __real___cxa_thread_atexit_impl",
    ".size kcore_agent_real_at_exit, 8",
    ".hidden kcore_agent_real_abort",
    ".globl kcore_agent_real_abort",
    ".type kcore_agent_real_abort, @object",
    "kcore_agent_real_abort:",
    ".quad __real_abort",
    ".size kcore_agent_real_abort, 8",
    ".popsection",
    at_exit = sym at_thread_exit,
    abort = sym abort,
);

unsafe extern "C" {
    static kcore_agent_real_at_exit: Option<AtExit>;
    static kcore_agent_real_abort: Option<extern "C" fn() -> !>;
}

extern "C" fn at_thread_exit(
    run: *const c_void,
    object: *const c_void,
    library: *const c_void,
) -> c_int {
    if requests::is_own_thread() {
        return 0;
    }
    // SAFETY: the word above, which nobody writes to once the library was linked. Without the function nothing runs
    // when a thread ends, as before glibc 2.18.
    unsafe { kcore_agent_real_at_exit }.map_or(0, |real| real(run, object, library))
}

extern "C" fn abort() -> ! {
    if requests::is_own_thread() {
        agent::abandon();
    }
    // SAFETY: as above.
    if let Some(real) = unsafe { kcore_agent_real_abort } {
        real();
    }
    // SAFETY: it takes nothing and does not return.
    unsafe { libc::_exit(134) }
}
