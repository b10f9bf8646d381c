//! Machines that are told by a description: registers, signal frames, calls and the chain of frames as data.
//!
//! Call frame information leads through their stacks. Where it is missing, the start of the function is read, or
//! the chain of frames that the machine's ABI keeps is followed.

mod code;
mod notes;
mod prologue;
mod signal_frame;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Fault, Target};

pub use code::{Calls, SystemCalls, word_at};
pub use notes::Layout;
pub use prologue::{Effect, Prologue};
pub use signal_frame::{SavedRegisters, SignalFrame, Ucontext};

use super::{Machine, RegisterPart, UserRegister};
use crate::{Reading, RegisterId, Regs, SavedContext, Switch, follow::Instruction};

/// A register without a DWARF number that rules of other frames could name: the program counter of machines whose
/// unwind information never asks for it.
pub const UNNUMBERED_PC: RegisterId = RegisterId(35);

/// What is to be known of a machine.
pub struct Description {
    /// What `pr_reg` holds.
    pub layout: Layout,
    /// Bytes of `pr_reg`, with what is spare at its end. Another size is another interface's, such as n32's, or a
    /// dumper's own: then the registers are not known.
    pub pr_reg: usize,
    /// What `NT_FPREGSET` holds, where functions keep general registers of their callers in floating-point ones.
    pub fp_layout: Option<Layout>,
    /// The registers that frames have, by name.
    pub names: &'static [(&'static str, RegisterId)],
    /// Other names of registers: the name, and that in `pr_reg`.
    pub other_names: &'static [(&'static str, &'static str)],
    /// Registers that are the same in all frames of a thread.
    pub of_thread: &'static [&'static str],
    /// The thread pointer, where it is no register of its own: it is shown as `tp`.
    pub thread_pointer: Option<ReadPointer>,
    /// The name of the program counter in `pr_reg`.
    pub pc: &'static str,
    /// The program counter, under the number by which unwind rules may ask for it.
    pub program_counter: RegisterId,
    /// The stack pointer.
    pub stack_pointer: RegisterId,
    /// The register that points to frame records, by the ABI or by habit.
    pub frame_pointer: RegisterId,
    /// The register in which a call leaves the return address; `None` where it pushes it.
    pub link: Option<RegisterId>,
    /// Added to what a call leaves as return address to come to where the function returns.
    pub after_call: i64,
    /// The registers that a function must preserve, without the stack pointer.
    pub preserved: &'static [u16],
    /// The bits of a code address that say where the code lies.
    pub code_bits: u64,
    /// Whether a caller's stack pointer is the CFA where nothing is said of it; else it is that of the frame.
    pub stack_pointer_is_cfa: bool,
    /// The frames that the kernel puts on a stack for the handler of a signal.
    pub signal_frames: &'static [SignalFrame],
    /// What the `ucontext_t` of a signal frame holds.
    pub ucontext: Option<Ucontext>,
    /// How code calls.
    pub calls: Calls,
    /// How code calls the kernel.
    pub system_calls: SystemCalls,
    /// How frames are linked.
    pub chain: Chain,
    /// How to read the exception table of a module, which some machines unwind by.
    pub exception_table: Option<ReadTable>,
    /// How code begins functions, for those without unwind information.
    pub prologue: Option<Prologue>,
}

/// The thread pointer, by the registers of `pr_reg`.
pub type ReadPointer = fn(&[UserRegister]) -> Option<u64>;

/// What an exception table says of the body of the function at an address, and where that function begins.
pub type ReadTable = fn(AddrRange, Addr, &dyn AddressSpace) -> Option<(Reading, Addr)>;

/// How frames are linked where the ABI or a compiler's option asks for it.
#[derive(Clone, Copy, Debug)]
pub enum Chain {
    /// They are not.
    None,
    /// The frame pointer points to a record, or right behind it: where the caller's frame pointer and the return
    /// address lie from it, and the CFA.
    Record {
        /// Of the caller's frame pointer.
        saved: i64,
        /// Of the return address.
        return_address: i64,
        /// Of the CFA.
        cfa: i64,
    },
    /// The stack pointer points to that of the caller, and the return address lies at this distance from there. The
    /// ABI asks for it, so that 0 ends it.
    Backwards(u64),
    /// The same where only an option of compilers asks for it.
    BackwardsAtTimes(u64),
    /// The stack pointer points to where the window of registers was saved, but for this bias.
    Windows(u64),
}

/// A machine by its description.
pub struct Described {
    description: &'static Description,
    target: Target,
}

impl Described {
    /// The machine of a target.
    pub const fn new(description: &'static Description, target: Target) -> Self {
        Self { description, target }
    }

    /// Bytes in the place of a register.
    const fn slot(&self) -> u64 {
        self.target.register_size() as u64
    }

    fn read(&self, base: u64, offset: i64, space: &dyn AddressSpace) -> Option<u64> {
        space.read_register(Addr::new(base.checked_add_signed(offset)?)).ok()
    }

    /// The caller by a frame record at the frame pointer.
    fn by_record(
        &self,
        regs: &Regs,
        [saved, return_address, cfa]: [i64; 3],
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        let it = self.description;
        let fp = regs.get(it.frame_pointer)?;
        let cfa = fp.checked_add_signed(cfa)?;
        let is_below = regs.get(it.stack_pointer).is_some_and(|sp| cfa < sp);
        if is_below || !fp.is_multiple_of(self.slot()) {
            return None;
        }
        let above = self.read(fp, saved, space)?;
        if above != 0 && above <= fp {
            return None;
        }
        let mut caller = Regs::new(Addr::new(self.read(fp, return_address, space)?));
        caller.set(it.frame_pointer, Some(above));
        caller.set(it.stack_pointer, Some(cfa));
        Some((caller, Some(Addr::new(cfa))))
    }

    /// The caller by the word at the stack pointer, which is the caller's stack pointer.
    fn by_back_chain(
        &self,
        regs: &Regs,
        offset: u64,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        let sp = regs.get(self.description.stack_pointer)?;
        let above = self.read(sp, 0, space).filter(|above| *above > sp)?;
        let pc = self.read(above, offset.cast_signed(), space)?;
        let mut caller = Regs::new(Addr::new(pc));
        caller.set(self.description.stack_pointer, Some(above));
        Some((caller, Some(Addr::new(above))))
    }

    /// The caller by the window of registers that was saved at the stack pointer: sixteen words, of which the last
    /// eight are the caller's own out registers.
    fn by_window(
        &self,
        regs: &Regs,
        bias: u64,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        const FIRST_OUT: u16 = 8;
        const FIRST_LOCAL: u16 = 16;
        let sp = regs.get(self.description.stack_pointer)?;
        let window = sp.checked_add(bias)?;
        let slot = |index: u16| {
            self.read(window, i64::from(index).checked_mul(self.slot().cast_signed())?, space)
        };
        let above = slot(14).filter(|above| *above > sp)?;
        let call = slot(15).filter(|call| *call != 0)?;
        let mut caller =
            Regs::new(Addr::new(call.wrapping_add_signed(self.description.after_call)));
        for index in 0..8 {
            caller.set(RegisterId(FIRST_OUT.saturating_add(index)), slot(index.saturating_add(8)));
        }
        let mine = above.checked_add(bias)?;
        for index in 0..16 {
            let at = i64::from(index).checked_mul(self.slot().cast_signed())?;
            let number = FIRST_LOCAL.saturating_add(index);
            caller.set(RegisterId(number), self.read(mine, at, space));
        }
        Some((caller, Some(Addr::new(above))))
    }
}

/// Code at the start of a function in which its body may not have begun.
const ENTERING: u64 = 16;

impl Described {
    /// Whether the body of the function has begun at `pc`: it is behind the first instructions, or these have saved what
    /// the body relies on.
    fn has_begun(&self, start: Addr, pc: Addr, body: &Reading, space: &dyn AddressSpace) -> bool {
        if pc.offset_from(start).is_some_and(|into| into >= ENTERING) {
            return true;
        }
        let function = AddrRange::new(start, pc.saturating_add(1));
        self.read_code(pc, function, space).iter().any(|read| read.agrees_with(body))
    }
}

impl Machine for Described {
    fn stack_pointer(&self) -> RegisterId {
        self.description.stack_pointer
    }

    fn frame_pointer(&self) -> RegisterId {
        self.description.frame_pointer
    }

    fn program_counter(&self) -> RegisterId {
        self.description.program_counter
    }

    fn link_register(&self) -> Option<RegisterId> {
        self.description.link
    }

    fn register_names(&self) -> &'static [(&'static str, RegisterId)] {
        self.description.names
    }

    fn part_of(&self, name: &str) -> Option<RegisterPart> {
        let whole = self.description.other_names.iter().find(|(other, _)| *other == name)?.1;
        let bits = (self.target.register_size() as u32).saturating_mul(8);
        Some(RegisterPart { whole, shift: 0, bits })
    }

    fn is_of_thread(&self, name: &str) -> bool {
        self.description.of_thread.contains(&name)
    }

    fn pc_name(&self) -> &'static str {
        self.description.pc
    }

    fn stack_pointer_is_cfa(&self) -> bool {
        self.description.stack_pointer_is_cfa
    }

    fn trusts_prologues(&self) -> bool {
        self.description.link.is_some()
    }

    fn trusts_signal_rows(&self) -> bool {
        false
    }

    fn user_registers(&self, bytes: &[u8], target: Target) -> Vec<UserRegister> {
        if bytes.len() != self.description.pr_reg {
            return Vec::new();
        }
        let mut read = self.description.layout.read(bytes, target);
        let pointer = self.description.thread_pointer.and_then(|find| find(&read));
        read.extend(pointer.map(|value| UserRegister { name: "tp", value }));
        read
    }

    fn regs(&self, bytes: &[u8], target: Target) -> Option<Regs> {
        self.description.regs(&self.user_registers(bytes, target))
    }

    fn add_fp_registers(&self, regs: &mut Regs, bytes: &[u8], target: Target) {
        let read = self.description.fp_layout.map(|layout| layout.read(bytes, target));
        for saved in read.unwrap_or_default() {
            if let Some(register) = self.description.register(saved.name) {
                regs.set(register, Some(saved.value));
            }
        }
    }

    fn system_call(&self, bytes: &[u8], target: Target, space: &dyn AddressSpace) -> Option<u64> {
        let user = self.user_registers(bytes, target);
        let value = |wanted: &str| user.iter().find(|it| it.name == wanted).map(|it| it.value);
        let pc = self.strip_code(Addr::new(value(self.description.pc)?));
        let call = self.description.system_calls.at(pc, space)?;
        self.description.system_calls.number(call, &value, space)
    }

    fn pr_reg(
        &self,
        regs: &Regs,
        _system_call: Option<u64>,
        _thread_pointer: Option<Addr>,
    ) -> Vec<u8> {
        let value = |name: &str| match name == self.description.pc {
            true => Some(regs.pc().get()),
            false => regs.get(self.description.register(name)?),
        };
        let mut bytes = self.description.layout.write(&value, self.target);
        bytes.resize(self.description.pr_reg, 0);
        bytes
    }

    fn system_call_in_code(&self, _pc: Addr, _space: &dyn AddressSpace) -> Option<u64> {
        None
    }

    fn interrupted_system_call(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(u64, Addr)> {
        let calls = &self.description.system_calls;
        let value = |name: &str| regs.get(self.description.register(name)?);
        let call = calls.starting_at(regs.pc(), space)?;
        Some((calls.number(call, &value, space)?, call.end))
    }

    fn forget_scratch(&self, regs: &mut Regs) {
        for (_, register) in self.description.names {
            let is_kept = *register == self.description.stack_pointer
                || self.description.preserved.contains(&register.0);
            if !is_kept {
                regs.forget(*register);
            }
        }
    }

    fn strip_code(&self, at: Addr) -> Addr {
        Addr::new(at.get() & self.description.code_bits)
    }

    fn returns_to(&self, link: Addr) -> Addr {
        self.strip_code(link.wrapping_offset(self.description.after_call))
    }

    fn is_signal_restorer(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        self.description.signal_frame(at, space).is_some()
    }

    fn is_end_of_context(&self, _at: Addr, _space: &dyn AddressSpace) -> bool {
        false
    }

    fn begins_context(&self, _regs: &Regs, _cfa: Addr, _space: &dyn AddressSpace) -> bool {
        false
    }

    fn interrupted_regs(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<Regs> {
        let frame = self.description.signal_frame(regs.pc(), space)?;
        let sp = Addr::new(regs.get(self.description.stack_pointer)?);
        let saved = (frame.registers)(sp, space)?;
        frame.saved.read(self.description, saved, frame.keeps_others.then_some(regs), space)
    }

    fn context_regs(&self, context: Addr, space: &dyn AddressSpace) -> Option<Regs> {
        let it = self.description.ucontext?;
        let saved = context.checked_add(it.registers)?;
        it.saved.read(self.description, saved, None, space)
    }

    fn signal_context(
        &self,
        restorer: Addr,
        stack_pointer: Addr,
        space: &dyn AddressSpace,
    ) -> Option<Addr> {
        let it = self.description.ucontext?;
        let restorer = Addr::new(restorer.get() & self.description.code_bits);
        let frame = self.description.signal_frame(restorer, space)?;
        let registers = (frame.registers)(stack_pointer, space).filter(|_| frame.has_context)?;
        registers.get().checked_sub(it.registers).map(Addr::new)
    }

    fn context_of_saved_stack_pointer(&self, slot: Addr) -> Option<Addr> {
        let it = self.description.ucontext?;
        let offset = it.saved.offset_of(self.description.stack_pointer, self.description)?;
        slot.get().checked_sub(it.registers.checked_add(offset)?).map(Addr::new)
    }

    fn signal_info(&self, context: Addr) -> Option<Addr> {
        let distance = self.description.ucontext?.signal_info?;
        context.get().checked_add_signed(distance).map(Addr::new)
    }

    fn saved_context(
        &self,
        context: Addr,
        space: &dyn AddressSpace,
    ) -> Result<SavedContext, Fault> {
        let it = self.description.ucontext.ok_or(Fault::Unmapped(context))?;
        it.saved_context(context, space)
    }

    fn follows_call(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        (self.description.calls.follows)(at, space)
    }

    fn called_before(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
        (self.description.calls.target)(at, space)
    }

    fn switch_before(
        &self,
        _at: Addr,
        _caller: Option<AddrRange>,
        _space: &dyn AddressSpace,
    ) -> Option<Switch> {
        None
    }

    fn caller_at_entry(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<(Regs, Addr)> {
        let sp = regs.get(self.description.stack_pointer)?;
        let Some(link) = self.description.link else {
            let cfa = sp.checked_add(self.slot())?;
            let mut caller = regs.with_pc(space.read_addr(Addr::new(sp)).ok()?);
            caller.set(self.description.stack_pointer, Some(cfa));
            return Some((caller, Addr::new(cfa)));
        };
        let mut caller = regs.with_pc(self.returns_to(Addr::new(regs.get(link)?)));
        caller.set(link, None);
        Some((caller, Addr::new(sp)))
    }

    fn may_have_returned(&self, regs: &Regs, space: &dyn AddressSpace) -> bool {
        self.description.calls.has_called.is_some_and(|has_called| !has_called(regs, space))
    }

    fn jump_at(&self, _at: Addr, _space: &dyn AddressSpace) -> Option<Addr> {
        None
    }

    fn preserved(&self) -> &'static [u16] {
        self.description.preserved
    }

    fn instruction(&self, _bytes: &[u8], _at: Addr) -> Option<Instruction> {
        None
    }

    fn read_code(&self, pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Vec<Reading> {
        let Some(prologue) = self.description.prologue else { return Vec::new() };
        prologue.read(self.description, pc, function, space)
    }

    fn caller_by_code(
        &self,
        regs: &Regs,
        readings: &[Reading],
        space: &dyn AddressSpace,
        is_plausible: &dyn Fn(&Regs, Addr) -> bool,
    ) -> Option<(Regs, Addr)> {
        let caller =
            |reading: &Reading| prologue::caller(self, self.description, reading, regs, space);
        readings.iter().filter_map(caller).find(|(caller, cfa)| is_plausible(caller, *cfa))
    }

    fn caller_by_frame_pointer(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        match self.description.chain {
            Chain::None => None,
            Chain::Record { saved, return_address, cfa } => {
                self.by_record(regs, [saved, return_address, cfa], space)
            }
            Chain::Backwards(offset) | Chain::BackwardsAtTimes(offset) => {
                self.by_back_chain(regs, offset, space)
            }
            Chain::Windows(bias) => self.by_window(regs, bias, space),
        }
    }

    fn caller_by_table(
        &self,
        table: AddrRange,
        (regs, is_return): (&Regs, bool),
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Addr)> {
        let lookup = regs.pc().wrapping_offset(if is_return { -1 } else { 0 });
        let (reading, start) = (self.description.exception_table?)(table, lookup, space)?;
        (is_return || self.has_begun(start, lookup, &reading, space)).then_some(())?;
        prologue::caller(self, self.description, &reading, regs, space)
    }

    /// The back chain of the first frame of a thread is 0, or its link leads to 0.
    fn ends_chain(&self, regs: &Regs, space: &dyn AddressSpace) -> bool {
        let Chain::Backwards(link) = self.description.chain else { return false };
        let sp = regs.get(self.description.stack_pointer);
        match sp.and_then(|sp| Some((sp, self.read(sp, 0, space)?))) {
            Some((_, 0)) => true,
            Some((sp, above)) => {
                above > sp && self.read(above, link.cast_signed(), space) == Some(0)
            }
            None => false,
        }
    }

    fn grows_upwards(&self) -> bool {
        self.target.arch == Arch::Hppa
    }

    fn links_frames(&self) -> bool {
        matches!(self.description.chain, Chain::Backwards(_) | Chain::Windows(_))
    }

    /// Where code without frame pointers would have it, had it one: at the CFA, or where a call pushes the return
    /// address below that, right below the two.
    fn frame_pointer_of(&self, _regs: &Regs, cfa: Option<Addr>) -> Option<Addr> {
        match self.description.link {
            Some(_) => cfa,
            None => cfa?.get().checked_sub(self.slot().saturating_mul(2)).map(Addr::new),
        }
    }
}

impl Description {
    /// A register that frames have, by its name.
    pub fn register(&self, name: &str) -> Option<RegisterId> {
        self.names.iter().find(|(known, _)| *known == name).map(|(_, register)| *register)
    }

    /// The registers from which a walk starts.
    fn regs(&self, user: &[UserRegister]) -> Option<Regs> {
        let pc = user.iter().find(|it| it.name == self.pc)?.value & self.code_bits;
        let mut regs = Regs::new(Addr::new(pc));
        for saved in user {
            if let Some(register) = self.register(saved.name) {
                regs.set(register, Some(saved.value));
            }
        }
        Some(regs)
    }

    /// The signal frame whose handler returns to the code at `at`.
    fn signal_frame(&self, at: Addr, space: &dyn AddressSpace) -> Option<&'static SignalFrame> {
        self.signal_frames.iter().find(|frame| frame.is_at(at, space))
    }
}
