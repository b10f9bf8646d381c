//! Threads: their registers, the signal each took, the system call each waits in.

use std::ops::Range;

use kcore_elf::core_file::{CoreThread, LiveThread, SignalInfo};
use kcore_mem::Addr;
pub use kcore_unwind::Tid;
use kcore_unwind::{Machine, Regs, UserRegister};

use crate::{Core, RegisterView, arch::facts};

/// A thread of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its LWP id.
    pub tid: Tid,
    /// The signal that it was taking; kernel cores set it for every thread of a dying process.
    pub signal: u16,
    /// Why that signal was sent, if the core says.
    pub siginfo: Option<SignalInfo>,
    /// The pointer to its local storage, where the core has it apart from the general registers.
    pub thread_pointer: Option<Addr>,
    /// What a live process said of it, if this is a snapshot of one, or was saved from one.
    pub live: Option<LiveThread>,
    /// Where its general registers lie in the core file.
    registers: Range<u64>,
    /// Where its floating-point registers lie there.
    pub(crate) fp_registers: Option<Range<u64>>,
    /// Where its extended registers lie there.
    pub(crate) extended_registers: Option<Range<u64>>,
}

impl From<&CoreThread> for Thread {
    fn from(thread: &CoreThread) -> Self {
        Self {
            tid: Tid::new(thread.tid),
            signal: thread.signal,
            siginfo: thread.siginfo,
            thread_pointer: thread.thread_pointer,
            live: thread.live.clone(),
            registers: thread.registers.clone(),
            fp_registers: thread.fp_registers.clone(),
            extended_registers: thread.extended_registers.clone(),
        }
    }
}

/// The threads of a core, the crashed one first. A thread that is listed twice counts once.
pub(crate) fn threads_of(file: &kcore_elf::CoreFile) -> Vec<Thread> {
    let mut seen = std::collections::HashSet::new();
    let notes = file.threads().iter().filter(|thread| seen.insert(thread.tid));
    let mut threads: Vec<Thread> = notes.map(Thread::from).collect();
    // A kernel writes the crashed thread first, and only its NT_SIGINFO. gdb writes NT_SIGINFO for
    // every thread, and the one that it stopped in first.
    if let Some(crashed) = threads.iter().position(has_died) {
        let crashed = threads.remove(crashed);
        threads.insert(0, crashed);
    }
    threads
}

fn has_died(thread: &Thread) -> bool {
    thread.siginfo.is_some_and(|info| info.number != 0)
}

/// System calls in which nobody waits.
const NEVER_WAIT: [&str; 10] = [
    "exit",
    "exit_group",
    "getpid",
    "gettid",
    "kill",
    "rt_sigprocmask",
    "rt_sigqueueinfo",
    "rt_sigreturn",
    "tgkill",
    "tkill",
];

/// System calls that the kernel lets go on as `restart_syscall`: those that set a restart block (Linux
/// `kernel/futex/waitwake.c`, `kernel/time/hrtimer.c`, `kernel/time/posix-timers.c`, `fs/select.c`).
const RESTARTED: [&str; 4] = ["clock_nanosleep", "futex", "nanosleep", "poll"];

impl RegisterView<'_> {
    /// The registers of a thread in the kernel's order, as far as the core holds them.
    pub fn user(self, tid: Tid) -> Vec<UserRegister> {
        let saved = self.core.raw_registers(tid).zip(self.core.machine());
        let mut registers = saved
            .map(|(bytes, machine)| machine.user_registers(bytes, self.core.target()))
            .unwrap_or_default();
        registers.extend(self.core.noted_thread_pointer(tid));
        registers
    }

    /// The registers from which the walk of a thread's stack starts.
    pub fn of_thread(self, tid: Tid) -> Option<Regs> {
        let machine = self.core.machine()?;
        let mut regs = machine.regs(self.core.raw_registers(tid)?, self.core.target())?;
        let floating = self.core.thread(tid).and_then(|thread| thread.fp_registers.clone());
        if let Some(bytes) = floating.and_then(|range| self.core.file_bytes(range)) {
            machine.add_fp_registers(&mut regs, bytes, self.core.target());
        }
        Some(regs)
    }

    /// The stack pointer of a thread.
    pub fn stack_pointer(self, tid: Tid) -> Option<Addr> {
        let register = self.core.machine()?.stack_pointer();
        self.of_thread(tid)?.get(register).map(Addr::new)
    }
}

impl Core {
    /// The threads, the crashed one first.
    pub fn threads(&self) -> &[Thread] {
        self.parts.as_ref().map(|parts| parts.threads.as_slice()).unwrap_or_default()
    }

    /// The ids of the threads, the crashed one first.
    pub fn tids(&self) -> Vec<Tid> {
        self.threads().iter().map(|thread| thread.tid).collect()
    }

    /// A thread by its id.
    pub fn thread(&self, tid: Tid) -> Option<&Thread> {
        let index = *self.parts.as_ref()?.thread_index.get(&tid)?;
        self.threads().get(index)
    }

    /// The id by which the process itself knows a thread, as what lies in its memory does: another one than
    /// kcore's, where it runs in another pid namespace.
    pub fn inner_tid(&self, tid: Tid) -> Tid {
        let live = self.thread(tid).and_then(|thread| thread.live.as_ref());
        live.map(|live| Tid::new(live.inner_tid)).filter(|inner| inner.get() != 0).unwrap_or(tid)
    }

    /// The register that points to a thread's local storage, where it has a note of its own.
    fn noted_thread_pointer(&self, tid: Tid) -> Option<UserRegister> {
        let name = facts(self.target()).thread_pointer;
        let pointer = self.thread(tid)?.thread_pointer?;
        Some(UserRegister { name, value: pointer.get() })
    }

    /// The name of the system call that a thread waits in: its pc stands right behind a
    /// system-call instruction. A call that goes on as `restart_syscall` has its own name, where the code tells
    /// it. A number without a known name is shown as such; a call that never
    /// waits, such as the one by which a thread kills itself, is none.
    pub fn waits_in(&self, tid: Tid) -> Option<String> {
        let bytes = self.raw_registers(tid)?;
        let number = self.machine()?.system_call(bytes, self.target(), self.space())?;
        let name = facts(self.target()).system_call(number);
        let restarted = || self.restarted_call(self.registers().of_thread(tid)?.pc());
        match name {
            Some("restart_syscall") => Some(restarted().unwrap_or("restart_syscall").to_owned()),
            Some(name) if NEVER_WAIT.contains(&name) => None,
            Some(name) => Some(name.to_owned()),
            None => Some(format!("syscall {number}")),
        }
    }

    /// The call that goes on as `restart_syscall` after the thread was stopped or had to take a signal: the
    /// code at `pc` still calls it by its own number.
    fn restarted_call(&self, pc: Addr) -> Option<&'static str> {
        let number = self.machine()?.system_call_in_code(pc, self.space())?;
        let name = facts(self.target()).system_call(number)?;
        RESTARTED.contains(&name).then_some(name)
    }

    /// Whether the code at which a thread stands can be read: only then it is known whether it waits.
    pub fn has_code_at_pc(&self, tid: Tid) -> bool {
        // The instruction of a system call, behind which the pc of a thread in it stands.
        const BEFORE: u64 = 2;
        let pc = self.registers().of_thread(tid).map(|regs| regs.pc());
        let before = pc.and_then(|pc| pc.get().checked_sub(BEFORE)).map(Addr::new);
        before.is_some_and(|before| self.space().read_uint(before, 1).is_ok())
    }

    /// The architecture of the core, where the walker knows it.
    pub fn machine(&self) -> Option<&dyn Machine> {
        self.machine.as_deref()
    }

    /// Whether the pc of a thread is right behind the instruction of a system call.
    pub(crate) fn is_behind_system_call(&self, tid: Tid) -> bool {
        let registers = self.raw_registers(tid).zip(self.machine());
        registers.is_some_and(|(bytes, machine)| {
            machine.system_call(bytes, self.target(), self.space()).is_some()
        })
    }

    fn raw_registers(&self, tid: Tid) -> Option<&[u8]> {
        self.file_bytes(self.thread(tid)?.registers.clone())
    }

    /// Bytes of the core file itself.
    pub(crate) fn file_bytes(&self, range: Range<u64>) -> Option<&[u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.parts.as_ref()?.file.bytes().get(range)
    }
}
