//! What died, and why.

use kcore_mem::{Addr, Arch};

use crate::{
    Core, Doubt, LastWords, LiveFacts, ProcessView, SignalDetail, SignalInfo, Thread, Tid,
    handled::HandledSignal, signal,
};

/// By which gdb stops a process that it attaches to.
const SIGSTOP: u16 = 19;

/// The signal of which a process died.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignalStatus {
    /// Its number.
    pub number: u16,
    /// Its name, such as `SIGSEGV`.
    pub name: String,
    /// What `strsignal` says.
    pub text: Option<&'static str>,
    /// The name of its code, such as `SEGV_MAPERR`.
    pub code: Option<&'static str>,
    /// The address that faulted.
    pub address: Option<Addr>,
    /// The process that sent it.
    pub sender_pid: Option<u32>,
    /// The user that sent it.
    pub sender_uid: Option<u32>,
}

/// A signal that a handler was told of before the process died.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandledStatus {
    /// The thread that took it.
    pub tid: Tid,
    /// The signal.
    pub signal: SignalStatus,
    /// Where the thread was.
    pub pc: Option<Addr>,
}

impl HandledStatus {
    fn new(handled: &HandledSignal) -> Self {
        let number = u16::try_from(handled.info.number).unwrap_or_default();
        let signal = signal_status(number, Some(handled.info));
        Self { tid: handled.stop.tid, signal, pc: handled.stop.pc }
    }
}

/// What died, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Process id.
    pub pid: Option<u32>,
    /// Path of the program.
    pub program: Option<String>,
    /// Arguments; from the stack where it holds them, else what the kernel noted.
    pub args: Vec<String>,
    /// Architecture.
    pub arch: Arch,
    /// Bits of an address.
    pub bits: u32,
    /// The version of the kernel, which its vdso tells.
    pub kernel: Option<String>,
    /// The signal.
    pub signal: Option<SignalStatus>,
    /// Number of threads.
    pub threads: usize,
    /// The thread that took the signal.
    pub crashed_tid: Option<Tid>,
    /// Why it died, in words.
    pub explanation: Option<String>,
    /// Signals whose handlers had not ended, or ended the process, the first one first.
    pub handled: Vec<HandledStatus>,
    /// What the program left behind about it.
    pub last_words: Vec<LastWords>,
    /// What makes answers doubtful.
    pub doubts: Vec<Doubt>,
    /// Whether gdb's gcore wrote the core.
    pub by_gcore: bool,
    /// What instant its stacks are of: see [`SnapshotView::instant`](crate::SnapshotView::instant).
    pub instant: &'static str,
    /// What a snapshot cost the live process.
    pub live: Option<LiveFacts>,
}

impl ProcessView<'_> {
    /// The kernel's version, which the vdso holds in a note `Linux` of type 0
    /// (`LINUX_VERSION_CODE`: major, minor, patch in 16, 8 and 8 bits).
    pub fn kernel_version(self) -> Option<String> {
        let vdso = self.core.modules().all().iter().find(|module| module.is_vdso())?;
        let note = vdso.image()?.note(b"Linux", 0)?;
        let code = self.core.target().uint(note.get(..4)?);
        Some(format!("{}.{}.{}", code >> 16, (code >> 8) & 0xff, code & 0xff))
    }
}

impl Core {
    /// The thread that took the signal of which the process died; `None` when nothing tells that
    /// it died.
    pub fn crashed_thread(&self) -> Option<&Thread> {
        let stopped = |thread: &Thread| self.written_by_gdb() && thread.signal == SIGSTOP;
        self.threads().first().filter(|thread| thread.signal != 0 && !stopped(thread))
    }

    /// What died, and why.
    pub fn status(&self) -> Status {
        let crashed = self.crashed_thread();
        let handled = crashed.map(|thread| self.handled_signals(thread)).unwrap_or_default();
        Status {
            pid: self.process().pid(),
            program: self.process().program(),
            args: self.status_args(),
            arch: self.arch(),
            bits: u32::from(self.target().word).saturating_mul(8),
            kernel: self.process().kernel_version(),
            signal: crashed.map(|thread| signal_status(thread.signal, thread.siginfo)),
            threads: self.threads().len(),
            crashed_tid: crashed.map(|thread| thread.tid),
            explanation: crashed.map(|thread| self.explain(thread, &handled)),
            handled: handled.signals.iter().map(HandledStatus::new).collect(),
            last_words: self.crash().last_words(),
            doubts: self.doubts(),
            by_gcore: self.written_by_gdb(),
            instant: self.snapshot().instant(),
            live: self.snapshot().facts(),
        }
    }

    pub(crate) fn written_by_gdb(&self) -> bool {
        self.file().is_some_and(kcore_elf::CoreFile::written_by_gdb)
    }

    fn status_args(&self) -> Vec<String> {
        if let Some(noted) = self.process().overwritten_args() {
            return vec![noted];
        }
        let read = self.process().initial_stack().map(|stack| stack.args).unwrap_or_default();
        let read: Option<Vec<String>> = read.into_iter().map(|arg| arg.text).collect();
        match read.filter(|args| !args.is_empty()) {
            Some(args) => args,
            None => self.process().short_args().into_iter().collect(),
        }
    }
}

fn signal_status(number: u16, info: Option<SignalInfo>) -> SignalStatus {
    let address = info.and_then(|info| match info.detail {
        SignalDetail::Fault { address } | SignalDetail::SystemCall { address, .. } => Some(address),
        _ => None,
    });
    let sender = info.as_ref().and_then(signal::sender);
    SignalStatus {
        number,
        name: signal::name(number),
        text: signal::text(number),
        code: info.as_ref().and_then(signal::code_name),
        address,
        sender_pid: sender.map(|(pid, _)| pid),
        sender_uid: sender.map(|(_, uid)| uid),
    }
}
