//! Signals that a handler was told of before the process died.
//!
//! Who handles a fault often lets the process die of it in the end: by the same signal, which is then sent by
//! the process itself and has no address, or by `abort`. What came first stands in the frame that the kernel
//! pushed for the handler: where the thread was, and the `siginfo_t`, which is written only for handlers that
//! ask for it (`SA_SIGINFO`); else the machine's exception in the context tells of a fault.

mod left;
mod taken;

use kcore_elf::core_file::{SignalDetail, SignalInfo};
use kcore_mem::{Access, Addr};
use kcore_unwind::{End, Frame, SavedContext};

use self::left::Left;
pub use self::taken::TakenSignal;
use crate::{Core, Thread, Tid, UserRegister, arch::facts, signal};

const SIGQUIT: u16 = 3;
const SIGABRT: u16 = 6;
const SIGBUS: u16 = 7;
const SIGFPE: u16 = 8;
const SIGSEGV: u16 = 11;
/// The code of a signal that `kill` sent.
const SI_USER: i32 = 0;
/// The code of a signal for which the kernel has no address.
const SI_KERNEL: i32 = 0x80;
/// Size of `siginfo_t`.
const INFO_SIZE: usize = 128;
/// Frames of a thread that are looked through for signals.
const FRAMES: usize = 1024;
/// The same where handlers took signals within handlers, so that the first one is found.
const NESTED_FRAMES: usize = 1 << 16;
/// Signals of a thread, the first ones.
const MAX_SIGNALS: usize = 512;
/// The same of threads that did not die, and how many of these.
const FRAMES_OF_OTHERS: usize = 64;
const OTHERS: usize = 1024;

/// Where a thread was: at its end, or when a signal came.
#[derive(Clone)]
pub(crate) struct Stop {
    pub tid: Tid,
    pub pc: Option<Addr>,
    pub sp: Option<Addr>,
    pub registers: Vec<UserRegister>,
    pub caller: Option<Frame>,
}

/// A signal that a handler was told of.
pub(crate) struct HandledSignal {
    pub info: SignalInfo,
    pub stop: Stop,
}

/// What is known of what came before the signal of which a process died.
#[derive(Default)]
pub(crate) struct Handled {
    /// The signals that handlers were told of, the first one first.
    pub signals: Vec<HandledSignal>,
    /// Where nothing tells of such a signal: the access by which the instruction would fail at which the thread
    /// stands that raised the last one. Nobody was told of it, as far as is known.
    pub inferred: Option<Access>,
}

impl Handled {
    /// What came first: the first fault, else the first signal.
    pub fn first(&self) -> Option<&HandledSignal> {
        self.first_fault().or(self.signals.first())
    }

    /// The first fault.
    pub fn first_fault(&self) -> Option<&HandledSignal> {
        self.signals.iter().find(|signal| signal.is_fault())
    }
}

impl From<Vec<HandledSignal>> for Handled {
    fn from(signals: Vec<HandledSignal>) -> Self {
        Self { signals, inferred: None }
    }
}

impl Core {
    /// The signals on whose handlers' account the process died, the first one first: those of the thread that
    /// died, or, where a handler sent the last signal to the whole process, of the thread that it runs in.
    pub(crate) fn handled_signals(&self, crashed: &Thread) -> Handled {
        let own = self.handled_by(crashed.tid, FRAMES, crashed.signal);
        if self.was_handed_on(&own) {
            let first = self.handled_by_first(crashed, |signal| self.is_origin(&signal.info));
            return if first.is_empty() { own.into() } else { first.into() };
        }
        if !own.is_empty() || !self.was_raised(crashed) {
            return own.into();
        }
        let left = self.left_by_handler(crashed);
        if let Left::Fault(signal) = left {
            return vec![*signal].into();
        }
        let others = match may_come_from_others(crashed) {
            true => self.handled_by_first(crashed, HandledSignal::is_fault),
            false => Vec::new(),
        };
        let may_be_fault = others.is_empty() && matches!(left, Left::Nothing);
        let inferred = may_be_fault.then(|| self.access_that_fails(crashed)).flatten();
        Handled { signals: others, inferred }
    }

    /// The signals whose handlers run on the first other thread where one of them is wanted.
    fn handled_by_first(
        &self,
        crashed: &Thread,
        wanted: impl Fn(&HandledSignal) -> bool,
    ) -> Vec<HandledSignal> {
        let others = self.threads().iter().map(|thread| thread.tid);
        let others = others.filter(|tid| *tid != crashed.tid).take(OTHERS);
        let mut handled = others.map(|tid| self.handled_by(tid, FRAMES_OF_OTHERS, crashed.signal));
        handled.find(|signals| signals.iter().any(&wanted)).unwrap_or_default()
    }

    /// Whether the process sent itself, as a whole, the SIGQUIT that a handler of the thread was told of first. So does Go's
    /// runtime, which has each of its threads show its stack by it, whatever signal came first, before it ends the
    /// process (`runtime/signal_unix.go`, `sighandler`).
    fn was_handed_on(&self, own: &[HandledSignal]) -> bool {
        own.first().is_some_and(|signal| self.may_be_handed_on(&signal.info))
    }

    /// Whether a signal may be one that Go's runtime hands on.
    pub(crate) fn may_be_handed_on(&self, info: &SignalInfo) -> bool {
        let sender = signal::sender(info).map(|(pid, _)| pid);
        let is_own = sender.is_some() && sender == self.process().pid();
        is_own && info.code == SI_USER && info.number == i32::from(SIGQUIT)
    }

    /// Whether a signal may be what came first: another process sent it, or it is no SIGQUIT.
    fn is_origin(&self, info: &SignalInfo) -> bool {
        self.is_from_outside(info) || info.number != i32::from(SIGQUIT)
    }

    /// Whether another process sent a signal.
    pub(crate) fn is_from_outside(&self, info: &SignalInfo) -> bool {
        let sender = signal::sender(info).map(|(pid, _)| pid).filter(|pid| *pid != 0);
        sender.zip(self.process().pid()).is_some_and(|(sender, own)| sender != own)
    }

    /// Whether the process sent the signal itself.
    fn was_raised(&self, crashed: &Thread) -> bool {
        let sender = crashed.siginfo.as_ref().and_then(signal::sender);
        sender.is_some_and(|(pid, _)| Some(pid) == self.process().pid())
    }

    /// The signals whose handlers run on a thread, the first one first.
    fn handled_by(&self, tid: Tid, limit: usize, last: u16) -> Vec<HandledSignal> {
        let Some(machine) = self.machine() else { return Vec::new() };
        let frames = self.frames_with_signals(tid, limit);
        let restorers = frames.iter().enumerate().rev();
        let restorers = restorers.filter(|(_, frame)| frame.signal_trampoline);
        let signals = restorers.filter_map(|(index, frame)| {
            let context = machine.signal_context(frame.pc.addr(), frame.sp?, self.space())?;
            let interrupted = frames.get(index.checked_add(1)?)?;
            let caller = frames.get(index.checked_add(2)?).copied();
            let signal = self.signal_of_context(tid, context, caller, last)?;
            // If the two differ, the context was read from the wrong address, or the walk went wrong.
            (signal.stop.pc == Some(interrupted.pc.addr())).then_some(signal)
        });
        signals.take(MAX_SIGNALS).collect()
    }

    /// The frames of a thread in which signals may be.
    fn frames_with_signals(&self, tid: Tid, limit: usize) -> Vec<Frame> {
        let stack = self.stacks().of_thread(tid, limit);
        let signals = stack.frames.iter().filter(|frame| frame.signal_trampoline).take(2).count();
        match matches!(stack.end, End::Limit(_)) && signals > 1 {
            true => self.stacks().of_thread(tid, NESTED_FRAMES).frames,
            false => stack.frames,
        }
    }

    fn signal_of_context(
        &self,
        tid: Tid,
        context: Addr,
        caller: Option<Frame>,
        last: u16,
    ) -> Option<HandledSignal> {
        let machine = self.machine()?;
        let mut saved = self.contexts().saved(context)?.ok()?;
        saved.registers.extend(self.segment_bases(tid));
        let regs = machine.context_regs(context, self.space())?;
        let told = self.info_beside(context, &saved);
        let info = told.or_else(|| self.info_of_exception(&saved, regs.pc(), last))?;
        let sp = regs.get(machine.stack_pointer()).map(Addr::new);
        let stop = Stop { tid, pc: Some(regs.pc()), sp, registers: saved.registers, caller };
        Some(HandledSignal { info, stop })
    }

    /// Registers that addresses are relative to and that a context leaves out. A thread hardly ever changes them.
    fn segment_bases(&self, tid: Tid) -> impl Iterator<Item = UserRegister> {
        let registers = self.registers().user(tid).into_iter();
        registers.filter(|register| matches!(register.name, "fsbase" | "gsbase"))
    }

    /// What the machine's exception in a context says of a fault. It may be left from an earlier one: a fault of
    /// memory counts if the instruction made that access.
    fn info_of_exception(&self, saved: &SavedContext, pc: Addr, last: u16) -> Option<SignalInfo> {
        let exceptions = &facts(self.target()).exceptions;
        let number = saved.exception.map(|(number, _)| number);
        let info = |number: u16, code, detail| {
            Some(SignalInfo { number: i32::from(number), errno: 0, code, detail })
        };
        if number == exceptions.page_fault {
            let address = saved.fault_address;
            self.access_of_instruction(pc, &saved.registers, address)?;
            let (number, code) = self.code_of_page_fault(address, last);
            return info(number, code, SignalDetail::Fault { address });
        }
        let others = exceptions.others.iter();
        let (_, signal, code) = others.copied().find(|(known, signal, _)| {
            Some(*known) == number && (*signal == last || (last == SIGABRT && *signal == SIGSEGV))
        })?;
        // The number of a division is 0, which a context also has where there was no exception.
        if signal == SIGFPE && !self.divides(pc) {
            return None;
        }
        let detail = match code {
            SI_KERNEL => SignalDetail::None,
            _ => SignalDetail::Fault { address: pc },
        };
        info(signal, code, detail)
    }

    /// Whether the instruction at `pc` divides integers.
    fn divides(&self, pc: Addr) -> bool {
        self.mnemonic(pc).is_some_and(|mnemonic| {
            let name = mnemonic.strip_prefix('i').unwrap_or(&mnemonic);
            matches!(name, "divb" | "divw" | "divl" | "divq")
        })
    }

    /// The signal and code of a fault at an address. That of a mapping is refused, or lies behind the end of
    /// its file.
    fn code_of_page_fault(&self, address: Addr, last: u16) -> (u16, i32) {
        const SEGV_MAPERR: i32 = 1;
        const SEGV_ACCERR: i32 = 2;
        const BUS_ADRERR: i32 = 2;
        match self.mapping_at(address) {
            _ if last == SIGBUS => (SIGBUS, BUS_ADRERR),
            Some(_) => (SIGSEGV, SEGV_ACCERR),
            None => (SIGSEGV, SEGV_MAPERR),
        }
    }
}

impl HandledSignal {
    /// Whether it is a fault of the machine, and was not sent.
    pub(crate) fn is_fault(&self) -> bool {
        let is_kernels = matches!(self.info.number, 4 | 5 | 7 | 8 | 11 | 31);
        is_kernels && signal::sender(&self.info).is_none()
    }
}

/// Whether a handler on another thread may have sent the signal: to the process, or one of a fault, which none
/// was.
fn may_come_from_others(crashed: &Thread) -> bool {
    let is_fault = matches!(crashed.signal, 4 | 5 | 7 | 8 | 11 | 31);
    is_fault || crashed.siginfo.is_some_and(|info| info.code == SI_USER)
}
