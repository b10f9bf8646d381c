//! What is looked up in the C library, by the thread that installs the agent.
//!
//! The dynamic linker answers under a lock. A thread that installs in a constructor of a library has it, and so may
//! any other thread for as long as it likes: none but the one that installs may ask.

use std::ffi::{CStr, c_int, c_void};

use super::sanitizer;

/// What a thread begins with.
pub type Begin = extern "C" fn(*mut c_void) -> *mut c_void;
/// `pthread_create`.
pub type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Begin,
    *mut c_void,
) -> c_int;

/// What was looked up.
pub struct CLibrary {
    /// Makes a thread.
    pub create: Create,
    /// Where restartable sequences of a thread stand, from its thread pointer, and their bytes (glibc 2.35).
    pub sequences: Option<(isize, usize)>,
    /// Bytes of thread-local storage of each thread, at most; 0 where nothing tells.
    pub storage: usize,
}

impl CLibrary {
    /// Looks it up.
    pub fn look_up() -> Self {
        Self { create: create(), sequences: sequences(), storage: storage() }
    }
}

/// The C library's own function: others of that name begin with code of theirs in the new thread, which takes memory,
/// or counts on being told when the thread ends. Sanitizers have to know the thread.
fn create() -> Create {
    const LIBRARIES: [&CStr; 2] = [c"libc.so.6", c"libpthread.so.0"];
    if sanitizer::is_there() {
        return libc::pthread_create;
    }
    let own = LIBRARIES.iter().find_map(|library| {
        // SAFETY: the library is not loaded, only found; the symbol, where there is one, is the function of that name.
        unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let found =
                (!library.is_null()).then(|| libc::dlsym(library, c"pthread_create".as_ptr()))?;
            (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, Create>(found))
        }
    });
    own.unwrap_or(libc::pthread_create)
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn sequences() -> Option<(isize, usize)> {
    /// Bytes of the first form of `struct rseq`.
    const LEAST: usize = 32;
    let (offset, size) = (symbol(c"__rseq_offset")?, symbol(c"__rseq_size")?);
    // SAFETY: they are what glibc documents, an offset from the thread pointer and a size.
    let (offset, size) = unsafe { (*offset.cast::<isize>(), *size.cast::<u32>()) };
    (size != 0).then_some((offset, (size as usize).max(LEAST)))
}

fn storage() -> usize {
    type MinStack = unsafe extern "C" fn(*const libc::pthread_attr_t) -> usize;
    let Some(found) = symbol(c"__pthread_get_minstack") else { return 0 };
    // SAFETY: glibc's function, which others look for by name too: it does not use its argument.
    let least = unsafe { std::mem::transmute::<*mut c_void, MinStack>(found)(std::ptr::null()) };
    least.saturating_sub(libc::PTHREAD_STACK_MIN)
}
