//! A crash as finders see it: the first fault, or else the signal that ended the process.

use std::sync::{Arc, OnceLock};

use kcore_elf::core_file::{SignalDetail, SignalInfo};
use kcore_mem::{Access, AccessKind, Addr, AddrRange, JumpSource, MemoryOperand};
use kcore_unwind::UserRegister;

use super::{
    EvidenceSource,
    finders::{FreedUse, freed_use},
};
use crate::{
    Core, Frame, Mapping, MappingKind, NamedFrame, Thread, Tid,
    arch::facts,
    handled::{Handled, Stop},
    refused_access::RefusedAccess,
    signal,
    stack_fault::StackTrouble,
};

/// SIGABRT.
pub(super) const SIGABRT: u16 = 6;
/// SIGILL and SIGTRAP, by whose instructions a runtime ends its process.
const TRAPS: [u16; 2] = [4, 5];

/// Frames of the last thread that are looked at: what aborts is never far out.
const LAST_FRAMES: usize = 64;

/// Frames in which a fault of a frame that is too large may be: those of what it calls.
const FRAMES_AT_FAULT: usize = 16;
/// Bytes below a frame that belong to its calls.
const BELOW_FRAME: u64 = 256;

/// Bytes of a frame of a caller that are looked through.
const FRAME_BYTES: u64 = 1024;
const WORD: u64 = 8;

/// Bytes of indirect calls, on machines with short and with long instructions.
const LENGTHS_OF_CALLS: std::ops::RangeInclusive<i64> = 2..=8;

/// The first fault of a process that died, or else the signal that ended it.
pub struct Crash<'a> {
    core: &'a Core,
    info: Option<SignalInfo>,
    stop: Stop,
    end: &'a Thread,
    handled: Handled,
    freed: OnceLock<Option<FreedUse>>,
}

impl<'a> Crash<'a> {
    pub(super) fn of(core: &'a Core) -> Option<Self> {
        let thread = core.crashed_thread()?;
        let handled = core.handled_signals(thread);
        let (info, stop) = match handled.first_fault() {
            Some(first) => (Some(first.info), first.stop.clone()),
            None => (told_of_end(thread), core.stop_of(thread.tid)),
        };
        Some(Self { core, info, stop, end: thread, handled, freed: OnceLock::new() })
    }

    /// The thread that took the signal that ended the process.
    pub const fn end(&self) -> &'a Thread {
        self.end
    }

    /// Whether a handler was told of the first fault before another signal ended the process.
    pub fn was_handled(&self) -> bool {
        self.handled.first_fault().is_some()
    }

    /// The signals that handlers were told of before the one that ended the process.
    pub(super) const fn handled(&self) -> &Handled {
        &self.handled
    }

    /// Whether the signal that ended the process is that of the first fault, raised again.
    pub(super) fn was_raised_again(&self) -> bool {
        let number = self.info.map(|info| info.number);
        self.was_handled() && number == Some(self.end.signal.into()) && self.is_from_itself()
    }

    /// Whether the process sent the signal that ended it to itself.
    pub(super) fn is_from_itself(&self) -> bool {
        let sender = told_of_end(self.end).as_ref().and_then(signal::sender);
        sender.is_some_and(|(pid, _)| Some(pid) == self.core.process().pid())
    }

    /// The process.
    pub const fn core(&self) -> &'a Core {
        self.core
    }

    /// The thread that took the signal.
    pub const fn tid(&self) -> Tid {
        self.stop.tid
    }

    /// The instruction at which it stood.
    pub const fn pc(&self) -> Option<Addr> {
        self.stop.pc
    }

    /// Its stack pointer.
    pub const fn sp(&self) -> Option<Addr> {
        self.stop.sp
    }

    /// Its registers, as far as they are known.
    pub(super) fn registers(&self) -> &[UserRegister] {
        &self.stop.registers
    }

    /// The words in the registers and on the stack of the nearest `count` callers of the function of the fault, as far as no
    /// guess leads to them.
    pub(super) fn pointers_of_callers(&self, count: usize) -> Vec<u64> {
        let stack = self.core.stacks().of_thread(self.tid(), LAST_FRAMES);
        let known = self.core.stacks().known_frames(&stack, LAST_FRAMES);
        let certain = stack.frames.iter().take_while(|frame| !frame.guess);
        let at_fault = certain.enumerate().skip_while(|(_, it)| Some(it.pc.addr()) != self.pc());
        let callers = at_fault.skip(1).take(count);
        let pointers = callers.flat_map(|(index, frame)| {
            let registers = known.general_registers(index);
            registers.into_iter().chain(self.words_of_frame(frame))
        });
        pointers.collect()
    }

    fn words_of_frame(&self, frame: &Frame) -> Vec<u64> {
        let Some((start, end)) = frame.sp.zip(frame.cfa) else { return Vec::new() };
        let count = end.offset_from(start).unwrap_or_default().min(FRAME_BYTES) / WORD;
        let slots = (0..count).filter_map(|index| start.checked_add(index.checked_mul(WORD)?));
        slots.filter_map(|at| self.core.space().read_word(at).ok()).collect()
    }

    /// What the process followed that lies in a freed block. It is found out once.
    pub(super) fn freed_use(&self) -> Option<&FreedUse> {
        self.freed.get_or_init(|| freed_use(self)).as_ref()
    }

    /// Why the signal was sent.
    ///
    /// # Errors
    /// If the core does not tell.
    pub fn signal(&self) -> Result<SignalInfo, &'static str> {
        self.info.ok_or("the core does not say why the signal was sent")
    }

    /// Whether the core says why the signal was sent.
    pub const fn is_told(&self) -> bool {
        self.info.is_some()
    }

    /// Whether the machine or the kernel raised the signal, and no process sent it.
    pub(super) fn is_of_the_machine(&self) -> bool {
        self.info.is_some_and(|info| info.code > 0)
    }

    /// Whether it is a signal of this name, such as `SIGSEGV`.
    pub fn is_signal(&self, name: &str) -> bool {
        let number =
            self.info.map_or(Some(self.end.signal), |info| u16::try_from(info.number).ok());
        number.is_some_and(|number| signal::name(number) == name)
    }

    /// Whether the signal has the code of this name, such as `SEGV_MAPERR`.
    pub fn has_code(&self, name: &str) -> bool {
        self.info.is_some_and(|info| signal::code_name(&info) == Some(name))
    }

    /// The address of a memory fault; `None` for another signal, and where the kernel tells none.
    pub fn fault(&self) -> Option<Addr> {
        let is_of_memory = self.is_signal("SIGSEGV") || self.is_signal("SIGBUS");
        self.told_address().filter(|_| is_of_memory)
    }

    /// The address that the kernel told with the signal, whatever it is of.
    pub fn told_address(&self) -> Option<Addr> {
        match self.info?.detail {
            SignalDetail::Fault { address } => Some(address),
            _ => None,
        }
    }

    /// Whether the kernel raised SIGSEGV and told no address.
    pub fn has_no_address(&self) -> bool {
        self.is_signal("SIGSEGV") && self.has_code("SI_KERNEL")
    }

    /// What the instruction did that the processor may have refused without an address.
    pub(super) fn refused_access(&self) -> RefusedAccess {
        self.core.refused_access(&self.stop)
    }

    /// The thread's pointer to its local storage.
    pub(super) fn thread_pointer(&self) -> Option<Addr> {
        let name = facts(self.core.target()).thread_pointer;
        let registers = self.core.registers().user(self.tid());
        let register = registers.iter().find(|register| register.name == name);
        register.map(|register| Addr::new(register.value))
    }

    /// Whether the instruction at the fault could not be fetched: the process had jumped there.
    pub fn is_jump(&self) -> bool {
        match self.fault() {
            Some(fault) => self.stop.pc == Some(fault),
            None => self.is_signal("SIGSEGV") && !self.is_told() && self.is_at_no_code(),
        }
    }

    /// Whether no instruction can be at the program counter.
    fn is_at_no_code(&self) -> bool {
        let mapping = self.stop.pc.map(|pc| self.core.mapping_at(pc));
        mapping.is_some_and(|it| it.is_none_or(|mapping| !mapping.may_hold_code()))
    }

    /// What its instruction is called.
    pub(super) fn mnemonic(&self) -> Option<String> {
        self.core.mnemonic(self.stop.pc?)
    }

    /// Where its instruction takes the address from that it jumps to, if it is an indirect jump or call.
    pub(super) fn jump_source(&self) -> Option<JumpSource> {
        self.core.jump_source(self.stop.pc?, &self.stop.registers)
    }

    /// What shows its instruction.
    pub(super) fn shown_by_code(&self) -> EvidenceSource {
        self.stop.pc.map_or(EvidenceSource::Process, EvidenceSource::Code)
    }

    /// What was done at the address of a memory fault.
    pub fn access(&self) -> Option<AccessKind> {
        self.core.access_of_instruction(self.stop.pc?, &self.stop.registers, self.fault()?)
    }

    /// The end of a sentence that names the function whose call led to the program counter; `None` if that is not
    /// certain. The function that it called may have jumped on, and leaves no frame then.
    pub(super) fn called_from(&self) -> Option<String> {
        let frame = self.stop.caller.filter(|frame| !frame.guess)?;
        let caller = self.name_of(frame.pc.lookup())?;
        if self.has_called(&frame) {
            return Some(format!(", called from {caller}"));
        }
        self.called_by(&frame).map(|called| format!(", after {caller} called {called}"))
    }

    /// Where the innermost return address lies, in words, where it is not known what the call before it led to.
    pub(super) fn returns_to(&self) -> Option<String> {
        let frame = self.stop.caller.filter(|frame| !frame.guess && !self.has_called(frame))?;
        let caller = self.name_of(frame.pc.lookup())?;
        let is_known = self.called_by(&frame).is_some();
        (!is_known).then(|| {
            format!("the return address is in {caller}: that, or what it called, jumped there")
        })
    }

    /// The function that the call before a return address states, unless that is where the program counter is.
    fn called_by(&self, frame: &Frame) -> Option<String> {
        let calls = facts(self.core.target()).calls.as_ref()?;
        let called = (calls.callee)(frame.pc.addr(), self.core.space());
        self.name_of(called.filter(|called| Some(*called) != self.stop.pc)?)
    }

    pub(super) fn name_of(&self, at: Addr) -> Option<String> {
        self.core.symbols().at(at).map(|symbol| symbol.name.to_string())
    }

    /// Whether an indirect call right before a return address leads to the program counter by what registers and memory
    /// still hold. A register may be one that the function which was called jumped on by: what was loaded into it before the
    /// call tells.
    fn has_called(&self, frame: &Frame) -> bool {
        LENGTHS_OF_CALLS.into_iter().any(|length: i64| {
            let at = frame.pc.addr().wrapping_offset(length.saturating_neg());
            let target = match self.core.jump_source(at, &self.stop.registers) {
                Some(JumpSource::Register(register)) => {
                    let loaded = self.loaded_before(frame, at, &register.name);
                    Some(Addr::new(loaded.unwrap_or(register.value)))
                }
                Some(JumpSource::Memory(slot)) => {
                    self.core.space().read_addr(slot.access.addr).ok()
                }
                None => None,
            };
            target.is_some() && target == self.stop.pc
        })
    }

    #[cfg(feature = "disassembly")]
    fn loaded_before(&self, frame: &Frame, call: Addr, register: &str) -> Option<u64> {
        self.core.loaded_before_call(frame, call, register)
    }

    #[cfg(not(feature = "disassembly"))]
    const fn loaded_before(&self, _: &Frame, _: Addr, _: &str) -> Option<u64> {
        None
    }

    /// The innermost frame of the program's own code that has a name. Nothing where only a guess leads to it.
    fn own_frame(&self) -> Option<(Frame, Arc<str>)> {
        let site = self.core.crash().site().filter(|site| site.tid == self.tid())?;
        let frame = site.frame.frame.filter(|frame| !frame.guess)?;
        Some((frame, site.frame.location.function.clone()?))
    }

    /// The innermost function of the program's own code, as the end of a sentence. Nothing where only a guess leads
    /// to it.
    pub(super) fn in_own_code(&self) -> String {
        self.own_frame().map_or_else(String::new, |(_, name)| format!(", in {name}"))
    }

    /// The function of the instruction, as the end of a sentence, and where that is of a library the function of the
    /// program's own code that led to it.
    pub(super) fn in_or_called_from(&self) -> String {
        match self.own_frame() {
            Some((frame, name)) if Some(frame.pc.addr()) == self.stop.pc => format!(", in {name}"),
            Some((_, name)) => format!("{}, called from {name}", self.in_function()),
            None => self.in_function(),
        }
    }

    /// The same beyond the outermost frame of a function that `is_one` knows by its name; `None` if there is no such frame.
    pub(super) fn in_own_code_beyond(&self, is_one: impl Fn(&str) -> bool) -> Option<String> {
        let stack = self.core.stacks().of_thread(self.end.tid, LAST_FRAMES);
        let is_one = |frame: &Frame| {
            let symbol = self.core.symbols().at(frame.pc.lookup());
            symbol.is_some_and(|symbol| is_one(&symbol.name))
        };
        let at = stack.frames.iter().rposition(is_one)?;
        let is_certain = |frame: &NamedFrame| frame.frame.is_some_and(|frame| !frame.guess);
        let mut own = self.core.stacks().own_frames(&stack).filter(|frame| frame.physical > at);
        let function = own.next().filter(is_certain)?.location.function.clone()?;
        Some(format!(", in {function}"))
    }

    /// The functions of the innermost frames of the thread that took the last signal.
    pub(super) fn last_functions(&self) -> Vec<Arc<str>> {
        let frames = self.core.stacks().of_thread(self.end.tid, LAST_FRAMES).frames;
        let certain = frames.into_iter().take_while(|frame| !frame.guess);
        let symbols = certain.filter_map(|frame| self.core.symbols().at(frame.pc.lookup()));
        symbols.map(|symbol| symbol.name).collect()
    }

    /// The same with the functions that were inlined into them, each with whether it was.
    pub(super) fn last_functions_with_inlines(&self) -> Vec<(Arc<str>, bool)> {
        let stack = self.core.stacks().of_thread(self.end.tid, LAST_FRAMES);
        let named = self.core.stacks().named_frames(&stack);
        let certain = named.take_while(|frame| frame.frame.is_some_and(|frame| !frame.guess));
        let named = certain.map(|frame| (frame.location.function.clone(), frame.location.inline));
        named.filter_map(|(function, is_inlined)| Some((function?, is_inlined))).collect()
    }

    /// What shows the signal. The core holds none of a fault that a handler was told of.
    pub(super) fn shown_by(&self) -> EvidenceSource {
        match (self.was_handled(), self.is_told()) {
            (true, _) => EvidenceSource::Process,
            (false, true) => EvidenceSource::Signal(self.stop.tid),
            (false, false) => EvidenceSource::Stack(self.stop.tid),
        }
    }

    /// The function of the instruction.
    pub(super) fn function(&self) -> Option<String> {
        let symbol = self.core.symbols().at(self.stop.pc?).filter(|it| !it.is_only_nearest())?;
        Some(symbol.name.to_string())
    }

    /// The function of the instruction, as the end of a sentence.
    pub(super) fn in_function(&self) -> String {
        self.function().map_or_else(String::new, |name| format!(", in {name}"))
    }

    /// The memory that the operands of the instruction spell out.
    pub(super) fn operands(&self) -> Vec<MemoryOperand> {
        let Some(pc) = self.stop.pc else { return Vec::new() };
        self.core.operands_of_instruction(pc, &self.stop.registers)
    }

    /// The address that the instruction touches and at which nothing is mapped, if there is one and the core does not
    /// tell that of the fault.
    pub(super) fn untold_fault(&self) -> Option<Addr> {
        if self.is_told() || self.core.has_lost_mappings() {
            return None;
        }
        let touched = self.operands().into_iter().map(|operand| operand.access.addr);
        let mut absent = touched.filter(|at| self.core.mapping_at(*at).is_none());
        let only = absent.next()?;
        absent.next().is_none().then_some(only)
    }

    /// The operand that touches an address, if one alone does, and no segment hides what its registers held.
    pub(super) fn operand_at(&self, fault: Addr) -> Option<MemoryOperand> {
        let mut operands = self.operands().into_iter();
        let operand = operands.find(|operand| operand.access.touches(fault))?;
        let is_alone = operands.all(|operand| !operand.access.touches(fault));
        (is_alone && !operand.has_segment).then_some(operand)
    }

    /// The address of a fault of the thread's stack, if the stack is full: the kernel tells it, or it could not place the
    /// frame of the fault's handler.
    pub(super) fn stack_overflow(&self) -> Option<Addr> {
        let core = self.core;
        let is_full = |trouble| trouble == Some(StackTrouble::Overflow);
        if let Some(fault) = self.fault() {
            return is_full(core.stack_trouble(self.stop.sp, fault)).then_some(fault);
        }
        let forced = self.has_no_address().then(|| core.forced_fault(&self.stop)).flatten();
        forced.filter(|forced| is_full(forced.trouble)).map(|forced| forced.access.addr)
    }

    /// The frame in which the fault lies, below the memory that it begins in: it reaches beyond the end of its stack.
    pub(super) fn frame_beyond_stack(&self) -> Option<FrameBeyondStack> {
        let fault = self.fault().filter(|_| self.is_signal("SIGSEGV"))?;
        let may_write = |mapping: &Mapping| mapping.permits(AccessKind::Write).unwrap_or(true);
        if self.core.mapping_at(fault).is_some_and(may_write) || self.core.has_lost_mappings() {
            return None;
        }
        let frames = self.core.stacks().of_thread(self.tid(), LAST_FRAMES).frames;
        let certain = frames.iter().take_while(|frame| !frame.guess);
        let at_fault = certain.skip_while(|frame| Some(frame.pc.addr()) != self.pc());
        at_fault.take(FRAMES_AT_FAULT).find_map(|frame| {
            let (sp, cfa) = frame.sp.zip(frame.cfa)?;
            // A call, and what a function calls, begin a few bytes below its frame.
            let lowest = Addr::new(sp.get().saturating_sub(BELOW_FRAME));
            let stack = self.core.mapping_at(Addr::new(cfa.get().checked_sub(1)?))?;
            let is_stack = stack.permits(AccessKind::Write) == Some(true)
                && !matches!(stack.kind, MappingKind::File { .. });
            let is_beyond = lowest <= fault && fault < stack.range.start && sp < stack.range.start;
            let (at, size) = (frame.pc.lookup(), cfa.offset_from(sp)?);
            let beyond = FrameBeyondStack { fault, at, size, stack: stack.range };
            (is_stack && is_beyond).then_some(beyond)
        })
    }

    /// Whether the fault may be of a stack that is full, or of a stack pointer that is none.
    pub(super) fn is_of_stack(&self) -> bool {
        self.frame_beyond_stack().is_some()
            || self
                .fault()
                .is_some_and(|fault| self.core.stack_trouble(self.stop.sp, fault).is_some())
    }
}

/// A frame that reaches beyond the end of its stack.
pub(super) struct FrameBeyondStack {
    /// The fault.
    pub(super) fault: Addr,
    /// Code of its function.
    pub(super) at: Addr,
    /// Its bytes.
    pub(super) size: u64,
    /// The memory of the stack.
    pub(super) stack: AddrRange,
}

/// What the kernel tells of the signal that ended the process.
fn told_of_end(thread: &Thread) -> Option<SignalInfo> {
    thread.siginfo.filter(|info| info.number == i32::from(thread.signal))
}

/// Whether the process ended itself: it raised SIGABRT, or ran into an instruction that is made to stop it.
pub(super) fn ends_itself(crash: &Crash<'_>) -> bool {
    let end = crash.end();
    // A core of an emulator says nothing of the sender: what stands on the stack must do.
    let may_be_own = crash.is_from_itself() || told_of_end(end).is_none();
    (end.signal == SIGABRT && may_be_own)
        || (TRAPS.contains(&end.signal) && told_of_end(end).is_some_and(|info| info.code > 0))
}

/// Whether a value is no address of the machine's 48 bits.
pub(super) fn is_non_canonical(value: u64) -> bool {
    Access { addr: Addr::new(value), size: 1, kind: AccessKind::Read }.is_non_canonical()
}
