//! Letting one other process trace this one, for a while.

use std::fs;

use super::call::call;

/// Where the system says who may trace (Linux `Documentation/admin-guide/LSM/Yama.rst`); 1: parents, and who was named.
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";
/// `SUID_DUMP_USER`, `include/linux/sched/coredump.h`: who has the user's rights may look at the process.
const BY_USER: isize = 1;

/// That a process may trace this one; it ends when it is dropped.
pub struct Permission {
    /// Whether the system was told who it is.
    is_named: bool,
    /// Whether the process was made one that may be dumped.
    is_dumpable: bool,
}

impl Permission {
    /// Lets the process trace this one where the system wants it named. With `dumpable`, also where this one may not be
    /// dumped: whoever has its user's rights may look at it then.
    pub fn of(process: i32, dumpable: bool) -> Self {
        let wants_name = fs::read_to_string(YAMA).is_ok_and(|scope| scope.trim() == "1");
        let is_named = wants_name && control(libc::PR_SET_PTRACER, process as usize) == 0;
        let may_not = control(libc::PR_GET_DUMPABLE, 0) != BY_USER;
        let is_dumpable = dumpable && may_not && control(libc::PR_SET_DUMPABLE, 1) == 0;
        Self { is_named, is_dumpable }
    }
}

impl Drop for Permission {
    fn drop(&mut self) {
        if self.is_named {
            control(libc::PR_SET_PTRACER, 0);
        }
        if self.is_dumpable {
            // What only root may read of a dump (2) cannot be asked for: nobody may (0).
            control(libc::PR_SET_DUMPABLE, 0);
        }
    }
}

fn control(what: libc::c_int, value: usize) -> isize {
    // SAFETY: none of these takes a pointer.
    unsafe { call(libc::SYS_prctl, [what as usize, value, 0, 0, 0, 0]) }
}
