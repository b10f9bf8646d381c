//! ptrace(2): the stops of threads at events, and how they go on.
//!
//! All of it must come from the thread that seized.

use std::{
    io,
    ptr::{null_mut, without_provenance_mut},
};

use libc::{c_int, pid_t};

use super::ptrace::{Request, happened, request, waited};

/// `PTRACE_GET_SYSCALL_INFO` (Linux 5.3 and later).
const GET_SYSCALL_INFO: Request = 0x420e;
/// `PTRACE_PEEKSIGINFO`.
const PEEK_SIGNALS: Request = 0x4209;
/// `PTRACE_GETSIGMASK` and `PTRACE_SETSIGMASK`.
const GET_SIGNAL_MASK: Request = 0x420a;
const SET_SIGNAL_MASK: Request = 0x420b;

/// As [`super::ptrace::seize`], and the thread stops as well where it makes another thread, which is traced from its first moment on,
/// where it starts another program, and where it ends.
///
/// # Errors
/// As [`super::ptrace::seize`].
pub fn seize_for_events(tid: pid_t) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT
        | libc::PTRACE_O_TRACESYSGOOD;
    let options = without_provenance_mut(usize::try_from(options).unwrap_or_default());
    request(libc::PTRACE_SEIZE, tid, null_mut(), options).map(drop)
}

/// A stop, or an end, of one of the threads that the calling thread traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The thread.
    pub tid: pid_t,
    /// Why it stands still.
    pub why: Why,
}

/// Why a traced thread stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is about to take this signal.
    Signal(c_int),
    /// It begins or ends a system call, since it was let go by [`go_on_to_call`].
    Call,
    /// One of the events of ptrace(2), `PTRACE_EVENT_*`; the signal is that of a stopped group.
    Event { event: c_int, signal: c_int },
    /// It has ended, and note was taken of that.
    Ended,
}

/// Looks whether one of the threads stands still that the calling thread traces, and which. Of a stop no note is
/// taken: see [`super::ptrace::look`].
pub fn any_stop() -> Option<Stop> {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
    let all = libc::__WALL | libc::__WNOTHREAD;
    let (tid, code, status) = waited(libc::P_ALL, 0, options | all)?.ok()?;
    let event = status >> 8;
    let why = match code {
        libc::CLD_TRAPPED | libc::CLD_STOPPED if event != 0 => {
            Why::Event { event, signal: status & 0x7f }
        }
        libc::CLD_TRAPPED | libc::CLD_STOPPED if status & 0x80 != 0 => Why::Call,
        libc::CLD_TRAPPED | libc::CLD_STOPPED => Why::Signal(status & 0x7f),
        _ => {
            happened(tid, 0);
            Why::Ended
        }
    };
    Some(Stop { tid, why })
}

/// Takes note of a stop: the signal that it holds back is lost with that, whatever becomes of kcore.
pub fn take_note_of_stop(tid: pid_t) {
    happened(tid, libc::WSTOPPED);
}

/// Lets a stopped thread go on, with a signal.
///
/// # Errors
/// When it has ended.
pub fn go_on(tid: pid_t, signal: c_int) -> io::Result<()> {
    resume(libc::PTRACE_CONT, tid, signal)
}

/// As [`go_on`], up to the next begin or end of a system call.
///
/// # Errors
/// When it has ended.
pub fn go_on_to_call(tid: pid_t, signal: c_int) -> io::Result<()> {
    resume(libc::PTRACE_SYSCALL, tid, signal)
}

/// Leaves a thread stopped whose group is, and waits for what happens to it next.
///
/// # Errors
/// When it has ended.
pub fn listen(tid: pid_t) -> io::Result<()> {
    resume(libc::PTRACE_LISTEN, tid, 0)
}

fn resume(kind: Request, tid: pid_t, signal: c_int) -> io::Result<()> {
    let signal = without_provenance_mut(usize::try_from(signal).unwrap_or_default());
    request(kind, tid, null_mut(), signal).map(drop)
}

/// What an event of ptrace(2) is about: the new thread, or the status with which one ends.
///
/// # Errors
/// When the thread does not stand still.
pub fn event_message(tid: pid_t) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, tid, null_mut(), (&raw mut message).cast())?;
    Ok(message)
}

/// What a system call answered at whose end a thread stands; `None` where it stands at the begin of one, or the system
/// is too old to tell.
pub fn answer_of_call(tid: pid_t) -> Option<i64> {
    /// `struct ptrace_syscall_info`: `op` at 0, `exit.rval` at 24.
    const LEN: usize = 88;
    const EXIT: u8 = 2;
    let mut info = [0_u8; LEN];
    let len = without_provenance_mut(LEN);
    request(GET_SYSCALL_INFO, tid, len, info.as_mut_ptr().cast()).ok()?;
    let answer = info.get(24..)?.first_chunk().map(|bytes| i64::from_ne_bytes(*bytes));
    answer.filter(|_| info.first() == Some(&EXIT))
}

/// The signals that wait for a stopped thread itself, as `siginfo_t`: the first of them.
pub fn waiting_signals(tid: pid_t) -> Vec<[u8; SIGINFO]> {
    /// `struct ptrace_peeksiginfo_args`: `off`, `flags`, `nr`.
    #[repr(C)]
    struct Which {
        from: u64,
        flags: u32,
        count: i32,
    }
    const MOST: usize = 16;
    let mut which = Which { from: 0, flags: 0, count: 16 };
    let mut found = [[0_u8; SIGINFO]; MOST];
    let count =
        request(PEEK_SIGNALS, tid, (&raw mut which).cast(), found.as_mut_ptr().cast()).unwrap_or(0);
    let count = usize::try_from(count).unwrap_or_default();
    found.get(..count).unwrap_or_default().to_vec()
}

/// The signals that a stopped thread blocks, one bit each; the lowest is signal 1.
///
/// # Errors
/// When the thread does not stand still.
pub fn blocked_signals(tid: pid_t) -> io::Result<u64> {
    let mut mask: u64 = 0;
    request(
        GET_SIGNAL_MASK,
        tid,
        without_provenance_mut(size_of::<u64>()),
        (&raw mut mask).cast(),
    )?;
    Ok(mask)
}

/// Sets the signals that a stopped thread blocks.
///
/// # Errors
/// When the thread does not stand still.
pub fn block_signals(tid: pid_t, mut mask: u64) -> io::Result<()> {
    let len = without_provenance_mut(size_of::<u64>());
    request(SET_SIGNAL_MASK, tid, len, (&raw mut mask).cast()).map(drop)
}

/// Bytes of `siginfo_t`.
pub const SIGINFO: usize = size_of::<libc::siginfo_t>();
