//! Why a process died, in words.

use kcore_elf::core_file::Damage;
use kcore_mem::{Access, Addr, CodeAddr};

use crate::{
    AccessKind, Core, SignalDetail, SignalInfo, Thread, Tid,
    arch::facts,
    handled::{Handled, Stop},
    signal,
    stack_fault::{ForcedFault, StackTrouble},
};

impl Core {
    /// Why the process died, in words: what came first, where a handler was told of it, then the end.
    pub(crate) fn explain(&self, thread: &Thread, handled: &Handled) -> String {
        let end = self.explain_end(thread);
        let Some(first) = handled.first() else {
            return handled
                .inferred
                .map_or(end.clone(), |access| format!("{end}; {}", inferred(access)));
        };
        let by = match first.stop.tid {
            tid if tid == thread.tid => String::new(),
            tid => format!(" by thread {tid}"),
        };
        let first = self.explain_signal(&first.info, &first.stop);
        format!("{first}, which was handled{by}; then {end}")
    }

    fn explain_end(&self, thread: &Thread) -> String {
        let stop = self.stop_of(thread.tid);
        match thread.siginfo.filter(|info| info.number == i32::from(thread.signal)) {
            Some(info) => self.explain_signal(&info, &stop),
            None => format!("{}{}", signal::name(thread.signal), self.place(&stop)),
        }
    }

    pub(crate) fn stop_of(&self, tid: Tid) -> Stop {
        Stop {
            tid,
            pc: self.registers().of_thread(tid).map(|regs| regs.pc()),
            sp: self.registers().stack_pointer(tid),
            registers: self.registers().user(tid),
            caller: self.stacks().of_thread(tid, 2).frames.get(1).copied(),
        }
    }

    fn explain_signal(&self, info: &SignalInfo, stop: &Stop) -> String {
        let name = signal::name(u16::try_from(info.number).unwrap_or_default());
        match info.detail {
            SignalDetail::Fault { address } => self.explain_fault(stop, info, &name, address),
            SignalDetail::Sender { pid, uid } => {
                let by = self.sender(pid, uid);
                format!("{name} {by}{}{}", code_in_brackets(info), self.place(stop))
            }
            SignalDetail::SystemCall { number, .. } => {
                let call = facts(self.target()).system_call(u64::from(number));
                let call = call.map_or_else(|| format!("number {number}"), str::to_owned);
                format!(
                    "{name}: system call {call} {}{}{}",
                    signal::code_text(info).unwrap_or("refused"),
                    code_in_brackets(info),
                    self.place(stop)
                )
            }
            SignalDetail::None => self.explain_without_address(stop, info, &name),
        }
    }

    fn explain_fault(&self, stop: &Stop, info: &SignalInfo, name: &str, address: Addr) -> String {
        let text = signal::code_text(info).unwrap_or("fault");
        let code = code_in_brackets(info);
        let is_memory = matches!(info.number, 7 | 11);
        let access = is_memory.then(|| self.access_at(stop, address)).flatten();
        let access = access.map_or("", access_word);
        let trouble = is_memory.then(|| self.stack_trouble(stop.sp, address)).flatten();
        let trouble = trouble.map_or_else(String::new, trouble_words);
        format!("{name} at address {address}: {text}{code}{access}{trouble}{}", self.place(stop))
    }

    fn explain_without_address(&self, stop: &Stop, info: &SignalInfo, name: &str) -> String {
        let place = self.place(stop);
        let code = code_in_brackets(info);
        let forced = (info.number == 11).then(|| self.forced_fault(stop)).flatten();
        if let Some(ForcedFault { access, is_mapped, trouble }) = forced {
            let text = if is_mapped { "access not permitted" } else { "not mapped" };
            let trouble = trouble.map_or_else(String::new, trouble_words);
            let (address, kind) = (access.addr, access_word(access.kind));
            return format!(
                "{name} at address {address}: {text}{kind}{trouble}; there was no room for the frame of its \
                 handler{code}{place}"
            );
        }
        let why = match info.number {
            11 => self.why_without_address(stop),
            _ => "",
        };
        format!("{name}{why}{}{code}{place}", self.perhaps_of_stack(stop, info))
    }

    /// What the stack may have to do with a signal from the kernel without an address.
    fn perhaps_of_stack(&self, stop: &Stop, info: &SignalInfo) -> String {
        let Some(sp) = stop.sp.filter(|_| matches!(info.number, 7 | 11)) else {
            return String::new();
        };
        if self.is_on_no_stack(sp) {
            return trouble_words(StackTrouble::NoStack(sp));
        }
        match self.too_little_stack(stop.sp).filter(|_| info.number == 11) {
            Some(left) => {
                format!(
                    ", or no room for the frame of a signal's handler: the stack has {left:#x} bytes left"
                )
            }
            None => String::new(),
        }
    }

    fn sender(&self, pid: u32, uid: u32) -> String {
        if Some(pid) == self.process().pid() {
            "raised by the process itself".to_owned()
        } else {
            format!("sent by pid {pid} uid {uid}")
        }
    }

    /// Where the thread stood, and, where that is no code, who called it.
    fn place(&self, stop: &Stop) -> String {
        let Some(pc) = stop.pc else { return String::new() };
        if let Some(place) = self.spell(CodeAddr::Pc(pc)) {
            return format!(", in {place}");
        }
        // A guess is no place to send somebody to.
        let caller = stop.caller.filter(|frame| !frame.guess).map(|frame| frame.pc);
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
    pub(crate) fn has_lost_mappings(&self) -> bool {
        let lists = |damage: &Damage| !matches!(damage, Damage::Memory { .. });
        self.file().is_some_and(|file| file.damage().iter().any(lists))
    }

    fn spell(&self, at: CodeAddr) -> Option<String> {
        let Some(symbol) = self.symbols().at(at.lookup()) else {
            return self.spell_of_language(at);
        };
        let offset = offset_text(at.addr().offset_from(symbol.start)?);
        let module = if symbol.in_exe { String::new() } else { format!("{}`", symbol.module) };
        let nearest = if symbol.is_only_nearest() { " (nearest symbol)" } else { "" };
        Some(format!("{module}{}{offset}{nearest}", symbol.name))
    }

    /// The function by the tables that a runtime has of its own: programs in Go have them even without symbols.
    fn spell_of_language(&self, at: CodeAddr) -> Option<String> {
        let (start, frames) = self.runtimes().locate(self, at)?;
        let function = frames.last()?.function.as_deref()?;
        let module = self.modules().at(at.lookup()).filter(|module| !module.is_exe());
        let module = module.map(|module| format!("{}`", module.name())).unwrap_or_default();
        Some(format!("{module}{function}{}", offset_text(at.addr().offset_from(start)?)))
    }

    fn access_at(&self, stop: &Stop, address: Addr) -> Option<AccessKind> {
        self.access_of_instruction(stop.pc?, &stop.registers, address)
    }
}

/// What stands behind the name of a function; nothing at its beginning.
fn offset_text(offset: u64) -> String {
    match offset {
        0 => String::new(),
        1..=9 => format!("+{offset}"),
        _ => format!("+{offset:#x}"),
    }
}

fn code_in_brackets(info: &SignalInfo) -> String {
    match signal::code_name(info) {
        _ if info.code == SignalInfo::NO_CODE => " (its code was not written)".to_owned(),
        Some(code) => format!(" ({code})"),
        None => format!(" (code {})", info.code),
    }
}

/// What is likely where nothing tells of a fault.
fn inferred(access: Access) -> String {
    let (kind, address) = (access.kind.as_str(), access.addr);
    format!(
        "it stands at an instruction {kind} at {address}, which is not mapped: likely a fault that a handler raised \
         again (inferred, no signal frame tells of it)"
    )
}

fn trouble_words(trouble: StackTrouble) -> String {
    match trouble {
        StackTrouble::Overflow => ", stack overflow".to_owned(),
        StackTrouble::NoStack(sp) => format!(", the stack pointer {sp} lies in no stack"),
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
