//! ptrace(2), of a thread that was seized.
//!
//! All of it must come from the thread that seized.

use std::{
    io,
    ptr::{null_mut, without_provenance_mut},
};

use libc::{c_int, c_long, c_void, iovec, pid_t};

/// `NT_PRSTATUS` as a register set: the general registers.
pub const GENERAL: c_int = 1;
/// `NT_PRFPREG`: the floating-point registers.
pub const FLOATING: c_int = 2;
/// `NT_X86_XSTATE`.
pub const X86_XSTATE: c_int = 0x202;
/// `NT_ARM_TLS`: the register `tpidr_el0`.
pub const ARM_TLS: c_int = 0x401;

/// What a thread does that was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It stands still. The signal is the one that it was about to take, which it gets when it goes
    /// on; 0 is none.
    Stopped(c_int),
    /// It has ended, or is nobody's tracee any more.
    Gone,
    /// It has not stopped yet.
    Runs,
}

/// The constants of glibc and musl differ in their type, as the calls do.
#[cfg(target_env = "musl")]
pub(super) type Request = c_int;
#[cfg(not(target_env = "musl"))]
pub(super) type Request = libc::c_uint;

pub(super) fn request(
    kind: Request,
    tid: pid_t,
    address: *mut c_void,
    data: *mut c_void,
) -> io::Result<c_long> {
    // SAFETY: few of the requests of this module write to memory of kcore: GETREGSET, GETSIGINFO, PEEKSIGINFO,
    // GETEVENTMSG, GETSIGMASK and GET_SYSCALL_INFO, which write to buffers that their callers own and measure.
    let answer = unsafe { libc::ptrace(kind, tid, address, data) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Begins to trace a thread, which goes on running. No option is set: above all not the one by
/// which a tracee dies with its tracer.
///
/// # Errors
/// `EPERM` without the right, or when it is traced already or ending; `ESRCH` when it has ended.
pub fn seize(tid: pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, tid, null_mut(), null_mut()).map(drop)
}

/// Asks a thread to stop. It has not yet stopped when this returns.
///
/// # Errors
/// When it has ended.
pub fn interrupt(tid: pid_t) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, null_mut(), null_mut()).map(drop)
}

/// Looks whether a thread stands still or has ended; one that has ended is taken note of, for which
/// the system may wait. Of a stop no note is taken: the signal that it holds back would be lost with
/// that, if kcore were killed before it lets the thread go (`ptrace_stop`, Linux `kernel/signal.c`).
pub fn look(tid: pid_t) -> Waited {
    match happened(tid, libc::WSTOPPED | libc::WNOWAIT) {
        Happened::Nothing => Waited::Runs,
        Happened::To { code: libc::CLD_TRAPPED | libc::CLD_STOPPED, status } => {
            Waited::Stopped(signal_of(status))
        }
        Happened::To { .. } => {
            happened(tid, 0);
            Waited::Gone
        }
        Happened::NoTracee => Waited::Gone,
    }
}

/// Takes note of a thread that has ended, for which the system may wait; any thread of kcore may. What
/// else happens to it is left to its tracer: the system tells of stops whether they were asked for or
/// not (`wait_task_stopped`, Linux `kernel/exit.c`), and so is asked first without taking note.
pub fn take_note_of_end(tid: pid_t) {
    const ENDS: [c_int; 3] = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED];
    if matches!(happened(tid, libc::WNOWAIT), Happened::To { code, .. } if ENDS.contains(&code)) {
        happened(tid, 0);
    }
}

/// What the system has to tell of a thread.
pub(super) enum Happened {
    Nothing,
    /// `si_code` and `si_status` of it.
    To {
        code: c_int,
        status: c_int,
    },
    /// It is none of the threads of which it tells.
    NoTracee,
}

/// Asks for the end of a thread, and for what else the flags say.
pub(super) fn happened(tid: pid_t, flags: c_int) -> Happened {
    let id = libc::id_t::try_from(tid).unwrap_or_default();
    match waited(libc::P_PID, id, libc::WEXITED | libc::WNOHANG | libc::__WALL | flags) {
        None => Happened::Nothing,
        Some(Ok((_, code, status))) => Happened::To { code, status },
        Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Happened::Nothing,
        Some(Err(_)) => Happened::NoTracee,
    }
}

/// waitid(2): the thread, `si_code` and `si_status`; `None` when nothing happened.
pub(super) fn waited(
    kind: libc::idtype_t,
    id: libc::id_t,
    flags: c_int,
) -> Option<io::Result<(pid_t, c_int, c_int)>> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the answer is written to a local variable, which is valid when it is all zeros, too; its
    // fields are those of a child.
    let (answer, code, pid, status) = unsafe {
        let answer = libc::waitid(kind, id, info.as_mut_ptr(), flags);
        let info = info.assume_init();
        (answer, info.si_code, info.si_pid(), info.si_status())
    };
    match answer {
        0 if pid == 0 => None,
        0 => Some(Ok((pid, code, status))),
        _ => Some(Err(io::Error::last_os_error())),
    }
}

/// The signal that a stop holds back: only a stop that is no event is about one. The stop of a whole
/// group is an event, and comes again by itself. An event stands above the signal's eight bits, and the
/// highest of these is set where a system call begins or ends.
const fn signal_of(status: c_int) -> c_int {
    if status >> 7 == 0 { status } else { 0 }
}

/// Reads a register set of a stopped thread; the answer is its length in bytes.
///
/// # Errors
/// When the thread does not stand still, or the machine has no such registers.
pub fn registers(tid: pid_t, set: c_int, buffer: &mut [u8]) -> io::Result<usize> {
    let mut io = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let set = without_provenance_mut(usize::try_from(set).unwrap_or_default());
    request(libc::PTRACE_GETREGSET, tid, set, (&raw mut io).cast())?;
    Ok(io.iov_len.min(buffer.len()))
}

/// The `siginfo_t` of the signal that a stopped thread is about to take.
///
/// # Errors
/// When the thread does not stand still before a signal.
pub fn signal(tid: pid_t) -> io::Result<Vec<u8>> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    request(libc::PTRACE_GETSIGINFO, tid, null_mut(), info.as_mut_ptr().cast())?;
    // SAFETY: all bytes were zeros before the kernel wrote the structure.
    let bytes = unsafe {
        std::slice::from_raw_parts(info.as_ptr().cast::<u8>(), size_of::<libc::siginfo_t>())
    };
    Ok(bytes.to_vec())
}

/// Lets a stopped thread go, with the signal that its stop held back.
///
/// # Errors
/// When it has ended, or does not stand still.
pub fn detach(tid: pid_t, signal: c_int) -> io::Result<()> {
    let signal = without_provenance_mut(usize::try_from(signal).unwrap_or_default());
    request(libc::PTRACE_DETACH, tid, null_mut(), signal).map(drop)
}
