//! Where the C library of another process keeps what it knows of a thread: get_robust_list(2).

use std::ptr;

use kcore_mem::Addr;

/// The head of the robust list of a thread, which lies in the C library's structure of the thread; `None` where the
/// thread has none, has ended, or may not be looked at.
pub fn list_of(tid: libc::pid_t) -> Option<Addr> {
    let mut head: *mut libc::c_void = ptr::null_mut();
    let mut length: libc::size_t = 0;
    // SAFETY: the kernel writes a pointer and a length, to variables that live until it is done.
    let failed =
        unsafe { libc::syscall(libc::SYS_get_robust_list, tid, &raw mut head, &raw mut length) };
    let at = Addr::new(head.addr() as u64);
    (failed == 0 && at.get() != 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_glibc_has_its_list_near_its_own_structure() {
        if cfg!(target_env = "gnu") {
            let own = crate::sys::own::own_thread();
            assert!(list_of(own).is_some());
            assert_eq!(list_of(own), list_of(0), "0 is the thread that asks");
        }
        assert_eq!(list_of(i32::MAX), None, "there is no such thread");
    }
}
