//! Where the library begins when it is started as a program: `build.rs` has its name.

#![allow(unsafe_code)]

use std::{
    arch::global_asm,
    ffi::{CStr, c_char, c_int, c_void},
    ptr::null_mut,
    time::Duration,
};

use super::sample;
use crate::sys;

/// What it says of itself to who starts it by hand.
const WHAT: &str =
    concat!("kcore's agent ", env!("CARGO_PKG_VERSION"), ", to be preloaded into programs\n");
/// The word by which the process is told to take a profile.
pub const PROFILE: &CStr = c"profile";

// What the program begins with, as the System V ABI has it: the stack pointer is at the number of arguments, and a
// register has a function of the loader that is called at the end.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.kcore_agent_start, \"ax\", @progbits",
    ".globl kcore_agent_start",
    ".hidden kcore_agent_start",
    ".type kcore_agent_start, @function",
    "kcore_agent_start:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "mov rsi, rdx",
    "and rsp, -16",
    "call {begin}",
    "ud2",
    ".cfi_endproc",
    ".size kcore_agent_start, . - kcore_agent_start",
    ".popsection",
    begin = sym begin,
);

// As on x86-64.
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text.kcore_agent_start, \"ax\", @progbits",
    ".globl kcore_agent_start",
    ".hidden kcore_agent_start",
    ".type kcore_agent_start, @function",
    "kcore_agent_start:",
    ".cfi_startproc",
    ".cfi_undefined x30",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x1, x0",
    "mov x0, sp",
    "bl {begin}",
    "brk 1",
    ".cfi_endproc",
    ".size kcore_agent_start, . - kcore_agent_start",
    ".popsection",
    begin = sym begin,
);

type Main = extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

unsafe extern "C" {
    /// glibc `csu/libc-start.c`; since 2.34 it runs constructors itself where `init` is null.
    fn __libc_start_main(
        main: Main,
        argc: c_int,
        argv: *const *const c_char,
        init: *mut c_void,
        fini: *mut c_void,
        at_end: *mut c_void,
        stack_end: *const c_void,
    ) -> c_int;
}

/// Hands over to the C library, which calls `main`.
extern "C" fn begin(stack: *const usize, at_end: *mut c_void) -> ! {
    // SAFETY: the kernel and the loader put the number of arguments there, and pointers to them behind it.
    unsafe {
        let argc = stack.read() as c_int;
        let argv = stack.add(1).cast();
        __libc_start_main(main, argc, argv, null_mut(), null_mut(), at_end, stack.cast());
        libc::_exit(127)
    }
}

extern "C" fn main(
    argc: c_int,
    argv: *const *const c_char,
    _environment: *const *const c_char,
) -> c_int {
    let count = usize::try_from(argc).unwrap_or_default();
    // SAFETY: `argv` has `argc` pointers to strings, and the C library keeps them.
    let arguments: Vec<&CStr> =
        (0..count).map(|index| unsafe { CStr::from_ptr(*argv.add(index)) }).collect();
    match arguments.get(1..) {
        Some([word, order @ ..]) if *word == PROFILE => sample::run(order),
        _ => {
            sys::write_all(libc::STDOUT_FILENO, WHAT.as_bytes(), Duration::from_secs(1));
            0
        }
    }
}
