//! Signals: handlers, and asking one thread.
//!
//! The system is asked directly, also to install handlers: wrappers around `sigaction` (of sanitizers, of
//! Java) hold a signal back until it suits them, and a thread's stack is another one then.

use std::{
    ffi::c_void,
    mem::{size_of, zeroed},
    ptr::{from_mut, from_ref},
};

use super::{call::call, process_id};

/// What a handler is.
pub type Handler = extern "C" fn(i32, *mut SigInfo, *mut c_void);

/// Bytes of the kernel's set of signals.
const SET: usize = 8;
const SA_RESTORER: u64 = 0x0400_0000;
/// What tells a signal that was asked for by [`ask_thread`]: it stands where `si_errno` does.
const MARK: i32 = 0x6b63_6f72;
/// What tells one by which kcore asks from another process (`kcore-live`, `sys/ask.rs`).
const ASKS: i32 = 0x6b63_6171;
/// Flags of the handlers: the system call that was interrupted goes on afterwards where it can, and a thread
/// with a stack for signals runs them there.
pub const HANDLED: u64 = (libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK) as u64;

/// The kernel's `struct sigaction` (Linux `include/linux/signal_types.h`; aarch64 has the restorer as well).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

impl Action {
    /// Whether it runs this handler.
    pub fn is(&self, handler: Handler) -> bool {
        self.handler == handler as *const () as usize
    }
}

/// The part of the kernel's `siginfo_t` that all architectures with 64 bits have alike.
#[repr(C)]
pub struct SigInfo {
    number: i32,
    error: i32,
    code: i32,
    pad: i32,
    pid: i32,
    /// Of a signal that was queued: the user; of a timer: how often it ran out besides.
    second: i32,
    value: u64,
    rest: [u64; 12],
}

/// What a signal was sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// By [`ask_thread`], with its payload.
    Asked(u64),
    /// By kcore in another process, with its number.
    Asker(u64),
    /// By a timer that was made with this payload; it ran out so often besides.
    Timer(u64, u32),
    /// By somebody else.
    Other,
}

impl SigInfo {
    /// What it was sent for.
    pub fn queued(&self) -> Queued {
        match self.code {
            libc::SI_QUEUE if self.error == MARK => Queued::Asked(self.value),
            libc::SI_QUEUE if self.error == ASKS => Queued::Asker(self.value),
            libc::SI_TIMER => Queued::Timer(self.value, self.second.max(0).cast_unsigned()),
            _ => Queued::Other,
        }
    }
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.kcore_agent_restore, \"ax\", @progbits",
    ".hidden kcore_agent_restore",
    ".globl kcore_agent_restore",
    ".type kcore_agent_restore, @function",
    // Unwinders know a signal frame by these bytes; one looks before them as well.
    "nop",
    "kcore_agent_restore:",
    "mov $15, %rax",
    "syscall",
    ".size kcore_agent_restore, . - kcore_agent_restore",
    ".popsection",
    options(att_syntax),
);

#[cfg(target_arch = "x86_64")]
fn restorer() -> usize {
    unsafe extern "C" {
        fn kcore_agent_restore();
    }
    kcore_agent_restore as *const () as usize
}

/// What is done on a signal; `None` where there is no such signal.
pub fn handler_of(signal: i32) -> Option<Action> {
    let mut action = Action::default();
    let args = [signal as usize, 0, from_mut(&mut action).addr(), SET, 0, 0];
    // SAFETY: the kernel writes `action`, which is laid out as it wants it.
    let answer = unsafe { call(libc::SYS_rt_sigaction, args) };
    (answer == 0).then_some(action)
}

/// Whether nobody has said what is to be done on a signal.
pub fn is_default(action: &Action) -> bool {
    action.handler == libc::SIG_DFL
}

/// Installs a handler, during which all other signals wait; says what is then in place.
pub fn install_handler(signal: i32, handler: Handler) -> Option<Action> {
    let mut action =
        Action { handler: handler as *const () as usize, flags: HANDLED, restorer: 0, mask: !0 };
    #[cfg(target_arch = "x86_64")]
    {
        action.flags |= SA_RESTORER;
        action.restorer = restorer();
    }
    let args = [signal as usize, from_ref(&action).addr(), 0, SET, 0, 0];
    // SAFETY: the kernel reads `action`; the handler has the signature that its flags ask for.
    let answer = unsafe { call(libc::SYS_rt_sigaction, args) };
    (answer == 0).then(|| handler_of(signal)).flatten()
}

/// Makes a signal what it is by default.
pub fn remove_handler(signal: i32) {
    let action = Action::default();
    let args = [signal as usize, from_ref(&action).addr(), 0, SET, 0, 0];
    // SAFETY: the kernel reads `action`, which is laid out as it wants it.
    unsafe { call(libc::SYS_rt_sigaction, args) };
}

/// Sends a signal with a payload to one thread of the process.
///
/// # Errors
/// The system's error number: `ESRCH` when the thread has ended, `EAGAIN` when too many signals wait.
pub fn ask_thread(signal: i32, tid: i32, payload: u64) -> Result<(), i32> {
    let pid = process_id();
    // SAFETY: plain numbers, for which zeros are valid.
    let mut info: SigInfo = unsafe { zeroed() };
    const { assert!(size_of::<SigInfo>() == 128) };
    info.number = signal;
    info.error = MARK;
    info.code = libc::SI_QUEUE;
    info.pid = pid;
    info.value = payload;
    let args = [pid as usize, tid as usize, signal as usize, from_mut(&mut info).addr(), 0, 0];
    // SAFETY: the kernel reads `info`, which has the size and layout of its own.
    let answer = unsafe { call(libc::SYS_rt_tgsigqueueinfo, args) };
    if answer == 0 { Ok(()) } else { Err(answer.wrapping_neg() as i32) }
}

/// Signals that the C library sends threads for its own ends: `pthread_cancel`, and `setuid` and its like, which wait
/// for the answer of each.
const C_LIBRARY: u64 = 1 << (32 - 1) | 1 << (33 - 1);

/// Holds back all signals from the thread that made it, until it is dropped, but for those of the C library.
pub struct HeldBack {
    before: u64,
}

impl HeldBack {
    /// Begins.
    pub fn begin() -> Self {
        let (all, mut before) = (!C_LIBRARY, 0_u64);
        let args = [
            libc::SIG_SETMASK as usize,
            from_ref(&all).addr(),
            from_mut(&mut before).addr(),
            SET,
            0,
            0,
        ];
        // SAFETY: the kernel reads one set and writes the other.
        unsafe { call(libc::SYS_rt_sigprocmask, args) };
        Self { before }
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        let args = [libc::SIG_SETMASK as usize, from_ref(&self.before).addr(), 0, SET, 0, 0];
        // SAFETY: the kernel reads the set that it gave.
        unsafe { call(libc::SYS_rt_sigprocmask, args) };
    }
}
