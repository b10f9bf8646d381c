//! A mapping by whose name others see that the agent is installed, and which signal it has: `/proc/PID/maps` shows it.

use std::ptr::null_mut;

/// What mappings are called, with the version of what is said between the agent and kcore; the signal stands behind
/// that (`kcore-live`, `agent/presence.rs`).
const NAME: &str = "kcore-agent.1.";
/// Bytes of the mapping, which nobody may touch.
const PAGE: usize = 4096;
/// `MFD_NOEXEC_SEAL` (Linux 6.3): where a system wants it, files in memory are refused without.
const NO_CODE: libc::c_uint = 8;

/// Makes it. It has no file that is open, and goes when the process ends or starts another program. Where the system
/// refuses there is none: `kcore ask` has to be told then that the agent is there.
pub fn mark(signal: i32) {
    let name = format!("{NAME}{signal}\0");
    for flags in [libc::MFD_CLOEXEC | NO_CODE, libc::MFD_CLOEXEC] {
        // SAFETY: the name ends with a NUL. The file is this function's; a new mapping touches no other.
        unsafe {
            let file = libc::memfd_create(name.as_ptr().cast(), flags);
            if file >= 0 {
                libc::mmap(null_mut(), PAGE, libc::PROT_NONE, libc::MAP_SHARED, file, 0);
                libc::close(file);
                return;
            }
        }
    }
}
