//! The caller by how a function began, for code without call frame information.
//!
//! The instructions from the function's start up to the pc are read in the order of addresses. What lies where in
//! the frame is known from those that lower the stack pointer and that store registers which a callee preserves.
//! Once a frame pointer is set, what follows does not count: `alloca` moves the stack pointer by what no
//! instruction tells.

use kcore_mem::{Addr, AddrRange, AddressSpace, Endian};

use super::Description;
use crate::{Machine, Reading, RegisterId, Regs, reading::MAX_CODE};

/// What one instruction does to the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that matters.
    None,
    /// The stack pointer moved by a constant.
    Move(i64),
    /// A register was stored at an offset from the stack pointer.
    Store(u16, i64),
    /// Registers of a mask were stored one above the other, the lowest number lowest, from an offset from the
    /// stack pointer on.
    StoreMany(u32, i64),
    /// A register became the stack pointer plus a constant, before or after [`Effect::Move`].
    SetFrame(u16, i64),
    /// Lowers the stack pointer by a constant, and stores a register at its new place.
    Push(u16, i64),
    /// Registers of a mask were pushed, the lowest number lowest.
    PushMany(u32),
    /// The function ends here, or one of its paths does.
    Return,
}

/// How to read the start of functions.
#[derive(Clone, Copy)]
pub struct Prologue {
    /// The instruction sets that code may be in.
    pub decoders: &'static [Decode],
    /// The register that holds the frame pointer once a function sets one; each machine has few that do.
    pub frames: &'static [u16],
    /// How far above the stack pointer at its entry a function may save registers: where the ABI leaves room for
    /// them in the caller's frame.
    pub room_above: i64,
}

/// The effect of the first instruction of the code, and its length; `None` where the code ends within it. The code is
/// big-endian or not.
pub type Decode = fn(&[u8], bool) -> Option<(Effect, usize)>;

/// Functions that code is read from, at most, where no symbol tells which.
const MAX_STARTS: usize = 16;

struct Scan<'d> {
    description: &'d Description,
    word: i64,
    /// The stack pointer from that at the function's entry.
    sp: i64,
    /// The frame pointer's register, and its distance from there.
    frame: Option<(u16, i64)>,
    saved: Vec<(u16, i64)>,
}

impl Prologue {
    /// What the instructions from the start of `function` to `pc` did to the stack, for each instruction set that
    /// the code may be in: that first which tells most.
    pub fn read(
        self,
        description: &Description,
        pc: Addr,
        function: AddrRange,
        space: &dyn AddressSpace,
    ) -> Vec<Reading> {
        let code = read_code(pc, function.start, space).unwrap_or_default();
        let is_sure = function.contains(pc);
        let scan = |decode: &Decode| {
            let word = space.target().register_size() as i64;
            let is_big = space.target().endian == Endian::Big;
            let starts = if is_sure { vec![0] } else { starts(&code, *decode, is_big) };
            let from = |start: &usize| {
                let mut scan = Scan { description, word, sp: 0, frame: None, saved: Vec::new() };
                scan.run(code.get(*start..).unwrap_or_default(), *decode, is_big, self);
                scan.reading()
            };
            starts.iter().map(from).collect::<Vec<_>>()
        };
        let mut readings: Vec<_> = self.decoders.iter().flat_map(scan).collect();
        // A function that saved nothing is likelier to be one that was taken for its end.
        readings.sort_by_key(|reading| match is_sure {
            true => std::cmp::Reverse(reading.saved.len()),
            false => std::cmp::Reverse(usize::from(!reading.saved.is_empty())),
        });
        readings
    }
}

/// Where functions may begin in code of several: behind each return, the last first, and at the start.
fn starts(code: &[u8], decode: Decode, is_big: bool) -> Vec<usize> {
    let (mut at, mut starts) = (0_usize, vec![0]);
    while let Some((effect, len)) = code.get(at..).and_then(|code| decode(code, is_big)) {
        at = at.saturating_add(len.max(1));
        if effect == Effect::Return {
            starts.push(at);
        }
    }
    starts.reverse();
    starts.truncate(MAX_STARTS);
    starts
}

/// The code from the start of a function up to the pc.
fn read_code(pc: Addr, start: Addr, space: &dyn AddressSpace) -> Option<Vec<u8>> {
    let len = pc.offset_from(start).filter(|len| *len <= MAX_CODE)?;
    let mut code = vec![0; usize::try_from(len).ok()?];
    space.read(start, &mut code).ok()?;
    Some(code)
}

impl Scan<'_> {
    fn run(&mut self, code: &[u8], decode: Decode, is_big: bool, prologue: Prologue) {
        let mut rest = code;
        while let Some((effect, len)) = decode(rest, is_big) {
            self.apply(effect, prologue);
            rest = rest.get(len.max(1)..).unwrap_or_default();
        }
    }

    fn apply(&mut self, effect: Effect, prologue: Prologue) {
        match effect {
            // What raises the stack pointer is the end of a path that returned early.
            Effect::Move(by) if by < 0 && self.frame.is_none() => self.lower(by),
            Effect::Store(register, offset) => self.store(register, offset, prologue),
            Effect::StoreMany(mask, offset) => self.store_many(mask, offset, prologue),
            Effect::SetFrame(register, by) if self.is_frame(register, prologue) => {
                self.frame = Some((register, self.sp.wrapping_add(by)));
            }
            Effect::Push(register, by) => {
                self.lower(by);
                self.store(register, 0, prologue);
            }
            Effect::PushMany(mask) => {
                let bytes = i64::from(mask.count_ones()).wrapping_mul(self.word);
                self.lower(bytes.wrapping_neg());
                self.store_many(mask, 0, prologue);
            }
            _ => {}
        }
    }

    fn lower(&mut self, by: i64) {
        if self.frame.is_none() {
            self.sp = self.sp.wrapping_add(by);
        }
    }

    /// Whether a register that becomes relative to the stack pointer is the frame pointer from now on: only once that
    /// of the caller was saved.
    fn is_frame(&self, register: u16, prologue: Prologue) -> bool {
        self.frame.is_none()
            && prologue.frames.contains(&register)
            && self.saved.iter().any(|(known, _)| *known == register)
    }

    fn store_many(&mut self, mask: u32, mut offset: i64, prologue: Prologue) {
        let is_in =
            |number: &u16| mask.checked_shr(u32::from(*number)).is_some_and(|it| it & 1 != 0);
        for register in (0_u16..32).filter(is_in) {
            self.store(register, offset, prologue);
            offset = offset.wrapping_add(self.word);
        }
    }

    /// The first store of a register that a callee preserves saves what the caller had in it.
    fn store(&mut self, register: u16, offset: i64, prologue: Prologue) {
        let at = self.sp.wrapping_add(offset);
        let is_link = self.description.link == Some(RegisterId(register));
        let counts = is_link || self.description.preserved.contains(&register);
        let is_known = self.saved.iter().any(|(known, _)| *known == register);
        if counts && !is_known && at < prologue.room_above {
            self.saved.push((register, at));
        }
    }

    fn reading(self) -> Reading {
        let sp = self.frame.is_none().then_some(self.sp);
        let (fp_register, fp) = self.frame.unzip();
        Reading { sp, fp, fp_register, saved: self.saved, ..Reading::NOTHING }
    }
}

/// The caller's registers and the CFA by what was read of the code; `None` where that does not tell.
pub fn caller(
    machine: &dyn Machine,
    description: &Description,
    reading: &Reading,
    regs: &Regs,
    space: &dyn AddressSpace,
) -> Option<(Regs, Addr)> {
    let cfa = match reading.fp_register.zip(reading.fp) {
        Some((register, at)) => regs.get(RegisterId(register))?.wrapping_sub_signed(at),
        None => regs.get(description.stack_pointer)?.wrapping_sub_signed(reading.sp?),
    };
    let slot = |offset: i64| space.read_register(Addr::new(cfa.checked_add_signed(offset)?)).ok();
    let returns = match description.link {
        Some(link) => match reading.saved.iter().find(|(register, _)| *register == link.0) {
            Some((_, offset)) => slot(*offset)?,
            None => regs.get(link)?,
        },
        None => slot(0)?,
    };
    let mut caller = regs.with_pc(machine.returns_to(Addr::new(returns)));
    machine.forget_scratch(&mut caller);
    for (register, offset) in &reading.saved {
        caller.set(RegisterId(*register), slot(*offset));
    }
    caller.set(description.stack_pointer, Some(cfa));
    Some((caller, Addr::new(cfa)))
}
