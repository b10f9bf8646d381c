//! What a leak checker in the process has to know.

use std::{ffi::CStr, mem::transmute};

/// Runs `make`, whose memory only thread-local storage of a thread that does not run will point to: a leak
/// checker, if the program has one, would take it for lost.
pub fn kept_on_purpose<R>(make: impl FnOnce() -> R) -> R {
    call_if_there(c"__lsan_disable");
    let made = make();
    call_if_there(c"__lsan_enable");
    made
}

fn call_if_there(name: &CStr) {
    // SAFETY: both functions of LeakSanitizer's interface (`sanitizer/lsan_interface.h`) take nothing and give
    // nothing; where nobody defines them there is nothing to call.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if !found.is_null() {
            transmute::<*mut libc::c_void, extern "C" fn()>(found)();
        }
    }
}
