//! The system calls that kcore has use for once it was told what to open: none that runs a program, makes a
//! connection, looks into another process or types for the user.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter_all_threads,
};

/// What a call that was taken away says: the C library then does without it, as on an old kernel.
const REFUSAL: u32 = libc::ENOSYS.unsigned_abs();

/// Calls that may be made in whatever way.
const PLAIN: &[i64] = &[
    // Files that Landlock lets be opened.
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_close,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_fstatfs,
    libc::SYS_statfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_fadvise64,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_dup3,
    // A core is unpacked into a file that has no name.
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_unlinkat,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_membarrier,
    // Threads. A new process is confined like this one, and can run nothing.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    // Signals to itself, and time.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    // Waiting for keys and pipes.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    libc::SYS_socketpair,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    // Facts about itself and the machine.
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrusage,
    // Landlock is narrowed once more after the core was unpacked; neither can be widened.
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];

/// Older forms of calls, which newer machines never had.
#[cfg(target_arch = "x86_64")]
const OLD: &[i64] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_unlink,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[i64] = &[];

/// Requests to a terminal by which a program types in the name of the user: TIOCSTI and TIOCLINUX, whose type is
/// another one in each C library.
const TYPING: [u64; 2] = [0x5412, 0x541c];
/// What a thread may change of itself: its name, those of its memory, and that it never gets more rights.
const OWN_TRAITS: [i32; 4] =
    [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA, libc::PR_SET_NO_NEW_PRIVS];

/// Takes all other calls away, from every thread and for good.
///
/// # Errors
/// When the kernel cannot.
pub(super) fn confine() -> Result<(), seccompiler::Error> {
    apply_filter_all_threads(&program()?)
}

fn program() -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        PLAIN.iter().chain(OLD).map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_ioctl, vec![no_typing()?]);
    rules.insert(libc::SYS_prctl, own_traits()?);
    rules.insert(libc::SYS_prlimit64, vec![reads_limits()?]);
    rules.insert(libc::SYS_tgkill, vec![to_itself()?]);
    rules.insert(libc::SYS_tkill, vec![to_itself()?]);
    let machine = std::env::consts::ARCH.try_into()?;
    let filter =
        SeccompFilter::new(rules, SeccompAction::Errno(REFUSAL), SeccompAction::Allow, machine)?;
    Ok(filter.try_into()?)
}

fn no_typing() -> Result<SeccompRule, BackendError> {
    let other = |request| condition(1, SeccompCmpOp::Ne, request);
    SeccompRule::new(TYPING.into_iter().map(other).collect::<Result<_, _>>()?)
}

fn own_traits() -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |what: i32| {
        SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, u64::from(what.unsigned_abs()))?])
    };
    OWN_TRAITS.into_iter().map(rule).collect()
}

/// A thread asks for the size of its stack; none is given new limits.
fn reads_limits() -> Result<SeccompRule, BackendError> {
    let new_limits = 2;
    let none = SeccompCondition::new(new_limits, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    SeccompRule::new(vec![none])
}

/// To abort is to send a signal to oneself. musl names only the thread: the first one has the number of the process.
/// Others cannot be told from strangers, so they end by a fault instead.
fn to_itself() -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, u64::from(std::process::id()))?])
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::process::Command;
    use std::{fs, thread};

    use seccompiler::apply_filter;

    use super::*;

    #[test]
    fn a_filter_can_be_made_and_has_no_call_twice() {
        assert!(program().is_ok_and(|program| !program.is_empty()));
        let mut all: Vec<i64> = PLAIN.iter().chain(OLD).copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), PLAIN.len() + OLD.len());
    }

    #[test]
    fn nothing_that_runs_or_connects_is_allowed() {
        for call in [libc::SYS_execve, libc::SYS_socket, libc::SYS_connect, libc::SYS_ptrace] {
            assert!(!PLAIN.contains(&call) && !OLD.contains(&call), "{call}");
        }
        for call in [libc::SYS_io_uring_setup, libc::SYS_process_vm_writev, libc::SYS_kill] {
            assert!(!PLAIN.contains(&call) && !OLD.contains(&call), "{call}");
        }
    }

    /// Each thread is confined by itself: others of the test program go on as they are.
    #[test]
    fn nothing_can_be_run_or_reached_any_more() {
        let program = program().unwrap();
        let confined = thread::spawn(move || {
            apply_filter(&program).unwrap();
            let run = Command::new("/bin/true").status().is_ok();
            let reached = TcpStream::connect("127.0.0.1:9").map_err(|error| error.raw_os_error());
            (run, reached.err().flatten(), fs::read("/proc/self/stat").is_ok())
        });
        let refused = Some(libc::ENOSYS);
        assert_eq!(confined.join().unwrap(), (false, refused, true));
    }
}
