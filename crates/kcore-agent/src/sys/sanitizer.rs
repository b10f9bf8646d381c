//! What sanitizers in the process have to know.

use std::{arch::global_asm, ffi::c_void};

// LeakSanitizer's function (`sanitizer/lsan_interface.h`), or 0 where the program has no such thing; and what begins the
// address and the thread sanitizer. The dynamic linker is not asked for it by name: programs of some compilers have it and do not tell.
global_asm!(
    ".pushsection .data.rel.ro.kcore_agent_register_roots, \"aw\", @progbits",
    ".weak __lsan_register_root_region",
    ".hidden kcore_agent_register_roots",
    ".globl kcore_agent_register_roots",
    ".type kcore_agent_register_roots, @object",
    ".balign 8",
    "kcore_agent_register_roots:",
    ".quad __lsan_register_root_region",
    ".size kcore_agent_register_roots, 8",
    ".weak __asan_init",
    ".weak __tsan_init",
    ".hidden kcore_agent_sanitizers",
    ".globl kcore_agent_sanitizers",
    ".type kcore_agent_sanitizers, @object",
    "kcore_agent_sanitizers:",
    ".quad __asan_init",
    ".quad __tsan_init",
    ".size kcore_agent_sanitizers, 16",
    ".popsection",
);

unsafe extern "C" {
    static kcore_agent_register_roots: Option<extern "C" fn(*const c_void, usize)>;
    static kcore_agent_sanitizers: [usize; 2];
}

/// Whether the program has a sanitizer that has to know each thread.
pub fn is_there() -> bool {
    // SAFETY: the words above, which nobody writes to once the program was linked.
    unsafe { kcore_agent_register_roots.is_some() || kcore_agent_sanitizers != [0; 2] }
}

/// Says that memory may be pointed to from here alone: from the stack and the thread-local storage of a thread that
/// does not run, or runs under another id than the C library knows. Not for a handler.
pub fn keep_what_is_pointed_to_from(start: *const c_void, bytes: usize) {
    // SAFETY: the word above, which nobody writes to once the program was linked.
    if let Some(register) = unsafe { kcore_agent_register_roots } {
        register(start, bytes);
    }
}
