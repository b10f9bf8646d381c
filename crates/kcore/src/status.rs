//! What died, and why.

use kcore_elf::core_file::Damage;
use kcore_mem::{Addr, Arch, CodeAddr};

use crate::{
    AccessKind, Core, LastWords, LiveFacts, SignalDetail, SignalInfo, Thread, Tid, arch::facts,
    signal,
};

/// A fault this far below the stack pointer, in bytes, is still a fault of the stack: a frame's
/// locals may be touched before they are all allocated.
const STACK_REACH: u64 = 64 << 10;
const PAGE: u64 = 4096;
/// By which gdb stops a process that it attaches to.
const SIGSTOP: u16 = 19;

/// The signal of which a process died.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What died, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// What the program left behind about it.
    pub last_words: Vec<LastWords>,
    /// What makes answers doubtful.
    pub doubts: Vec<String>,
    /// Whether gdb's gcore wrote the core.
    pub by_gcore: bool,
    /// What instant its stacks are of: see [`Core::instant`].
    pub instant: &'static str,
    /// What a snapshot cost the live process.
    pub live: Option<LiveFacts>,
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
        Status {
            pid: self.pid(),
            program: self.program(),
            args: self.status_args(),
            arch: self.arch(),
            bits: u32::from(self.target().word).saturating_mul(8),
            kernel: self.kernel_version(),
            signal: crashed.map(signal_status),
            threads: self.threads().len(),
            crashed_tid: crashed.map(|thread| thread.tid),
            explanation: crashed.map(|thread| self.explain(thread)),
            last_words: self.last_words(),
            doubts: self.doubts(),
            by_gcore: self.written_by_gdb(),
            instant: self.instant(),
            live: self.live_facts(),
        }
    }

    fn written_by_gdb(&self) -> bool {
        self.file().is_some_and(kcore_elf::CoreFile::written_by_gdb)
    }

    fn status_args(&self) -> Vec<String> {
        let read = self.initial_stack().map(|stack| stack.args).unwrap_or_default();
        let read: Option<Vec<String>> = read.into_iter().map(|arg| arg.text).collect();
        match read.filter(|args| !args.is_empty()) {
            Some(args) => args,
            None => self.short_args().into_iter().collect(),
        }
    }

    /// The kernel's version, which the vdso holds in a note `Linux` of type 0
    /// (`LINUX_VERSION_CODE`: major, minor, patch in 16, 8 and 8 bits).
    pub fn kernel_version(&self) -> Option<String> {
        let vdso = self.modules().all().iter().find(|module| module.is_vdso())?;
        let note = vdso.image()?.note(b"Linux", 0)?;
        let code = self.target().uint(note.get(..4)?);
        Some(format!("{}.{}.{}", code >> 16, (code >> 8) & 0xff, code & 0xff))
    }

    /// Why the process died, in words.
    fn explain(&self, thread: &Thread) -> String {
        let name = signal::name(thread.signal);
        let Some(info) = thread.siginfo.filter(|info| info.number == i32::from(thread.signal))
        else {
            return format!("{name}{}", self.place(thread.tid));
        };
        match info.detail {
            SignalDetail::Fault { address } => {
                self.explain_fault(thread.tid, &info, &name, address)
            }
            SignalDetail::Sender { pid, uid } => {
                let by = self.sender(pid, uid);
                format!("{name} {by}{}{}", code_in_brackets(&info), self.place(thread.tid))
            }
            SignalDetail::SystemCall { number, .. } => {
                let call = facts(self.arch()).system_call(u64::from(number));
                let call = call.map_or_else(|| format!("number {number}"), str::to_owned);
                format!(
                    "{name}: system call {call} {}{}{}",
                    signal::code_text(&info).unwrap_or("refused"),
                    code_in_brackets(&info),
                    self.place(thread.tid)
                )
            }
            SignalDetail::None => self.explain_without_address(thread.tid, &info, &name),
        }
    }

    fn explain_fault(&self, tid: Tid, info: &SignalInfo, name: &str, address: Addr) -> String {
        let text = signal::code_text(info).unwrap_or("fault");
        let code = code_in_brackets(info);
        let is_memory = matches!(info.number, 7 | 11);
        let access = is_memory.then(|| self.access_at_fault(tid, address)).flatten();
        let access = access.map_or("", access_word);
        let overflow =
            if is_memory && self.is_stack_overflow(tid, address) { ", stack overflow" } else { "" };
        format!("{name} at address {address}: {text}{code}{access}{overflow}{}", self.place(tid))
    }

    fn explain_without_address(&self, tid: Tid, info: &SignalInfo, name: &str) -> String {
        let why = if info.number == 11 { facts(self.arch()).segv_without_address } else { "" };
        format!("{name}{why}{}{}", code_in_brackets(info), self.place(tid))
    }

    fn sender(&self, pid: u32, uid: u32) -> String {
        if Some(pid) == self.pid() {
            "raised by the process itself".to_owned()
        } else {
            format!("sent by pid {pid} uid {uid}")
        }
    }

    /// Where the thread stood, and, where that is no code, who called it.
    fn place(&self, tid: Tid) -> String {
        let Some(pc) = self.start_registers(tid).map(|regs| regs.pc()) else {
            return String::new();
        };
        if let Some(place) = self.spell(CodeAddr::Pc(pc)) {
            return format!(", in {place}");
        }
        let caller = self.stack(tid, 2).frames.get(1).copied();
        // A guess is no place to send somebody to.
        let caller = caller.filter(|frame| !frame.trust.is_guess()).map(|frame| frame.pc);
        let caller = caller.and_then(|pc| self.spell(pc));
        let caller = caller.map_or_else(String::new, |place| format!(", called from {place}"));
        let place = match self.modules().at(pc) {
            Some(module) => format!("in {} (no symbols)", module.name()),
            None if self.has_lost_mappings() => "(nothing is known of it)".to_owned(),
            None => "(no function is there)".to_owned(),
        };
        format!(", at {pc} {place}{caller}")
    }

    /// Whether the core's end is missing, and with it what would tell of mappings and modules.
    fn has_lost_mappings(&self) -> bool {
        let lists = |damage: &Damage| !matches!(damage, Damage::Memory { .. });
        self.file().is_some_and(|file| file.damage().iter().any(lists))
    }

    fn spell(&self, at: CodeAddr) -> Option<String> {
        let symbol = self.symbol_at(at.lookup())?;
        let offset = at.addr().offset_from(symbol.start)?;
        let module = if symbol.in_exe { String::new() } else { format!("{}`", symbol.module) };
        let offset = match offset {
            0 => String::new(),
            1..=9 => format!("+{offset}"),
            _ => format!("+{offset:#x}"),
        };
        Some(format!("{module}{}{offset}", symbol.name))
    }

    /// A fault near the stack pointer where no memory can be reached: the guard page, or what lies
    /// below the stack's limit.
    fn is_stack_overflow(&self, tid: Tid, address: Addr) -> bool {
        let Some(sp) = self.stack_pointer(tid) else { return false };
        let low = sp.get().saturating_sub(STACK_REACH);
        let near = (low..sp.get().saturating_add(PAGE)).contains(&address.get());
        let reachable = self.mapping_at(address).is_some_and(|mapping| {
            mapping.flags.is_none_or(|flags| flags & 2 != 0) && self.space().slice(address).is_ok()
        });
        near && !reachable
    }
}

fn signal_status(thread: &Thread) -> SignalStatus {
    let info = thread.siginfo;
    let number = thread.signal;
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

fn code_in_brackets(info: &SignalInfo) -> String {
    match signal::code_name(info) {
        Some(code) => format!(" ({code})"),
        None => format!(" (code {})", info.code),
    }
}

const fn access_word(access: AccessKind) -> &'static str {
    match access {
        AccessKind::Read => ", reading",
        AccessKind::Write => ", writing",
        AccessKind::ReadWrite => ", reading and writing",
        AccessKind::Execute => ", executing",
    }
}
