//! Out of a thread that was stopped in the interpreter: while it runs a bytecode, and while it makes or leaves the frame of
//! a method, when the frame pointer is its caller's.
//!
//! Facts come from openjdk/jdk, `src/hotspot/cpu/x86`, JDK 17 to 25: `TemplateTable::prepare_invoke` pushes where the
//! method returns to, `prepare_to_jump_from_interpreted` puts the stack pointer of the caller into r13,
//! `generate_normal_entry` takes the return address off the stack into rax to make room for locals,
//! `generate_fixed_frame` pushes it again and makes the frame, and `remove_activation` leaves it by `pop`, `mov` to rsp
//! and `jmp`.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{RegisterId, Regs};

use super::{At, HotSpot, MAX_LOCALS, METHOD, R13, RBP};

const RAX: RegisterId = RegisterId(0);
/// By words from the frame pointer: the place in the bytecodes while something is called.
const SAVED_PLACE: i64 = -8;
/// `mov rbp, rsp`, as HotSpot's assembler writes it.
const SET_FRAME_POINTER: [u8; 3] = [0x48, 0x8b, 0xec];
/// What a thread may have before it in the code to which a call returns (`generate_return_entry_for`), up to the
/// instruction that loads r13: until then r13 is as the callee left it. The stack pointer is read from the frame, by one
/// instruction in JDK 17; JDK 25 keeps it relative to rbp.
const COMING_BACK: [&[u8]; 5] = [
    // mov rsp, [rbp - 16]
    &[0x48, 0x8b, 0x65, 0xf0],
    // mov rcx, [rbp - 16]; lea rsp, [rbp + 8 * rcx]
    &[0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0],
    &[0x48, 0x8d, 0x64, 0xcd, 0],
    // mov qword [rbp - 16], 0
    &[0x48, 0xc7, 0x45, 0xf0, 0, 0, 0, 0],
    // mov r13, [rbp - 64]
    &[0x4c, 0x8b, 0x6d, 0xc0],
];
/// Bytes of the longest of these.
const LONGEST_COMING_BACK: usize = 9;
/// Bytes of the code that returns go to, before the place in the bytecodes is in r13 again, at most.
const RETURN_ENTRY: u64 = 64;
/// The same until the arguments of the call are popped. Where types are profiled the code is longer.
const MAX_RETURN_ENTRY: u64 = 256;
/// Bytes of two instructions by which a frame is left, and of one that clears a flag before them.
const LONGEST_LEAVING: usize = 16;
/// `call`, with where to relative to what is behind it.
const CALL: u8 = 0xe8;
/// Bytes of code by which the interpreter calls the virtual machine, at most.
const MAX_PART: u64 = 256;
/// The numbers of DWARF for the first registers as instructions number them.
const DWARF_NUMBERS: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];

/// An instruction by which a method is left once its frame is gone.
#[derive(Clone, Copy)]
enum Leaving {
    /// The return address goes from the stack into a register.
    Pop,
    /// The stack pointer becomes the caller's, which this register has.
    SetStackPointer(RegisterId),
    /// To the return address, in this register.
    Jump(RegisterId),
}

impl HotSpot {
    /// The CFA of the frame, whose caller's registers are put into `caller`.
    pub(super) fn leave_interpreted(&self, at: At<'_>, caller: &mut Regs) -> Option<Addr> {
        let steps = [
            Self::leave_left,
            Self::leave_compared,
            Self::leave_pushed,
            Self::leave_linked,
            Self::leave_entered,
        ];
        let is_back = has_come_back(at) && self.is_in_bytecodes(at);
        if !is_back && let Some((regs, cfa)) = steps.iter().find_map(|step| step(self, at)) {
            *caller = regs;
            return Some(cfa);
        }
        let is_whole = is_back || self.is_in_bytecodes(at) || self.is_native(at);
        is_whole.then(|| self.leave_interpreter(at, caller)).flatten()
    }

    /// The frame is gone: `pop RETURN; mov rsp, SENDER; jmp RETURN`.
    fn leave_left(&self, at: At<'_>) -> Option<(Regs, Addr)> {
        let code = at.code(LONGEST_LEAVING);
        let code = behind_flag(&code);
        let (leaving, len) = Leaving::read(code)?;
        let next = || Some(Leaving::read(code.get(len..)?)?.0);
        let (pc, cfa) = match (leaving, next()) {
            (Leaving::Jump(to), _) => (at.regs.get(to)?, at.stack_pointer()?),
            (Leaving::SetStackPointer(sender), Some(Leaving::Jump(to))) => {
                (at.regs.get(to)?, Addr::new(at.regs.get(sender)?))
            }
            // JDK 25 compares the new stack pointer before it jumps.
            (Leaving::SetStackPointer(sender), _) => {
                (at.regs.get(R13)?, Addr::new(at.regs.get(sender)?))
            }
            (Leaving::Pop, Some(Leaving::SetStackPointer(sender))) => {
                (at.word_by_sp(0)?, Addr::new(at.regs.get(sender)?))
            }
            (Leaving::Pop, _) => return None,
        };
        self.caller_of(at, pc, cfa, at.regs.get(RBP))
    }

    /// The return address is in r13, and nothing is left but to go there.
    fn leave_compared(&self, at: At<'_>) -> Option<(Regs, Addr)> {
        let pc = Addr::new(at.regs.get(R13)?);
        let is_there = at.regs.pc().offset_from(pc).is_some_and(|by| by <= RETURN_ENTRY);
        (!is_there).then_some(())?;
        self.caller_of(at, pc.get(), at.stack_pointer()?, at.regs.get(RBP))
    }

    /// The return address was pushed, and there is no frame yet. Below the frame of a native method lies what is left of
    /// other calls.
    fn leave_pushed(&self, at: At<'_>) -> Option<(Regs, Addr)> {
        (!self.is_native(at) || self.is_in_call(at)).then_some(())?;
        // A method handle's linker took the last argument, which lay where the return address is now.
        let sp = at.stack_pointer()?;
        let cfa = at.sender(sp).or_else(|| sp.checked_add(8))?;
        self.caller_of(at, at.word_by_sp(0)?, cfa, at.regs.get(RBP))
    }

    /// The frame pointer of the caller was pushed too, and is still the frame pointer.
    fn leave_linked(&self, at: At<'_>) -> Option<(Regs, Addr)> {
        (at.code(SET_FRAME_POINTER.len()) == SET_FRAME_POINTER).then_some(())?;
        let end = at.stack_pointer()?.checked_add(16)?;
        self.caller_of(at, at.word_by_sp(1)?, at.sender(end)?, at.word_by_sp(0))
    }

    /// The frame is being made: below its frame pointer nothing is known yet, or the return address is in rax.
    fn leave_entered(&self, at: At<'_>) -> Option<(Regs, Addr)> {
        let sender = at.sender(at.stack_pointer()?)?;
        let is_linked = at.frame_pointer().is_some_and(|fp| fp < sender);
        match is_linked {
            true => self.caller_of(at, at.word_by_fp(1)?, sender, at.word_by_fp(0)),
            false => self.caller_of(at, at.regs.get(RAX)?, sender, at.regs.get(RBP)),
        }
    }

    fn caller_of(&self, at: At<'_>, pc: u64, cfa: Addr, fp: Option<u64>) -> Option<(Regs, Addr)> {
        let pc = Addr::new(pc);
        self.is_ours(pc, at.space).then(|| (at.caller(pc, cfa, fp), cfa))
    }

    /// Whether the frame pointer is that of a method whose bytecodes are run: r13 has the place in them, or, where
    /// something that was called came back just now, the frame has it.
    fn is_in_bytecodes(&self, at: At<'_>) -> bool {
        let mut places = [at.regs.get(R13), at.word_by_fp(SAVED_PLACE)].into_iter().flatten();
        self.bytecodes(at).is_some_and(|bytecodes| {
            places.any(|place| bytecodes.contains(Addr::new(place)) || place == bytecodes.end.get())
        })
    }

    /// Whether the frame is that of a native method, which has no place in bytecodes.
    fn is_native(&self, at: At<'_>) -> bool {
        at.word_by_fp(SAVED_PLACE) == Some(0) && self.bytecodes(at).is_some_and(|it| it.is_empty())
    }

    /// The bytecodes of the method that the frame says it is of; a native one has none.
    fn bytecodes(&self, at: At<'_>) -> Option<AddrRange> {
        let method = Addr::new(at.word_by_fp(METHOD)?);
        let constant = at.space.read_addr(method.checked_add(self.methods.const_method)?).ok()?;
        let len = at.space.read_uint(constant.checked_add(self.methods.code_size)?, 2).ok()?;
        Some(AddrRange::with_len(constant.checked_add(self.methods.header)?, len))
    }

    /// Whether a call of the interpreter to code of its own, a few bytes on, pushed what is on top of the stack.
    fn is_in_call(&self, at: At<'_>) -> bool {
        let target = || {
            let back = Addr::new(at.word_by_sp(0)?);
            let call = at.space.read_held(back.wrapping_offset(-5), 5);
            let (&CALL, by) = call.split_first()? else { return None };
            let by = i32::from_le_bytes(by.try_into().ok()?);
            at.regs.pc().offset_from(back.wrapping_offset(by.into()))
        };
        target().is_some_and(|done| done <= MAX_PART)
    }
}

impl At<'_> {
    /// The stack pointer of the caller, which r13 has while a frame is made. Answers nothing where that is below `least`, or far above.
    fn sender(self, least: Addr) -> Option<Addr> {
        let sender = Addr::new(self.regs.get(R13)?);
        sender.offset_from(least).filter(|locals| *locals <= MAX_LOCALS).map(|_| sender)
    }

    fn word_by_sp(self, words: i64) -> Option<u64> {
        let at = self.stack_pointer()?.wrapping_offset(words.checked_mul(8)?);
        self.space.read_word(at).ok()
    }
}

impl Leaving {
    /// The instruction at the start of `code`, and its length.
    fn read(code: &[u8]) -> Option<(Self, usize)> {
        Some(match *code {
            [0x41, it @ 0x58..=0x5f, ..] if it != 0x5c => (Self::Pop, 2),
            [it @ 0x58..=0x5f, ..] if it != 0x5c => (Self::Pop, 1),
            [rex @ 0x48..=0x49, 0x8b, it @ 0xe0..=0xe7, ..] => {
                (Self::SetStackPointer(register(rex & 1, it)?), 3)
            }
            [0x41, 0xff, it @ 0xe0..=0xe7, ..] => (Self::Jump(register(1, it)?), 3),
            [0xff, it @ 0xe0..=0xe7, ..] => (Self::Jump(register(0, it)?), 2),
            _ => return None,
        })
    }
}

/// Whether a call came back to the interpreter just now. What it left on the stack, in rax and in r13 looks as if a
/// method were being entered: i2c adapters take the return address into rax, and push it again further down; behind a
/// linker of method handles it lies in the place of the last argument until all of them are popped.
fn has_come_back(at: At<'_>) -> bool {
    let code = at.code(LONGEST_COMING_BACK);
    let is_behind = |back: u64| at.regs.pc().offset_from(Addr::new(back));
    COMING_BACK.iter().any(|begin| code.starts_with(begin))
        || at.word_by_sp(0).and_then(is_behind).is_some_and(|by| by < MAX_RETURN_ENTRY)
}

/// The code behind `movb [r15 + FLAG], 0`, by which a thread of JDK 25 says that its frame is gone.
fn behind_flag(code: &[u8]) -> &[u8] {
    match code {
        [0x41, 0xc6, 0x87, _, _, _, _, 0, rest @ ..] | [0x41, 0xc6, 0x47, _, 0, rest @ ..] => rest,
        _ => code,
    }
}

/// The register that the last bits of an instruction name, with one more that is set for the upper eight.
fn register(upper: u8, bits: u8) -> Option<RegisterId> {
    let low = bits & 7;
    let number = match upper {
        0 => *DWARF_NUMBERS.get(usize::from(low))?,
        _ => u16::from(low | 8),
    };
    Some(RegisterId(number))
}
